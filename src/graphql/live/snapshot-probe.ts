/**
 * Tells when something in the database cluster may have changed, with no rights at all.
 *
 * The snapshot of PostgreSQL has the same text as long as no transaction that wrote has ended: then every query has the
 * answer that it had. The statement takes as little as `select 1`, and runs only while somebody has subscribed.
 */
import type { SystemPool } from '../../postgres/system/run-system.ts';

const snapshotStatement = 'select pg_catalog.pg_current_snapshot()::pg_catalog.text as snapshot';

/** How much longer the pause is after a failure. */
const failurePauses = 20;

interface ProbeOptions {
  readonly systemPool: Pick<SystemPool, 'query'>;
  readonly everyMs: number;
  /** What began before this call may have missed a change. */
  readonly onChange: () => void;
}

/** Asks for the snapshot at an interval. */
export class SnapshotProbe {
  readonly #options: ProbeOptions;
  /** Of the loop that runs; another number ends it. */
  #loop = 0;
  #isRunning = false;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** Starts, if it does not run. The first look counts as a change: what happened before is unknown. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#loop += 1;
    void this.#look(this.#loop, null);
  }

  stop(): void {
    this.#isRunning = false;
    this.#loop += 1;
  }

  /** @param last The text of the last look; null: unknown. */
  async #look(loop: number, last: string | null): Promise<void> {
    const { systemPool, everyMs, onChange } = this.#options;
    let snapshot: string | null = null;
    try {
      const [row] = await systemPool.query(snapshotStatement, []);
      snapshot = String(row?.snapshot);
    } catch {
      // The database is away, which is observed elsewhere. Once it is back, everything may have changed.
    }
    if (loop !== this.#loop) return;
    if (snapshot !== null && snapshot !== last) onChange();
    setTimeout(() => void this.#look(loop, snapshot), snapshot === null ? everyMs * failurePauses : everyMs).unref();
  }
}
