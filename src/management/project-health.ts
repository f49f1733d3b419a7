/** Whether all is well with a gateway, for its operators: what `/ready` says, versions, mail, and what roles see. */
import type { AuthConfig } from '../config/auth/auth-config.ts';
import type { Config } from '../config/config.ts';
import { isEmailCaptured } from '../email/transport/mailer.ts';
import { serverFacts } from '../postgres/server-facts.ts';
import { about, flag, integer, listOf, named, objectOf, oneOf, orNull, text, type ValueOf } from '../shared/schema.ts';
import { version } from '../shared/version.ts';
import type { ManagedProject } from './managed-project.ts';

const roleHealth = objectOf({
  role: text,
  tables: about(integer, 'That it sees.'),
  withoutRowSecurity: about(listOf(text), 'Those of them whose row security is off, as SQL writes them.'),
});

/** The answer. */
export const projectHealth = named(
  'ProjectHealth',
  objectOf({
    isReady: flag,
    reason: about(orNull(text), 'Why requests cannot be answered now, as `/ready` says it.'),
    versions: objectOf({
      pgreflect: text,
      postgres: text,
      authMigration: about(orNull(integer), 'The last migration of the auth tables; null: there are none.'),
    }),
    database: about(objectOf({ host: text, port: integer, name: text }), 'Where it is, without login and password.'),
    schemaAgeSeconds: about(orNull(integer), 'Since the schema was read; null: not yet.'),
    isLiveExact: about(flag, 'Live queries run when a table that they read has changed (`init --live`).'),
    roles: about(listOf(roleHealth), 'Of visitors and of users.'),
    mail: objectOf({
      transport: oneOf('inbox', 'server', 'service', 'hook'),
      waiting: about(integer, 'Emails in the queue.'),
      oldestSeconds: about(integer, 'Age of the oldest.'),
    }),
    hasUsers: flag,
    hasOwnTemplates: about(flag, 'A subject or a body of an email is stored.'),
  }),
);

/** The same. */
export type ProjectHealth = ValueOf<typeof projectHealth>;

/** A table that a role sees. */
interface SeenTable {
  readonly name: string;
  readonly kind: string;
  readonly rowSecurity: boolean;
}

/** What is known of the parts of the gateway. */
export interface HealthParts {
  readonly config: Pick<Config, 'databaseUrl' | 'anonRole' | 'authenticatedRole'>;
  /** Why requests cannot be answered now; null: they can. */
  readonly ready: () => Promise<string | null>;
  readonly schemaAgeMs: () => number | null;
  readonly isLiveExact: () => boolean;
  /** The tables that a role sees; null without the role. */
  readonly tablesOf: (role: string) => Promise<readonly SeenTable[] | null>;
  /** Null without an outbox. */
  readonly outbox: () => Promise<{ readonly waiting: number; readonly oldestSeconds: number } | null>;
}

/** Reads it. @throws DatabaseError */
export async function readHealth({ pool, store }: ManagedProject, parts: HealthParts): Promise<ProjectHealth> {
  const { config } = parts;
  const [reason, facts, outbox, stored, roles] = await Promise.all([
    parts.ready(),
    readFacts(pool),
    parts.outbox(),
    store.refreshIfNewer(pool),
    Promise.all([config.anonRole, config.authenticatedRole].map((role) => describeRole(role, parts))),
  ]);
  const age = parts.schemaAgeMs();
  return {
    isReady: reason === null,
    reason,
    versions: { pgreflect: version, postgres: facts.postgres, authMigration: facts.authMigration },
    database: placeOf(config.databaseUrl),
    schemaAgeSeconds: age === null ? null : Math.round(age / 1000),
    isLiveExact: parts.isLiveExact(),
    roles: roles.flat(),
    mail: {
      transport: transportOf(stored),
      waiting: outbox?.waiting ?? 0,
      oldestSeconds: Math.round(outbox?.oldestSeconds ?? 0),
    },
    hasUsers: facts.hasUsers,
    hasOwnTemplates: Object.keys(store.snapshot().stored).some((name) => /^mailer_(subjects|templates)_/.test(name)),
  };
}

function transportOf(config: AuthConfig): ProjectHealth['mail']['transport'] {
  if (config.hook_send_email_enabled) return 'hook';
  if (isEmailCaptured(config)) return 'inbox';
  return config.mailer_transport === 'smtp' ? 'server' : 'service';
}

function placeOf(databaseUrl: string): ProjectHealth['database'] {
  const facts = serverFacts(databaseUrl);
  const of = (name: string) => String(facts[name] ?? '');
  return { host: of('server.address'), port: Number(facts['server.port'] ?? 0), name: of('db.namespace') };
}

async function readFacts(pool: ManagedProject['pool']) {
  const [server] = await pool.query(
    `select pg_catalog.current_setting('server_version') as version, pg_catalog.count(*) = 2 as "hasTables"
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'auth' and c.relname in ('users', 'pgreflect_migrations')
      and pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_table_privilege(c.oid, 'select')`,
  );
  // Debian adds its own version behind a blank.
  const postgres = String(server?.version).split(' ')[0] as string;
  if (server?.hasTables !== true) return { postgres, authMigration: null, hasUsers: false };
  const [auth] = await pool.query(
    `select (select pg_catalog.max(m.version) from auth.pgreflect_migrations m) as migration,
      exists (select from auth.users u where u.deleted_at is null) as "hasUsers"`,
  );
  return { postgres, authMigration: Number(auth?.migration ?? 0), hasUsers: auth?.hasUsers === true };
}

async function describeRole(role: string, { tablesOf }: HealthParts): Promise<ProjectHealth['roles']> {
  const tables = await tablesOf(role);
  if (tables === null) return [];
  const unguarded = tables.filter(({ kind, rowSecurity }) => !rowSecurity && /^(partitioned_)?table$/.test(kind));
  const withoutRowSecurity = unguarded.map(({ name }) => name);
  return [{ role, tables: tables.length, withoutRowSecurity }];
}
