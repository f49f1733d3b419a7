/**
 * Tells which server it is by what its catalog shows, and what of pgreflect differs there: docs/run-it-on.md has the whole table.
 *
 * For advice alone: any login may create a role of these names.
 */

/** The row of sql/check/engine.sql. */
export interface EngineFacts {
  readonly version: string;
  readonly extensions: readonly string[];
  readonly roles: readonly string[];
  readonly functions: readonly string[];
}

/** A server that is not plain PostgreSQL, or an extension that changes how tables behave. */
export interface Engine {
  readonly name: string;
  /** `other`: does not do what row security needs, so nothing is served. `differs`: a promise of ours does not hold. */
  readonly kind: 'service' | 'differs' | 'other';
  /** What differs, as a sentence; null: nothing that is known. */
  readonly remark: string | null;
}

interface Sign extends Engine {
  readonly isShown: (facts: EngineFacts) => boolean;
}

const hasRole = (name: string) => (facts: EngineFacts) => facts.roles.includes(name);
const hasExtension = (name: string) => (facts: EngineFacts) => facts.extensions.includes(name);
const isAurora = (facts: EngineFacts) => facts.functions.includes('aurora_version');

const signs: readonly Sign[] = [
  {
    name: 'CockroachDB',
    kind: 'other',
    remark: 'It is no PostgreSQL: its views always run with the rights of their owner.',
    isShown: ({ version }) => version.startsWith('CockroachDB'),
  },
  {
    name: 'YugabyteDB',
    kind: 'differs',
    remark: 'Notifications and locks of tables are off or missing there, depending on the release; pgreflect is not tested with it.',
    isShown: ({ version }) => /-YB-/.test(version),
  },
  {
    name: 'Citus',
    kind: 'differs',
    remark: 'Policies of distributed tables run on workers, which do not get the claims of the caller. Serve local tables alone.',
    isShown: hasExtension('citus'),
  },
  {
    name: 'TimescaleDB',
    kind: 'differs',
    remark: 'Row security is not supported on compressed chunks of a hypertable.',
    isShown: hasExtension('timescaledb'),
  },
  {
    name: 'Amazon Aurora',
    kind: 'service',
    remark: 'Its readers are no streaming replicas: leave them out of --read-replica-url.',
    isShown: isAurora,
  },
  { name: 'Amazon RDS', kind: 'service', remark: null, isShown: (facts) => hasRole('rds_superuser')(facts) && !isAurora(facts) },
  {
    name: 'AlloyDB',
    kind: 'service',
    remark: 'Its read pools share the storage of the primary: leave them out of --read-replica-url.',
    isShown: hasRole('alloydbsuperuser'),
  },
  { name: 'Google Cloud SQL', kind: 'service', remark: null, isShown: hasRole('cloudsqlsuperuser') },
  { name: 'Azure Database', kind: 'service', remark: null, isShown: hasRole('azure_pg_admin') },
  {
    name: 'Neon',
    kind: 'service',
    remark: 'Its address with -pooler forwards no notifications, and the poll of the catalog keeps a branch awake.',
    isShown: hasRole('neon_superuser'),
  },
  { name: 'Supabase', kind: 'service', remark: null, isShown: hasRole('supabase_admin') },
]; // biome-ignore format: one sign a piece

/** All that the server shows; empty for plain PostgreSQL. */
export function detectEngines(facts: EngineFacts): readonly Engine[] {
  return signs.filter(({ isShown }) => isShown(facts)).map(({ name, kind, remark }) => ({ name, kind, remark }));
}
