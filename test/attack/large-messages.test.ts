/**
 * Clients that send large requests, whole or without their end, and clients that do not read large answers: what they take of
 * memory is bounded, and clients of other networks are served, however slow they are.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { gatewayProcess } from '../support/gateway-process.ts';
import { anonKey, operation } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';

const mebibyte = 1024 * 1024;
const limit = 256 * mebibyte;
const attacker = '127.0.0.2';
const slow = '127.0.0.3';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text);
  insert into note select n, repeat('x', 1000000) from generate_series(1, 15) n;
  create function nap(text) returns int stable language sql as $$ select 1 from pg_sleep(5) $$;
  grant usage on schema public to anon;
  grant select on note to anon;
`);
const gateway = await gatewayProcess(database, {}, afterAll);

const requestOf = (body: string) =>
  `POST /graphql/v1 HTTP/1.1\r\nhost: localhost\r\napikey: ${anonKey}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

async function send(bytes: string, from: string): Promise<Socket> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress: from });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

async function answer(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('Ninety unread answers of 15 MB take the memory of some, and a slow reader gets its own', {
  timeout: 60_000,
}, async () => {
  const large = requestOf(operation('{ noteCollection { edges { node { body } } } }'));
  const begin = async (from: string) => {
    const socket = await send(large, from);
    await once(socket, 'readable');
    return socket;
  };
  const reader = await begin(slow);
  const before = await gateway.peakBytes();
  for (let asked = 0; asked < 90; asked += 6) await Promise.all(Array.from({ length: 6 }, () => begin(attacker)));
  // Answers that are being made come on top.
  expect((await gateway.peakBytes()) - before).toBeLessThan(limit + 300 * mebibyte);
  expect((await answer(reader)).length).toBeGreaterThan(15_000_000);
});

const napping = requestOf(
  operation('query ($text: String!) { nap(arg1: $text) }', { variables: { text: 'x'.repeat(1_000_000) } }),
);

test.each([
  ['that lack their last byte', napping.slice(0, -1)],
  ['that run', napping],
])(
  'Of 400 requests of 1 MB %s, as many stay as the limit holds, and a slow sender is served',
  {
    timeout: 60_000,
  },
  async (_, bytes) => {
    const small = requestOf(operation('{ noteByPk(id: 1) { id } }'));
    const sender = await send(small.slice(0, -1), slow);
    const open = new Set<Socket>();
    for (let sent = 0; sent < 400; sent += 1) {
      const socket = await send(bytes, attacker);
      open.add(socket.once('close', () => open.delete(socket)).resume());
    }
    await vi.waitFor(() => expect(open.size * bytes.length).toBeLessThan(limit), 5000);
    expect(open.size).toBeGreaterThan(100);
    sender.write(small.slice(-1));
    expect(await answer(sender)).toContain('"id":1');
  },
);
