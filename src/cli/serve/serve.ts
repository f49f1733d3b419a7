/**
 * `pgreflect serve`: serves an existing database. Creates nothing in it.
 *
 * Refuses with one list of all problems. An unavailable database is no reason to refuse: the gateway answers 503 until
 * it is up, because in a group of containers it may start later.
 */
import cluster from 'node:cluster';
import { type Findings, findProblems, type StartupConfig } from '../../check/startup-checks.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError, type Problem, printProblem } from '../../config/config-error.ts';
import { loadConfig, loadServeOptions } from '../../config/load-config.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import { DatabaseError, isMissingTable } from '../../postgres/database-error.ts';
import { authSchemas } from '../../postgres/migrations/migrate.ts';
import { guardPool } from '../../postgres/migrations/own-pool.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { endSoon, obeySignals } from '../../signals.ts';
import { type Command, type CommandContext, CommandError } from '../shared/command.ts';
import { describeError, isNotReady } from '../shared/describe-error.ts';
import { refuseAddress } from '../shared/listen-error.ts';
import { withLogMessages } from '../shared/log-messages.ts';
import { withDatabase } from '../shared/with-database.ts';
import { followOptions } from './follow-options.ts';
import { notifyReady } from './notify-ready.ts';
import { noteFirstOperation, noteServing } from './serve-notes.ts';
import { serveAsWorker } from './serve-worker.ts';
import { serveWithWorkers } from './serve-workers.ts';
import { workerOf } from './worker-messages.ts';

/** The command `pgreflect serve`. */
export const serve: Command = {
  flags: [],
  notes: `Prepare the database once with \`pgreflect init\`. Create the secret and the keys with \`pgreflect keys\`.

Signals: SIGTERM, SIGINT and SIGQUIT finish open requests and stop. SIGUSR2 reloads the catalog. SIGHUP reads the
configuration file, and files with values, again; a change of one of them does the same. Keys, connections, schemas,
limits, the auth configuration and more change at once; other changed options are named, because they need a restart.
With --workers, the workers are replaced for them, one by one. The SIGHUP of a terminal that closes stops the
gateway. With --workers, send signals to the process you started. A worker that exits is replaced.

Example:
  pgreflect serve --database-url postgresql://authenticator:PASSWORD@localhost:5432/shop --jwt-secret SECRET`,
  run: runServe,
};

async function runServe(given: CommandContext): Promise<number> {
  return withLogMessages(given, serveFor, workerOf(given.sources));
}

async function serveFor(context: CommandContext): Promise<number> {
  // For a worker, the supervisor has checked.
  if (!cluster.isWorker) await refuseProblems(context);
  const code = await (cluster.isWorker ? serveAsWorker(context) : serveUntilStopped(notifyWhenLoaded(context)));
  endSoon();
  return code;
}

function notifyWhenLoaded(context: CommandContext): CommandContext {
  const loaded = () => {
    context.loaded();
    notifyReady(context.sources.environment, context.note);
  };
  return { ...context, loaded };
}

async function serveUntilStopped(context: CommandContext): Promise<number> {
  const config = loadConfig(context.sources);
  if (config.workers > 1) return serveWithWorkers(config, context);
  const gateway = await startGateway(config).catch(refuseAddress(config));
  const options = followOptions({ gateway, config, sources: context.sources, load: loadConfig, note: context.note });
  // Before any output: a script may stop the gateway as soon as it reads that it serves.
  const stopped = new Promise<void>((onStopped) => obeySignals(gateway, { onStopped, onHangup: options.readAgain }));
  // The database may stop answering meanwhile.
  await Promise.race([introduce(config, gateway, context), stopped]);
  context.loaded();
  await stopped;
  options.stop();
  return 0;
}

async function introduce(config: Config, gateway: Gateway, context: CommandContext): Promise<void> {
  await noteServing(config, gateway.url, context);
  if (gateway.metricsPort !== null) context.note(`Metrics: http://${config.host}:${gateway.metricsPort}/metrics`);
  await noteFirstOperation(config, gateway, context).catch((error) => context.note(describeError(error)));
}

