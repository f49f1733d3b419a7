/**
 * `pgreflect start`: everything on one machine, without preparation. Runs an embedded PostgreSQL in `.pgreflect/`,
 * fills it on the first start, serves it, and prints what the first request needs.
 */
import { join } from 'node:path';
import { findUnexposed } from '../../check/unexposed-schemas.ts';
import type { Config } from '../../config/config.ts';
import { type ApiKeys, makeApiKeys } from '../../config/keys.ts';
import { loadLocalConfig, loadStartOptions } from '../../config/load-config.ts';
import type { Sources } from '../../config/load-options.ts';
import { startGateway } from '../../gateway.ts';
import { removeData } from '../../postgres/embedded/embedded-data.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../../postgres/embedded/embedded-server.ts';
import { endSoon, obeySignals } from '../../signals.ts';
import { followOptions } from '../serve/follow-options.ts';
import type { Command, CommandContext } from '../shared/command.ts';
import { assertFree, refuseAddress } from '../shared/listen-error.ts';
import {
  claimProject,
  type LocalProject,
  loadProject,
  localDatabaseUrl,
  projectDirectory,
  projectFile,
  publishAddress,
  readProject,
  writeProject,
} from '../shared/local-project.ts';
import { withLogMessages } from '../shared/log-messages.ts';
import { describeOpenTables } from '../shared/open-tables.ts';
import { programCall, shellCall } from '../shared/shell-call.ts';
import { commandLine } from '../shared/typed-options.ts';
import { withDatabase } from '../shared/with-database.ts';
import { describeChange, keepContent } from './content-change.ts';
import { type Content, createLocalDatabase, fillDatabase, readContent } from './fill-database.ts';
import { readExampleOperations } from './package-files.ts';
import { unusedScripts } from './unused-scripts.ts';
import { printPsql, printWelcome } from './welcome.ts';

/** Default port of the database, next to the gateway's. */
const defaultDatabasePort = 54_322;

/** The command `pgreflect start`. */
export const start: Command = {
  flags: [
    { flag: 'empty', doc: 'Start with an empty database instead of the example.' },
    {
      flag: 'schema-file',
      placeholder: 'FILE.sql',
      doc: 'Load this SQL file instead of the example.',
      once: 'Make one file of them, in their order: cat schema.sql data.sql > all.sql',
    },
    {
      flag: 'no-grant-defaults',
      doc: 'Grant nothing on what is made in the schemas. Without it, callers may use each new table, view and function, as in a hosted project. For the first start, and --reset.',
    },
    { flag: 'reset', doc: 'Delete all data and fill the database again. Keys and ports stay the same.' },
  ],
  notes: `Data, secret and keys are stored in .pgreflect/ of the working directory. The first start fills the database; later
starts keep it, and --reset fills it again with the same. --jwt-secret and --jwt-keys take precedence
and are not stored.

Examples:
  pgreflect start
  pgreflect start --empty --port 8000
  pgreflect start --schema-file schema.sql
  pgreflect start --reset`,
  run: runStart,
};

async function runStart(given: CommandContext): Promise<number> {
  return withLogMessages(given, startFor);
}

async function startFor(context: CommandContext): Promise<number> {
  const { values, warnings } = loadStartOptions(context.sources);
  for (const warning of warnings) context.note(`Warning: ${warning}`);
  const directory = projectDirectory(context.sources.workingDirectory);
  const release = claimProject(directory);
  try {
    await assertFree({ host: values.host!, port: values.port! });
    const code = await startProject(directory, context, values);
    endSoon();
    return code;
  } finally {
    release();
  }
}

async function startProject(
  directory: string,
  context: CommandContext,
  values: ReturnType<typeof loadStartOptions>['values'],
): Promise<number> {
  const [anonRole, serviceRole, secret] = [values.anonRole!, values.serviceRole!, values.jwtSecret ?? null];
  const kept = await loadProject(directory, { anonRole, serviceRole });
  const content = readContent(context, kept);
  if (context.flags.reset === true && kept.content !== null)
    context.note('Deleting all data of the project: tables, rows and users ...');
  const project = context.flags.reset === true ? await resetProject(directory, kept) : kept;
  const ownKeys = secret === null ? null : await makeApiKeys(secret, anonRole, serviceRole);
  context.note(project.content === null ? 'Preparing a new PostgreSQL in .pgreflect/ ...' : 'Starting PostgreSQL ...');
  const server = await startEmbeddedServer({
    dataDirectory: dataOf(directory),
    password: project.superuserPassword,
    persistent: true,
    preferredPort: project.databasePort ?? defaultDatabasePort,
    ...(values.databasePort && { port: values.databasePort }),
  });
  try {
    const keepsPort = values.databasePort || project.databasePort === null;
    const settled = keepsPort ? { ...project, databasePort: server.port } : project;
    if (keepsPort) writeProject(directory, settled);
    if (settled.databasePort !== server.port)
      context.note(
        `Warning: another program uses port ${project.databasePort}; the database has ${server.port} this time.`,
      );
    return await serveProject({ context, server, directory, project: settled, ownKeys, content });
  } finally {
    await server.stop();
  }
}

