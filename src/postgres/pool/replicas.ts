/**
 * The primary's read replicas: chooses one that is recent enough for a query.
 *
 * A background check asks the primary for its log position and the replica for the position it has replayed, so
 * choosing needs no round trip.
 *
 * A replica that is down, too old or of another database is left out until a later check succeeds. While the primary
 * does not answer, ages are unknown, so all are left out after a while.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { finishesWithin } from '../../shared/finishes-within.ts';
import type { Observe } from '../../shared/observation.ts';
import type { SystemPool } from '../system/run-system.ts';
import { loadSqlFile } from '../system/sql-file.ts';
import { endLimitMs } from '../wire/driver.ts';
import { parsePosition } from '../wire/wal-position.ts';
import {
  databaseIdentity,
  type Followed,
  Replica,
  type ReplicaNeed,
  type ReplicaPools,
  type ReplicaState,
  type Sample,
} from './replica.ts';

interface ReplicasOptions {
  /** In the order of the options. */
  readonly replicas: readonly ReplicaPools[];
  /** For checks of the primary. */
  readonly primary: SystemPool;
  /** Oldest state that queries may read, in milliseconds. */
  readonly maxLagMs: number;
  readonly observe: Observe;
}

/** Read from the primary after a mutation and at each check; see the file. */
export const primaryPosition = loadSqlFile('primary-position.sql');
/** A name in the log begins with the timeline, in eight hexadecimal digits. */
const primaryQuery = `select d.identity, p.position, pg_catalog.pg_walfile_name(p.position::pg_catalog.pg_lsn) as file
  from (${databaseIdentity}) d cross join (${primaryPosition}) p`;

/** Checks per allowed age, and the bounds of the interval in milliseconds. */
const checksPerLag = 4;
const minIntervalMs = 50;
const maxIntervalMs = 500;
/** Shortest time between two checks caused by requests, in milliseconds. */
const wantedIntervalMs = 20;

/** Most statements remembered as writing, and the limit of their characters. */
const maxKeptStatements = 1000;
const maxKeptCharacters = 4 * 1024 * 1024;

/** The replicas of one gateway. */
export class Replicas {
  readonly #options: ReplicasOptions;
  readonly #replicas: readonly Replica[];
  readonly #stopping = new AbortController();
  /** As of the last answer. */
  #primary: Followed | null = null;
  /** The primary has answered the last question; if not, another one may have taken its place. */
  #isPrimaryThere = false;
  #checking: Promise<void> | null = null;
  #checkedAt = -wantedIntervalMs;
  #next = 0;
  readonly #primaryOnly = new LRUCache<string, true>({
    max: maxKeptStatements,
    maxSize: maxKeptCharacters,
    sizeCalculation: (_, text) => text.length + 1,
  });
  #running: Promise<void> = Promise.resolve();

  constructor(options: ReplicasOptions) {
    this.#options = options;
    this.#replicas = options.replicas.map((pools, index) => new Replica(index + 1, pools, options));
  }

  /** Checks all of them once, then at an interval. */
  async start(): Promise<void> {
    await this.#check();
    this.#running = this.#keepChecking();
  }

  /** Waits for running flights and closes the connections. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await finishesWithin(endLimitMs, Promise.all([this.#running, this.#checking]));
    await Promise.all(this.#replicas.flatMap(({ pool, monitor }) => [pool.stop(), monitor.stop()]));
  }

  /** A replica that meets the need, in turn; null: use the primary. */
  choose(need: ReplicaNeed): Replica | null {
    const now = performance.now();
    const { length } = this.#replicas;
    if (this.#primaryOnly.size > 0 && this.#primaryOnly.has(need.statement)) return null;
    if (need.position !== null && !this.#isPrimaryThere) return null;
    let isUsableSomewhere = false;
    for (let tried = 0; tried < length; tried += 1) {
      this.#next = (this.#next + 1) % length;
      const replica = this.#replicas[this.#next] as Replica;
      if (!replica.isUsable(now)) continue;
      if (replica.hasSeen(need)) return replica;
      isUsableSomewhere = true;
    }
    // It may have reached the position by now.
    if (isUsableSomewhere && now - this.#checkedAt > wantedIntervalMs) void this.#check();
    return null;
  }

  /** Whether a request of this role would get a connection to any replica in time. */
  admits(role: string, caller: string): boolean {
    const now = performance.now();
    return this.#replicas.some((replica) => replica.isUsable(now) && replica.pool.queue.admits(role, caller));
  }

  /** Leaves out a replica that could not answer, until a check succeeds. */
  leaveOut({ number }: Replica): void {
    this.#replicas[number - 1]?.leaveOut('away');
  }

  /** Sends a statement that no replica can run to the primary from now on. */
  sendToPrimary(statement: string): void {
    this.#primaryOnly.set(statement, true);
  }

  /** The current end of the primary's log. @throws DatabaseError */
  async primaryPosition(): Promise<string> {
    const [row] = await this.#options.primary.query(primaryPosition, []);
    return String(row?.position);
  }

  /** The state of each. */
  states(): readonly ReplicaState[] {
    const now = performance.now();
    return this.#replicas.map((replica) => replica.state(now));
  }

  async #keepChecking(): Promise<void> {
    const { signal } = this.#stopping;
    const intervalMs = Math.max(minIntervalMs, Math.min(maxIntervalMs, this.#options.maxLagMs / checksPerLag));
    while (!signal.aborted) {
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await this.#check();
    }
  }

  /** One check; concurrent callers share it. */
  #check(): Promise<void> {
    this.#checkedAt = performance.now();
    this.#checking ??= this.#checkAll().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  async #checkAll(): Promise<void> {
    const at = performance.now();
    const sample = await this.#askPrimary(at).catch(() => null);
    this.#isPrimaryThere = sample !== null;
    for (const replica of this.#replicas) if (sample !== null) replica.addSample(sample);
    // A replica that hangs delays neither the others nor the next check.
    const checks = this.#replicas.map((replica) => replica.check(this.#primary));
    await Promise.race([Promise.all(checks), sleep(maxIntervalMs, undefined, { ref: false })]);
    for (const replica of this.#replicas) replica.noteAge();
  }

  async #askPrimary(at: number): Promise<Sample | null> {
    const [row] = await this.#options.primary.query(primaryQuery);
    const primary: Followed = {
      identity: String(row?.identity),
      timeline: Number.parseInt(String(row?.file).slice(0, 8), 16),
    };
    const { identity, timeline } = this.#primary ?? {};
    if (primary.identity !== identity || primary.timeline !== timeline) {
      for (const replica of this.#replicas) replica.forget();
    }
    this.#primary = primary;
    const position = parsePosition(String(row?.position));
    return position === null ? null : { at, position };
  }
}
