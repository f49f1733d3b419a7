/**
 * Keeps the reflection fresh: reads the catalog at start, when somebody finds it stale, on a signal or notification, and
 * when the check at an interval sees a change.
 *
 * Readers never wait for each other: loads that are wanted at the same time are one load, and a load serves everybody who
 * asked before it began. The old reflection stays in use until the new one is whole.
 */
import DataLoader from 'dataloader';
import { readFingerprint } from '../catalog/catalog-fingerprint.ts';
import { pollAtInterval } from '../catalog/poll.ts';
import { readCatalog } from '../catalog/read-catalog.ts';
import type { SystemPool } from '../database/run-system.ts';
import { omissionsOf } from '../model/explain-missing.ts';
import type { Omission } from '../model/model-context.ts';
import type { Observe } from '../shared/observation.ts';
import { Reflection, type ReflectionOptions, type RoleReflection } from './reflection.ts';

/** Where the catalog is read from, for whom, and how often it is compared. */
export interface ReflectorOptions extends ReflectionOptions {
  readonly systemPool: SystemPool;
  /** Namespaces to expose; null: the login role's search path. */
  readonly schemas: readonly string[] | null;
  /** Roles to read from the start; others join when they are first seen. */
  readonly roles: readonly string[];
  /** Interval of the comparison in milliseconds; null: somebody else compares, and says so. */
  readonly pollMs: number | null;
  readonly observe: Observe;
}

/** Most roles kept beyond those given at the start; past that the least recently asked for is forgotten. */
const maxExtraRoles = 100;

/** The keeper of the current reflection. */
export class Reflector {
  readonly #options: ReflectorOptions;
  #schemas: readonly string[] | null;
  readonly #roles: Set<string>;
  readonly #rolesWanted: DataLoader<string, RoleReflection | null>;
  #current: Reflection | null = null;
  #running: { readonly since: number; readonly done: Promise<Reflection> } | null = null;
  #next: Promise<Reflection> | null = null;
  #checking: Promise<boolean> | null = null;
  #endPoll = () => {};
  #problem: string | null = 'The schema has not been read yet.';

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#schemas = options.schemas;
    this.#roles = new Set(options.roles);
    // Roles that are asked for together become one catalog read.
    this.#rolesWanted = new DataLoader((roles) => this.#readRoles(roles), { cache: false });
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
    if (known !== null || this.#roles.has(role)) return known;
    return this.#rolesWanted.load(role);
  }

  /** What is left out of the schema of a role, and why; empty where there is no such role. */
  async omissions(role: string): Promise<readonly Omission[]> {
    const reflection = await this.role(role, null);
    return reflection === null ? [] : omissionsOf(reflection.catalog, role);
  }

  /** A reflection whose catalog was read after `since`: the current one, the one under way, or a new one. */
  readSince(since: number, reason: string): Promise<Reflection> {
    if (this.#current !== null && this.#current.readSince >= since) return Promise.resolve(this.#current);
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
      const catalog = await readCatalog(systemPool, { schemas: this.#schemas, roles: [...this.#roles] });
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

  async #readRoles(roles: readonly string[]): Promise<(RoleReflection | null)[]> {
    for (const role of roles) this.#remember(role);
    const reflection = await this.readSince(performance.now(), 'role').catch((error: unknown) => {
      // One of them may be the reason, and would then fail every reading from now on.
      for (const role of roles) this.#forget(role);
      throw error;
    });
    return roles.map((role) => {
      const known = reflection.role(role);
      // A role that does not exist is asked for again next time: it may have been created.
      if (known === null) this.#forget(role);
      return known;
    });
  }

  #remember(role: string): void {
    this.#roles.add(role);
    const extra = [...this.#roles].filter((name) => !this.#options.roles.includes(name));
    if (extra.length > maxExtraRoles) this.#roles.delete(extra[0]!);
  }

  #forget(role: string): void {
    if (!this.#options.roles.includes(role)) this.#roles.delete(role);
  }
}
