/**
 * The configuration of a running gateway: one object for all its parts, in which some options get other values
 * (`inPlace` in options.ts). Who reads an option each time has its present value. What is made of a value is made again
 * when another one is there (`madeOf`).
 */
import type { Config, Limits } from './config.ts';
import { type OptionName, optionNames, optionOf } from './options.ts';

/** Members of a `Config` that differ. */
export interface ChangedOptions {
  /** A running gateway takes them over. */
  readonly inPlace: readonly string[];
  readonly needRestart: readonly string[];
}

/** A configuration whose members may get other values. */
export class LiveConfig {
  /** The same object for as long as the gateway runs. */
  readonly current: Config;
  readonly #members: Record<string, unknown>;
  readonly #limits: Record<string, unknown>;

  constructor(start: Config) {
    this.#limits = { ...start.limits };
    this.#members = { ...start, limits: this.#limits };
    this.current = this.#members as unknown as Config;
  }

  /** Takes over what changes in place. Values that are equal stay the same objects. */
  take(next: Config): void {
    for (const name of changedOptions(this.current, next).inPlace) {
      if (name in this.#limits) this.#limits[name] = next.limits[name as keyof Limits];
      else this.#members[name] = next[name as keyof Config];
    }
  }
}

/** What differs. The auth configuration and the exposed schemas have ways of their own, and are not compared. */
export function changedOptions(before: Config, after: Config): ChangedOptions {
  const [old, present] = [membersOf(before), membersOf(after)];
  const changed = Object.keys(present).filter((name) => !isSameValue(old[name], present[name]));
  const isInPlace = (name: string) =>
    name === 'readReplicaUrls'
      ? before.readReplicaUrls.length === after.readReplicaUrls.length
      : inPlaceNames.has(name);
  return { inPlace: changed.filter(isInPlace), needRestart: changed.filter((name) => !isInPlace(name)) };
}

const inPlaceNames: ReadonlySet<string> = new Set<OptionName>(
  optionNames.filter((name) => optionOf(name).inPlace === true),
);

function membersOf(config: Config): Readonly<Record<string, unknown>> {
  const { limits, schemas: _schemas, authValues: _values, authTemplates: _templates, ...others } = config;
  return { ...limits, ...others };
}

/** Whether two values of options are equal. */
export function isSameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
