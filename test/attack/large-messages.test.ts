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
const limit = 128 * mebibyte;
const attacker = '127.0.0.2';
const slow = '127.0.0.3';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text);
  insert into note select n, repeat('x', 1000000) from generate_series(1, 15) n;
  create function large() returns json stable language sql as
    $$ select pg_catalog.to_json(pg_catalog.repeat('x', 15000000)) $$;
  create function nap(text) returns int stable language sql as $$ select 1 from pg_sleep(5) $$;
  grant usage on schema public to anon;
  grant select on note to anon;
`);
const gateway = await gatewayProcess(database, { maxBufferedBytes: limit }, afterAll);
const behindProxy = await gatewayProcess(
  database,
  { maxBufferedBytes: limit, trustedProxies: ['127.0.0.1'] },
  afterAll,
);

const requestOf = (body: string, headers = '') =>
  `POST /graphql/v1 HTTP/1.1\r\nhost: localhost\r\napikey: ${anonKey}\r\ncontent-type: application/json\r\nconnection: close\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
const rows = operation('{ noteCollection { edges { node { body } } } }');
const value = operation('{ large }');

async function send(bytes: string, from: string, { port } = gateway): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Waits for the first bytes of the answer, or for the end of the connection, and reads nothing. */
async function begin(bytes: string, from: string, of = gateway): Promise<Socket> {
  const socket = await send(bytes, from, of);
  await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  return socket;
}

async function answer(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

// The most that a process has had is measured, so what may take less comes first. Rows leave the smaller buffers that theirs have outgrown.
test.each([
  ['one value', value, 64 * mebibyte],
  ['rows', rows, 384 * mebibyte],
])(
  'Ninety unread answers of 15 MB, of %s, take the memory of a few, those that are being made included',
  {
    timeout: 120_000,
  },
  async (_, body, garbage) => {
    const reader = await begin(requestOf(body), slow);
    const before = await gateway.peakBytes();
    await Promise.all(Array.from({ length: 90 }, () => begin(requestOf(body), attacker)));
    expect((await gateway.peakBytes()) - before).toBeLessThan(limit + garbage);
    expect((await answer(reader)).length).toBeGreaterThan(15_000_000);
  },
);

test('Behind a proxy, the client that has most loses, and not another one of the proxy', {
  timeout: 120_000,
}, async () => {
  const large = (client: string) => requestOf(rows, `x-forwarded-for: ${client}\r\n`);
  const reader = await begin(large('198.51.100.1'), '127.0.0.1', behindProxy);
  const others = await Promise.all(
    Array.from({ length: 60 }, () => begin(large('198.51.100.2'), '127.0.0.1', behindProxy)),
  );
  expect((await answer(reader)).length).toBeGreaterThan(15_000_000);
  const answers = await Promise.allSettled(others.map(answer));
  const whole = answers.filter((each) => each.status === 'fulfilled' && each.value.length > 15_000_000);
  expect(whole.length).toBeLessThan(20);
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
    expect(open.size).toBeGreaterThan(50);
    sender.write(small.slice(-1));
    expect(await answer(sender)).toContain('"id":1');
  },
);
