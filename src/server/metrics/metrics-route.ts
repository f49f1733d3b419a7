/** `/metrics` for Prometheus: on the API port with an access token, or without on a separate one (`--metrics-port`). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { readBearerToken } from '../../shared/bearer-token.ts';
import { PublicError } from '../../shared/errors.ts';
import { sameText } from '../../shared/same-text.ts';
import { countedAs } from '../caller/client-address.ts';
import { readTimeoutMs } from '../connection/connections.ts';
import { sniffHeaders } from '../response-head.ts';
import type { Meter } from './metrics.ts';
import { type PrintedMetrics, printMetrics } from './print-metrics.ts';
import type { Snapshot } from './snapshot.ts';

/** What the route of the metrics needs. */
export interface MetricsParts {
  /** The text for Prometheus, and its type. @param accept The header of the request. */
  readonly print: (accept: string | undefined) => Promise<PrintedMetrics>;
  /** Whether this is an access token. @param token Null without one. @param from Who asks, for counting wrong tokens. */
  readonly mayRead: (token: string | null, from: string) => Promise<boolean>;
}

const metricsPath = '/metrics';

/** Adds the route. */
export function registerMetrics(app: FastifyInstance, { print, mayRead }: MetricsParts): void {
  app.get(metricsPath, async (request, reply) => {
    if (!(await mayRead(readBearerToken(request.headers.authorization), countedAs(null, request.state.address)))) {
      const message = 'The metrics need an access token as "Authorization: Bearer", or the port of --metrics-port.';
      throw new PublicError('UNAUTHENTICATED', message);
    }
    const { type, text } = await print(request.headers.accept);
    request.state.bytes = Buffer.byteLength(text);
    return reply.type(type).send(text);
  });
}

interface OpenMetricsOptions {
  readonly config: Pick<Config, 'host' | 'metricsPort' | 'accessToken'>;
  readonly meter: Meter;
  /** Whether this is an access token of the database. @throws PublicError `UNAVAILABLE` */
  readonly isAuthorized: MetricsParts['mayRead'];
  /** Collects the series of all processes that share the port; absent: there is only this one. */
  readonly gather?: (() => Promise<readonly Snapshot[]>) | undefined;
}

/** Opens the metrics. @returns `server` is null without a port. @throws Of the system, such as `EADDRINUSE`. */
export async function openMetrics({ config, meter, isAuthorized, gather }: OpenMetricsOptions) {
  const { host, metricsPort } = config;
  const read = gather ?? (async () => [await meter.read()]);
  const print: MetricsParts['print'] = async (accept) => printMetrics(await read(), accept);
  const parts: MetricsParts = {
    print,
    mayRead: async (token, from) => {
      // This token works without the auth tables, and while the database is down.
      const { accessToken } = config;
      if (token !== null && accessToken !== null && sameText(token, accessToken)) return true;
      return isAuthorized(token, from);
    },
  };
  if (metricsPort === null) return { parts, server: null };
  meter.begin();
  return { parts, server: await serveMetrics({ host, port: metricsPort }, print) };
}

/** A server for the metrics alone. */
export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Most open connections: a few collectors. Idle ones and those that do not read end by timeout. */
const maxConnections = 32;
/** Time for a request to arrive, in milliseconds. */
const receiveTimeoutMs = 5000;

/** Serves the metrics without authentication. @throws An error of the operating system, for example `EADDRINUSE`. */
export async function serveMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  print: MetricsParts['print'],
): Promise<MetricsServer> {
  const timeouts = {
    headersTimeout: receiveTimeoutMs,
    requestTimeout: receiveTimeoutMs,
    connectionsCheckingInterval: 1000,
  };
  const server = createServer(timeouts, (request, response) => {
    const end = (status: number, type: string, text: string) =>
      void response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...sniffHeaders }).end(text);
    const plain = 'text/plain; charset=utf-8';
    if (request.url?.split('?')[0] !== metricsPath) return end(404, plain, `Only ${metricsPath} is here.\n`);
    if (request.method !== 'GET') return end(405, plain, 'Only GET.\n');
    print(request.headers.accept).then(
      ({ type, text }) => end(200, type, text),
      () => end(503, plain, 'The metrics cannot be read at the moment.\n'),
    );
  });
  server.timeout = readTimeoutMs;
  server.maxConnections = maxConnections;
  await once(server.listen(port, host), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
}
