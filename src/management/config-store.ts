/**
 * The current auth configuration: defaults, overridden by start values, overridden by values that the management API
 * stored.
 *
 * Immutable snapshots. A change applies to every request that starts after it was answered, on any process: each
 * request compares the version (`refreshIfNewer`) on a connection it uses anyway. Notifications only make that
 * comparison cheaper. A request keeps the snapshot it started with.
 */
import { type AuthConfig, type AuthValues, layerAuthConfig } from '../config/auth/auth-config.ts';
import { authFieldNames, isAuthFieldName } from '../config/auth/auth-fields.ts';
import { DatabaseError, isMissingTable } from '../postgres/database-error.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import type { Observe } from '../shared/observation.ts';
import { configFields, type StoredValues } from './config-fields.ts';
import { emptyStored, readIfNewer, type StoredConfig } from './stored-config.ts';

/** The configuration at one moment. */
export interface ConfigSnapshot {
  /** Version of the stored values; 0 if nothing is stored or stored values are ignored. */
  readonly version: number;
  /** The stored values, including inert fields. */
  readonly stored: StoredValues;
  readonly start: AuthValues;
  readonly config: AuthConfig;
}

interface ConfigStoreOptions {
  /** Ref of the project; called at the first read of the database. */
  readonly ref: (database: Queryable) => Promise<string>;
  readonly startValues: AuthValues;
  /** Ignore stored values (`--config-only`). */
  readonly configOnly: boolean;
  readonly observe: Observe;
}

/** Keeps the configuration of one project current. Before the first refresh, it has the start values. */
export class ConfigStore {
  /** Stored values are ignored. */
  readonly configOnly: boolean;
  readonly #ref: ConfigStoreOptions['ref'];
  readonly #observe: Observe;
  #snapshot: ConfigSnapshot;
  /** Reads are numbered in the order of their start; the snapshot came from read number `#appliedRead`. */
  #reads = 0;
  #appliedRead = 0;
  #lastProblem: string | null = null;
  #toldOverrides = false;

  constructor({ ref, startValues, configOnly, observe }: ConfigStoreOptions) {
    this.configOnly = configOnly;
    this.#ref = ref;
    this.#observe = observe;
    this.#snapshot = { ...emptySnapshot, start: startValues, config: layerAuthConfig(startValues) };
  }

  /** Version of the stored values; 0 for none. */
  get version(): number {
    return this.#snapshot.version;
  }

  /** The cached configuration, without a database query. */
  current(): AuthConfig {
    return this.#snapshot.config;
  }

  snapshot(): ConfigSnapshot {
    return this.#snapshot;
  }

  /**
   * The committed configuration: reads one row before the first statement of a request.
   *
   * @param database The pool, or the connection of the request.
   * @throws DatabaseError if the query fails. If the stored values are unreadable, the last valid configuration stays,
   *   and the reason is observed once.
   */
  async refreshIfNewer(database: Queryable): Promise<AuthConfig> {
    if (this.configOnly) return this.#snapshot.config;
    this.#reads += 1;
    const read = this.#reads;
    const known = this.#snapshot;
    let stored: StoredConfig | null;
    try {
      stored = await readIfNewer(database, await this.#ref(database), known.version);
      this.#lastProblem = null;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.kind !== 'statement') throw error;
      this.#noteUnreadable(error);
      return this.#snapshot.config;
    }
    // The version was unchanged when this read began; a later read may have brought a newer one meanwhile.
    if (stored === null) return this.#snapshot.version >= known.version ? this.#snapshot.config : known.config;
    return this.#apply(stored, read).config;
  }

  /** Applies values that this process has just stored. */
  accept(stored: StoredConfig): ConfigSnapshot {
    this.#reads += 1;
    return this.#apply(stored, this.#reads);
  }

  /** Replaces the start values, for example after a file was read again. */
  setStartValues(values: AuthValues): void {
    this.#snapshot = this.#buildAbove(values);
  }

  /** The configuration with other start values. */
  configWith(values: AuthValues): AuthConfig {
    return this.#buildAbove(values).config;
  }

  #buildAbove(start: AuthValues): ConfigSnapshot {
    return this.#build({ version: this.#snapshot.version, values: this.#snapshot.stored }, start);
  }

  /** If a later read finished first, this result only serves its own request, unless its version is newer. */
  #apply(stored: StoredConfig, read: number): ConfigSnapshot {
    const snapshot = this.#build(stored, this.#snapshot.start);
    if (read > this.#appliedRead || stored.version > this.#snapshot.version) {
      this.#snapshot = snapshot;
      this.#appliedRead = Math.max(read, this.#appliedRead);
    }
    this.#tellOverrides(snapshot);
    return snapshot;
  }

  #build({ version, values }: StoredConfig, start: AuthValues): ConfigSnapshot {
    const effective: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(values)) {
      const known = configFields.get(name);
      if (known === undefined || !isAuthFieldName(name)) continue;
      try {
        // Another program version may have stored it.
        effective[name] = known.row.kind.parse(value);
      } catch (error) {
        this.#warnOnce(`The stored value of ${name} ${(error as Error).message}; its start value is used instead.`);
      }
    }
    return { version, stored: values, start, config: layerAuthConfig(start, effective as AuthValues) };
  }

  #noteUnreadable(error: DatabaseError): void {
    // Without our tables nothing can be stored, which is no problem of this process.
    if (isMissingTable(error)) return;
    this.#warnOnce(
      `The stored auth configuration cannot be read (${error.primary}); the last one known stays in force.`,
      // Our own refusal says by itself what to do.
      error.sqlstate === '42501' && !error.raised ? 'Set --admin-database-url to the login of the auth service.' : null,
    );
  }

  #warnOnce(message: string, hint: string | null = null): void {
    if (this.#lastProblem === message) return;
    this.#lastProblem = message;
    this.#observe({ kind: 'warning', message, ...(hint === null ? {} : { hint }) });
  }

  /** Logged once, after the start; later changes are deliberate. */
  #tellOverrides({ stored, start }: ConfigSnapshot): void {
    if (this.#toldOverrides) return;
    this.#toldOverrides = true;
    const names = authFieldNames.filter((name) => Object.hasOwn(stored, name) && Object.hasOwn(start, name));
    if (names.length === 0) return;
    const message = `Values stored by the management API override these start values: ${names.join(', ')}.`;
    this.#observe({ kind: 'warning', message, hint: 'Start with --config-only to ignore stored configuration.' });
  }
}

const emptySnapshot = { version: emptyStored.version, stored: emptyStored.values };
