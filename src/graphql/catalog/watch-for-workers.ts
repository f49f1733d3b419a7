/**
 * Watches the catalog for several processes: compares it at an interval and on notifications, once for all, and reports
 * the fingerprint. What the schema-change trigger records, each process checks itself in each flight.
 */
import { startListener } from '../../postgres/system/listener.ts';
import { createSystemPool } from '../../postgres/system/run-system.ts';
import { pollAtInterval } from './poll.ts';
import { readFingerprint } from './read-catalog.ts';

interface WorkersWatchOptions {
  readonly connectionString: string;
  /** Exposed namespaces; null: the login role's search path. */
  readonly schemas: readonly string[] | null;
  /** Interval of the comparison in milliseconds. */
  readonly pollMs: number;
  /** Longest wait for a connection in milliseconds. */
  readonly waitMs: number;
  /** Called with the catalog's fingerprint; models made from another one are outdated. */
  readonly onFingerprint: (fingerprint: string) => void;
}

/** A running watch. */
export interface WorkersWatch {
  /** The last fingerprint; null if none could be read yet. */
  fingerprint(): string | null;
  /** Watches other namespaces from now on. */
  expose(schemas: readonly string[] | null): Promise<void>;
  stop(): Promise<void>;
}

/** Starts watching. An unavailable database is tried again at the next interval. */
export function watchForWorkers(options: WorkersWatchOptions): WorkersWatch {
  const { connectionString, pollMs, waitMs } = options;
  const ignore = () => {};
  const pool = createSystemPool({
    connectionString,
    size: 1,
    waitMs,
    applicationName: 'pgreflect watch',
    onError: ignore,
  });
  let { schemas } = options;
  let known: string | null = null;

  /** True if it differs from the one before. */
  async function compare(): Promise<boolean> {
    const asked = schemas;
    const found = await readFingerprint(pool, asked);
    if (found === known || asked !== schemas) return false;
    known = found;
    options.onFingerprint(found);
    return true;
  }

  const end = pollAtInterval(async () => {
    const began = performance.now();
    await compare();
    return performance.now() - began;
  }, pollMs);
  const listener = startListener({
    connectionString,
    applicationName: 'pgreflect listener',
    check: compare,
    onLost: ignore,
  });
  return {
    fingerprint: () => known,
    async expose(next) {
      schemas = next;
      await compare();
    },
    async stop() {
      end();
      await Promise.all([listener.stop(), pool.stop()]);
    },
  };
}
