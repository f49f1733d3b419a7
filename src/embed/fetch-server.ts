/** Answers a `Request` by an HTTP server that listens nowhere. */
import { Readable } from 'node:stream';
import type { HttpServer } from '../server/create-http-server.ts';
import { readBounded, TooLargeError } from '../shared/read-bounded.ts';
import type { RequestFacts } from './fetch-graphql.ts';

/** Makes the handler. @param maxBodyBytes No route takes more. */
export function createServerFetch(app: HttpServer, maxBodyBytes: number) {
  return async (request: Request, { address }: RequestFacts = {}): Promise<Response> => {
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
  };
}
