/**
 * Migrates the auth schema of a database to this program's version, or returns the statements for it.
 *
 * All in one transaction of `inOwnSchemas`: two processes that start at once do the work once, a killed one leaves
 * nothing half-done, and nothing of untrusted roles is used. Existing objects stay, so a database of Supabase Auth remains
 * usable by it; only names that others could capture are replaced (0005). Versions newer than ours are ignored.
 */
import { DatabaseError } from '../database-error.ts';
import type { Queryable } from '../system/queryable.ts';
import type { SystemPool } from '../system/run-system.ts';
import { loadMigrations, type Migration, type MigrationPiece } from './migrations.ts';
import { inOwnSchemas, type OwnSchemas, ownSettings, refuseForeign } from './own-schemas.ts';

interface MigrateOptions {
  /** Roles of API requests; they get `usage` on the schema, because policies call its helper functions. */
  readonly apiRoles: readonly string[];
  /** As in `OwnSchemas`; default: none. */
  readonly adoptedRoles?: readonly string[];
  /** For planned statements: missing roles will exist when these run. Otherwise a missing role gets nothing. */
  readonly rolesFollow?: boolean;
  /** Default: this program's migrations. */
  readonly migrations?: readonly Migration[];
}

/** The database refused; `cause` is the `DatabaseError`, `message` says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  /** PostgreSQL's message, without advice. */
  readonly reason: string;

  constructor(message: string, cause: DatabaseError) {
    super(message, { cause });
    this.reason = cause.primary;
  }
}

const createBookkeeping = `create table auth.pgreflect_migrations (
  version integer not null,
  title text not null,
  applied_at timestamptz not null default now(),
  constraint pgreflect_migrations_pkey primary key (version)
);
alter table auth.pgreflect_migrations enable row level security;`;

/** The schemas of the auth service. */
export function authSchemas(adoptedRoles: readonly string[] = []): OwnSchemas {
  const pieces = loadMigrations().flatMap(({ pieces }) => pieces);
  const tables = pieces.flatMap(({ kind, name }) => (kind === 'table' ? [name] : []));
  return { schemas: ['auth', 'pgreflect_queue'], tables, adoptedRoles };
}

/**
 * Creates missing objects.
 *
 * @returns The statements that ran, one text per object, in order.
 * @throws MigrationError if the login lacks privileges, or others own objects; nothing is changed then. DatabaseError
 *   `unavailable` and so on.
 */
export async function migrate(pool: SystemPool, options: MigrateOptions): Promise<readonly string[]> {
  const own = authSchemas(options.adoptedRoles);
  try {
    return await inOwnSchemas(pool, own, async (tx) => {
      const statements = await plan(tx, options);
      // The plan may have found what was not there at the first look.
      await refuseForeign(tx, own);
      for (const text of statements) await tx.query(text);
      return statements;
    });
  } catch (error) {
    throw error instanceof DatabaseError && error.kind === 'statement' ? describe(error) : error;
  }
}

/** The statements that `migrate` would run now. Writes nothing. @throws DatabaseError */
export function planMigration(pool: SystemPool, options: MigrateOptions): Promise<readonly string[]> {
  return pool.transaction((tx) => plan(tx, options), { settings: ownSettings });
}

/** Objects ($1: kinds, $2: names of pieces) that are not there. Unlike `to_reg…`, also for a login that may not use the schemas. */
const missingByName = `select w.name
  from rows from (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[])) as w (kind, name)
  where w.name not in (
    select n.nspname::pg_catalog.text from pg_catalog.pg_namespace n where w.kind = 'schema'
    union all
    select n.nspname || '.' || c.relname
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where w.kind = 'table'
    union all
    select n.nspname || '.' || t.typname
    from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace where w.kind = 'type'
    union all
    select n.nspname || '.' || p.proname || '(' || pg_catalog.oidvectortypes(p.proargtypes) || ')'
    from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace where w.kind = 'function')`;

/**
 * Whose tables these are, where nothing is missing as far as the catalog shows it, and this login may not migrate them.
 *
 * Reads no table of theirs, not even that of the applied migrations: planning alone would run functions of its indexes.
 *
 * @param owners Roles that may own what is there, beside those that are trusted anyway.
 * @returns Null: something is missing, or belongs to others.
 */
