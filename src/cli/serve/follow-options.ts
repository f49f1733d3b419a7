/**
 * Applies changes of the configuration file to a running gateway: exposed schemas and start values of the auth
 * configuration. A file with problems is reported and changes nothing.
 */
import { watchFile } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Sources } from '../../config/load-options.ts';
import type { Gateway } from '../../gateway.ts';
import { isAway } from '../../postgres/database-error.ts';
import { describeError } from '../shared/describe-error.ts';

interface FollowedOptions {
  readonly gateway: Pick<Gateway, 'expose' | 'configureAuth'>;
  /** The configuration at the start of the gateway. */
  readonly config: Config;
  readonly sources: Sources;
  /** Loads the options again. @throws ConfigError */
  readonly load: (sources: Sources) => Config;
  readonly note: (text: string) => void;
}

/** A running follower. */
export interface OptionsFollower {
  readAgain(): void;
  stop(): void;
}

/** Polling interval in milliseconds; editors and orchestrators replace files instead of writing them. */
const lookMs = 1000;

/** Starts following. */
export function followOptions({ gateway, config, sources, load, note }: FollowedOptions): OptionsFollower {
  let last = config;

  async function takeOver(): Promise<void> {
    // Problems of the command line were reported at the start; a process's environment does not change.
    const next = load({ ...sources, problems: [] });
    // First the part that needs no database.
    if (!isSameValue(authStart(last), authStart(next))) {
      await gateway.configureAuth(authStart(next));
      last = { ...last, ...authStart(next) };
      note('Reloaded the start values of the auth configuration.');
    }
    if (!isSameValue(last.schemas, next.schemas)) {
      const isRead = await gateway.expose(next.schemas).then(() => true, isLater);
      last = { ...last, schemas: next.schemas };
      const names = next.schemas?.join(', ') ?? "the login role's search path";
      note(`Exposed schemas are now: ${names}.${isRead ? '' : ' They are read when the database responds.'}`);
    }
  }

  // One after the other: a signal and a poll may coincide.
  let latest = Promise.resolve();
  const readAgain = () => {
    latest = latest
      .then(takeOver)
      .catch((error) => note(`The configuration was not reloaded.\n${describeError(error)}`));
  };
  const { configFile, environment, workingDirectory } = sources;
  const path = resolve(workingDirectory, configFile ?? (environment.PGREFLECT_CONFIG || 'pgreflect.toml'));
  const watcher = watchFile(path, { interval: lookMs }, readAgain);
  watcher.unref();
  // The file may have changed during the start.
  readAgain();
  return { readAgain, stop: () => void watcher.removeAllListeners() };
}

/** If the database is down, the gateway retries by itself. @throws Any other error. */
function isLater(error: unknown): false {
  if (!isAway(error)) throw error;
  return false;
}

function authStart({ authValues, authTemplates }: Config): Pick<Config, 'authValues' | 'authTemplates'> {
  return { authValues, authTemplates };
}

function isSameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
