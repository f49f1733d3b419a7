/** `pgreflect status`: prints URLs and keys of the local project again, for users who may read its files. */
import { loadOptionsOrThrow } from '../../config/load-options.ts';
import { type Command, type CommandContext, failCommand } from '../shared/command.ts';
import { apiKeysOf, findRunningProject, localDatabaseUrl, projectDirectory } from '../shared/local-project.ts';
import { type Addresses, findEmails, printAddresses, shownOrigin } from './welcome.ts';

/** The command `pgreflect status`. */
export const status: Command = {
  flags: [{ flag: 'json', doc: 'Print them as one JSON object, for scripts.' }],
  notes: `Reads .pgreflect/ of the working directory, which its owner alone may read. A project that was started with a secret or
an access token of its own needs the same options here. Exits with 1 if no project is running.

Examples:
  pgreflect status
  pgreflect status --json`,
  run: runStatus,
};

const names = ['jwtSecret', 'anonRole', 'serviceRole', 'accessToken', 'externalUrl'] as const;

async function runStatus(context: CommandContext): Promise<number> {
  const { values } = loadOptionsOrThrow(names, context.sources);
  const project = findRunningProject(projectDirectory(context.sources.workingDirectory));
  if (project === null) failCommand('No local project is running in this directory.', 'To start it: pgreflect start');
  const roles = { anonRole: values.anonRole!, serviceRole: values.serviceRole! };
  const accessToken = values.accessToken ?? project.accessToken;
  const addresses = {
    ...(await apiKeysOf(project, { ...roles, secret: values.jwtSecret })),
    url: shownOrigin(values.externalUrl, project.url),
    studio: '/studio   (asks for the access token)',
    projectRef: project.ref,
    accessToken,
    emails: await findEmails(project.url, { projectRef: project.ref, accessToken }),
    adminDatabaseUrl: localDatabaseUrl(project.databasePort, 'postgres', project.superuserPassword),
  };
  context.print(context.flags.json === true ? printJson(addresses) : printAddresses(addresses));
  return 0;
}

/** For programs. Includes the password: readers of the project's files have it anyway. */
function printJson({
  url,
  anonKey,
  serviceKey,
  accessToken,
  projectRef,
  adminDatabaseUrl: databaseUrl,
}: Addresses): string {
  const urls = { graphqlUrl: `${url}/graphql/v1`, authUrl: `${url}/auth/v1`, studioUrl: `${url}/studio` };
  return JSON.stringify({ url, ...urls, anonKey, serviceKey, accessToken, projectRef, databaseUrl }, null, 2);
}
