/** `pgreflect tokens create|list|revoke`: access tokens of the management API, stored in the database as hashes. */
import { loadOptionsOrThrow } from '../config/load-options.ts';
import { fixedTokenId } from '../management/management-caller.ts';
import {
  type AccessScope,
  type AccessToken,
  accessScopes,
  createAccessToken,
  defaultScopes,
  isTokenEnd,
  isTokenName,
  listAccessTokens,
  readTokenEnd,
  revokeAccessToken,
} from '../management/tokens/access-tokens.ts';
import type { SystemPool } from '../postgres/system/run-system.ts';
import { type Command, type CommandContext, failCommand, flagText } from './shared/command.ts';
import { authDatabaseUrlFor, chooseAction, withAuthTables } from './shared/with-auth-tables.ts';

const names = ['databaseUrl', 'adminDatabaseUrl', 'projectRef', 'adoptRole'] as const;
const actions = ['create', 'list', 'revoke'] as const;

/** The command `pgreflect tokens`. */
export const tokens: Command = {
  flags: [
    { flag: 'name', placeholder: 'TEXT', doc: 'Purpose of the token, shown in lists and with every change it makes.' },
    {
      flag: 'scope',
      placeholder: 'SCOPES',
      list: true,
      doc: `Scopes of the token, separated by commas (default: ${defaultScopes.join(',')}): ${accessScopes.join(', ')}.`,
    },
    { flag: 'expires', placeholder: 'TIME', doc: 'Expiry: 12h, 30d, 1y, or a date such as 2030-01-31 (default: never).' },
    { flag: 'json', doc: 'Print JSON.' },
  ],
  notes: `Connects as the owner of the auth tables (--admin-database-url, else --database-url, else the project that \`pgreflect start\`
runs in this directory). A token is shown only once, when it is created; the database stores its hash. With --project-ref
the token is limited to that project.
revoke takes an id or the beginning of one. It also revokes the tokens that were created with it; "revoke fixed" revokes those
created with --access-token.

Examples:
  pgreflect tokens create --name "release pipeline" --scope auth_config:write,auth_config:read --expires 90d
  pgreflect tokens list
  pgreflect tokens revoke 3f2a`,
  run: runTokens,
}; // biome-ignore format: long sentences

async function runTokens(context: CommandContext): Promise<number> {
  const { values } = loadOptionsOrThrow(names, context.sources);
  const action = chooseAction('tokens', context, actions);
  if (action !== 'revoke' && context.operands[1] !== undefined)
    failCommand(`pgreflect tokens ${action} takes no id.`, 'pgreflect tokens --help');
  const url = authDatabaseUrlFor(values, context);
  const run = { create: runCreate, list: runList, revoke: runRevoke }[action];
  // Check the flags before the database.
  const wanted = action === 'create' ? readWanted(context, values.projectRef) : null;
  const writes = action === 'list' ? [] : ['pgreflect_access_tokens'];
  return withAuthTables({ url, adopted: values.adoptRole, writes }, (pool) => run(pool, context, wanted as Wanted));
}

type Wanted = Parameters<typeof createAccessToken>[1];

async function runCreate(pool: SystemPool, context: CommandContext, wanted: Wanted): Promise<number> {
  const { token, stored } = await createAccessToken(pool, wanted);
  if (context.flags.json) {
    context.print(JSON.stringify({ token, ...toJson(stored) }));
    return 0;
  }
  // Only the token goes to standard output, for scripts.
  context.print(token);
  context.note(`Id ${stored.id}, ${stored.scopes.join(' ')}, ${describeEnd(stored)}. It is not shown again.`);
  return 0;
}

async function runList(pool: SystemPool, context: CommandContext): Promise<number> {
  const found = await listAccessTokens(pool);
  if (context.flags.json) context.print(JSON.stringify(found.map(toJson)));
  else if (found.length === 0) context.note('There are no access tokens. To create one: pgreflect tokens create');
  else for (const token of found) context.print(describeToken(token, found));
  return 0;
}

