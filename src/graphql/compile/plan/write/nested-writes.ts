/**
 * A write with those of related rows (docs/nested-writes.md). Each step is a statement, which keeps the keys of its rows
 * in a setting for the steps that depend on them. Then the answer is read, by the keys of the root's rows.
 *
 * Plain data, as plan.ts.
 */
import type { Column, Table } from '../../../model/model.ts';
import type { Path, Slot } from '../../input/slot.ts';
import type { KeyValues } from './assignment.ts';

/** The steps. @template Change What each of them writes. */
export interface NestedWrites<Change> {
  /** In order: rows that others refer to come first. */
  readonly steps: readonly WriteStep<Change>[];
  /** Number of the step that writes the rows of the answer. */
  readonly root: number;
  /** The answer is the number of rows that the root step inserts: none are read. */
  readonly isUnread: boolean;
}

/** One step: the rows at one place of the input. */
export interface WriteStep<Change> {
  readonly table: Table;
  readonly change: Change | FindRows | ConnectRows;
  /** Exact number of its rows; null: any. */
  readonly count: Slot | null;
  /** The rows whose related rows it updates or deletes; null: it does not. */
  readonly within: Within | null;
  /** The rows that a replacement leaves alone, and that a connection may not meet: those of other steps; null: none. */
  readonly except: readonly Within[] | null;
  /** The columns whose values are kept. */
  readonly keys: readonly Column[];
  readonly keysFrom: KeySource;
  /** What the keys are computed from before the rows are inserted; null: the rows are read back, or have no keys. */
  readonly foreseen: ForeseenKeys | null;
  /** Place of the objects, as text or as a path into the variables. */
  readonly place: string | Path;
}

/** The objects of an insert, and what gives each key. */
export interface ForeseenKeys {
  readonly columns: readonly InsertColumn[];
  readonly links: readonly InsertLink[];
  /** `given`: index into `columns`, null: no object gives it. Objects that do not give it get the default. */
  readonly keys: readonly { readonly column: Column; readonly given: number | null; readonly isEvery: boolean }[];
}

/**
 * Where the kept keys come from. `objects`: known before the rows are inserted, so these are not read back. Read back is what
 * is `asked` for, or because a key may be `changed` on the way, or is `made` by the database.
 */
export type KeySource = 'objects' | 'asked' | 'changed' | 'made';

/** Finds rows by a unique key, for others that will refer to them. */
export interface FindRows {
  readonly kind: 'find';
  readonly by: readonly KeyValues[];
}

/** Makes rows refer to those of another step: sets the columns of their foreign key. */
export interface ConnectRows {
  readonly kind: 'connect';
  readonly by: readonly KeyValues[];
  readonly link: Pick<InsertLink, 'step'> & { readonly places: Slot };
  readonly set: readonly { readonly column: Column; readonly key: number }[];
}

/** Rows that belong to those of another step by these columns, or are the same. */
export interface Within {
  readonly step: number;
  /** Columns that equal a kept key, by index into the `keys` of the step; `of` is the column of the key. */
  readonly pairs: readonly { readonly column: Column; readonly of: Column; readonly key: number }[];
}

/** A column that at least one inserted object sets; or one with a default that none sets. */
export interface InsertColumn {
  readonly column: Column;
  /** No object sets it: it is not inserted, but an array of its values still counts the objects. */
  readonly isOmitted: boolean;
  /** An array of texts, one element per object; null if no object sets it by a value. */
  readonly values: Slot | null;
  /** An array of booleans: which objects set it; null if all do. The others get the column's default. */
  readonly named: Slot | null;
  /** Kept keys that set it, in order of precedence over the value. */
  readonly kept: readonly KeptKey[];
}

/** A key of a row that another step has written. */
interface KeptKey {
  /** Index into the insert's `links`. */
  readonly link: number;
  /** Index into the `keys` of the link's step. */
  readonly key: number;
}

/** A link from inserted rows to those of another step. */
export interface InsertLink {
  readonly step: number;
  /** An array with the number of the other row, from 1, for each object; null: the object's own number. */
  readonly places: Slot | null;
  /** Every object has one. */
  readonly isEvery: boolean;
}
