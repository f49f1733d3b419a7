/**
 * Takes over what changes in the configuration file while a gateway runs: the exposed schemas and the start values of the auth
 * configuration. A file with problems is reported and changes nothing.
 */
import { watchFile } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Sources } from '../../config/load-options.ts';
import type { Gateway } from '../../gateway.ts';
import { isAway } from '../../postgres/failure.ts';
import { describeError } from '../shared/describe-error.ts';

interface FollowedOptions {
  readonly gateway: Pick<Gateway, 'expose' | 'configureAuth'>;
  /** The configuration that the gateway was started with. */
  readonly config: Config;
  readonly sources: Sources;
  /** Reads the options again. @throws ConfigError */
  readonly load: (sources: Sources) => Config;
  /** For people. */
  readonly note: (text: string) => void;
}

/** Following that has begun. */
export interface OptionsFollower {
  /** Reads the options again now. */
  readAgain(): void;
  stop(): void;
}

/** Milliseconds between two looks at the file: polled, because editors and orchestrators replace files instead of writing them. */
const lookMs = 1000;

/** Begins. */
export function followOptions({ gateway, config, sources, load, note }: FollowedOptions): OptionsFollower {
  let last = config;

  async function takeOver(): Promise<void> {
    // The command line was reported on when it was read; the environment of a process does not change.
    const next = load({ ...sources, problems: [] });
    // First what needs no database.
    if (!isSame(authStart(last), authStart(next))) {
      await gateway.configureAuth(authStart(next));
      last = { ...last, ...authStart(next) };
      note('Reloaded the start values of the auth configuration.');
    }
    if (!isSame(last.schemas, next.schemas)) {
      const isRead = await gateway.expose(next.schemas).then(() => true, isLater);
      last = { ...last, schemas: next.schemas };
      const names = next.schemas?.join(', ') ?? "the login role's search path";
      note(`Exposed schemas are now: ${names}.${isRead ? '' : ' They are read when the database responds.'}`);
    }
  }

  // One after the other: a signal and a look at the file may come together.
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
  // The start took a while.
  readAgain();
  return { readAgain, stop: () => void watcher.removeAllListeners() };
}

/** Whoever exposes them goes on trying where the database is away. @throws Whatever else it was. */
function isLater(error: unknown): false {
  if (!isAway(error)) throw error;
  return false;
}

function authStart({ authValues, authTemplates }: Config): Pick<Config, 'authValues' | 'authTemplates'> {
  return { authValues, authTemplates };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
