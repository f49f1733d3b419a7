/**
 * Earlier versions of the stored configuration: author, time, changed fields, and their values, secrets as digests.
 */
import type { Queryable } from '../postgres/system/queryable.ts';
import { about, integer, listOf, named, objectOf, record, text, type ValueOf } from '../shared/schema.ts';
import { configFields } from './config-fields.ts';
import type { DigestSecret } from './secret-digest.ts';

const fields = {
  version: integer,
  changed: listOf(about(text, 'Name of a field that differs from the version before.')),
  updatedAt: about(text, { format: 'date-time' }),
  updatedBy: about(text, 'Name and id of an access token.'),
};

/** A version. */
export const configVersion = named('ConfigVersion', objectOf(fields));

/** A version and its values. */
export const versionValues = named(
  'ConfigVersionValues',
  objectOf({
    ...fields,
    values: about(
      record<Readonly<Record<string, unknown>>>(),
      'Values by field; null: not stored. Secrets are digests, as in the configuration.',
    ),
  }),
);

/** A version. */
export type ConfigVersion = ValueOf<typeof configVersion>;

/** A version and its values. */
export type VersionValues = ValueOf<typeof versionValues>;

const columns = 'v.version::float8 as version, v.changed, v.updated_at, v.updated_by';

/** All kept versions. */
export async function listVersions(database: Queryable, ref: string): Promise<readonly ConfigVersion[]> {
  const rows = await database.query(
    `select ${columns} from auth.pgreflect_config_versions v where v.project_ref = $1 order by v.version desc`,
    [ref],
  );
  return rows.map(toVersion);
}

interface VersionSource {
  readonly database: Queryable;
  readonly ref: string;
  readonly digest: DigestSecret;
}

/** One version; null if it is not kept. */
export async function readVersion(
  { database, ref, digest }: VersionSource,
  version: number,
): Promise<VersionValues | null> {
  const [row] = await database.query(
    `select ${columns}, v.values from auth.pgreflect_config_versions v where v.project_ref = $1 and v.version = $2::bigint`,
    [ref, version],
  );
  if (row === undefined) return null;
  const stored = row.values as Readonly<Record<string, unknown>>;
  const values = [...configFields].map(([name, { row: field }]) => {
    const value = stored[name] ?? null;
    return [name, field.secret && typeof value === 'string' && value !== '' ? digest(name, value) : value];
  });
  return { ...toVersion(row), values: Object.fromEntries(values) };
}

function toVersion(row: Record<string, unknown>): ConfigVersion {
  return {
    version: row.version as number,
    changed: row.changed as string[],
    updatedAt: (row.updated_at as Date).toISOString(),
    updatedBy: row.updated_by as string,
  };
}
