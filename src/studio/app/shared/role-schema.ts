/** The schema of a role as the gateway describes it, read again when the user returns to the page. */
import type { DescribedSchema } from '../../../graphql/execute/describe-schema.ts';
import type { DescribedRoleTable } from '../../../graphql/execute/describe-table.ts';
import { type Answer, useAnswer } from './requests.ts';
import { askProject } from './session.ts';

/** The schema of a role. */
export type RoleSchema = DescribedSchema;

/** A table that the role sees. */
export type SchemaTable = RoleSchema['tables'][number];

/** The field of the query root that lists its rows; null: none, and null for a table that the role does not see. */
export function listField(table: SchemaTable | undefined): string | null {
  return table?.rootFields.find((name) => name.endsWith('Collection')) ?? null;
}

/** A field of its object type. */
export type SchemaField = SchemaTable['fields'][number];

/** The additions of extensions to a table, by kind. */
export type Added = SchemaTable['added'][number];

/** A foreign key between two tables, by the names of their types. */
export type SchemaRelationship = RoleSchema['relationships'][number];

/** An object that the role does not see. */
export type Missing = RoleSchema['missing'][number];

/** The schema of a role, null while loading, and the error. @param role Null: none. */
export function useRoleSchema(role: string | null): Pick<Answer<RoleSchema>, 'value' | 'problem'> {
  const { value, problem } = useAnswer(role, async (signal) => {
    const path = `schema?${new URLSearchParams({ role: role! })}`;
    return (await askProject<RoleSchema>(path, { signal })).body;
  });
  return { value: value?.role === role ? value : null, problem };
}

/** A table as a role filters, orders and writes it. */
export type RoleTable = DescribedRoleTable;

/** A column of it. */
export type TableColumn = RoleTable['columns'][number];

/** A relationship of it. */
export type TableLink = RoleTable['relationships'][number];

/** A table of a role. @throws ApiError */
export async function readRoleTable(role: string, name: string, signal: AbortSignal | null = null): Promise<RoleTable> {
  const path = `schema/tables/${encodeURIComponent(name)}?${new URLSearchParams({ role })}`;
  return (await askProject<RoleTable>(path, signal === null ? {} : { signal })).body;
}

/** A table of a role, null while loading, and the error. @param name Null: none. */
export function useRoleTable(role: string, name: string | null): Answer<RoleTable> {
  const key = name && `${role} ${name}`;
  const { value, problem, readAgain } = useAnswer(key, (signal) => readRoleTable(role, name!, signal));
  return { value: value?.role === role && value.name === name ? value : null, problem, readAgain };
}

/**
 * Splits the entries: objects that the role does not see at all, and tables that it sees but cannot use in every way.
 */
export function partMissing({ tables, insertOnly, missing }: RoleSchema): {
  readonly hidden: readonly Missing[];
  readonly limited: readonly Missing[];
} {
  const seen = new Set([...tables.map(({ object }) => object), ...insertOnly]);
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
