/**
 * Opens the metrics of a gateway: the route for holders of an access token, and the port of their own where one is wanted.
 */
import type { Config } from '../../config/config.ts';
import { isSameToken } from '../../management/access-tokens.ts';
import { ManagementError } from '../../management/management-error.ts';
import type { Management } from '../../management/start-management.ts';
import { PublicError } from '../../shared/errors.ts';
import type { MetricsParts } from '../server/parts.ts';
import type { Meter } from './meter.ts';
import { type MetricSeries, printMetrics } from './metrics.ts';
import { serveMetrics } from './metrics-route.ts';

/** What they are opened with. */
export interface OpenMetricsOptions {
  readonly config: Pick<Config, 'host' | 'metricsPort' | 'accessToken'>;
  readonly meter: Meter;
  readonly management: Pick<Management, 'api' | 'ref'>;
  /** The series of all processes that share the port; absent: this one is alone. */
  readonly gather?: () => Promise<readonly MetricSeries[]>;
}

/** The opened metrics. */
export interface OpenMetrics {
  readonly parts: MetricsParts;
  /** Of their own; null where they have none. */
  readonly port: number | null;
  stop(): Promise<void>;
}

/** Opens them. @throws An error of the operating system, for example `EADDRINUSE`. */
export async function openMetrics({ config, meter, management, gather }: OpenMetricsOptions): Promise<OpenMetrics> {
  const { host, metricsPort, accessToken } = config;
  const read = gather ?? (async () => [await meter.read()]);
  const print = async () => printMetrics(await read());
  const parts = { print, mayRead: (authorization?: string) => mayRead(management, accessToken, authorization) };
  if (metricsPort === null) return { parts, port: null, stop: async () => {} };
  await meter.begin();
  const { port, stop } = await serveMetrics({ host, port: metricsPort }, print);
  return { parts, port, stop };
}

/** @throws PublicError `UNAVAILABLE` where it cannot be known. */
async function mayRead(
  { api, ref }: OpenMetricsOptions['management'],
  accessToken: string | null,
  authorization: string | undefined,
): Promise<boolean> {
  // Good without the tables of the auth service, and while the database is away.
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined && accessToken !== null && isSameToken(token, accessToken)) return true;
  try {
    await api.authorize(await ref(), authorization);
    return true;
  } catch (cause) {
    if (cause instanceof ManagementError && cause.status < 500) return false;
    throw new PublicError('UNAVAILABLE', 'The database is not responding.', { cause });
  }
}
