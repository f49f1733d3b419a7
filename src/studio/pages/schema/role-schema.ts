/**
 * The schema of a role as the gateway describes it, read again when the user returns to the page.
 */
import { type Answer, useAnswer } from '../../shared/requests.ts';
import { askProject } from '../../shared/session.ts';

/** A field of an object type. */
export interface SchemaField {
  readonly name: string;
  readonly type: string;
  readonly kind: 'node_id' | 'column' | 'relationship' | 'computed';
  readonly column: string | null;
  readonly isKey: boolean;
  readonly target: string | null;
  readonly description: string | null;
}

/** The additions of extensions to a table, by kind. */
export interface Added {
  readonly kind: string;
  /** Fields, arguments or entries of inputs. */
  readonly names: readonly string[];
}

/** A table that the role sees. */
export interface SchemaTable {
  readonly name: string;
  /** Its SQL name. */
  readonly object: string;
  readonly kind: 'table' | 'view' | 'materialized_view' | 'foreign_table';
  readonly description: string | null;
  readonly rowSecurity: boolean;
  readonly rootFields: readonly string[];
  readonly insert: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  readonly fields: readonly SchemaField[];
  readonly added: readonly Added[];
}

/** A foreign key between two tables, by the names of their types. */
export interface SchemaRelationship {
  readonly from: string;
  readonly to: string;
  readonly field: string | null;
  readonly inverse: string | null;
  /** How many rows of `from` belong to one row of `to`. */
  readonly cardinality: 'one' | 'many';
}

/** An object that the role does not see. */
export interface Missing {
  readonly kind: 'privilege' | 'key' | 'name' | 'type' | 'directive' | 'entrypoint';
  readonly object: string;
  /** Names for searching it. */
  readonly names: readonly string[];
  readonly reason: string;
  /** SQL that changes it; null for none. */
  readonly fix: string | null;
}

/** The schema. */
export interface RoleSchema {
  readonly role: string;
  readonly tables: readonly SchemaTable[];
  readonly relationships: readonly SchemaRelationship[];
  readonly missing: readonly Missing[];
}

/** The schema of a role, null while loading, and the error. */
export function useRoleSchema(role: string): Pick<Answer<RoleSchema>, 'value' | 'problem'> {
  const { value, problem } = useAnswer(role, async (signal) => {
    const path = `schema?${new URLSearchParams({ role })}`;
    return (await askProject<RoleSchema>(path, { signal })).body;
  });
  return { value: value?.role === role ? value : null, problem };
}

/**
 * Splits the entries: objects that the role does not see at all, and tables that it sees but cannot use in every way.
 */
export function partMissing({ tables, missing }: RoleSchema): {
  readonly hidden: readonly Missing[];
  readonly limited: readonly Missing[];
} {
  const seen = new Set(tables.map(({ object }) => object));
  return {
    hidden: missing.filter(({ object }) => !seen.has(object)),
    limited: missing.filter(({ object }) => seen.has(object)),
  };
}

/** Missing parts of a visible table: its columns, and ways to write it. */
export function missingOf({ object }: SchemaTable, missing: readonly Missing[]): readonly Missing[] {
  return missing.filter((entry) => entry.object === object || isColumnOf(entry, object));
}

/** Whether it is a column of the table with this SQL name. */
export function isColumnOf(entry: Missing, object: string): boolean {
  return entry.object.startsWith(`${object}.`);
}
