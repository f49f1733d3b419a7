/**
 * Listens for `notify pgreflect, 'reload'`, or on another channel, on a connection of its own, for as long as the gateway
 * lives.
 *
 * A notification sent while the connection was away is lost, so a new connection counts as one. A pooler in transaction
 * mode accepts `listen` and passes nothing on; the catalog check at an interval covers that.
 */
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { within } from '../shared/within.ts';
import { endLimitMs, keepAliveAfterMs } from './driver.ts';

/** Where to listen and whom to tell. */
export interface ListenerOptions {
  readonly connectionString: string;
  readonly applicationName: string;
  /** `pgreflect` where nothing is said. */
  readonly channel?: 'pgreflect' | 'pgreflect_config';
  /** What is watched may have changed: a notification of any payload arrived, or some may have been missed. */
  readonly onReload: () => void;
  /** The connection was lost or could not be made; tried again by itself. Called once for each outage. */
  readonly onLost: (problem: Error) => void;
}

/** A running listener. */
export interface Listener {
  /** Resolves when the first connection listens; never where the database stays away. */
  readonly listening: Promise<void>;
  stop(): Promise<void>;
}

const firstDelayMs = 250;
const longestDelayMs = 15_000;

/** Starts to listen; failures are retried with growing delays and never thrown. */
export function startListener(options: ListenerOptions): Listener {
  const stopping = new AbortController();
  let markListening = () => {};
  const listening = new Promise<void>((resolve) => {
    markListening = resolve;
  });

  async function run(): Promise<void> {
    let delayMs = firstDelayMs;
    let outages = 0;
    let reported = false;
    while (!stopping.signal.aborted) {
      try {
        await listenOnce(options, stopping.signal, () => {
          if (outages > 0) options.onReload();
          delayMs = firstDelayMs;
          reported = false;
          markListening();
        });
      } catch (problem) {
        outages += 1;
        if (!reported) options.onLost(problem as Error);
        reported = true;
      }
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    }
  }

  const running = run();
  return {
    listening,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** One connection's life. Rejects when it is lost, resolves when `signal` aborts. */
async function listenOnce(options: ListenerOptions, signal: AbortSignal, onListening: () => void): Promise<void> {
  const socket = new Socket();
  const client = new pg.Client({
    stream: () => socket,
    connectionString: options.connectionString,
    application_name: options.applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
  });
  let onAbort = () => {};
  const over = new Promise<void>((resolve, reject) => {
    onAbort = resolve;
    client.on('error', reject);
    client.on('end', () => reject(new Error('The connection was closed.')));
  });
  signal.addEventListener('abort', onAbort, { once: true });
  client.on('notification', () => options.onReload());
  try {
    await Promise.race([client.connect().then(() => client.query(`listen ${options.channel ?? 'pgreflect'}`)), over]);
    if (!signal.aborted) onListening();
    await over;
  } finally {
    signal.removeEventListener('abort', onAbort);
    await within(
      endLimitMs,
      client.end().catch(() => {}),
    );
    socket.destroy();
  }
}
