/**
 * The tests of `large-messages.test.ts`, and of its nightly run with more of everything: clients that send large requests, whole or
 * without their end, and clients that do not read large answers. What they take of memory is bounded, and clients of other networks
 * are served, however slow they are.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { type GatewayProcess, gatewayProcess } from '../support/gateway-process.ts';
import { anonKey, operation } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';

const mebibyte = 1024 * 1024;
const attacker = '127.0.0.2';
const slow = '127.0.0.3';
const proxy = '127.0.0.4';

const requestOf = (body: string, headers = '') =>
  `POST /graphql/v1 HTTP/1.1\r\nhost: localhost\r\napikey: ${anonKey}\r\ncontent-type: application/json\r\nconnection: close\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
const rows = operation('{ noteCollection { edges { node { body } } } }');
const value = operation('{ large }');

const napping = requestOf(
  operation('query ($text: String!) { nap(arg1: $text) }', { variables: { text: 'x'.repeat(1_000_000) } }),
);

async function send(bytes: string, from: string, { port }: GatewayProcess): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Waits for the first bytes of the answer, or for the end of the connection, and reads nothing. */
async function begin(bytes: string, from: string, of: GatewayProcess): Promise<Socket> {
  const socket = await send(bytes, from, of);
  await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  return socket;
}

async function answer(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

/**
 * Defines the tests for a gateway that may hold so much.
 *
 * @param limitMebibytes Of all messages together.
 * @param answers That are asked for and not read.
 * @param requests That are sent.
 */
export async function testLargeMessages(limitMebibytes: number, answers: number, requests: number): Promise<void> {
  const limit = limitMebibytes * mebibyte;
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
  const given = { maxBufferedBytes: limit, trustedProxies: [proxy] };
  const gateway = await gatewayProcess(database, given, afterAll);

  // The most that a process has had is measured, so what may take less comes first. Rows leave the smaller buffers that theirs have outgrown.
  test.each([
    ['one value', value, 64 * mebibyte],
    ['rows', rows, 384 * mebibyte],
  ])(
    `${answers} unread answers of 15 MB, of %s, take the memory of a few, those that are being made included`,
    {
      timeout: 120_000,
    },
    async (_, body, garbage) => {
      const reader = await begin(requestOf(body), slow, gateway);
      const before = await gateway.peakBytes();
      await Promise.all(Array.from({ length: answers }, () => begin(requestOf(body), attacker, gateway)));
      expect((await gateway.peakBytes()) - before).toBeLessThan(limit + garbage);
      expect((await answer(reader)).length).toBeGreaterThan(15_000_000);
    },
  );

  test('Behind a proxy, the client that has most loses, and not another one of the proxy', {
    timeout: 120_000,
  }, async () => {
    const large = (client: string) => requestOf(rows, `x-forwarded-for: ${client}\r\n`);
    const reader = await begin(large('198.51.100.1'), proxy, gateway);
    const opened = await Promise.all(
      Array.from({ length: answers }, () => begin(large('198.51.100.2'), proxy, gateway)),
    );
    expect((await answer(reader)).length).toBeGreaterThan(15_000_000);
    const settled = await Promise.allSettled(opened.map(answer));
    const whole = settled.filter((each) => each.status === 'fulfilled' && each.value.length > 15_000_000);
    expect(whole.length).toBeLessThan(answers / 3);
  });

  test.each([
    ['that lack their last byte', napping.slice(0, -1), 0],
    ['that run', napping, 0],
    ['that run, on connections that were idle before', napping, 1500],
  ])(
    `Of ${requests} requests of 1 MB %s, as many stay as the limit holds, and a slow sender is served`,
    {
      timeout: 60_000,
    },
    async (_, bytes, idleMs) => {
      const small = requestOf(operation('{ noteByPk(id: 1) { id } }'));
      const sender = await send(small.slice(0, -1), slow, gateway);
      const open = new Set<Socket>();
      let dropped = 0;
      const leave = (socket: Socket) => {
        open.delete(socket);
        // Others have their answer, which on a slow machine may be that they have waited too long.
        if (socket.bytesRead === 0) dropped += 1;
      };
      for (let sent = 0; sent < requests; sent += 1) {
        const socket = await send(idleMs === 0 ? bytes : '', attacker, gateway);
        open.add(socket.once('close', () => leave(socket)).resume());
      }
      if (idleMs > 0) {
        await sleep(idleMs);
        for (const socket of open) socket.write(bytes);
      }
      await vi.waitFor(() => expect(open.size * bytes.length).toBeLessThan(limit), 5000);
      expect(requests - dropped).toBeGreaterThan((0.4 * limit) / mebibyte);
      sender.write(small.slice(-1));
      expect(await answer(sender)).toContain('"id":1');
    },
  );
}
