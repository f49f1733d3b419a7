/**
 * Tells what may have changed in the database, while somebody has subscribed.
 *
 * Without any rights: the snapshot of PostgreSQL has the same text as long as no transaction that wrote has ended, and then every query
 * has the answer that it had. In exact mode (`init --live`, sql/live.sql), one statement also reads which tables these transactions
 * have written. Each gateway looks for itself.
 */
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import type { Observe } from '../../shared/observation.ts';
import { everything, type LiveChange } from './change.ts';

const stateStatement = `select s.is_exact, w.has_change_trigger as is_watched
  from (${loadSqlFile('live-state.sql')}) s cross join (${loadSqlFile('watch-state.sql')}) w`;
// A crash empties unlogged tables, as the record of changes is one, and sets the statistics of the server back. Behind a pooler, no
// connection tells of it.
const now = `pg_catalog.pg_current_snapshot()::pg_catalog.text as snapshot,
  pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())::pg_catalog.text as at,
  pg_catalog.pg_stat_get_bgwriter_stat_reset_time()::pg_catalog.text as recorded_since`;
const snapshotStatement = `select ${now}`;

/** What the snapshot $1 did not see, and the one of this statement does. The upper bound leaves out rows of a restored dump. */
function unseen(table: string, column: string): string {
  return `select ${column} from ${table} c
      where c.xid operator(pg_catalog.>=) pg_catalog.pg_snapshot_xmax($1::pg_catalog.pg_snapshot)
        and c.xid operator(pg_catalog.<) pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
    union
    select ${column} from ${table} c
      where c.xid operator(pg_catalog.=) any (array(select pg_catalog.pg_snapshot_xip($1::pg_catalog.pg_snapshot)))`;
}
const written = unseen('pgreflect.live_change', 'c.rel');
/** No relation has the number 0: the catalog has changed. */
const changed = unseen('pgreflect.catalog_change', '0::pg_catalog.oid');
// With an equal snapshot, nothing is looked up.
const pollStatement = (isWatched: boolean) => `select ${now},
  case when pg_catalog.pg_current_snapshot()::pg_catalog.text operator(pg_catalog.=) $1::pg_catalog.pg_snapshot::pg_catalog.text then ''
    else pg_catalog.array_to_string(array(
      ${isWatched ? `${written}\n    union\n    ${changed}` : written}), ',') end as relations`;
const pruneStatement = `delete from pgreflect.live_change c
  where c.xid operator(pg_catalog.<) pg_catalog.pg_snapshot_xmax($1::pg_catalog.pg_snapshot)
    and pg_catalog.pg_visible_in_snapshot(c.xid, $1::pg_catalog.pg_snapshot)`;

/** How much longer the pause is after a failure. */
const failurePauses = 20;
/** In exact mode, the pause is halved for so many milliseconds after a change: another one is likely. */
const soonAfterMs = 1000;
/** Time between two looks at what is installed, in milliseconds. */
const checkMs = 5000;
/** Changes are deleted this long after everybody could see them, in milliseconds. */
const keptMs = 60_000;
/** Whoever has not looked for so many seconds may have missed some. */
const maxPause = 30;

interface WatchOptions {
  readonly systemPool: Pick<SystemPool, 'query'>;
  readonly everyMs: number;
  /** Called at each look. What began before this call may have missed the change. */
  readonly onLook: (change: LiveChange) => void;
  /** What is installed is another, or the tables may be. */
  readonly onReset: (mode: LiveMode & { readonly isNew: boolean }) => void;
  /** Whether facts about tables that were read are others by now. */
  readonly hasOtherTables: () => Promise<boolean>;
  readonly observe: Observe;
}

/** What is installed in the database. */
export interface LiveMode {
  /** Changed tables are recorded. */
  readonly isExact: boolean;
  /** So are changes of the catalog. */
  readonly isWatched: boolean;
}

const unknownMode: LiveMode = { isExact: false, isWatched: false };

/** A look. */
interface Look {
  readonly snapshot: string;
  /** Seconds, by the clock of the database: this process may have stood still. */
  readonly at: number;
  /** What was recorded before, a crash has lost. */
  readonly recordedSince: string;
  /** Null: unknown, so all. */
  readonly relations: ReadonlySet<string> | null;
}

