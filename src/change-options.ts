/**
 * Gives a running gateway other values of its options. What could go wrong is tried first, so a configuration that does
 * not work changes nothing.
 */
import { canSign, type OpenAuth } from './auth/open-auth.ts';
import type { Config } from './config/config.ts';
import { ConfigError, type Problem } from './config/config-error.ts';
import { forDriver } from './config/connection-url.ts';
import { changedOptions, type LiveConfig } from './config/live-config.ts';
import { fileKey, optionNames, optionOf } from './config/options.ts';
import { checkLogin } from './postgres/wire/check-login.ts';
import { type FailureReason, failureReasons } from './postgres/wire/connection-failure.ts';
import { type LoginName, loginOf } from './postgres/wire/login.ts';
import type { Authenticate } from './server/caller/authenticate.ts';

interface ChangingParts {
  readonly live: LiveConfig;
  readonly authenticate: Pick<Authenticate, 'prepare'>;
  readonly auth: Pick<OpenAuth, 'prepareSigner'> | null;
}

/** What changed, for people. */
export interface AppliedChange {
  /** Names as in the configuration file. */
  readonly applied: readonly string[];
  readonly warnings: readonly string[];
}

/** Callers are verified again when one of these has changed. */
const keyNames: ReadonlySet<string> = new Set(optionNames.filter((name) => optionOf(name).group === 'Keys and roles'));

const signingNames: ReadonlySet<string> = new Set<keyof Config>(['jwtKeys', 'jwtSecret']);

/** @throws ConfigError with every problem; nothing has changed then. */
export async function changeOptions({ live, authenticate, auth }: ChangingParts, next: Config): Promise<AppliedChange> {
  const { inPlace } = changedOptions(live.current, next);
  const changesKeys = inPlace.some((name) => keyNames.has(name));
  const [logins, replaceKeys] = await Promise.all([
    checkLogins(live.current, next),
    changesKeys ? prepareKeys(next, authenticate, auth) : { problems: [], replace: [] },
  ]);
  const problems = [...logins.flatMap(problemOf), ...replaceKeys.problems];
  if (problems.length > 0) throw new ConfigError(problems);
  const fixedKeys = fixedKeysOf(inPlace, next);
  live.take(next);
  for (const replace of replaceKeys.replace) replace();
  for (const { login, reason } of logins)
    if (reason === null) loginOf(live.current, login).made(forDriver(urlOf(next, login)));
  return { applied: inPlace.map(namedInFile), warnings: [...fixedKeys, ...logins.flatMap(warningOf)] };
}

/** What to say where API keys of a new signing key are refused, and old ones stay good, because the configuration has one. */
function fixedKeysOf(changed: readonly string[], { anonKey, serviceKey, localProject }: Config): readonly string[] {
  const given = Object.entries({ anonKey, serviceKey }).filter(
    ([name, key]) => key !== null && !changed.includes(name),
  );
  if (given.length === 0 || localProject || !changed.some((name) => signingNames.has(name))) return [];
  const names = given.map(([name]) => namedInFile(name)).join(' and ');
  return [
    `${names}: set, so no API key of another signing key is accepted. Remove what sets them, or set the new ones.`,
  ];
}

interface CheckedLogin {
  readonly login: LoginName;
  readonly reason: FailureReason | null;
}

/** Those that have changed. */
async function checkLogins(before: Config, next: Config): Promise<readonly CheckedLogin[]> {
  const replicas =
    next.readReplicaUrls.length === before.readReplicaUrls.length ? [...next.readReplicaUrls.keys()] : [];
  const changed = (['databaseUrl', 'adminDatabaseUrl', ...replicas] as const).filter(
    (login) => urlOf(before, login) !== urlOf(next, login),
  );
  return Promise.all(changed.map(async (login) => ({ login, reason: await checkLogin(urlOf(next, login)) })));
}

function urlOf(config: Config, login: LoginName): string {
  return typeof login === 'number' ? (config.readReplicaUrls[login] ?? '') : config[login];
}

/** A password may be changed here before it is in the database, and a replica may be away. */
function problemOf({ login, reason }: CheckedLogin): readonly Problem[] {
  if (reason === null || reason === 'login_refused' || typeof login === 'number') return [];
  const problem = `${namedInFile(login)}: ${failureReasons[reason]}`;
  return [{ problem, fix: 'The gateway goes on with the connection that it has.' }];
}

function warningOf({ login, reason }: CheckedLogin): readonly string[] {
  if (reason === null) return [];
  const name = typeof login === 'number' ? 'read_replica_url' : namedInFile(login);
  const meanwhile = reason === 'login_refused' ? ' Until it is accepted, the one before is used as well.' : '';
  return [`${name}: ${failureReasons[reason]}${meanwhile}`];
}

async function prepareKeys(
  next: Config,
  authenticate: ChangingParts['authenticate'],
  auth: ChangingParts['auth'],
): Promise<{ readonly problems: readonly Problem[]; readonly replace: readonly (() => void)[] }> {
  if (auth !== null && !canSign(next)) {
    const problem = 'No key signs tokens any more, and the auth service is running.';
    return { problems: [{ problem, fix: 'Keep a key with `sign` in key_ops, or restart.' }], replace: [] };
  }
  try {
    return {
      problems: [],
      replace: await Promise.all([authenticate.prepare(next), ...(auth === null ? [] : [auth.prepareSigner(next)])]),
    };
  } catch (error) {
    return { problems: [{ problem: `A key cannot be used: ${(error as Error).message}`, fix: null }], replace: [] };
  }
}

/** The name of a member of the configuration as the file has it. */
export function namedInFile(name: string): string {
  return name === 'readReplicaUrls' ? 'read_replica_url' : fileKey(name as never);
}
