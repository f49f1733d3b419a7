/**
 * A world: one random database design, as plain data. The SQL that creates it, the fields that the API shows of it and the
 * answers that are expected from it are all derived from this description, each by a file of its own.
 */
import type { ExtensionName } from '../../src/config/extensions.ts';
import type { Type } from './types.ts';

/** Roles of every world; the last one is not subject to policies. */
export const roles = ['anon', 'authenticated', 'service_role'] as const;

/** One of the API roles. */
export type Role = (typeof roles)[number];

/** A schema that the API exposes. */
export interface Schema {
  readonly name: string;
  readonly inflect: boolean;
  readonly maxRows: number | null;
  /** Big numbers are texts in aggregates, too. */
  readonly exactNumbers: boolean;
  /** JSON travels as values, not as texts. */
  readonly jsonValues: boolean;
}

/** A column of a table or view. */
export interface Column {
  readonly name: string;
  readonly type: Type;
  readonly notNull: boolean;
  /** Text of the default value; null: none. */
  readonly default: string | null;
  /** Whether a value can be given, or why not. */
  readonly kind: 'free' | 'identity' | 'serial' | 'generated';
  /** Expression of a generated column. */
  readonly expression: string | null;
  readonly directiveName: string | null;
}

/** What a role may do with a relation. */
export interface Grant {
  readonly select: readonly string[] | 'all';
  readonly insert: readonly string[] | 'all';
  readonly update: readonly string[] | 'all';
  readonly delete: boolean;
}

/** A table or view. */
export interface Relation {
  readonly schema: Schema;
  readonly name: string;
  readonly kind: 'table' | 'view' | 'materialized view';
  readonly columns: readonly Column[];
  /** In the order that the API uses: of the columns for a real key, as listed for that of a directive. */
  readonly key: readonly string[];
  readonly uniques: readonly (readonly string[])[];
  readonly directiveName: string | null;
  readonly totalCount: boolean;
  readonly aggregate: boolean;
  readonly maxRows: number | null;
  readonly grants: Readonly<Record<Role, Grant | null>>;
  /** Complete `create policy` statements; null: row security is off. */
  readonly policies: readonly string[] | null;
  /** The statement's text after `as`, for views. */
  readonly definition: string | null;
  /** Whether the view reads as its caller. */
  readonly invoker: boolean;
  /** Names of the fields that its links make, where its comment says that it links two tables; null: it says nothing. */
  readonly links: { readonly from: string | null; readonly to: string | null } | null;
}

/** A foreign key, of the catalog or of a comment directive. */
export interface ForeignKey {
  readonly kind: 'constraint' | 'directive';
  readonly name: string;
  readonly from: Relation;
  readonly columns: readonly string[];
  readonly to: Relation;
  readonly toColumns: readonly string[];
  readonly foreignName: string | null;
  readonly localName: string | null;
  readonly onDelete: 'no action' | 'cascade' | 'set null';
  readonly deferred: boolean;
}

/** An argument of a function, but for the row. */
export interface RoutineArgument {
  readonly name: string;
  readonly type: Type;
  /** SQL of the default; null: none. */
  readonly default: string | null;
}

/** A stable function: a computed field of a relation, or a field of `Query`. */
export interface Routine {
  readonly schema: Schema;
  readonly name: string;
  readonly directiveName: string | null;
  /** The relation whose row is the only argument; null: a root function. */
  readonly of: Relation | null;
  readonly arguments: readonly RoutineArgument[];
  readonly result: RoutineResult;
  readonly body: string;
  /** The column whose value it gives, by which rows are filtered and ordered as well; null: they are not. */
  readonly entry: Column | null;
  /** What the argument behind the row does with the value of a column; null: there is no such argument. */
  readonly takes: { readonly column: Column; readonly by: 'filling' | 'comparing' | 'listing' } | null;
  /** Roles that may not execute it. */
  readonly revoked: readonly Role[];
}

/** What a function returns. */
type RoutineResult =
  | { readonly kind: 'value'; readonly type: Type }
  | { readonly kind: 'row' | 'set'; readonly relation: Relation };

/** A database design. */
export interface World {
  /** What the API is asked with: all that goes beyond pg_graphql's, or nothing of it. */
  readonly extensions: readonly ExtensionName[];
  readonly schemas: readonly Schema[];
  /** Types, in the order they are created, as statements. */
  readonly typeStatements: readonly string[];
  readonly relations: readonly Relation[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly routines: readonly Routine[];
}

/** A quoted SQL name. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A quoted SQL string. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? `e${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** Schema and name of a relation or function, quoted. */
export function qualified(object: { readonly schema: Schema; readonly name: string }): string {
  return `${quote(object.schema.name)}.${quote(object.name)}`;
}

/** The column of this SQL name. */
export function columnOf(relation: Relation, name: string): Column {
  const column = relation.columns.find((candidate) => candidate.name === name);
  if (!column) throw new Error(`There is no column ${name} in ${relation.name}.`);
  return column;
}