/** Deletes the data; keys, passwords and ports stay. */
async function resetProject(directory: string, project: LocalProject): Promise<LocalProject> {
  const emptied = { ...project, content: null };
  // First, so that a start killed here fills the rest again.
  writeProject(directory, emptied);
  await removeData(dataOf(directory));
  return emptied;
}

function dataOf(directory: string): string {
  return join(directory, 'data');
}

interface LocalStart {
  readonly context: CommandContext;
  readonly server: EmbeddedServer;
  readonly directory: string;
  readonly project: LocalProject;
  /** For a secret that was given; null: the project's. */
  readonly ownKeys: ApiKeys | null;
  readonly content: Content;
}

async function serveProject(run: LocalStart): Promise<number> {
  const { context, server, project, content } = run;
  const config = localConfig(run, context.sources);
  if (project.content === null && content.kind !== 'empty')
    context.note(`Loading ${content.scripts.map(({ title }) => title).join(', ')} ...`);
  const unused = unusedScripts(context.sources.workingDirectory, run.project, content);
  if (unused !== null) context.note(unused);
  await withDatabase(server.url, createLocalDatabase);
  const { anonRole, authenticatedRole, serviceRole, schemas } = config;
  const names = { anon: anonRole, authenticated: authenticatedRole, service: serviceRole, login: 'authenticator' };
  const setup = { ...names, loginPassword: project.loginPassword, schemas };
  const grantDefaults = context.flags['no-grant-defaults'] !== true;
  await fillDatabase(config.adminDatabaseUrl, project, { ...setup, grantDefaults }, content);
  if (project.content === null) {
    keepContent(run.directory, content);
    const schemaFile = content.kind === 'file' ? content.scripts[0]!.title : null;
    writeProject(run.directory, { ...project, content: content.kind, schemaFile });
  }
  const unexposed = await withDatabase(config.adminDatabaseUrl, (pool) =>
    findUnexposed(pool, {
      exposed: schemas ?? ['public'],
      isChosen: schemas !== null,
      roles: [anonRole, authenticatedRole],
    }),
  );
  if (unexposed !== null) context.note(`Warning: ${unexposed}`);
  const open = await withDatabase(config.adminDatabaseUrl, (pool) =>
    describeOpenTables(pool, { schemas: schemas ?? ['public'], roles: [anonRole, authenticatedRole] }),
  );
  if (open !== null) context.note(`Warning: ${open}`);
  const change = describeChange(run.directory, project, content, printPsql(config.adminDatabaseUrl));
  if (change !== null) context.note(change);
  const gateway = await startGateway(config).catch(refuseAddress(config));
  publishAddress(run.directory, gateway.url, server.port);
  const load = (sources: Sources) => localConfig(withPresentKeys(run, sources), sources);
  const options = followOptions({ gateway, config, sources: context.sources, load, note: context.note });
  const stopped = new Promise<void>((onStopped) => obeySignals(gateway, { onStopped, onHangup: options.readAgain }));
  // The database may stop answering meanwhile.
  const { workingDirectory, environment } = context.sources;
  const check = commandLine('check', context, programCall(workingDirectory, environment.PATH));
  await Promise.race([printWelcome(config, gateway, check).then(context.print), stopped]);
  context.loaded();
  await stopped;
  options.stop();
  return 0;
}

/** With what `pgreflect keys --rotate` has made of the project's keys meanwhile. */
function withPresentKeys(run: LocalStart, { onFile }: Sources): LocalStart {
  onFile?.(projectFile(run.directory));
  const { jwtKeys, anonKey, serviceKey } = readProject(run.directory) ?? run.project;
  const project = { ...run.project, ...(jwtKeys && { jwtKeys }), anonKey, serviceKey };
  return { ...run, project };
}

function localConfig({ server, project, ownKeys, content }: LocalStart, sources: Sources): Config {
  const isExample = (project.content ?? content.kind) === 'example';
  const { anonKey, serviceKey } = ownKeys ?? project;
  const adminDatabaseUrl = localDatabaseUrl(server.port, 'postgres', project.superuserPassword);
  return loadLocalConfig(sources, {
    databaseUrl: localDatabaseUrl(server.port, 'authenticator', project.loginPassword),
    adminDatabaseUrl,
    projectRef: project.ref,
    shellCall: shellCall(sources.workingDirectory, sources.environment.PATH),
    jwtSecret: project.jwtKeys === undefined ? project.jwtSecret : null,
    jwtKeys: project.jwtKeys ?? [],
    anonKey,
    serviceKey,
    accessToken: project.accessToken,
    exampleOperations: isExample ? readExampleOperations() : [],
  });
}
