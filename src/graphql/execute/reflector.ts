/**
 * Keeps the reflection current: reads the catalog at start, when a request finds it stale, on a signal or notification,
 * and when the interval check sees a change.
 *
 * Concurrent requests share loads: simultaneous ones are merged, and a load serves everyone who asked before it began.
 * The old reflection stays in use until the new one is complete.
 */
import { setTimeout as delay } from 'node:timers/promises';
import DataLoader from 'dataloader';
import type { Config } from '../../config/config.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import type { Observe } from '../../shared/observation.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { readCatalog, readFingerprint } from '../catalog/read-catalog.ts';
import { type Hints, hintsOf } from '../model/explain-missing.ts';
import { pollAtInterval } from './poll.ts';
import { Reflection, type ReflectionOptions, type RoleReflection } from './reflection.ts';

/** Where to read the catalog, for which namespaces, and how often to compare it. */
export interface ReflectorOptions extends ReflectionOptions, Pick<Config, 'schemas' | 'schemaPollMs' | 'freshness'> {
  readonly systemPool: SystemPool;
  readonly observe: Observe;
}

/** Reasons to read everything again: an operator asks, or it may be another database than before. */
const whole: ReadonlySet<string> = new Set(['signal', 'asked', 'database back']);

/** How long an unknown role is remembered as unknown, in milliseconds, and how many such roles. */
const absentForMs = 1000;
const maxAbsent = 1000;

/** The pause between comparisons for refused requests, in durations of a comparison. */
const pausePerComparison = 9;

