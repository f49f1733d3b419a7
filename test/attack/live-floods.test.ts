/**
 * Floods of live queries: subscriptions that come and go by the thousand, messages before a key is given, frames without end, pings. What is left
 * of them is nothing, and others subscribe and ask meanwhile.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import WebSocket from 'ws';
import { testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { overEvents } from '../support/live.ts';
import { createDatabase } from '../support/postgres.ts';

vi.setConfig({ testTimeout: 60_000 });

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table item (id int primary key);
  insert into item values (1);
  grant select on item to anon;
`);
const started: (() => unknown)[] = [];
const gateway = await testGateway(database, { liveIntervalMs: 50, livePollMs: 20 }, (stop) => void started.push(stop));
afterAll(() => Promise.all(started.map((stop) => stop())));
const { live } = gateway.graphql;
const noneLeft = () => vi.waitFor(() => expect(live.state()).toMatchObject({ subscriptions: 0, groups: 0 }), 20_000);
beforeEach(noneLeft);

const rows = 'itemCollection { edges { node { id } } }';
const answer = { data: { itemCollection: { edges: [{ node: { id: 1 } }] } } };

/** Somebody else asks and subscribes, while the attack goes on. */
async function othersAreServed(): Promise<void> {
  expect((await gateway.ask(`{ ${rows} }`)).body).toEqual(answer);
  const heard = overEvents(gateway.url, { query: `subscription { ${rows} }` });
  expect(await heard.next()).toEqual(answer);
  heard.stop();
}

async function open(): Promise<WebSocket> {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql/v1`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  socket.on('error', () => {});
  await once(socket, 'open');
  return socket;
}

async function opened(): Promise<WebSocket> {
  const socket = await open();
  socket.send(JSON.stringify({ type: 'connection_init', payload: { apikey: anonKey } }));
  await once(socket, 'message');
  return socket;
}

/** A subscription that nobody shares, and its end at once. */
function comeAndGo(socket: WebSocket, id: number): void {
  const query = `subscription($id: Int!) { itemCollection(filter: { id: { gt: $id } }) { edges { node { id } } } }`;
  socket.send(JSON.stringify({ id: `${id}`, type: 'subscribe', payload: { query, variables: { id } } }));
  socket.send(JSON.stringify({ id: `${id}`, type: 'complete' }));
}

test('Thousands of subscriptions that come and go over one WebSocket leave none, and others are served', async () => {
  const socket = await opened();
  for (let id = 0; id < 2000; id += 1) comeAndGo(socket, id);
  await othersAreServed();
  await noneLeft();
  // It was no reason to close it.
  socket.send(JSON.stringify({ type: 'ping' }));
  await vi.waitFor(() => expect(socket.readyState).toBe(WebSocket.OPEN));
});

test('Subscriptions that come and go over many WebSockets leave none, and others are served', async () => {
  const sockets = await Promise.all(Array.from({ length: 40 }, opened));
  for (const [index, socket] of sockets.entries()) {
    for (let id = 0; id < 30; id += 1) comeAndGo(socket, index * 100 + id);
  }
  await othersAreServed();
  for (const socket of sockets) socket.terminate();
  await noneLeft();
});

test('Streams that are opened and cut at once leave no subscription, and others are served', async () => {
  const body = JSON.stringify({ query: `subscription { ${rows} }` });
  for (let count = 0; count < 100; count += 1) {
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    socket.write(
      `POST /graphql/v1 HTTP/1.1\r\nhost: x\r\napikey: ${anonKey}\r\naccept: text/event-stream\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      () => socket.destroy(),
    );
  }
  await othersAreServed();
  await noneLeft();
});

test('A WebSocket that subscribes before it has given a key is closed, and those that give none are closed too', async () => {
  const eager = await open();
  const closed = once(eager, 'close');
  for (let id = 0; id < 1000; id += 1) comeAndGo(eager, id);
  expect((await closed)[0]).toBe(4401);
  const silent = await Promise.all(Array.from({ length: 50 }, open));
  const codes = Promise.all(silent.map(async (socket) => (await once(socket, 'close'))[0]));
  await othersAreServed();
  expect(new Set(await codes)).toEqual(new Set([4408]));
});

/** The bytes of a handshake, and of what follows without waiting for the answer. */
async function raw(frames: Buffer): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(
    'GET /graphql/v1 HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n',
  );
  await once(socket, 'readable');
  socket.write(frames);
  return socket;
}

/** It is reset while it writes, too. */
const closing = (socket: Socket) => new Promise((done) => socket.once('close', done));

const mask = Buffer.alloc(4);
/** A frame's head with a length of 64 bits. */
function head(first: number, length: bigint): Buffer {
  const bytes = Buffer.alloc(10);
  bytes.writeUInt8(first, 0);
  bytes.writeUInt8(0x80 | 127, 1);
  bytes.writeBigUInt64BE(length, 2);
  return Buffer.concat([bytes, mask]);
}

test.each([
  ['that announces a terabyte', head(0x81, 2n ** 40n)],
  [
    'whose pieces are too long together',
    Buffer.concat([0x01, 0x00, 0x00].flatMap((first) => [head(first, 700_000n), Buffer.alloc(700_000)])),
  ],
  ['that is not masked', Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
  ['with a ping longer than pings are', head(0x89, 70_000n)],
])('A WebSocket message %s closes the connection', async (_what, frames) => {
  const socket = await raw(frames);
  await closing(socket.resume());
  await othersAreServed();
});

test('Pings that come faster than their answers are read close the connection', async () => {
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125]), mask, Buffer.alloc(125)]);
  const many = Buffer.concat(Array.from({ length: 100_000 }, () => ping));
  const socket = await raw(Buffer.alloc(0));
  const closed = closing(socket.pause());
  socket.write(many);
  await othersAreServed();
  await closed;
  await othersAreServed();
});
