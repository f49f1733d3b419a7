/**
 * Keeps the reflection fresh: reads the catalog at start, when somebody finds it stale, on a signal or notification, and
 * when the check at an interval sees a change.
 *
 * Readers never wait for each other: loads that are wanted at the same time are one load, and a load serves everybody who
 * asked before it began. The old reflection stays in use until the new one is whole.
 */
import DataLoader from 'dataloader';
import { pollAtInterval } from '../catalog/poll.ts';
import { readCatalog, readFingerprint } from '../catalog/read-catalog.ts';
import { omissionsOf } from '../model/explain-missing.ts';
import type { Omission } from '../model/model-context.ts';
import type { SystemPool } from '../postgres/system/run-system.ts';
import type { Observe } from '../shared/observation.ts';
import { Reflection, type ReflectionOptions, type RoleReflection } from './reflection.ts';

/** Where the catalog is read from, for whom, and how often it is compared. */
export interface ReflectorOptions extends ReflectionOptions {
  readonly systemPool: SystemPool;
  /** Namespaces to expose; null: the login role's search path. */
  readonly schemas: readonly string[] | null;
  /** Interval of the comparison in milliseconds; null: somebody else compares, and says so. */
  readonly pollMs: number | null;
  readonly observe: Observe;
}

/** How long a role that does not exist is believed not to, in milliseconds, and how many at once. */
const absentForMs = 1000;
const maxAbsent = 1000;

/** The keeper of the current reflection. */
export class Reflector {
  readonly #options: ReflectorOptions;
  #schemas: readonly string[] | null;
  readonly #rolesWanted: DataLoader<string, RoleReflection | null>;
  #absent = { until: 0, roles: new Set<string>() };
  #current: Reflection | null = null;
  #running: { readonly since: number; readonly done: Promise<Reflection> } | null = null;
  #next: Promise<Reflection> | null = null;
  #checking: Promise<boolean> | null = null;
  #endPoll = () => {};
  #problem: string | null = 'The schema has not been read yet.';

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#schemas = options.schemas;
    // Roles that are asked for together become one question.
    this.#rolesWanted = new DataLoader((roles) => this.#readNewRoles(roles), { cache: false });
  }

  /** Reads the catalog and begins the check at an interval. Rejects when the first read fails; the check goes on trying. */
  async start(): Promise<void> {
    const { pollMs } = this.#options;
    // What a failed check did not find is found by the load, or by the requests themselves.
    if (pollMs !== null) this.#endPoll = pollAtInterval(() => this.refreshIfChanged('interval'), pollMs);
    await this.readSince(performance.now(), 'start');
  }

  /** Ends the check. Loads that are under way end by themselves. */
  stop(): void {
    this.#endPoll();
  }

  /** Why there is no usable reflection, null when there is one. */
  problem(): string | null {
    return this.#problem;
  }

  /** The reflection in use; null: there is none yet. */
  current(): Reflection | null {
    return this.#current;
  }

  /** Other namespaces to expose from now on. */
  async expose(schemas: readonly string[] | null): Promise<void> {
    this.#schemas = schemas;
    await this.readSince(performance.now(), 'configuration');
  }

  /**
   * What a role sees; null when there is no such role. `since` demands a catalog that was read after that time, null
   * takes the current one.
   */
  async role(role: string, since: number | null): Promise<RoleReflection | null> {
    const reflection =
      since === null
        ? (this.#current ?? (await this.readSince(performance.now(), 'first')))
        : await this.readSince(since, 'stale');
    const known = reflection.role(role);
    return known !== null || since !== null ? known : this.#newRole(role);
  }

  /** What is left out of the schema of a role, and why; empty where there is no such role. */
  async omissions(role: string): Promise<readonly Omission[]> {
    const reflection = await this.role(role, null);
    return reflection === null ? [] : omissionsOf(reflection.catalog, reflection);
  }

  /** A reflection whose catalog was read after `since`: the current one, the one under way, or a new one. */
  readSince(since: number, reason: string): Promise<Reflection> {
    if (this.#current !== null && this.#current.readStartedAt >= since) return Promise.resolve(this.#current);
    if (this.#running !== null && this.#running.since >= since) return this.#running.done;
    if (this.#running === null) return this.#load(reason);
    this.#next ??= this.#running.done.then(
      () => this.#load(reason),
      () => this.#load(reason),
    );
    return this.#next;
  }

  /** Compares the catalog with what was read; true where it changed and has been read again, by whomever. */
  async refreshIfChanged(reason: string): Promise<boolean> {
    this.#checking ??= this.#check(reason).finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  /** The same by a comparison that begins after this call: one that is under way may have looked before. */
  async refreshIfChangedSinceNow(reason: string): Promise<boolean> {
    await this.#checking?.catch(() => {});
    return this.refreshIfChanged(reason);
  }

  /** Takes notice of what somebody else found: reads the catalog again where the model was made from another one. */
  async compare(fingerprint: string): Promise<void> {
    await this.#settled();
    if (this.#current?.catalog.fingerprint !== fingerprint) await this.readSince(performance.now(), 'interval');
  }

  async #check(reason: string): Promise<boolean> {
    const before = this.#current;
    await this.#settled();
    const current = this.#current;
    if (current !== null) {
      const fingerprint = await readFingerprint(this.#options.systemPool, this.#schemas);
      if (fingerprint === current.catalog.fingerprint) return current !== before;
    }
    await this.readSince(performance.now(), reason);
    return true;
  }

  /** What is being read has been: it may hold what a comparison would find, and reading a large catalog twice takes seconds. */
  async #settled(): Promise<void> {
    await this.#running?.done.catch(() => {});
  }

  #load(reason: string): Promise<Reflection> {
    this.#next = null;
    const since = performance.now();
    const done = this.#read(since, reason).finally(() => {
      if (this.#running?.done === done) this.#running = null;
    });
    this.#running = { since, done };
    return done;
  }

  async #read(since: number, reason: string): Promise<Reflection> {
    const { systemPool, observe } = this.#options;
    try {
      const catalog = await readCatalog(systemPool, this.#schemas);
      const reflection = new Reflection(catalog, since, this.#options, this.#current);
      this.#current = reflection;
      this.#problem = null;
      observe({ kind: 'reloaded', reason, durationMs: performance.now() - since });
      return reflection;
    } catch (error) {
      if (this.#current === null) this.#problem = 'The schema could not be read from the database.';
      observe({ kind: 'reload_failed', reason, error });
      throw error;
    }
  }

  /** A role that the catalog does not have, if it exists by now. Anybody may ask for many that do not, so that is remembered. */
  async #newRole(role: string): Promise<RoleReflection | null> {
    const now = performance.now();
    if (now > this.#absent.until || this.#absent.roles.size >= maxAbsent) {
      this.#absent = { until: now + absentForMs, roles: new Set() };
    }
    if (role.length > maxNameLength || this.#absent.roles.has(role)) return null;
    const { roles } = this.#absent;
    const found = await this.#rolesWanted.load(role);
    if (found === null) roles.add(role);
    return found;
  }

  async #readNewRoles(roles: readonly string[]): Promise<(RoleReflection | null)[]> {
    const ask = 'select r.rolname from pg_catalog.pg_roles r where r.rolname = any ($1::pg_catalog.text[])';
    const rows = await this.#options.systemPool.query(ask, [roles]);
    if (rows.length === 0) return roles.map(() => null);
    const reflection = await this.readSince(performance.now(), 'role');
    return roles.map((role) => reflection.role(role));
  }
}

/** PostgreSQL has no longer ones. */
const maxNameLength = 63;
