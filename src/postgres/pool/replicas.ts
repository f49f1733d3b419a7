/**
 * The primary's read replicas: chooses one that is recent enough for a query.
 *
 * A background check asks the primary for its log position and the replica for the position it has replayed, so
 * choosing needs no round trip. A replica that replayed the primary's position of a time has all commits before that
 * time: its age counts from then. An idle primary thus makes no replica old, and clocks of machines are never compared.
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
import type { PoolState } from '../wire/pool-state.ts';
import { parsePosition } from '../wire/wal-position.ts';
import type { ApiPool } from './pool.ts';

/** A replica with its connections. */
export interface ReplicaPools {
  /** For queries. */
  readonly pool: ApiPool;
  /** For checking it. */
  readonly monitor: SystemPool;
}

interface ReplicasOptions {
  /** In the order of the options. */
  readonly replicas: readonly ReplicaPools[];
  /** For checks of the primary. */
  readonly primary: SystemPool;
  /** Oldest state that queries may read, in milliseconds. */
  readonly maxLagMs: number;
  readonly observe: Observe;
}

/** What a query requires of its replica. */
export interface ReplicaNeed {
  /** All commits before this time of `performance.now()`, when the model was read. */
  readonly since: number;
  /** Position of the caller's last write; null: unknown. */
  readonly position: bigint | null;
  readonly statement: string;
}

interface Replica {
  /** From 1, in the order of the options. */
  readonly number: number;
  readonly pool: ApiPool;
}

type LeftOutReason = 'away' | 'behind' | 'not_a_replica';

/** The state of a replica, for monitoring. */
export interface ReplicaState {
  readonly number: number;
  readonly isUsed: boolean;
  /** Age of its data in milliseconds; null if unknown. */
  readonly lagMs: number | null;
  readonly pool: PoolState;
}

/** Read from the primary after a mutation and at each check; see the file. */
export const primaryPosition = loadSqlFile('primary-position.sql');
const databaseIdentity = loadSqlFile('database-identity.sql');
const replayed =
  'select pg_catalog.pg_is_in_recovery() as standby, pg_catalog.pg_last_wal_replay_lsn()::text as position';
/** Reads the identity with each check: another server may have taken over the address. */
const lookAtPrimary = `select d.identity, p.position from (${databaseIdentity}) d cross join (${primaryPosition}) p`;
const lookAtReplica = `select d.identity, r.standby, r.position from (${databaseIdentity}) d cross join (${replayed}) r`;

/** Checks per allowed age, and the bounds of the interval in milliseconds. */
const looksPerLag = 4;
const shortestIntervalMs = 50;
const longestIntervalMs = 500;
/** Shortest time between two checks caused by requests, in milliseconds. */
const wantedIntervalMs = 20;

/** Most statements remembered as writing, and the limit of their characters. */
const maxKeptStatements = 1000;
const maxKeptCharacters = 4 * 1024 * 1024;

