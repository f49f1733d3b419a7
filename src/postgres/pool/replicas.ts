/**
 * The read replicas of the primary: which of them may answer a query now.
 *
 * Every replica is looked at in the background, so that choosing one costs a comparison and no trip. A look asks the
 * primary where its log ends, and the replica how far it has replayed it. Once it has replayed the position that the
 * primary had at a time, it has seen everything that was committed before that time: that time is what its age is counted
 * from, so a primary that writes nothing makes nobody old, and no clocks of different machines are compared.
 *
 * One that is away, too far behind or no replica of this database is left out until a later look finds it well again.
 * While the primary does not answer, nobody knows how old a replica is, so all are left out once their time has passed.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Observe } from '../../shared/observation.ts';
import { within } from '../../shared/within.ts';
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
  /** For looking at it. */
  readonly monitor: SystemPool;
}

interface ReplicasOptions {
  /** In the order of the options that name them. */
  readonly replicas: readonly ReplicaPools[];
  /** For asking the primary. */
  readonly primary: SystemPool;
  /** Oldest state that may be answered from, in milliseconds. */
  readonly maxLagMs: number;
  readonly observe: Observe;
}

/** What a query's replica must have seen. */
export interface ReplicaNeed {
  /** Everything committed before this time of `performance.now()`: the model was read then. */
  readonly since: number;
  /** Position of the caller's last write; null: the caller says nothing of one. */
  readonly position: bigint | null;
  readonly statement: string;
}

interface Replica {
  /** From 1, in the order of the options. */
  readonly number: number;
  readonly pool: ApiPool;
}

type LeftOutReason = 'away' | 'behind' | 'not_a_replica';

/** What is known of a replica, for those who watch the gateway. */
export interface ReplicaState {
  readonly number: number;
  readonly isUsed: boolean;
  /** Age of what it has seen, in milliseconds; null where it is not known. */
  readonly lagMs: number | null;
  readonly pool: PoolState;
}

/** Asked of the primary after a mutation, and of the primary at each look; see the file. */
export const primaryPosition = loadSqlFile('primary-position.sql');
const databaseIdentity = loadSqlFile('database-identity.sql');
const replayed =
  'select pg_catalog.pg_is_in_recovery() as standby, pg_catalog.pg_last_wal_replay_lsn()::text as position';
/** With each look: another server may be at the same address at any time. */
const lookAtPrimary = `select d.identity, p.position from (${databaseIdentity}) d cross join (${primaryPosition}) p`;
const lookAtReplica = `select d.identity, r.standby, r.position from (${databaseIdentity}) d cross join (${replayed}) r`;

/** Share of the allowed age after which the next look comes, and its bounds in milliseconds. */
const looksPerLag = 4;
const shortestIntervalMs = 50;
const longestIntervalMs = 500;
/** Between the beginnings of two looks that somebody wants at once, in milliseconds. */
const wantedIntervalMs = 20;

/** Statements remembered for writing, and their characters. */
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

  /** Looks at all of them once, and from then on at an interval. */
  async start(): Promise<void> {
    await this.#look();
    this.#running = this.#lookAgain();
  }

  /** Waits for the flights that are under way, and closes the connections. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await within(endLimitMs, Promise.all([this.#running, this.#looking]));
    await Promise.all(this.#watched.flatMap(({ pool, monitor }) => [pool.stop(), monitor.stop()]));
  }

  /** One that has seen what is needed, in turn; null: the primary has to answer. */
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
    // It may have seen it by now.
    if (isWellSomewhere && now - this.#lookedAt > wantedIntervalMs) void this.#look();
    return null;
  }

  /** Whether one of this role would get a connection to any of them in time. */
  admits(role: string, caller: string): boolean {
    const now = performance.now();
    return this.#watched.some((replica) => replica.isUsable(now) && replica.pool.queue.admits(role, caller));
  }

  /** Leaves one out that could not answer, until it answers a look. */
  leaveOut({ number }: Replica): void {
    this.#watched[number - 1]?.leaveOut('away');
  }

  /** Sends a statement that no replica can run to the primary from now on. */
  keepFrom(statement: string): void {
    this.#keptFrom.set(statement, true);
  }

  /** Where the log of the primary ends now. @throws DatabaseError */
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

  /** One look; those who want one while it is under way share it. */
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
    // One that hangs holds up neither the others nor the next look.
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

/** A position of the primary's log, and a time before it was there. */
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

/** Samples kept for one replica within the allowed age: more precise than a hundredth of it nobody needs to know it. */
const samplesPerLag = 100;

class WatchedReplica implements Replica {
  readonly number: number;
  readonly pool: ApiPool;
  readonly monitor: SystemPool;
  readonly #options: ReplicasOptions;
  #isLooking = false;
  /** Null: it does not answer, or is no replica. */
  #replayed: bigint | null = null;
  /** Everything committed before this time has been replayed. */
  #asOf = Number.NEGATIVE_INFINITY;
  /** Not replayed yet, oldest first. */
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

  /** Says so where it has become too old, which it does while it hangs too. */
  noteAge(): void {
    if (this.#reported === 'used' && !this.isUsable(performance.now())) this.#report('behind');
  }

  /** What it has seen was another primary's. */
  forget(): void {
    this.#asOf = Number.NEGATIVE_INFINITY;
    this.#samples = [];
  }

  /** @param identity Of the primary; null: not known yet. */
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