/** Throws one list of problems of options and database; prints warnings. */
async function refuseProblems(context: CommandContext): Promise<void> {
  const loaded = loadServeOptions(context.sources);
  for (const warning of loaded.warnings) context.note(`Warning: ${warning}`);
  const { values } = loaded;
  const problems: Problem[] = [...loaded.allProblems];
  if (values.databaseUrl !== null && values.anonRole && values.authenticatedRole && values.serviceRole) {
    const roles = [values.anonRole, values.authenticatedRole, values.serviceRole] as const;
    const [anonRole, authenticatedRole, serviceRole] = roles;
    const asked = {
      databaseUrl: values.databaseUrl,
      schemas: values.schemas,
      anonRole,
      authenticatedRole,
      serviceRole,
    };
    const findings = await inspectDatabase({ ...asked, allowedRoles: values.allowedRoles ?? roles });
    problems.push(...findings.problems);
    const barred = await inspectAuthLogin(values.adminDatabaseUrl ?? values.databaseUrl, values.adoptRole ?? []);
    for (const warning of [...findings.warnings, ...barred]) context.note(`Warning:\n${printProblem(warning)}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** A login that cannot connect now may do so later. */
async function inspectAuthLogin(url: string, adoptedRoles: readonly string[]): Promise<readonly Problem[]> {
  try {
    const problem = await withDatabase(
      url,
      async (pool) => (await findBarredAuthLogin(pool)) ?? (await findForeignTables(pool, adoptedRoles)),
    );
    return problem === null ? [] : [problem];
  } catch (error) {
    if (error instanceof CommandError || error instanceof DatabaseError) return [];
    throw error;
  }
}

async function inspectDatabase(config: StartupConfig): Promise<Findings> {
  try {
    return await withDatabase(config.databaseUrl, (pool) => findProblems(pool, config));
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems, warnings: [] };
    if (!(error instanceof CommandError)) throw error;
    if (!isNotReady(error.cause)) return { problems: error.problems, warnings: [] };
    const later = { problem: 'Requests get 503 until the database responds.', fix: null };
    return { problems: [], warnings: [...error.problems, later] };
  }
}

const findBarred = `select current_user::text as login, l.oid is not null as prepared, exists (
    select from pg_catalog.pg_roles r where r.rolname operator(pg_catalog.=) 'auth_admin' and r.rolcanlogin) as made
  from pg_catalog.pg_namespace n
  join pg_catalog.pg_class u on u.relnamespace operator(pg_catalog.=) n.oid and u.relname operator(pg_catalog.=) 'users'
  left join pg_catalog.pg_class l on l.relnamespace operator(pg_catalog.=) n.oid and l.relname operator(pg_catalog.=) 'pgreflect_rate_limits'
  where n.nspname operator(pg_catalog.=) 'auth' and coalesce(
    not (pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_table_privilege(l.oid, 'insert')), true)`;

/** The warning; null if the login may use the tables, or there are no users. @param database As that login. */
async function findBarredAuthLogin(database: Queryable): Promise<Problem | null> {
  const [row] = await database.query(findBarred);
  if (row === undefined) return null;
  if (row.prepared !== true)
    return {
      problem:
        'The database has users (auth.users), but the auth service is off: tables that it needs beside them are missing.',
      fix: 'As the owner of the schema auth: pgreflect init --auth --database-url CONNECTION_OF_THE_OWNER\nThen set --admin-database-url to the connection that it prints.',
    };
  const lost = row.made === true ? "\nIf its password is lost: alter role auth_admin password '…';" : '';
  return {
    problem: `The login role "${row.login}" may not use the tables of the auth service, so sign-in and stored settings are off.`,
    fix: `Set --admin-database-url to the connection that \`pgreflect init --auth\` printed, usually of auth_admin.${lost}`,
  };
}

/** The warning where the login may use the tables, and untrusted roles decide what they are. */
async function findForeignTables(pool: SystemPool, adoptedRoles: readonly string[]): Promise<Problem | null> {
  const tables = guardPool(pool, authSchemas(adoptedRoles));
  return tables.query('select').then(
    () => null,
    (error) => {
      if (!(error instanceof DatabaseError) || error.kind !== 'statement') throw error;
      if (isMissingTable(error)) return null;
      return { problem: `Sign-in and stored settings are off: ${error.primary}.`, fix: null };
    },
  );
}
