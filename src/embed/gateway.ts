/**
 * A whole gateway in another program: the GraphQL API, the auth service, the management API and the studio behind one
 * `fetch`, without a port of its own.
 */
import { Readable } from 'node:stream';
import { type Gateway, startGateway } from '../gateway.ts';
import { maxManagementBodyBytes } from '../management/routes/management-parts.ts';
import { readBounded, TooLargeError } from '../shared/read-bounded.ts';
import { type EmbeddedOperations, embedOperations } from './embedded-operations.ts';
import type { RequestFacts } from './fetch-graphql.ts';
import type { EmbedExtras } from './graphql.ts';
import { type GatewayOptions, readOptions } from './read-options.ts';

/** A running gateway. */
export interface EmbeddedGateway extends EmbeddedOperations {
  /** Answers a request to any path of the gateway, such as `/graphql/v1` and `/auth/v1/token`. */
  fetch(request: Request, facts?: RequestFacts): Promise<Response>;
  /** Lets running requests finish for `drainTimeoutMs`, then closes the connections to the database. */
  close(): Promise<void>;
}

/**
 * Starts a gateway that listens nowhere. When the promise resolves, the schema was read or the database found
 * unavailable. Without `observe` in the extras, it logs to standard output as `logLevel` and `logFormat` say.
 *
 * @throws ConfigError with every problem of the options; DatabaseError if the database refuses the login.
 */
export async function createGateway(options: GatewayOptions, extras: EmbedExtras = {}): Promise<EmbeddedGateway> {
  const config = readOptions(options);
  const gateway = await startGateway(config, { ...extras, listen: false });
  // No route takes more.
  const maxBodyBytes = Math.max(config.limits.maxBodyBytes, maxManagementBodyBytes);
  return {
    ...embedOperations(config, gateway.graphql),
    fetch: (request, facts) => answer(gateway, request, { maxBodyBytes, ...facts }),
    close: () => gateway.stop(),
  };
}

async function answer(
  { app }: Gateway,
  request: Request,
  { maxBodyBytes, address }: RequestFacts & { readonly maxBodyBytes: number },
): Promise<Response> {
  const { host, pathname, search } = new URL(request.url);
  const body = await readBounded(request, maxBodyBytes).catch((error) => {
    // One byte more than the limit: the server refuses it in the way of the route.
    if (error instanceof TooLargeError) return Buffer.alloc(maxBodyBytes + 1);
    throw error;
  });
  const answered = await app.inject({
    method: request.method as 'POST',
    url: pathname + search,
    headers: { host, ...Object.fromEntries(request.headers) },
    payload: body,
    remoteAddress: address ?? '0.0.0.0',
    payloadAsStream: true,
    signal: request.signal,
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(answered.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, String(one));
  }
  const { statusCode: status } = answered;
  const isEmpty = request.method === 'HEAD' || [204, 205, 304].includes(status);
  const stream = answered.stream();
  if (isEmpty) stream.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(stream) as ReadableStream<Uint8Array>), { status, headers });
}
