/**
 * Watches the catalog for several processes: compares it at an interval and on notifications, once for all of them, and tells
 * what it found. They check for themselves, in each flight, what the schema-change trigger sees.
 */
import { startListener } from '../postgres/system/listener.ts';
import { createSystemPool } from '../postgres/system/run-system.ts';
import { pollAtInterval } from './poll.ts';
import { readFingerprint } from './read-catalog.ts';

interface WorkersWatchOptions {
  readonly connectionString: string;
  /** Namespaces that are exposed; null: the login role's search path. */
  readonly schemas: readonly string[] | null;
  /** Interval of the comparison in milliseconds. */
  readonly pollMs: number;
  /** Longest wait for a connection in milliseconds. */
  readonly waitMs: number;
  /** The catalog has this fingerprint now; whose model was made from another one is out of date. */
  readonly onFingerprint: (fingerprint: string) => void;
}

/** A watch that has begun. */
export interface WorkersWatch {
  /** The fingerprint that was found last; null where none could be read yet. */
  fingerprint(): string | null;
  /** Watches other namespaces from now on. */
  expose(schemas: readonly string[] | null): Promise<void>;
  stop(): Promise<void>;
}

/** Begins. A database that is away is asked again at the next interval. */
export function watchForWorkers(options: WorkersWatchOptions): WorkersWatch {
  const { connectionString, pollMs, waitMs } = options;
  const ignore = () => {};
  const pool = createSystemPool({
    ...{ connectionString, size: 1, waitMs, applicationName: 'pgreflect watch', onError: ignore },
  });
  let { schemas } = options;
  let known: string | null = null;

  /** True: it is another one than before. */
  async function compare(): Promise<boolean> {
    const asked = schemas;
    const found = await readFingerprint(pool, asked);
    if (found === known || asked !== schemas) return false;
    known = found;
    options.onFingerprint(found);
    return true;
  }

  const end = pollAtInterval(compare, pollMs);
  const listener = startListener({
    ...{ connectionString, applicationName: 'pgreflect listener', check: compare, onLost: ignore },
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
