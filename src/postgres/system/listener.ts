/**
 * Listens for `notify pgreflect, 'reload'`, or on another channel, on a connection of its own, for as long as the gateway
 * lives.
 *
 * A notification sent while the connection was away is lost, so a new connection counts as one. A pooler in transaction
 * mode accepts `listen` and passes nothing on; the catalog check at an interval covers that.
 *
 * Every login of the database may notify, as often as it likes: notifications that come together are one, and checks that find
 * nothing are made ever more seldom.
 */
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { forDriver } from '../../config/connection-url.ts';
import { within } from '../../shared/within.ts';
import { endLimitMs, keepAliveAfterMs } from '../wire/driver.ts';
import { TlsClient } from '../wire/tls-client.ts';

interface ListenerOptions {
  readonly connectionString: string;
  readonly applicationName: string;
  /** `pgreflect` where nothing is said. */
  readonly channel?: 'pgreflect' | 'pgreflect_config';
  /**
   * What is watched may have changed: a notification of any payload arrived, or some may have been missed. Looks, cheaply, and
   * tells whether it had. Never called twice at once.
   */
  readonly check: () => Promise<boolean>;
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

/** Shortest and longest pause after a check that found nothing, in milliseconds, and the share of the time that such checks may take. */
const firstPauseMs = 100;
const longestPauseMs = 10_000;
const idleShare = 0.05;

/** Starts to listen; failures are retried with growing delays and never thrown. */
export function startListener(options: ListenerOptions): Listener {
  const stopping = new AbortController();
  const listening = Promise.withResolvers<void>();
  const notified = pace(options.check, stopping.signal);

  async function run(): Promise<void> {
    let delayMs = firstDelayMs;
    let outages = 0;
    let reported = false;
    while (!stopping.signal.aborted) {
      try {
        await listenOnce(options, stopping.signal, notified, () => {
          if (outages > 0) notified();
          delayMs = firstDelayMs;
          reported = false;
          listening.resolve();
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
    listening: listening.promise,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Makes of any number of notifications as few checks as show every change: each notification is followed by the begin of one. */
function pace(check: () => Promise<boolean>, signal: AbortSignal): () => void {
  let isWanted = false;
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    let pauseMs = 0;
    while (isWanted && !signal.aborted) {
      isWanted = false;
      const began = performance.now();
      const hasChanged = await check().catch(() => false);
      const tookMs = performance.now() - began;
      pauseMs = hasChanged ? 0 : Math.min(Math.max(2 * pauseMs, firstPauseMs, tookMs / idleShare), longestPauseMs);
      // Changes are looked for half of the time at most.
      await sleep(Math.max(pauseMs, Math.min(tookMs, longestPauseMs)), undefined, { signal }).catch(() => {});
    }
    isRunning = false;
  }

  return () => {
    isWanted = true;
    if (!isRunning) void run();
  };
}

/** One connection's life. Rejects when it is lost, resolves when `signal` aborts. */
async function listenOnce(
  options: ListenerOptions,
  signal: AbortSignal,
  onNotification: () => void,
  onListening: () => void,
): Promise<void> {
  let socket = new Socket();
  const client = new TlsClient({
    stream: () => {
      socket = new Socket();
      return socket;
    },
    connectionString: forDriver(options.connectionString),
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
  client.on('notification', onNotification);
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
