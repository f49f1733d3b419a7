/**
 * `/metrics` for Prometheus: on the port of the APIs for holders of an access token, on a port of its own (`--metrics-port`)
 * for whoever reaches it.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { PublicError } from '../../shared/errors.ts';
import { readTimeoutMs } from '../server/connections.ts';
import type { MetricsParts, PrintedMetrics } from '../server/parts.ts';
import { sniffHeaders } from '../server/response-head.ts';

/** Its path on both ports. */
export const metricsPath = '/metrics';

/** Adds the route. */
export function registerMetrics(app: FastifyInstance, { print, mayRead }: MetricsParts): void {
  app.get(metricsPath, async (request, reply) => {
    if (!(await mayRead(request.headers.authorization))) {
      const message = 'The metrics need an access token as "Authorization: Bearer", or the port of --metrics-port.';
      throw new PublicError('UNAUTHENTICATED', message);
    }
    const { type, text } = await print();
    request.state.bytes = Buffer.byteLength(text);
    return reply.type(type).send(text);
  });
}

/** A server that has nothing but the metrics. */
export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Connections at once: a few collectors. One that is kept without a request, or whose answer is not read, ends by itself. */
const maxConnections = 32;
/** Time for a request to arrive, in milliseconds. */
const receiveTimeoutMs = 5000;

/**
 * Serves the metrics to everybody.
 *
 * @throws An error of the operating system, for example `EADDRINUSE`.
 */
export async function serveMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  print: () => Promise<PrintedMetrics>,
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
    if (request.url?.split('?')[0] !== metricsPath)
      return end(404, plain, `There is nothing but ${metricsPath} here.\n`);
    if (request.method !== 'GET') return end(405, plain, 'Only GET.\n');
    print().then(
      ({ type, text }) => end(200, type, text),
      () => end(503, plain, 'The metrics cannot be read at the moment.\n'),
    );
  });
  server.timeout = readTimeoutMs;
  server.maxConnections = maxConnections;
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
}