/** Looks at an interval. */
export class ChangeWatch {
  readonly #options: WatchOptions;
  #mode: LiveMode = unknownMode;
  /** What was observed last. */
  #told = false;
  /** Of the loop that runs; another number ends it. */
  #loop = 0;
  #isRunning = false;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #isLost = false;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** Snapshots of the last minute. */
  #kept: { readonly at: number; readonly snapshot: string }[] = [];

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  get mode(): LiveMode {
    return this.#mode;
  }

  /** Starts, if it does not run. The first look counts as a change: what happened before is unknown. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#loop += 1;
    this.#mode = unknownMode;
    this.lookAgain();
    void this.#look(this.#loop, null);
  }

  stop(): void {
    this.#isRunning = false;
    this.#loop += 1;
  }

  /** The schema may be another one: at the next look, everything counts as changed. */
  lookAgain(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    this.#isLost = true;
  }

  /** @param last Null: what was before is unknown. */
  async #look(loop: number, last: Look | null): Promise<void> {
    const { onLook } = this.#options;
    let next: Look | null = null;
    let from = last;
    try {
      if (performance.now() - this.#checkedAt >= checkMs && (await this.#check(last))) from = null;
      next = await this.#ask(from);
      // The tables are others from this moment on.
      if (next.relations?.has('0')) this.#options.onReset({ ...this.#mode, isNew: false });
    } catch {
      // The database is away, which is observed elsewhere, or the tables are. Once it is back, everything may have changed.
      this.lookAgain();
    }
    if (loop !== this.#loop) return;
    if (next !== null) onLook(changeBetween(from, next));
    setTimeout(() => void this.#look(loop, next), this.#pauseMs(next)).unref();
  }

  #pauseMs(last: Look | null): number {
    const { everyMs } = this.#options;
    if (last === null) return everyMs * failurePauses;
    const now = performance.now();
    if (last.relations !== null && last.relations.size > 0) this.#changedAt = now;
    return now - this.#changedAt < soonAfterMs ? everyMs / 2 : everyMs;
  }

  async #ask(last: Look | null): Promise<Look> {
    const { systemPool } = this.#options;
    const { isExact, isWatched } = this.#mode;
    const [row] =
      isExact && last !== null
        ? await systemPool.query(pollStatement(isWatched), [last.snapshot])
        : await systemPool.query(snapshotStatement, []);
    const { snapshot, at, recorded_since: recordedSince, relations } = row as Readonly<Record<string, unknown>>;
    const oids = relations === undefined ? null : String(relations);
    return {
      snapshot: String(snapshot),
      at: Number(at),
      recordedSince: String(recordedSince),
      relations: oids === null ? null : new Set(oids === '' ? [] : oids.split(',')),
    };
  }

  /** @returns Whether what was known does not hold any more. */
  async #check(last: Look | null): Promise<boolean> {
    const { systemPool, onReset, hasOtherTables, observe } = this.#options;
    const isLost = this.#isLost;
    this.#isLost = false;
    this.#checkedAt = performance.now();
    const [row] = await systemPool.query(stateStatement, []);
    const mode = { isExact: row?.is_exact === true, isWatched: row?.is_watched === true };
    const isOther = mode.isExact !== this.#mode.isExact || mode.isWatched !== this.#mode.isWatched;
    this.#mode = mode;
    if (mode.isExact !== this.#told) observe({ kind: 'live_mode', exact: mode.isExact });
    this.#told = mode.isExact;
    if (mode.isExact && last !== null) await this.#prune(last.snapshot);
    if (!isOther && !isLost && !(await hasOtherTables())) return false;
    onReset({ ...mode, isNew: isOther });
    return true;
  }

  /** Deletes what everybody has seen. */
  async #prune(snapshot: string): Promise<void> {
    const at = performance.now();
    const old = this.#kept.findLast((kept) => at - kept.at >= keptMs);
    this.#kept = this.#kept.filter((kept) => old === undefined || kept.at > old.at);
    this.#kept.push({ at, snapshot });
    if (old !== undefined) await this.#options.systemPool.query(pruneStatement, [old.snapshot]);
  }
}

function changeBetween(last: Look | null, next: Look): LiveChange {
  const hasMoved = last?.snapshot !== next.snapshot;
  if (next.relations === null) return hasMoved ? everything : { hasMoved, relations: new Set() };
  const isLost = last === null || Math.abs(next.at - last.at) > maxPause || next.recordedSince !== last.recordedSince;
  return isLost || next.relations.has('0') ? everything : { hasMoved, relations: next.relations };
}