/** The replicas of one gateway. */
export class Replicas {
  readonly #options: ReplicasOptions;
  readonly #watched: readonly WatchedReplica[];
  readonly #stopping = new AbortController();
  #identity: string | null = null;
  #looking: Promise<void> | null = null;
  #lookedAt = -wantedIntervalMs;
  #next = 0;
  readonly #keptFrom = new LRUCache<string, true>({
    max: maxKeptStatements,
    maxSize: maxKeptCharacters,
    sizeCalculation: (_, text) => text.length + 1,
  });
  #running: Promise<void> = Promise.resolve();

  constructor(options: ReplicasOptions) {
    this.#options = options;
    this.#watched = options.replicas.map((pools, index) => new WatchedReplica(index + 1, pools, options));
  }

  /** Checks all of them once, then at an interval. */
  async start(): Promise<void> {
    await this.#look();
    this.#running = this.#lookAgain();
  }

  /** Waits for running flights and closes the connections. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await finishesWithin(endLimitMs, Promise.all([this.#running, this.#looking]));
    await Promise.all(this.#watched.flatMap(({ pool, monitor }) => [pool.stop(), monitor.stop()]));
  }

  /** A replica that meets the need, in turn; null: use the primary. */
  choose(need: ReplicaNeed): Replica | null {
    const now = performance.now();
    const { length } = this.#watched;
    if (this.#keptFrom.size > 0 && this.#keptFrom.has(need.statement)) return null;
    let isWellSomewhere = false;
    for (let tried = 0; tried < length; tried += 1) {
      this.#next = (this.#next + 1) % length;
      const replica = this.#watched[this.#next] as WatchedReplica;
      if (!replica.isUsable(now)) continue;
      if (replica.hasSeen(need)) return replica;
      isWellSomewhere = true;
    }
    // It may have reached the position by now.
    if (isWellSomewhere && now - this.#lookedAt > wantedIntervalMs) void this.#look();
    return null;
  }

  /** Whether a request of this role would get a connection to any replica in time. */
  admits(role: string, caller: string): boolean {
    const now = performance.now();
    return this.#watched.some((replica) => replica.isUsable(now) && replica.pool.queue.admits(role, caller));
  }

  /** Leaves out a replica that could not answer, until a check succeeds. */
  leaveOut({ number }: Replica): void {
    this.#watched[number - 1]?.leaveOut('away');
  }

  /** Sends a statement that no replica can run to the primary from now on. */
  keepFrom(statement: string): void {
    this.#keptFrom.set(statement, true);
  }

  /** The current end of the primary's log. @throws DatabaseError */
  async primaryPosition(): Promise<string> {
    const [row] = await this.#options.primary.shared.query(primaryPosition, []);
    return String(row?.position);
  }

  /** The state of each. */
  states(): readonly ReplicaState[] {
    const now = performance.now();
    return this.#watched.map((replica) => replica.state(now));
  }

  async #lookAgain(): Promise<void> {
    const { signal } = this.#stopping;
    const intervalMs = Math.max(shortestIntervalMs, Math.min(longestIntervalMs, this.#options.maxLagMs / looksPerLag));
    while (!signal.aborted) {
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await this.#look();
    }
  }

  /** One check; concurrent callers share it. */
  #look(): Promise<void> {
    this.#lookedAt = performance.now();
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const at = performance.now();
    const sample = await this.#askPrimary(at).catch(() => null);
    for (const replica of this.#watched) if (sample !== null) replica.expect(sample);
    // A replica that hangs delays neither the others nor the next check.
    const looks = this.#watched.map((replica) => replica.look(this.#identity));
    await Promise.race([Promise.all(looks), sleep(longestIntervalMs, undefined, { ref: false })]);
    for (const replica of this.#watched) replica.noteAge();
  }

  async #askPrimary(at: number): Promise<Sample | null> {
    const [row] = await this.#options.primary.query(lookAtPrimary);
    const identity = String(row?.identity);
    if (identity !== this.#identity) for (const replica of this.#watched) replica.forget();
    this.#identity = identity;
    const position = parsePosition(String(row?.position));
    return position === null ? null : { at, position };
  }
}

/** A position of the primary's log, and a time before it was read. */
interface Sample {
  readonly at: number;
  readonly position: bigint;
}

/** A row of `lookAtReplica`. */
interface ReplicaRow {
  readonly identity: string;
  readonly standby: boolean;
  readonly position: string | null;
}

/** Samples per replica within the allowed age: ages are precise to a hundredth of it. */
const samplesPerLag = 100;

class WatchedReplica implements Replica {
  readonly number: number;
  readonly pool: ApiPool;
  readonly monitor: SystemPool;
  readonly #options: ReplicasOptions;
  #isLooking = false;
  /** Null: it does not answer, or is no replica. */
  #replayed: bigint | null = null;
  /** All commits before this time are replayed. */
  #asOf = Number.NEGATIVE_INFINITY;
  /** Samples not replayed yet, oldest first. */
  #samples: Sample[] = [];
  #reported: 'used' | LeftOutReason | null = null;

  constructor(number: number, { pool, monitor }: ReplicaPools, options: ReplicasOptions) {
    this.number = number;
    this.pool = pool;
    this.monitor = monitor;
    this.#options = options;
  }

  isUsable(now: number): boolean {
    return this.#replayed !== null && now - this.#asOf <= this.#options.maxLagMs;
  }

  hasSeen({ since, position }: ReplicaNeed): boolean {
    return this.#asOf >= since && (position === null || (this.#replayed !== null && this.#replayed >= position));
  }

  state(now: number): ReplicaState {
    const lagMs = Number.isFinite(this.#asOf) ? now - this.#asOf : null;
    return { number: this.number, isUsed: this.isUsable(now), lagMs, pool: this.pool.state() };
  }

  leaveOut(reason: LeftOutReason): void {
    this.#replayed = null;
    this.#report(reason);
  }

  expect(sample: Sample): void {
    const [before, last] = this.#samples.slice(-2);
    const spacing = this.#options.maxLagMs / samplesPerLag;
    if (before !== undefined && last !== undefined && last.at - before.at < spacing) this.#samples.pop();
    if (this.#samples.length > samplesPerLag) this.#samples.shift();
    this.#samples.push(sample);
  }

  /** Reports if it has become too old, also while it hangs. */
  noteAge(): void {
    if (this.#reported === 'used' && !this.isUsable(performance.now())) this.#report('behind');
  }

  /** Drops its samples, which belong to another primary. */
  forget(): void {
    this.#asOf = Number.NEGATIVE_INFINITY;
    this.#samples = [];
  }

  /** @param identity Of the primary; null: unknown yet. */
  async look(identity: string | null): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const [row] = await this.monitor.query(lookAtReplica);
      this.#learn(identity, row as ReplicaRow | undefined);
    } catch {
      this.leaveOut('away');
    } finally {
      this.#isLooking = false;
    }
  }

  #learn(identity: string | null, row: ReplicaRow | undefined): void {
    const position = row?.position == null ? null : parsePosition(row.position);
    if (row?.standby !== true || position === null || (identity !== null && identity !== row.identity)) {
      this.leaveOut('not_a_replica');
      return;
    }
    this.#replayed = position;
    const next = this.#samples.findIndex((sample) => sample.position > position);
    const seen = this.#samples.splice(0, next === -1 ? this.#samples.length : next).at(-1);
    if (seen !== undefined) this.#asOf = seen.at;
    this.#report(this.isUsable(performance.now()) ? 'used' : 'behind');
  }

  #report(state: 'used' | LeftOutReason): void {
    if (state === this.#reported) return;
    this.#reported = state;
    const { number } = this;
    const { observe } = this.#options;
    if (state === 'used') observe({ kind: 'replica_used', replica: number });
    else observe({ kind: 'replica_left_out', replica: number, reason: state });
  }
}
