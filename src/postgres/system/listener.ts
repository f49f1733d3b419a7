/**
 * Listens for `notify pgreflect, 'reload'`, or on another channel, on its own connection, while the gateway runs.
 *
 * Notifications sent while the connection is down are lost, so a new connection counts as one. A pooler in transaction
 * mode accepts `listen` and forwards nothing; the catalog check at an interval covers that.
 *
 * Every login of the database may notify at any rate: simultaneous notifications count as one, and checks that find
 * nothing become rarer.
 */
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../shared/backoff.ts';
import { finishesWithin } from '../../shared/finishes-within.ts';
import { type ConnectionWatch, failureReason } from '../wire/connection-failure.ts';
import { endLimitMs, keepAliveAfterMs } from '../wire/driver.ts';
import { Login } from '../wire/login.ts';
import { TlsClient } from '../wire/tls-client.ts';

interface ListenerOptions {
  /** A login if it may be replaced. */
  readonly connectionString: string | Login;
  readonly applicationName: string;
  readonly watch?: ConnectionWatch;
  /** Default: `pgreflect`. */
  readonly channel?: 'pgreflect' | 'pgreflect_config';
  /** Called after a notification, or when some may be lost; never twice at once. Tells whether something changed. */
  readonly check: () => Promise<boolean>;
  /** Called once per outage, when the connection is lost or cannot be made. Reconnects automatically. */
  readonly onLost: (problem: Error) => void;
}

/** A running listener. */
export interface Listener {
  /** Resolves when the first connection listens; never if the database stays unavailable. */
  readonly listening: Promise<void>;
  stop(): Promise<void>;
}

const pauseAfter = backoff(250, 15_000);

/** Pauses after checks that found nothing, in milliseconds, and the share of time that such checks may take. */
const firstPauseMs = 100;
const maxPauseMs = 10_000;
const idleShare = 0.05;

/** Starts listening; retries failures with growing delays and never throws. */
export function startListener(options: ListenerOptions): Listener {
  const stopping = new AbortController();
  const listening = Promise.withResolvers<void>();
  const notified = pace(options.check, stopping.signal);
  const { connectionString } = options;
  const login = connectionString instanceof Login ? connectionString : new Login(connectionString);

  async function run(): Promise<void> {
    let failures = 0;
    let outages = 0;
    let reported = false;
    while (!stopping.signal.aborted) {
      try {
        await listenOnce({ ...options, login }, stopping.signal, notified, () => {
          if (outages > 0) notified();
          failures = 0;
          reported = false;
          listening.resolve();
        });
        // Its login was replaced.
        outages += 1;
      } catch (problem) {
        outages += 1;
        if (!reported) options.onLost(problem as Error);
        reported = true;
      }
      failures += 1;
      await sleep(pauseAfter(failures), undefined, { signal: stopping.signal }).catch(() => {});
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

/** Merges notifications into as few checks as possible: after each notification, one check starts. */
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
      pauseMs = hasChanged ? 0 : Math.min(Math.max(2 * pauseMs, firstPauseMs, tookMs / idleShare), maxPauseMs);
      // Checks take half of the time at most.
      await sleep(Math.max(pauseMs, Math.min(tookMs, maxPauseMs)), undefined, { signal }).catch(() => {});
    }
    isRunning = false;
  }

  return () => {
    isWanted = true;
    if (!isRunning) void run();
  };
}

/** Serves one connection. Rejects when it is lost, resolves when `signal` aborts or the login is replaced. */
async function listenOnce(
  { login, ...options }: ListenerOptions & { readonly login: Login },
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
    login,
    application_name: options.applicationName,
    ...(options.watch && { watch: options.watch }),
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
  });
  let onAbort = () => {};
  let ignoreReplaced = () => {};
  const over = new Promise<void>((resolve, reject) => {
    onAbort = resolve;
    ignoreReplaced = login.onReplaced(() => {
      if (login.isOld(client.loginText)) resolve();
    });
    client.on('error', reject);
    client.on('end', () => reject(new Error('The connection was closed.')));
  });
  signal.addEventListener('abort', onAbort, { once: true });
  client.on('notification', onNotification);
  try {
    await Promise.race([client.connect().then(() => client.query(`listen ${options.channel ?? 'pgreflect'}`)), over]);
    if (!signal.aborted) onListening();
    await over;
  } catch (problem) {
    if (failureReason(problem as Error) === 'login_refused') login.refused(client.loginText);
    throw problem;
  } finally {
    ignoreReplaced();
    signal.removeEventListener('abort', onAbort);
    await finishesWithin(
      endLimitMs,
      client.end().catch(() => {}),
    );
    socket.destroy();
  }
}
