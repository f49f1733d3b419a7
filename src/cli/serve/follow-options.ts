/**
 * Applies changes of the configuration, and of the files that it names, to a running gateway: exposed schemas and start
 * values of the auth configuration. Other changed options are named, because they need a restart. A configuration with
 * problems is reported and changes nothing.
 */
import { unwatchFile, watchFile } from 'node:fs';
import { resolve } from 'node:path';
import { snakeCase } from 'change-case';
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
    const next = load({ ...sources, problems: [], onFile: watch });
    const fixed = differences(last, next).filter((name) => !changedInPlace.has(name));
    if (fixed.length > 0) note(`A restart is needed for: ${fixed.map((name) => snakeCase(name)).join(', ')}.`);
    last = { ...next, ...pick(last) };
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
  const { environment, workingDirectory } = sources;
  const configFile = resolve(
    workingDirectory,
    sources.configFile ?? (environment.PGREFLECT_CONFIG || 'pgreflect.toml'),
  );
  const watched = new Set<string>();
  const watch = (path: string) => {
    if (watched.has(path)) return;
    watched.add(path);
    watchFile(path, { interval: lookMs }, readAgain).unref();
  };
  watch(configFile);
  // The files may have changed during the start.
  readAgain();
  return {
    readAgain,
    stop() {
      for (const path of watched) unwatchFile(path, readAgain);
    },
  };
}

/** What a running gateway takes over. */
const changedInPlace: ReadonlySet<string> = new Set<keyof Config>(['schemas', 'authValues', 'authTemplates']);

/** Names of what differs. */
function differences(a: Config, b: Config): readonly string[] {
  const [before, after] = [a, b].map(
    (config) => new Map(Object.entries({ ...config.limits, ...config, limits: null })),
  );
  return [...after!.keys()].filter((name) => !isSameValue(before!.get(name), after!.get(name)));
}

function pick({
  schemas,
  authValues,
  authTemplates,
}: Config): Pick<Config, 'schemas' | 'authValues' | 'authTemplates'> {
  return { schemas, authValues, authTemplates };
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