export async function findCompleteOwner(
  pool: SystemPool,
  options: MigrateOptions,
  owners: readonly string[],
): Promise<string | null> {
  const own = authSchemas([...(options.adoptedRoles ?? []), ...owners]);
  const pieces = loadMigrations().flatMap((migration) => migration.pieces.filter(({ kind }) => kind !== 'always'));
  const objects = [...pieces, { kind: 'table', name: 'auth.pgreflect_migrations' }];
  try {
    return await pool.transaction(async (tx) => {
      await refuseForeign(tx, own);
      const values = [objects.map(({ kind }) => kind), objects.map(({ name }) => name)];
      if ((await tx.query(missingByName, values)).length > 0) return null;
      if ((await planGrants(tx, options, false)).length > 0) return null;
      const [row] = await tx.query(`select r.rolname::pg_catalog.text as owner
        from pg_catalog.pg_namespace n join pg_catalog.pg_roles r on r.oid = n.nspowner where n.nspname = 'auth'`);
      return row === undefined ? null : String(row.owner);
    });
  } catch (error) {
    if (error instanceof DatabaseError && error.kind === 'statement') return null;
    throw error;
  }
}

async function plan(tx: Queryable, options: MigrateOptions): Promise<readonly string[]> {
  const statements: string[] = [];
  const applied = await readApplied(tx, options);
  for (const { version, title, pieces } of options.migrations ?? loadMigrations()) {
    if (applied?.has(version)) continue;
    for (const piece of pieces) if (await isMissing(tx, piece)) statements.push(piece.text);
    // The first migration has created the schema that contains the table of applied migrations.
    if (applied === null && version === 1) statements.push(createBookkeeping);
    // Both are ours: a number and the letters of a file name.
    statements.push(`insert into auth.pgreflect_migrations (version, title) values (${version}, '${title.replaceAll("'", "''")}')
  on conflict (version) do nothing;`);
  }
  return [...statements, ...(await planGrants(tx, options, applied === null))];
}

/** Null without a table of applied migrations. */
async function readApplied(tx: Queryable, { adoptedRoles }: MigrateOptions): Promise<ReadonlySet<number> | null> {
  const found = await tx.query(`select c.oid
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'auth' and c.relname = 'pgreflect_migrations'`);
  if (found.length === 0) return null;
  // From here on nothing else takes its name. What we then find there may be read. The lock also makes the server see
  // objects that others created meanwhile, for later `to_reg...` calls.
  await tx.query('lock table auth.pgreflect_migrations in access share mode');
  await refuseForeign(tx, authSchemas(adoptedRoles));
  const rows = await tx.query(`select m.version from auth.pgreflect_migrations m`);
  return new Set(rows.map(({ version }) => version as number));
}

const presence = {
  always: 'select $1::text is not null as missing',
  schema: 'select pg_catalog.to_regnamespace($1) is null as missing',
  type: 'select pg_catalog.to_regtype($1) is null as missing',
  table: 'select pg_catalog.to_regclass($1) is null as missing',
  function: 'select pg_catalog.to_regprocedure($1) is null as missing',
} satisfies Record<MigrationPiece['kind'], string>;

async function isMissing(database: Queryable, piece: MigrationPiece): Promise<boolean> {
  const [row] = await database.query(presence[piece.kind], [piece.name]);
  return row?.missing === true;
}

async function planGrants(
  database: Queryable,
  { apiRoles, rolesFollow = false }: MigrateOptions,
  isNew: boolean,
): Promise<readonly string[]> {
  const rows = await database.query(
    `select pg_catalog.format('grant usage on schema auth to %I', a.name) as text
    from pg_catalog.unnest($1::text[]) as a (name)
    left join pg_catalog.pg_roles r on r.rolname = a.name
    left join pg_catalog.pg_namespace n on n.nspname = 'auth'
    where case
      when r.oid is null then $3::boolean
      when n.oid is null then $2::boolean
      else not pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage') end
    order by a.name`,
    [apiRoles, isNew, rolesFollow],
  );
  return rows.map(({ text }) => text as string);
}

function describe(error: DatabaseError): MigrationError {
  const advice =
    'The tables of the auth service have to be made by a login that may create them: ' +
    'give it as --admin-database-url, or let a superuser run `pgreflect init --auth`.';
  // Our own refusal says by itself what to do.
  const message = error.sqlstate === '42501' && !error.raised ? `${error.primary}. ${advice}` : error.primary;
  return new MigrationError(`The auth schema could not be prepared: ${message}`, error);
}
