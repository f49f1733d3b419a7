/**
 * Clients that ask for large answers and do not read them: what waits for them is bounded, and clients of other networks
 * get their answers, however slowly they read.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { gatewayProcess } from '../support/gateway-process.ts';
import { anonKey, operation } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';

const mebibyte = 1024 * 1024;
const attacker = '127.0.0.2';
const reader = '127.0.0.3';

test('Sixty unread answers of 15 MB take the memory of a few, and a slow reader gets its own', {
  timeout: 120_000,
}, async () => {
  const database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table note (id int primary key, body text);
    insert into note select n, repeat('x', 1000000) from generate_series(1, 15) n;
    grant usage on schema public to anon;
    grant select on note to anon;
  `);
  const gateway = await gatewayProcess(database);
  const body = operation('{ noteCollection { edges { node { body } } } }');
  const request = `POST /graphql/v1 HTTP/1.1\r\nhost: localhost\r\napikey: ${anonKey}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const ask = async (from: string): Promise<Socket> => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress: from });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {}).write(request);
    await once(socket, 'readable');
    return socket;
  };

  const slow = await ask(reader);
  const before = await gateway.peakBytes();
  for (let asked = 0; asked < 60; asked += 6) await Promise.all(Array.from({ length: 6 }, () => ask(attacker)));
  expect((await gateway.peakBytes()) - before).toBeLessThan(450 * mebibyte);
  expect(await gateway.ask('{ noteCollection(first: 1) { edges { node { id } } } }')).toHaveProperty('data');

  let bytes = 0;
  for await (const chunk of slow) bytes += (chunk as Buffer).length;
  expect(bytes).toBeGreaterThan(15_000_000);
});
