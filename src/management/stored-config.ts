/**
 * The overrides in the database (sql/auth, table `pgreflect_config`): one row per project, and its earlier versions.
 */
import type { Queryable } from '../postgres/system/queryable.ts';
import type { StoredValues } from './config-fields.ts';

/** Overrides of one project. */
export interface StoredConfig {
  /** Increases with every change; 0: nothing was ever stored. */
  readonly version: number;
  readonly values: StoredValues;
}

/** A change and its history entry. */
export interface Change {
  readonly values: StoredValues;
  /** Names of the fields that differ from the previous version. */
  readonly changed: readonly string[];
  /** Who made it: name and id of an access token. */
  readonly by: string;
}

/** Nothing stored. */
export const emptyStored: StoredConfig = { version: 0, values: {} };

/** The channel that notifies every process of changes. */
export const configChannel = 'pgreflect_config';

/** Versions kept per project; the next change deletes older ones. */
const keptVersions = 100;

/** Reads the version, and the values if it differs: one row by its key. @returns Null if it does not. */
export async function readIfNewer(
  database: Queryable,
  ref: string,
  knownVersion: number,
): Promise<StoredConfig | null> {
  const [row] = await database.query(
    `select c.version::float8 as version, case when c.version <> $2::bigint then c.values end as values
    from auth.pgreflect_config c where c.project_ref = $1`,
    [ref, knownVersion],
  );
  if (row === undefined) return knownVersion === 0 ? null : emptyStored;
  return row.version === knownVersion ? null : toStored(row);
}

/**
 * Reads and locks the row until the end of the transaction. A missing one is created, and is what its readers saw: nothing stored,
 * version 0. The numbering continues all the same: a process must never mistake a new version for an old one.
 */
export async function lockStored(database: Queryable, ref: string): Promise<StoredConfig> {
  const created = await database.query(
    `insert into auth.pgreflect_config (project_ref, version, values, updated_at, updated_by)
    select $1, coalesce(max(v.version) + 1, 0), '{}', pg_catalog.now(), ''
    from auth.pgreflect_config_versions v where v.project_ref = $1
    on conflict (project_ref) do nothing
    returning version`,
    [ref],
  );
  if (created.length > 0) return emptyStored;
  const [row] = await database.query(
    'select c.version::float8 as version, c.values from auth.pgreflect_config c where c.project_ref = $1 for update',
    [ref],
  );
  return toStored(row);
}

/** Writes the next version of a locked row, with its history; notifies processes. @returns Its number. */
export async function writeStored(database: Queryable, ref: string, { values, changed, by }: Change): Promise<number> {
  const [row] = await database.query(
    `update auth.pgreflect_config
    set version = version + 1, values = $2::jsonb, updated_at = pg_catalog.now(), updated_by = $3
    where project_ref = $1 returning version::float8 as version`,
    [ref, JSON.stringify(values), by],
  );
  const version = row?.version as number;
  await database.query(
    `insert into auth.pgreflect_config_versions (project_ref, version, values, changed, updated_at, updated_by)
    select c.project_ref, c.version, c.values, $2::text[], c.updated_at, c.updated_by
    from auth.pgreflect_config c where c.project_ref = $1`,
    [ref, changed],
  );
  await database.query(
    'delete from auth.pgreflect_config_versions where project_ref = $1 and version <= $2::bigint - $3::bigint',
    [ref, version, keptVersions],
  );
  await database.query('select pg_catalog.pg_notify($1, $2)', [configChannel, `${ref}:${version}`]);
  return version;
}

function toStored(row: Record<string, unknown> | undefined): StoredConfig {
  return { version: row?.version as number, values: (row?.values ?? {}) as StoredValues };
}