async function runRevoke(pool: SystemPool, context: CommandContext): Promise<number> {
  const [, which] = context.operands;
  if (which === undefined || !(which === fixedTokenId || /^[0-9a-f-]{4,36}$/i.test(which))) {
    failCommand(
      'pgreflect tokens revoke needs the id of a token, or the first four or more of its digits.',
      'pgreflect tokens list',
    );
  }
  const id = which === fixedTokenId ? which : await findId(pool, which);
  const revoked = await pool.transaction((tx) => revokeAccessToken(tx, id, new Date()));
  if (context.flags.json) context.print(JSON.stringify(revoked.map(toJson)));
  else if (revoked.length === 0) context.note('No active token was created with --access-token.');
  else for (const token of revoked) context.print(`Revoked: ${token.id}  ${token.name}`);
  return 0;
}

async function findId(pool: SystemPool, start: string): Promise<string> {
  const found = (await listAccessTokens(pool)).filter(
    ({ id, revokedAt }) => revokedAt === null && id.startsWith(start.toLowerCase()),
  );
  const [only] = found;
  if (only === undefined)
    failCommand(`No active token has an id that begins with "${start}".`, 'pgreflect tokens list');
  if (found.length > 1)
    failCommand(
      `${found.length} ids begin with "${start}"; none was revoked.`,
      'Give more digits: pgreflect tokens list',
    );
  return only.id;
}

/** The new token as the flags describe it. */
function readWanted(context: CommandContext, projectRef: string | null): Wanted {
  const name = (flagText(context, 'name') ?? '').trim();
  if (name !== '' && !isTokenName(name)) failCommand('--name must be one line of at most 200 characters.');
  const createdAt = new Date();
  return {
    name: name === '' ? 'unnamed' : name,
    scopes: readScopes(flagText(context, 'scope')),
    projectRef,
    createdBy: null,
    createdAt,
    expiresAt: readEnd(flagText(context, 'expires'), createdAt),
  };
}

function readScopes(text: string | null): readonly AccessScope[] {
  if (text === null) return defaultScopes;
  const given = text.split(',').map((word) => word.trim());
  const unknown = given.find((word) => !accessScopes.includes(word as AccessScope));
  if (unknown !== undefined)
    failCommand(`--scope: there is no scope "${unknown}".`, `Scopes are: ${accessScopes.join(', ')}.`);
  return accessScopes.filter((scope) => given.includes(scope));
}

const unitMs: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

function readEnd(text: string | null, now: Date): Date | null {
  if (text === null) return null;
  const [, count, unit = ''] = /^([0-9]{1,6})([mhdwy])$/.exec(text.trim()) ?? [];
  const end =
    count === undefined
      ? (readTokenEnd(text.trim()) ?? new Date(Number.NaN))
      : new Date(now.getTime() + Number(count) * (unitMs[unit] ?? 0));
  if (end <= now) failCommand('--expires must be in the future.');
  if (!isTokenEnd(end, now))
    failCommand('--expires must be a time from now such as 12h, 30d or 1y, or a date such as 2030-01-31.');
  return end;
}

function describeToken(token: AccessToken, all: readonly AccessToken[]): string {
  const project = token.projectRef === null ? '' : `  project ${token.projectRef}`;
  const made = `${token.createdAt.toISOString().slice(0, 10)}${describeMaker(token, all)}`;
  return `${token.id}  made ${made}  ${describeEnd(token)}  ${token.scopes.join(' ')}${project}  ${token.name}`;
}

function describeMaker({ createdBy }: AccessToken, all: readonly AccessToken[]): string {
  if (createdBy === null) return '';
  if (createdBy === fixedTokenId) return ' with --access-token';
  const name = all.find(({ id }) => id === createdBy)?.name;
  return ` with ${createdBy.slice(0, 8)}${name === undefined ? '' : ` (${name})`}`;
}

function describeEnd({ expiresAt, revokedAt }: AccessToken): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString().slice(0, 10)}`;
  if (expiresAt === null) return 'never expires';
  return `${expiresAt.getTime() < Date.now() ? 'expired' : 'expires'} ${expiresAt.toISOString().slice(0, 16)}Z`;
}

function toJson({ id, name, scopes, projectRef, createdBy, createdAt, expiresAt, revokedAt }: AccessToken) {
  return {
    id,
    name,
    scopes,
    project_ref: projectRef,
    created_by: createdBy,
    created_at: createdAt,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  };
}
