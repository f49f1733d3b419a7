/**
 * Applies changes of the configuration, and of the files that it names, to a running gateway. Options that need a
 * restart are named, or left to who can restart. A configuration with problems is reported and changes nothing.
 */
import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { resolve } from 'node:path';
import { namedInFile } from '../../change-options.ts';
import type { Config } from '../../config/config.ts';
import { changedOptions, isSameValue } from '../../config/live-config.ts';
import type { Sources } from '../../config/load-options.ts';
import type { Gateway } from '../../gateway.ts';
import { isAway } from '../../postgres/database-error.ts';
import { describeError } from '../shared/describe-error.ts';

interface FollowedOptions {
  readonly gateway: Pick<Gateway, 'changeOptions' | 'expose' | 'configureAuth'>;
  /** The configuration at the start of the gateway. */
  readonly config: Config;
  readonly sources: Sources;
  /** Loads the options again. @throws ConfigError */
  readonly load: (sources: Sources) => Config;
  readonly note: (text: string) => void;
  /** Called when a configuration was taken over, with the names of what needs a restart. Default: a note names them. */
  readonly onTaken?: (needRestart: readonly string[]) => void;
  /** False: another process looks at the files, and says when to read them again. */
  readonly watches?: boolean;
}

/** A running follower. */
export interface OptionsFollower {
  readAgain(): void;
  stop(): void;
}

/** Polling interval in milliseconds; editors and orchestrators replace files instead of writing them. */
const lookMs = 1000;
/** How long a changed file must stay as it is before it is read, in milliseconds: some programs write in steps. */
const settledMs = 500;

/** Starts following. */
export function followOptions(options: FollowedOptions): OptionsFollower {
  const { gateway, config, sources, load, note, onTaken, watches = true } = options;
  let last = config;

  async function takeOver(isAsked: boolean): Promise<void> {
    // Problems of the command line were reported at the start; a process's environment does not change.
    const next = load({ ...sources, problems: [], onFile: watch });
    const { needRestart } = changedOptions(last, next);
    const { applied, warnings } = await gateway.changeOptions(next);
    let isSilent = needRestart.length === 0 || onTaken === undefined;
    const say = (text: string) => {
      isSilent = false;
      note(text);
    };
    for (const warning of warnings) say(`Warning: ${warning}`);
    if (applied.length > 0) say(`Reloaded: ${applied.join(', ')}.`);
    last = { ...next, ...pick(last) };
    // What is again as at the start needs none.
    const others = changedOptions(config, next).needRestart.filter((name) => needRestart.includes(name));
    if (onTaken !== undefined) onTaken(needRestart);
    else if (others.length > 0) say(`Warning: A restart is needed for: ${others.map(namedInFile).join(', ')}.`);
    // First the part that needs no database.
    if (!isSameValue(authStart(last), authStart(next))) {
      await gateway.configureAuth(authStart(next));
      last = { ...last, ...authStart(next) };
      say('Reloaded the start values of the auth configuration.');
    }
    if (!isSameValue(last.schemas, next.schemas)) {
      const isRead = await gateway.expose(next.schemas).then(() => true, isLater);
      last = { ...last, schemas: next.schemas };
      const names = next.schemas?.join(', ') ?? "the login role's search path";
      say(`Exposed schemas are now: ${names}.${isRead ? '' : ' They are read when the database responds.'}`);
    }
    if (isAsked && isSilent) note('The configuration was read again: nothing to change.');
  }

  // One after the other: a signal and a poll may coincide.
  let latest = Promise.resolve();
  const read = (isAsked: boolean) => {
    latest = latest
      .then(() => takeOver(isAsked))
      .catch((error) => note(`Error: The configuration was not reloaded.\n${describeError(error)}`));
  };
  const readAgain = () => read(true);
  const watched = new Map<string, (now: Stats, before: Stats) => void>();
  let settling: NodeJS.Timeout | null = null;
  const watch = (path: string) => {
    if (!watches || watched.has(path)) return;
    const onChange = (now: Stats, before: Stats) => {
      if (isOpen(now) && !isOpen(before))
        note(`Warning: every user of this machine can read ${path} now: chmod o-r ${path}`);
      if (settling !== null) clearTimeout(settling);
      settling = setTimeout(readAgain, settledMs).unref();
    };
    watched.set(path, onChange);
    watchFile(path, { interval: lookMs }, onChange).unref();
  };
  watch(configFileOf(sources));
  // The files may have changed during the start.
  read(false);
  return {
    readAgain,
    stop() {
      if (settling !== null) clearTimeout(settling);
      for (const [path, onChange] of watched) unwatchFile(path, onChange);
    },
  };
}

function configFileOf({ environment, workingDirectory, configFile }: Sources): string {
  return resolve(workingDirectory, configFile ?? (environment.PGREFLECT_CONFIG || 'pgreflect.toml'));
}

/** Whether a file that is there may be read by all. */
function isOpen({ mode, nlink }: Stats): boolean {
  return nlink > 0 && (mode & 0o004) !== 0;
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
