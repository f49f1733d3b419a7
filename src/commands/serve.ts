/**
 * `pgreflect serve`: serves a database that exists already. Creates nothing in it.
 *
 * Refuses with one list of everything that is wrong. Only a database that is away is no reason to refuse: the gateway
 * then answers 503 until it comes, because in a group of containers it may come later.
 */
import type { Config } from '../config/config.ts';
import { ConfigError, type Problem, printProblem } from '../config/config-error.ts';
import { loadConfig, loadServeOptions } from '../config/load-config.ts';
import type { Sources } from '../config/load-options.ts';
import { DatabaseError } from '../database/failure.ts';
import { type Gateway, startGateway } from '../gateway.ts';
import { createProjectRef } from '../management/project-ref.ts';
import { hasConfigTables } from '../management/stored-config.ts';
import type { ModelWarning } from '../model/model.ts';
import { obeySignals } from '../signals.ts';
import { type Command, type CommandContext, CommandError } from './command.ts';
import { describeError, describePlace, isAway } from './describe-error.ts';
import { makeFirstOperation, printCurl } from './first-operation.ts';
import { followOptions } from './follow-options.ts';
import { describeListenError } from './listen-error.ts';
import { type Findings, findProblems, type PreflightConfig } from './preflight.ts';
import { withDatabase } from './with-database.ts';

/** The command `pgreflect serve`. */
export const serve: Command = {
  name: 'serve',
  summary: 'Serve the database that --database-url names.',
  operand: null,
  flags: [],
  notes: `The database is prepared once by \`pgreflect init\`, the secret and the keys are made by \`pgreflect keys\`.
SIGTERM stops after the requests in flight, SIGUSR2 reads the catalog again, SIGHUP reads the configuration
file again, which also happens when it changes: --schemas and the auth configuration.

Example:
  pgreflect serve --database-url postgresql://authenticator:PASSWORD@localhost:5432/shop --jwt-secret SECRET`,
  run: runServe,
};

async function runServe(context: CommandContext): Promise<number> {
  await refuseProblems(context);
  const { config } = loadConfig(context.sources);
  const gateway = await startGateway(config).catch((error) => {
    throw describeListenError(error, config) ?? error;
  });
  const load = (sources: Sources) => loadConfig(sources).config;
  const options = followOptions({ gateway, config, sources: context.sources, load, note: context.note });
  // Before anything is printed: whoever reads that the gateway serves may stop it.
  const stopped = new Promise<void>((onStopped) => obeySignals(gateway, { onStopped, onHangup: options.readAgain }));
  context.note(`pgreflect serves ${describePlace(config.databaseUrl)}.`);
  context.note(`GraphQL and GraphiQL: ${gateway.url}/graphql/v1`);
  await noteManagement(config, gateway, context);
  await noteFirstOperation(config, gateway, context).catch((error) => context.note(describeError(error)));
  await stopped;
  options.stop();
  return 0;
}

/** Throws one list of what is wrong with options and database; warnings are printed. */
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
    for (const warning of findings.warnings) context.note(`Warning:\n${printProblem(warning)}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

async function inspectDatabase(config: PreflightConfig): Promise<Findings> {
  try {
    return await withDatabase(config.databaseUrl, (pool) => findProblems(pool, config));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (!isAway(error.cause)) return { problems: error.problems, warnings: [] };
    const later = { problem: 'Until the database answers, every request is answered with 503.', fix: null };
    return { problems: [], warnings: [...error.problems, later] };
  }
}

/** Says where the auth configuration can be changed, with the ref of the project; nothing where it cannot. */
async function noteManagement(config: Config, gateway: Gateway, context: CommandContext): Promise<void> {
  if (!config.managementApiEnabled) return;
  const ref = await withDatabase(config.adminDatabaseUrl, async (pool) =>
    (await hasConfigTables(pool)) ? await createProjectRef(config.projectRef)(pool) : null,
  ).catch((error) => {
    if (error instanceof CommandError || error instanceof DatabaseError) return null;
    throw error;
  });
  if (ref !== null) context.note(`Management API: ${gateway.url}/v1/projects/${ref}/config/auth`);
}

/** Prints a line that can be pasted, or why the API is empty and what fills it. */
async function noteFirstOperation(config: Config, gateway: Gateway, context: CommandContext): Promise<void> {
  const { schemas, anonRole } = config;
  const model = await gateway.model(anonRole).catch((error) => {
    if (error instanceof DatabaseError) return null;
    throw error;
  });
  if (model === null) return;
  const operation = makeFirstOperation(model);
  if (operation !== null) {
    context.note(`Try:\n  ${printCurl(`${gateway.url}/graphql/v1`, '$PGREFLECT_ANON_KEY', operation)}`);
    return;
  }
  context.note(`The API of the role "${anonRole}" is empty so far:`);
  if (model.namespaces.length === 0) {
    const names = (schemas ?? ['public']).join(', ');
    context.note(
      `  - The role has no usage on any exposed schema.\n      grant usage on schema ${names} to ${anonRole};`,
    );
  }
  for (const warning of model.warnings.slice(0, 5)) context.note(printWarning(warning));
  const example = 'create table note (id bigint generated always as identity primary key, body text not null);';
  context.note(`  A table needs a primary key and a grant, for example:
      ${example}
      grant select on note to ${anonRole};
  The gateway takes notice by itself.`);
}

function printWarning({ reason, fix }: ModelWarning): string {
  return fix === null ? `  - ${reason}` : `  - ${reason}\n      ${fix}`;
}
