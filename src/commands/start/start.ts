/**
 * `pgreflect start`: everything on one machine with nothing to prepare. Runs an embedded PostgreSQL in `.pgreflect/`, fills
 * it on the first start, serves it, and prints what a person needs for the first request.
 */
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { type ApiKeys, makeApiKeys } from '../../config/keys.ts';
import { loadLocalConfig, loadStartOptions } from '../../config/load-config.ts';
import type { Sources } from '../../config/load-options.ts';
import { startGateway } from '../../gateway.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../../postgres/embedded/embedded-server.ts';
import { endSoon, obeySignals } from '../../signals.ts';
import type { Command, CommandContext } from '../command.ts';
import { assertFree, refuseAddress } from '../listen-error.ts';
import { readExampleOperations } from '../package-files.ts';
import { followOptions } from '../serve/follow-options.ts';
import { withDatabase } from '../with-database.ts';
import { type Content, createLocalDatabase, fillDatabase, localDatabase, readContent } from './fill-database.ts';
import {
  claimProject,
  type LocalProject,
  loadProject,
  projectDirectory,
  publishAddress,
  writeProject,
} from './local-project.ts';
import { printWelcome } from './welcome.ts';

/** The command `pgreflect start`. */
export const start: Command = {
  name: 'start',
  summary: 'Start the gateway with an embedded PostgreSQL and an example schema.',
  flags: [
    { flag: 'empty', doc: 'Start with an empty database instead of the example.' },
    { flag: 'schema-file', placeholder: 'FILE.sql', doc: 'Load this SQL file instead of the example.' },
  ],
  notes: `Data, secret and keys are stored in .pgreflect/ of the working directory. Remove the directory to start over.
--jwt-secret and --jwt-keys take precedence and are not stored.

Examples:
  pgreflect start
  pgreflect start --empty --port 8000
  pgreflect start --schema-file schema.sql`,
  run: runStart,
};

async function runStart(context: CommandContext): Promise<number> {
  const { values, warnings } = loadStartOptions(context.sources);
  for (const warning of warnings) context.note(`Warning: ${warning}`);
  const content = readContent(context);
  const directory = projectDirectory(context.sources.workingDirectory);
  const release = claimProject(directory);
  try {
    await assertFree({ host: values.host!, port: values.port! });
    return await startProject(directory, { context, content, values });
  } finally {
    release();
    endSoon();
  }
}

interface ProjectStart {
  readonly context: CommandContext;
  readonly content: Content;
  readonly values: ReturnType<typeof loadStartOptions>['values'];
}

async function startProject(directory: string, { context, content, values }: ProjectStart): Promise<number> {
  const [anonRole, serviceRole, secret] = [values.anonRole!, values.serviceRole!, values.jwtSecret ?? null];
  const project = await loadProject(directory, { anonRole, serviceRole });
  const apiKeys = secret === null ? project : await makeApiKeys(secret, anonRole, serviceRole);
  const asked = content.kind !== 'example';
  if (asked && project.content !== null && project.content !== content.kind) {
    context.note(
      'Warning: the project already has data, so --empty and --schema-file are ignored. To start over: rm -rf .pgreflect',
    );
  }
  context.note(project.content === null ? 'Preparing a new PostgreSQL in .pgreflect/ ...' : 'Starting PostgreSQL ...');
  const server = await startEmbeddedServer({
    dataDirectory: join(directory, 'data'),
    password: project.superuserPassword,
    persistent: true,
  });
  try {
    return await serveProject({ context, server, directory, project, apiKeys, content });
  } finally {
    await server.stop();
  }
}

interface LocalStart {
  readonly context: CommandContext;
  readonly server: EmbeddedServer;
  readonly directory: string;
  readonly project: LocalProject;
  /** Of the secret in use. */
  readonly apiKeys: ApiKeys;
  readonly content: Content;
}

async function serveProject(run: LocalStart): Promise<number> {
  const { context, server, project, content } = run;
  const config = localConfig(run, context.sources);
  if (project.content === null && content.kind !== 'empty')
    context.note(`Loading ${content.scripts.map(({ title }) => title).join(', ')} ...`);
  await withDatabase(server.url, createLocalDatabase);
  const { anonRole, authenticatedRole, serviceRole, schemas } = config;
  const names = { anon: anonRole, authenticated: authenticatedRole, service: serviceRole, login: 'authenticator' };
  const setup = { ...names, loginPassword: project.loginPassword, schemas };
  await fillDatabase(config.adminDatabaseUrl, project, setup, content);
  if (project.content === null) writeProject(run.directory, { ...project, content: content.kind });
  const gateway = await startGateway(config).catch(refuseAddress(config));
  publishAddress(run.directory, gateway.url);
  const stopped = new Promise<void>((onStopped) => {
    // Without a terminal nobody is left to use a local project.
    obeySignals(gateway, { onStopped, onHangup: () => process.kill(process.pid, 'SIGTERM') });
  });
  // The database may stop to answer in the middle of it.
  await Promise.race([printWelcome(config, gateway).then(context.print), stopped]);
  const load = (sources: Sources) => localConfig(run, sources);
  const options = followOptions({ gateway, config, sources: context.sources, load, note: context.note });
  await stopped;
  options.stop();
  return 0;
}

function localConfig({ server, project, apiKeys, content }: LocalStart, sources: Sources): Config {
  const isExample = (project.content ?? content.kind) === 'example';
  const adminDatabaseUrl = toDatabase(server.url, 'postgres', project.superuserPassword);
  return loadLocalConfig(sources, {
    databaseUrl: toDatabase(server.url, 'authenticator', project.loginPassword),
    adminDatabaseUrl,
    projectRef: project.ref,
    jwtSecret: project.jwtSecret,
    anonKey: apiKeys.anonKey,
    serviceKey: apiKeys.serviceKey,
    accessToken: project.accessToken,
    exampleOperations: isExample ? readExampleOperations() : [],
  });
}

function toDatabase(serverUrl: string, user: string, password: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${localDatabase}`;
  url.username = user;
  url.password = password;
  return url.href;
}