/** Holds and refreshes the current reflection. */
export class Reflector {
  readonly #options: ReflectorOptions;
  #schemas: readonly string[] | null;
  readonly #rolesWanted: DataLoader<string, RoleReflection | null>;
  #absent = { until: 0, roles: new Set<string>() };
  #current: Reflection | null = null;
  /** `since` is infinite before its reading begins. */
  #running: { since: number; readonly done: Promise<Reflection> } | null = null;
  #next: Promise<Reflection> | null = null;
  #checking: Promise<boolean> | null = null;
  /** How long the last comparison took, without the reading before and after it. */
  #comparedMs = 0;
  #comparedAt = Number.NEGATIVE_INFINITY;
  #afterRefusal: Promise<boolean> | null = null;
  #endPoll = () => {};
  #problem: string | null = 'The schema has not been read yet.';
  /** When somebody asked for a reload: what was read before answers only until it is done. */
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#schemas = options.schemas;
    // Roles requested together are read in one query.
    this.#rolesWanted = new DataLoader((roles) => this.#readNewRoles(roles), { cache: false });
  }

  /** Reads the catalog and starts the interval check. Rejects if the first read fails; the check retries. */
  async start(): Promise<void> {
    // A failed check is covered by the next load, or by the requests themselves.
    this.#endPoll = pollAtInterval(() => this.#poll(), this.#options.schemaPollMs);
    await this.readSince(performance.now(), 'start');
  }

  /** Stops the check. Running loads finish. */
  stop(): void {
    this.#endPoll();
  }

  /** Why there is no usable reflection; null if there is one. */
  problem(): string | null {
    return this.#problem;
  }

  /** The current reflection; null before the first load. */
  current(): Reflection | null {
    return this.#current;
  }

  async expose(schemas: readonly string[] | null): Promise<void> {
    this.#schemas = schemas;
    await this.reload('configuration');
  }

  /** Reads the catalog because somebody asks for that: no model of an older one answers afterwards. */
  async reload(reason: string): Promise<void> {
    this.#askedAt = performance.now();
    await this.readSince(this.#askedAt, reason);
  }

  /** The same if the catalog has changed. True if it has. */
  async reloadIfChanged(reason: string): Promise<boolean> {
    this.#askedAt = performance.now();
    return this.refreshIfChangedSinceNow(reason);
  }

  /** What answers a request of the role at once: with bounded freshness also the schema before, until its own is built. */
  async answering(role: string): Promise<RoleReflection | null> {
    return this.#current?.meanwhile(role, this.#askedAt) ?? this.role(role, null);
  }

  /** The reflection of a role; null if there is none. `since`: the catalog was read after that time; null: any. */
  async role(role: string, since: number | null): Promise<RoleReflection | null> {
    const reflection =
      since === null
        ? (this.#current ?? (await this.readSince(performance.now(), 'first')))
        : await this.readSince(since, 'stale');
    const known = await reflection.role(role);
    return known !== null || since !== null ? known : this.#newRole(role);
  }

  /** Objects missing from a role's schema, with reasons, of at most 200 tables; null for an unknown role. */
  async hints(role: string): Promise<Hints | null> {
    // Without the model of the role, which nobody may ask for.
    const { catalog } = this.#current ?? (await this.readSince(performance.now(), 'first'));
    const { extensions } = this.#options;
    return catalog.roles.has(role) ? hintsOf(catalog, { role, extensions }) : null;
  }

  /** A reflection whose catalog was read after `since`: the current one, a running load, or a new one. */
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

  /** Compares the catalog with the one that was read. True if it changed and was read again, also by another call. */
  async refreshIfChanged(reason: string): Promise<boolean> {
    this.#checking ??= this.#check(reason).finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  /**
   * The same after the database has refused a request, whose catalog may be outdated. Requests that are refused share
   * comparisons, with pauses between them: whoever is refused without end costs the database a tenth of its time.
   *
   * @param catalog Of the request.
   */
  async refreshAfterRefusal(catalog: Catalog): Promise<boolean> {
    if (this.#current?.catalog !== catalog) return true;
    this.#afterRefusal ??= this.#compareAfterPause();
    return this.#afterRefusal;
  }

  async #compareAfterPause(): Promise<boolean> {
    const pause = this.#comparedAt + pausePerComparison * this.#comparedMs - performance.now();
    await delay(Math.max(0, pause));
    // Who comes from here on may have been refused for a later change.
    this.#afterRefusal = null;
    return this.refreshIfChangedSinceNow('refused');
  }

  /** The same with a comparison that starts after this call: a running one may have looked too early. */
  async refreshIfChangedSinceNow(reason: string): Promise<boolean> {
    await this.#checking?.catch(() => {});
    return this.refreshIfChanged(reason);
  }

  async #poll(): Promise<number> {
    await this.refreshIfChanged('interval');
    return this.#comparedMs;
  }

  async #check(reason: string): Promise<boolean> {
    const before = this.#current;
    // It may already contain the change, and reading a large catalog twice takes seconds.
    await this.#running?.done.catch(() => {});
    const current = this.#current;
    if (current !== null) {
      const began = performance.now();
      const fingerprint = await readFingerprint(this.#options.systemPool, this.#schemas, current.catalog.fingerprint);
      this.#comparedAt = performance.now();
      this.#comparedMs = this.#comparedAt - began;
      if (fingerprint === current.catalog.fingerprint) return current !== before;
    }
    await this.readSince(performance.now(), reason);
    return true;
  }

  #load(reason: string): Promise<Reflection> {
    this.#next = null;
    const done = this.#read(reason).finally(() => {
      if (this.#running?.done === done) this.#running = null;
    });
    this.#running = { since: Number.POSITIVE_INFINITY, done };
    return done;
  }

  async #read(reason: string): Promise<Reflection> {
    const { systemPool, observe } = this.#options;
    // Otherwise, models of more and more catalogs are built beside each other while the schema keeps changing.
    await this.#current?.settled();
    const since = performance.now();
    if (this.#running !== null) this.#running.since = since;
    try {
      // A change that the fingerprint does not show is read, too.
      const known = whole.has(reason) ? null : (this.#current?.catalog ?? null);
      const catalog = await readCatalog(systemPool, this.#schemas, known);
      // What has begun to build meanwhile is continued.
      await this.#current?.settled();
      const reflection = new Reflection(catalog, since, this.#options, this.#current);
      if (this.#options.freshness === 'bounded' && this.#current !== null) reflection.answerMeanwhile(this.#current);
      this.#current = reflection;
      this.#problem = null;
      observe({ kind: 'reloaded', reason, durationMs: performance.now() - since });
      return reflection;
    } catch (error) {
      if (this.#current === null) this.#problem = 'The schema could not be read from the database.';
      observe({ kind: 'reload_failed', reason, error, durationMs: performance.now() - since });
      throw error;
    }
  }

  /** Reads a role that the catalog lacks. Unknown roles are remembered, because a caller may request many. */
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
    return Promise.all(roles.map((role) => reflection.role(role)));
  }
}

const maxNameLength = 63;
