/**
 * A server that we ask answers with compressed bytes and stops, with or without closing the connection, or in a form that is hardly HTTP.
 * What waits for it ends all the same: nobody's transaction stays open, nobody's lock with it, and the process lives.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createBoundedFetch } from '../../src/auth/providers/issuers.ts';
import { unrestrictedEgress } from '../../src/shared/egress/egress.ts';
import { testAuth } from '../support/auth-service.ts';
import { hookSecret } from '../support/hook-server.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const database = await createAuthDatabase();

/** Its answer; `/cut` ends with the connection, `/held` does not end. */
async function partialServer(): Promise<string> {
  const bytes = gzipSync(JSON.stringify({ text: 'x' })).subarray(0, -4);
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.write(bytes, () => request.url === '/cut' && response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a sign-up whose hook does so is answered, and its transaction ends', async () => {
  const auth = await testAuth(database, {
    hook_before_user_created_enabled: true,
    hook_before_user_created_uri: `${await partialServer()}/held`,
    hook_before_user_created_secrets: hookSecret,
  });
  const { status, body } = await auth.ask('/signup', { email: 'ana@x.test', password: 'a good password' });
  const open = `select from pg_catalog.pg_stat_activity a
    where a.datname = pg_catalog.current_database() and a.state like 'idle in transaction%'`;
  expect(await database.query(open)).toEqual([]);
  expect(await database.query('select from auth.users')).toEqual([]);
  expect([status, body.code]).toEqual([422, 'hook_timeout']);
});

test.each([
  ['cut', /aborted/],
  ['held', /timeout/],
])('a provider whose answer is %s is given up', async (path, reason) => {
  const url = `${await partialServer()}/${path}`;
  const send = createBoundedFetch({ timeoutMs: 500, maxBytes: 1000 }, unrestrictedEgress.fetchFor(url));
  await expect(send(url)).rejects.toThrow(reason);
});

/** A server whose answers are these bytes. */
async function rawServer(bytes: string): Promise<string> {
  const server = createSocketServer((socket) => {
    socket.on('error', () => {}).on('data', () => socket.end(bytes, 'latin1'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  ['a status that there is not', 'HTTP/1.1 999 Request denied\r\n\r\n{}'],
  ['a status below all', 'HTTP/1.1 000 None\r\n\r\n{}'],
  ['a reason that is no text', 'HTTP/1.1 200 a\x01b\r\n\r\n{}'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ['no HTTP', '\x16\x03\x01\x00'],
  ['bytes that are not compressed', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nhello'],
])('an answer with %s is an error of its request, not of the process', async (_what, bytes) => {
  const url = await rawServer(bytes);
  const send = createBoundedFetch({ timeoutMs: 2000, maxBytes: 1000 }, unrestrictedEgress.fetchFor(url));
  await expect(send(url)).rejects.toThrow(/^(?!.*timeout)/);
});

// What nobody catches would end the process, which is that of the test.
test('a process lives on whose hook answers with such a status', async () => {
  const auth = await testAuth(database, {
    hook_before_user_created_enabled: true,
    hook_before_user_created_uri: await rawServer('HTTP/1.1 999 Request denied\r\n\r\n{}'),
    hook_before_user_created_secrets: hookSecret,
  });
  const { status } = await auth.ask('/signup', { email: 'bea@x.test', password: 'a good password' });
  expect(status).toBe(422);
  expect((await auth.ask('/settings')).status).toBe(200);
});
