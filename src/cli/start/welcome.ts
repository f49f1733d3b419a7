/**
 * The output of a start when ready: addresses, keys, and a line for the first request, or if callers see no table yet,
 * the SQL of a grant. Never shows a database password.
 */
import type { Config } from '../../config/config.ts';
import type { Gateway } from '../../gateway.ts';
import type { ProjectHealth } from '../../management/project-health.ts';
import { pasteable } from '../../shared/one-line.ts';
import { quoteForShell } from '../../shared/quote-for-shell.ts';
import { firstTable, makeFirstOperation, printCurl, toOneLine } from '../shared/first-operation.ts';
import { describeLeftOut, describeMalformed } from '../shared/left-out.ts';

/** The text to print. @param command The command line of `check`. @throws DatabaseError if the database stops. */
export async function printWelcome(config: Config, gateway: Gateway, command: string): Promise<string> {
  const graphql = `${externalOrigin(config, gateway)}/graphql/v1`;
  const operation = await findFirstOperation(config, gateway);
  const lack = await describeLeftOut(config, gateway, command);
  const studio = `${gateway.studioEntry()}   (signs in once)`;
  return `
pgreflect is ready. Ctrl-C stops it.

${printAddresses({ ...config, url: externalOrigin(config, gateway), studio, emails: await findEmails(gateway.url, config) })}

Try it:

  ${printCurl(graphql, config.anonKey ?? '', operation ?? '{ __typename }')}
${operation === null ? await grantAdvice(config, gateway, command) : ''}${lack === null ? '' : `\n${lack}\n`}`;
}

/** The addresses of a local project. */
export interface Addresses
  extends Pick<Config, 'anonKey' | 'serviceKey' | 'accessToken' | 'projectRef' | 'adminDatabaseUrl'> {
  readonly url: string;
  /** Path of the studio, and notes on it. */
  readonly studio: string;
  readonly emails: Emails | null;
}

/** Where emails go. */
type Emails = ProjectHealth['mail']['transport'];

/** As the configuration has it now, which may be stored; null where the management API does not tell. */
export async function findEmails(
  listening: string,
  { projectRef, accessToken }: Pick<Config, 'projectRef' | 'accessToken'>,
): Promise<Emails | null> {
  try {
    // As the studio asks it: no line of the log is for it.
    const headers = { authorization: `Bearer ${accessToken}`, 'x-pgreflect-studio': '1' };
    const signal = AbortSignal.timeout(waitMs);
    const response = await fetch(`${listening}/v1/projects/${projectRef}/health`, { headers, signal });
    return response.ok ? ((await response.json()) as ProjectHealth).mail.transport : null;
  } catch {
    return null;
  }
}

/** Longest wait for that, in milliseconds. */
const waitMs = 3000;

const sentBy: Readonly<Record<Exclude<Emails, 'inbox'>, string>> = {
  server: 'the mail server (smtp_host) sends them',
  service: 'a mail service (mailer_transport) sends them',
  hook: 'the send_email hook gets them',
};

function printEmails(url: string, emails: Emails | null): string {
  if (emails !== null && emails !== 'inbox') return `Emails       ${sentBy[emails]}`;
  return `Inbox        ${url}/studio/inbox   (emails are kept here until a mail server is named)`;
}

/** URLs and keys of a local project, one per line. */
export function printAddresses(project: Addresses): string {
  const { url, studio, emails, adminDatabaseUrl } = project;
  return `  Studio       ${url}${studio}
  GraphQL      ${url}/graphql/v1
  GraphiQL     ${url}/graphql/v1   (in a browser)
  Auth         ${url}/auth/v1
  ${printEmails(url, emails)}
  Database     ${dropPassword(adminDatabaseUrl)}   (password: superuserPassword in .pgreflect/project.json)
  psql         ${printPsql(adminDatabaseUrl)}
  anon key     ${project.anonKey}
  service key  ${project.serviceKey}   (for servers only: passes row security)
  project ref  ${project.projectRef}
  Management   ${url}/v1/projects/${project.projectRef}/config/auth
  access token ${project.accessToken}   (of the management API)`;
}

/** The default contains the requested port, which 0 leaves open. */
function externalOrigin({ port, externalUrl }: Config, gateway: Gateway): string {
  return shownOrigin(port === 0 ? null : externalUrl, gateway.url);
}

/** The origin to show: the given one, otherwise the listening address under this machine's usual name. */
export function shownOrigin(given: string | null, listening: string): string {
  return given ?? listening.replace(/^http:\/\/127\.0\.0\.1(?=:)/, 'http://localhost');
}

async function findFirstOperation(config: Config, gateway: Gateway): Promise<string | null> {
  const [example] = config.exampleOperations;
  if (example !== undefined) return toOneLine(example);
  const model = await gateway.model(config.anonRole);
  return model === null ? null : makeFirstOperation(model);
}

async function grantAdvice(config: Config, gateway: Gateway, command: string): Promise<string> {
  const { anonRole } = config;
  const omissions = (await gateway.hints(anonRole))?.omissions ?? [];
  const malformed = describeMalformed(omissions, command);
  if (malformed !== null) return `\n${malformed}\n`;
  const grants = omissions.flatMap(({ kind, fix }) =>
    kind === 'privilege' && fix?.startsWith('grant select on ') ? [fix] : [],
  );
  // A function over the rows of a table needs the same grant.
  const fixes = [...new Set(grants)];
  const [grant] = fixes.flatMap((fix) => pasteable(fix) ?? []);
  if (grant === undefined) {
    const statements = firstTable(anonRole).join(' ');
    return `
There is no table yet. This line makes one that everyone may read; its fields are there at once:

  ${printPsql(config.adminDatabaseUrl, statements)}
`;
  }
  const number = fixes.length === 1 ? 'One table exists' : `${fixes.length} tables exist`;
  return `
${number}, but ${anonRole} may read none. Grant what callers without an account may read, for example:

  ${printPsql(config.adminDatabaseUrl, grant)}

All statements: page Schema of the studio. Which rows callers see, row security decides: ${command}
`;
}

/** A POSIX shell command that opens the database as its owner, or runs statements there. */
export function printPsql(databaseUrl: string, statements: string | null = null): string {
  const password = `"$(node -p 'require("./.pgreflect/project.json").superuserPassword')"`;
  const command = statements === null ? '' : ` -c ${quoteForShell(statements)}`;
  return `PGPASSWORD=${password} psql '${dropPassword(databaseUrl)}'${command}`;
}

/** Printed text stays in logs and in a terminal's history. */
function dropPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = '';
  return url.href;
}
