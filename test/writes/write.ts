/** Mutations as data: from it come the document for the gateway and the same writes in plain SQL. */
import type { Filter, RelatedFilter, Value, Values } from './values.ts';
import type { Column, Reference, Table } from './world.ts';

/** An object of an insert with its related objects. */
export interface Tree {
  readonly values: Values;
  readonly up: readonly Parent[];
  readonly down: readonly Children[];
  /** Whether it gives a column that a relationship sets. */
  readonly isForged: boolean;
}

/** The row that an object refers to: a new one, or one that is there. */
export type Parent = { readonly reference: Reference } & (
  | { readonly tree: Tree; readonly conflict: Conflict | null; readonly key: null }
  | { readonly tree: null; readonly conflict: null; readonly key: Key }
);

/** The name of a row that is there: one of its unique keys. */
export interface Key {
  readonly table: string;
  /** Entry of the input. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Changed when the same document names other rows. */
  values: readonly Value[];
}

export interface Children {
  readonly reference: Reference;
  readonly table: Table;
  readonly trees: readonly Tree[];
  readonly keys: readonly Key[];
  readonly conflict: Conflict | null;
}

export interface Conflict {
  readonly constraint: string;
  readonly arbiter: string;
  readonly columns: readonly string[];
  readonly filter: RelatedFilter;
}

/** Rows that refer to the updated ones. */
export interface Related extends Children {
  readonly deletes: readonly Deletion[];
  readonly updates: readonly Change[];
  readonly disconnects: readonly Deletion[];
  readonly replace: { readonly how: 'DELETE' | 'DISCONNECT'; readonly atMost: number | null } | null;
}

/** What happens to the row that updated ones refer to, or to their reference. */
export type Link = { readonly reference: Reference } & (
  | { readonly way: 'insert'; readonly tree: Tree; readonly conflict: Conflict | null }
  | { readonly way: 'connect'; readonly key: Key }
  | { readonly way: 'update'; readonly change: Change }
  | { readonly way: 'disconnect' }
);

export interface Deletion {
  readonly filter: Filter;
  readonly atMost: number;
}

export interface Change extends Deletion {
  readonly isForged: boolean;
  readonly set: Values;
  readonly operators: readonly { readonly name: string; readonly column: Column; readonly value: Value }[];
  /** In the order of the schema. */
  readonly links: readonly Link[];
  readonly related: readonly Related[];
}

/** One mutation field. Null instead of columns: only `affectedCount` is selected. */
export type Write = { readonly table: Table; readonly columns: readonly string[] | null } & (
  | { readonly kind: 'insert'; readonly trees: readonly Tree[]; readonly conflict: Conflict | null }
  | { readonly kind: 'update'; readonly change: Change }
  | ({ readonly kind: 'delete' } & Deletion)
  | { readonly kind: 'updateMany'; readonly changes: readonly Change[] }
);
