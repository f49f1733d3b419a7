/**
 * What `pgreflect check` finds, for a running gateway: in a thread of its own, on a connection of its own, and seldom. All who ask
 * meanwhile get the same findings.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Config } from '../config/config.ts';
import { decodePart, parseConnectionUrl } from '../config/connection-url.ts';
import type { Clock } from '../shared/clock.ts';
import type { CheckOptions } from './find-findings.ts';
import type { Finding } from './finding.ts';

/** What a thread gets. */
export interface CheckOfWorker {
  readonly options: CheckOptions;
  readonly connectionString: string;
}

/** The findings of a moment. */
interface Found {
  readonly findings: readonly Finding[];
  /** Milliseconds since the epoch. */
  readonly checkedAt: number;
}

/** The checks of a gateway. */
export interface Checker {
  /** The last findings, or new ones if they are old. @throws Error if the database cannot be checked. */
  read(): Promise<Found>;
  /** Ends a check under way. */
  stop(): Promise<void>;
}

interface CheckerParts {
  /** Its connection string may be replaced. */
  readonly config: Config;
  readonly clock: Clock;
  /** Since the schema was read; null: not yet. */
  readonly schemaAgeMs: () => number | null;
}

/** How long findings last, in milliseconds; after a change of the schema. */
const lastMs = 10 * 60_000;
const lastAfterChangeMs = 10_000;

/** A check takes seconds; of the largest schemas, a minute. */
const withinMs = 5 * 60_000;

/** Makes them. */
export function createChecker({ config, clock, schemaAgeMs }: CheckerParts): Checker {
  let last: { readonly at: number; readonly checked: Promise<Found> } | null = null;
  let running: Worker | null = null;

  async function check(): Promise<Found> {
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./check-worker.${ending}`, import.meta.url), { workerData: toThread(config) });
    running = worker;
    try {
      const [findings] = await Promise.race([
        once(worker, 'message', { signal: AbortSignal.timeout(withinMs) }),
        once(worker, 'exit').then(() => Promise.reject(new Error('The check has ended without an answer.'))),
      ]);
      return { findings: findings as readonly Finding[], checkedAt: clock.now() };
    } finally {
      running = null;
      await worker.terminate();
    }
  }

  function isOld(at: number): boolean {
    const age = clock.now() - at;
    return age > lastMs || (age > lastAfterChangeMs && (schemaAgeMs() ?? age) < age);
  }

  return {
    read() {
      if (last === null || (running === null && isOld(last.at))) {
        const checked = check();
        last = { at: clock.now(), checked };
        checked.catch(() => {
          if (last?.checked === checked) last = null;
        });
      }
      return last.checked;
    },
    async stop() {
      await running?.terminate();
    },
  };
}

/** Without what else is secret, or what a thread cannot take. */
function toThread({ databaseUrl, ...config }: Config): CheckOfWorker {
  const { schemas, extraSearchPath, extensions, anonRole, authenticatedRole, serviceRole, allowedRoles } = config;
  const { liveClaims, liveHeaders } = config;
  const loginRole = decodePart(parseConnectionUrl(databaseUrl)?.username ?? '');
  const roles = { anonRole, authenticatedRole, serviceRole, allowedRoles, loginRole };
  return {
    connectionString: databaseUrl,
    options: {
      // Commands among the findings tell it to fill it in.
      databaseUrl: 'postgresql://USER:PASSWORD@HOST:5432/DATABASE',
      schemas,
      extraSearchPath,
      extensions,
      liveClaims,
      liveHeaders,
      ...roles,
    },
  };
}
