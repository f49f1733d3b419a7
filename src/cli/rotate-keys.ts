/**
 * `pgreflect keys --rotate`, `--standby` and `--retire`: replaces the file of the keys, or prints the keys. Without any, they are
 * those of the project that `pgreflect start` keeps in the directory.
 */
import { existsSync } from 'node:fs';
import { loadAuthConfig } from '../config/auth/load-auth-config.ts';
import { tokenSeconds as secondsOf } from '../config/auth/token-seconds.ts';
import type { ConfigFile } from '../config/config-file.ts';
import { isSigner, type JsonWebKeyMember, parseJsonWebKeys } from '../config/json-web-keys.ts';
import { type ApiKeys, findSigningKey, makeApiKeys } from '../config/keys.ts';
import {
  addStandby,
  hasStandby,
  promoteStandby,
  retireOld,
  type SigningKeys,
  secretKey,
  tokensEnd,
} from '../config/rotate-keys.ts';
import { type CommandContext, failCommand, flagText, resolveTypedPath } from './shared/command.ts';
import {
  findRunningProject,
  type LocalProject,
  projectDirectory,
  projectFile,
  readProject,
  writeProject,
} from './shared/local-project.ts';
import { failChanged, replaceFile } from './shared/replace-file.ts';

interface GivenKeys {
  readonly jwtSecret: string | null;
  readonly jwtKeys: SigningKeys | null;
  readonly anonRole: string | null;
  readonly serviceRole: string | null;
}

/**
 * Changes the keys.
 *
 * @param files The file that they came from, and that of the configuration.
 * @returns New API keys; null where the one that signs is the same.
 * @throws CommandError also where access tokens of a key that would go may still be used.
 */
export async function rotateKeys(
  given: GivenKeys,
  { source, config }: { readonly source: string | null; readonly config: ConfigFile },
  context: CommandContext,
): Promise<ApiKeys | null> {
  const directory = projectDirectory(context.sources.workingDirectory);
  const out = flagText(context, 'out');
  const isGiven = given.jwtSecret !== null || given.jwtKeys !== null || out !== null;
  const project = isGiven ? null : readProject(directory);
  const before = project === null ? presentKeys(given) : (project.jwtKeys ?? [secretKey(project.jwtSecret)]);
  const after = await changeKeys(before, context);
  const gone = before.filter((key) => !after.some((kept) => isSameKey(kept, key)));
  const seconds = await tokenSeconds(context, config, project !== null);
  if (context.flags.retire && !context.flags.force) refuseWhileUsed(gone, seconds);
  const [signer, old] = [findSigningKey(after), findSigningKey(before)];
  const isOther = signer !== null && signer !== old;
  const apiKeys = isOther ? await makeApiKeys(signer, given.anonRole!, given.serviceRole!) : null;
  if (project === null) keepKeys(after, given, { out, source, context });
  else keepInProject(directory, project, { jwtKeys: after, ...apiKeys });
  for (const key of after) context.note(`${nameOf(key)} ${stateOf(key, after)}.${lastsOf(key, seconds)}`);
  for (const key of gone)
    context.note(`${nameOf(key)} was removed. Access tokens and API keys that it signed are refused from now on.`);
  if (context.flags.retire && gone.length === 0) context.note('There is no earlier key: nothing has changed.');
  return apiKeys;
}

function isSameKey(one: JsonWebKeyMember, other: JsonWebKeyMember): boolean {
  return one.k === other.k && one.n === other.n && one.x === other.x && one.y === other.y;
}

/** Lifetime of access tokens: the one that a running project has, otherwise that of the environment and the configuration file. */
async function tokenSeconds({ sources }: CommandContext, file: ConfigFile, isProject: boolean): Promise<number> {
  const running = isProject ? findRunningProject(projectDirectory(sources.workingDirectory)) : null;
  const stored = running === null ? null : await readStored(running);
  const { path, isNamed, auth } = file;
  const origins = { flags: sources.authFlags, file: auth, isNamed, fileName: path ?? 'pgreflect.toml' };
  return secondsOf(stored ?? loadAuthConfig({ ...sources, ...origins }).config);
}

/** Null where the project does not answer. */
async function readStored({ url, ref, accessToken }: ReturnType<typeof findRunningProject> & object) {
  try {
    const headers = { authorization: `Bearer ${accessToken}` };
    const response = await fetch(`${url}/v1/projects/${ref}/config/auth`, { headers });
    const config = (await response.json()) as { readonly jwt_exp?: unknown };
    return typeof config.jwt_exp === 'number' ? { jwt_exp: config.jwt_exp } : null;
  } catch {
    return null;
  }
}

