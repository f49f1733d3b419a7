/**
 * One read replica: whether it answers, how far it has replayed the log, and how old its data are.
 *
 * A replica that replayed the primary's position of a time has all commits before that time: its age counts from then.
 * An idle primary thus makes no replica old, and clocks of machines are never compared.
 *
 * After a failover, positions count only on the primary's new timeline: a server that follows the old one may be further.
 */
import { performance } from 'node:perf_hooks';
import type { Observe } from '../../shared/observation.ts';
import type { SystemPool } from '../system/run-system.ts';
import { loadSqlFile } from '../system/sql-file.ts';
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

/** What a query requires of its replica. */
export interface ReplicaNeed {
  /** All commits before this time of `performance.now()`, when the model was read. */
  readonly since: number;
  /** Position of the caller's last write; null: unknown. */
  readonly position: bigint | null;
  readonly statement: string;
}

/** The state of a replica, for monitoring. */
export interface ReplicaState {
  readonly number: number;
  readonly isUsed: boolean;
  /** Age of its data in milliseconds; null if unknown. */
  readonly lagMs: number | null;
  readonly pool: PoolState;
}

type LeftOutReason = 'away' | 'behind' | 'not_a_replica';

/** Reads the identity with each check: another server may have taken over the address. */
export const databaseIdentity = loadSqlFile('database-identity.sql');
const replayed =
  'select pg_catalog.pg_is_in_recovery() as standby, pg_catalog.pg_last_wal_replay_lsn()::text as position';
/** The newest timeline that it is known to follow. Without `pg_read_all_stats`, that is known from its next restartpoint on. */
const followed = `select greatest(c.timeline_id, r.min_recovery_end_timeline,
    (select pg_catalog.max(w.received_tli) from pg_catalog.pg_stat_wal_receiver w)) as timeline
  from pg_catalog.pg_control_checkpoint() c, pg_catalog.pg_control_recovery() r`;
/** What lets the login see the timeline at once. Logins that `init` makes inherit nothing, which a grant can change since PostgreSQL 16. */
const statsGrant = `select case
    when pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'usage') then null
    when pg_catalog.current_setting('server_version_num')::int >= 160000
      then pg_catalog.format('grant pg_read_all_stats to %I with inherit true', current_user)
    when l.rolinherit then pg_catalog.format('grant pg_read_all_stats to %I', current_user) end as fix
  from pg_catalog.pg_roles l where l.rolname = current_user`;
const stateQuery = `select d.identity, r.standby, r.position, f.timeline, g.fix
  from (${databaseIdentity}) d cross join (${replayed}) r cross join (${followed}) f cross join (${statsGrant}) g`;

/** A position of the primary's log on its timeline, and a time before it was read. */
export interface Sample {
  readonly at: number;
  readonly position: bigint;
}

/** A row of `stateQuery`. */
interface ReplicaRow {
  readonly identity: string;
  readonly standby: boolean;
  readonly position: string | null;
  readonly timeline: number;
  readonly fix: string | null;
}

/** The primary that a replica has to follow. */
export interface Followed {
  readonly identity: string;
  readonly timeline: number;
}

/** Samples per replica within the allowed age: ages are precise to a hundredth of it. */
const samplesPerLag = 100;

interface ReplicaOptions {
  /** Oldest state that queries may read, in milliseconds. */
  readonly maxLagMs: number;
  readonly observe: Observe;
}

/** A replica, with what the checks have found. */
export class Replica {
  /** From 1, in the order of the options. */
  readonly number: number;
  readonly pool: ApiPool;
  readonly monitor: SystemPool;
  readonly #options: ReplicaOptions;
  #isChecking = false;
  /** Null: it does not answer, or is no replica. */
  #replayed: bigint | null = null;
  /** All commits before this time are replayed. */
  #asOf = Number.NEGATIVE_INFINITY;
  /** Samples not replayed yet, oldest first. */
  #samples: Sample[] = [];
  #reported: 'used' | LeftOutReason | null = null;

  constructor(number: number, { pool, monitor }: ReplicaPools, options: ReplicaOptions) {
    this.number = number;
    this.pool = pool;
    this.monitor = monitor;
    this.#options = options;
  }

  /** Whether it answers and is recent enough. @param now As `performance.now()`. */
  isUsable(now: number): boolean {
    return this.#replayed !== null && now - this.#asOf <= this.#options.maxLagMs;
  }

  /** Whether it has replayed what the request needs. */
  hasSeen({ since, position }: ReplicaNeed): boolean {
    return this.#asOf >= since && (position === null || (this.#replayed !== null && this.#replayed >= position));
  }

  /** For the metrics. @param now As `performance.now()`. */
  state(now: number): ReplicaState {
    const lagMs = Number.isFinite(this.#asOf) ? now - this.#asOf : null;
    return { number: this.number, isUsed: this.isUsable(now), lagMs, pool: this.pool.state() };
  }

  /** Leaves it out until a check succeeds. @param fix SQL with which more would be known. */
  leaveOut(reason: LeftOutReason, fix: string | null = null): void {
    this.#replayed = null;
    this.#report(reason, fix);
  }

  /** Adds a position of the primary, which the replica has to reach. */
  addSample(sample: Sample): void {
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

  /** @param primary Null: unknown yet. */
  async check(primary: Followed | null): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const [row] = await this.monitor.query(stateQuery);
      this.#learn(primary, row as ReplicaRow | undefined);
    } catch {
      this.leaveOut('away');
    } finally {
      this.#isChecking = false;
    }
  }

  #learn(primary: Followed | null, row: ReplicaRow | undefined): void {
    const position = row?.position == null ? null : parsePosition(row.position);
    if (row?.standby !== true || position === null || (primary !== null && primary.identity !== row.identity)) {
      this.leaveOut('not_a_replica');
      return;
    }
    if (primary !== null && primary.timeline !== row.timeline) {
      this.leaveOut('behind', row.fix);
      return;
    }
    this.#replayed = position;
    const next = this.#samples.findIndex((sample) => sample.position > position);
    const seen = this.#samples.splice(0, next === -1 ? this.#samples.length : next).at(-1);
    if (seen !== undefined) this.#asOf = seen.at;
    this.#report(this.isUsable(performance.now()) ? 'used' : 'behind');
  }

  #report(state: 'used' | LeftOutReason, fix: string | null = null): void {
    if (state === this.#reported) return;
    this.#reported = state;
    const { number } = this;
    const { observe } = this.#options;
    if (state === 'used') observe({ kind: 'replica_used', replica: number });
    else observe({ kind: 'replica_left_out', replica: number, reason: state, ...(fix !== null && { fix }) });
  }
}
