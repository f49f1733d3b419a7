/**
 * Requests to providers have limits of time and size, and go nowhere else.
 */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createBoundedFetch } from '../../src/auth/providers/issuers.ts';
import { unrestrictedEgress } from '../../src/shared/egress/egress.ts';

const within = (timeoutMs: number) =>
  createBoundedFetch({ timeoutMs, maxBytes: 1000 }, unrestrictedEgress.fetchFor(''));
const boundedFetch = within(60_000);

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('an answer comes through as it is, a redirect too', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { location: '/' }).end();
    else response.writeHead(203, { 'x-name': 'value' }).end('{"a":1}');
  });
  const answer = await boundedFetch(url, { method: 'POST', body: 'x' });
  expect([answer.status, answer.headers.get('x-name'), await answer.json()]).toEqual([203, 'value', { a: 1 }]);
  const redirect = await boundedFetch(`${url}/redirect`);
  expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/']);
});

test('silence ends with the time, before the answer and in the middle of it', async () => {
  const silent = await serve(() => {});
  await expect(within(200)(silent)).rejects.toMatchObject({ name: 'TimeoutError' });
  const stuck = await serve((_request, response) => void response.write('{'));
  await expect(within(200)(stuck)).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('an answer over the limit is not read to its end, also where it is small while compressed', async () => {
  const large = 'more than 1000 bytes';
  const endless = await serve((_request, response) => {
    const write = (): void => void (response.write('x'.repeat(100)) && setImmediate(write));
    response.on('drain', write);
    write();
  });
  await expect(boundedFetch(endless)).rejects.toThrow(large);
  const bomb = await serve((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('0'.repeat(100_000))),
  );
  await expect(boundedFetch(bomb)).rejects.toThrow(large);
});

test('the caller can abort a request', async () => {
  const silent = await serve(() => {});
  await expect(boundedFetch(silent, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
});