/** @throws CommandError */
function refuseWhileUsed(gone: SigningKeys, seconds: number): void {
  const used = gone.filter((key) => (tokensEnd(key, seconds) ?? 0) > Date.now());
  const [last] = used.sort((one, other) => tokensEnd(other, seconds)! - tokensEnd(one, seconds)!);
  if (last === undefined) return;
  failCommand(
    `Access tokens that ${nameOf(last, 'the')} signed can be in use until ${timeOf(tokensEnd(last, seconds)!)}. Nothing was removed.`,
    'Wait until then, and give all clients the new API keys. If the key has leaked: --retire --force; users get new access tokens with their refresh tokens.',
  );
}

function timeOf(at: number): string {
  return new Date(at).toISOString().replace(/T(.*)\..*/, ' $1 UTC');
}

/** How long there is something to verify with a key. */
function lastsOf(key: JsonWebKeyMember, seconds: number): string {
  const at = tokensEnd(key, seconds);
  if (at === null || isSigner(key)) return '';
  const tokens =
    at > Date.now()
      ? `The last access token that it signed expires at ${timeOf(at)}`
      : 'Its access tokens have expired';
  return ` ${tokens}; API keys that it signed are good until it is retired.`;
}

interface Place {
  readonly out: string | null;
  readonly source: string | null;
  readonly context: CommandContext;
}

function keepKeys(after: SigningKeys, { jwtKeys }: GivenKeys, { out, source, context }: Place): void {
  const file = out === null ? source : resolveTypedPath(context, out);
  const text = JSON.stringify(after, null, file === null ? undefined : 2);
  if (file === null) context.print(`PGREFLECT_JWT_KEYS='${text}'`);
  else {
    if (file !== source) refuseOther(file);
    replaceFile(file, `${text}\n`, (present) => isSame(readKeys(present), jwtKeys));
  }
  if (jwtKeys === null)
    context.note('Remove jwt_secret (PGREFLECT_JWT_SECRET) where you set jwt_keys: the secret is one of the keys now.');
}

/** Keys of another file may be those that sign. @throws CommandError */
function refuseOther(file: string): void {
  if (!existsSync(file)) return;
  failCommand(
    `"${file}" exists already, and was not read. Nothing was changed.`,
    'Give it with --jwt-keys as well, or name a new file with --out.',
  );
}

/** Null: somebody writes the file. */
function readKeys(text: string): SigningKeys | null {
  try {
    return parseJsonWebKeys(text);
  } catch {
    return null;
  }
}

function keepInProject(directory: string, before: LocalProject, changes: Partial<LocalProject>): void {
  if (!isSame(readProject(directory), before)) failChanged(projectFile(directory));
  writeProject(directory, { ...before, ...changes });
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function presentKeys({ jwtKeys, jwtSecret }: Pick<GivenKeys, 'jwtKeys' | 'jwtSecret'>): SigningKeys {
  if (jwtKeys === null && jwtSecret === null)
    failCommand(
      'There is no key to rotate.',
      'Give --jwt-keys FILE, or --jwt-secret SECRET, or run it in the directory of a project of `pgreflect start`.',
    );
  const keys = jwtKeys ?? [];
  const secret = jwtSecret === null ? null : secretKey(jwtSecret);
  const isThere = secret === null || keys.some((key) => isSameKey(key, secret));
  if (findSigningKey(keys) !== null) return isThere ? keys : [...keys, asOld(secret)];
  if (secret === null) failCommand('None of the keys of --jwt-keys has `sign` in key_ops.');
  return [secret, ...keys];
}

function asOld(key: JsonWebKeyMember): JsonWebKeyMember {
  return { ...key, key_ops: ['verify'] };
}

async function changeKeys(keys: SigningKeys, { flags }: CommandContext): Promise<SigningKeys> {
  const { rotate, standby, retire, asymmetric } = flags;
  if ([rotate, standby, retire].filter(Boolean).length > 1)
    failCommand('--rotate, --standby and --retire are steps of their own.', 'Give one of them at a time.');
  if (flags.force && !retire) failCommand('--force is for --retire.');
  if (retire) return retireOld(keys);
  if (standby && hasStandby(keys))
    failCommand('There is a standby key already.', 'pgreflect keys --rotate lets it sign.');
  const next = hasStandby(keys) ? keys : await addStandby(keys, Boolean(asymmetric));
  return standby ? next : promoteStandby(next);
}

function nameOf({ kid, kty }: JsonWebKeyMember, article: 'The' | 'the' = 'The'): string {
  if (kid !== undefined) return `${article} key ${kid}`;
  return `${article} ${kty === 'oct' ? 'secret' : 'key'} without an id`;
}

function stateOf(key: JsonWebKeyMember, keys: SigningKeys): string {
  if (isSigner(key)) return 'signs';
  return keys.indexOf(key) < keys.findIndex(isSigner) ? 'is on standby: it verifies' : 'verifies';
}
