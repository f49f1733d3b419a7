/**
 * Clients that do nothing: half a request, an answer that is not read, a connection that is only held. None of them keeps a connection
 * or the process for longer than it has time, whatever they do not do.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { serveMetrics } from '../../src/server/metrics/metrics-route.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { gatewayProcess } from '../support/gateway-process.ts';
import { anonKey, operation } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { rawClient, statusesIn } from '../support/raw-client.ts';
import { atEnd } from '../support/when-over.ts';

let database: TestDatabase;
/** Of tests that need no options: one that keeps an answer until it is whole, and one whose limit is so large that it streams. */
let gateway: TestGateway;
let streaming: TestGateway;
beforeAll(async () => {
  database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table item (id int primary key, body text);
    insert into item select g, repeat('x', 10000) from generate_series(1, 3000) g;
    comment on table item is '@graphql({"max_rows": 3000})';
    create function late() returns int language sql as $$ select 7 from pg_sleep(1) $$;
    grant usage on schema public to anon;
    grant select on item to anon;
  `);
  gateway = await testGateway(database, {}, atEnd);
  streaming = await testGateway(database, { limits: raisedLimits }, atEnd);
});

/** What a client has time for, during a test. */
function giveTime({ app }: TestGateway, times: Partial<Pick<Server, 'requestTimeout' | 'headersTimeout' | 'timeout'>>) {
  const { requestTimeout, headersTimeout, timeout } = app.server;
  Object.assign(app.server, times);
  onTestFinished(() => void Object.assign(app.server, { requestTimeout, headersTimeout, timeout }));
}

const head = `POST /graphql/v1 HTTP/1.1\r\nhost: a\r\napikey: ${anonKey}\r\ncontent-type: application/json\r\n`;
const request = (query: string) => {
  const body = operation(query);
  return `${head}content-length: ${body.length}\r\n\r\n${body}`;
};
const large = (megabytes: number) =>
  request(`{ itemCollection(first: ${100 * megabytes}) { edges { node { id body } } } }`);
const raisedLimits = { ...defaultConfig.limits, maxResponseBytes: 256 * 1024 * 1024 };

const openOf = ({ app }: TestGateway): Promise<number> => promisify(app.server.getConnections.bind(app.server))();

/** A client that never reads and never leaves. */
async function deaf(port: number, bytes: string, from?: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, ...(from && { localAddress: from }) });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause().write(bytes);
  return socket;
}

const halves = [
  ['no byte', ''],
  ['half a line', 'POST /grap'],
  ['half of the headers', head],
  ['half a body', `${head}content-length: 100\r\n\r\n{"qu`],
  ['half a body of a subscription', `${head}accept: text/event-stream\r\ncontent-length: 100\r\n\r\n{"qu`],
  [
    'half a handshake of a WebSocket',
    'GET /graphql/v1 HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-web',
  ],
  ['half a chunk', `${head}transfer-encoding: chunked\r\n\r\n64\r\n{"qu`],
  [
    'half a request behind a whole one',
    `${request('{ itemCollection(first: 1) { edges { node { id } } } }')}POST /grap`,
  ],
] as const;

test('Half a request gets 408, and its connection is closed', async () => {
  giveTime(gateway, { requestTimeout: 200, headersTimeout: 200 });
  const ends = halves.map(async ([what, bytes]) => {
    const reading = await rawClient(gateway.url, bytes);
    for (let count = 0; count < 5; count += 1) await deaf(gateway.port, bytes);
    await reading.closed;
    return [what, statusesIn(reading.text()).at(-1), reading.text().includes('nosniff')];
  });
  expect(await Promise.all(ends)).toEqual(halves.map(([what]) => [what, 408, true]));
  await vi.waitFor(async () => expect(await openOf(gateway)).toBe(0));
});

describe('An answer that is not read for a while ends its connection', () => {
  test.each([
    ['one that is kept', () => gateway, 15],
    ['one that is streamed', () => streaming, 30],
  ])('%s', async (_what, asked, megabytes) => {
    giveTime(asked(), { timeout: 500 });
    await deaf(asked().port, large(megabytes));
    await vi.waitFor(() =>
      expect(asked().observations).toContainEqual(expect.objectContaining({ kind: 'request', aborted: true })),
    );
    await vi.waitFor(async () => expect(await openOf(asked())).toBe(0));
  });

  test('with thousands of requests at once, of which only the first few are executed', async () => {
    const { poolWaitMs, statementTimeoutMs } = defaultConfig;
    const gateway = await gatewayProcess(database, { poolWaitMs, statementTimeoutMs });
    const before = await gateway.peakBytes();
    const socket = await deaf(gateway.port, '', '127.0.0.2');
    socket.write(large(1).repeat(3000));
    for (let count = 0; count < 5; count += 1) {
      const answer = await gateway.ask('{ itemCollection(first: 1) { edges { node { id } } } }');
      expect(answer, JSON.stringify(answer)).toHaveProperty('data');
    }
    // About 200 of them arrive in one piece, with answers of a megabyte each.
    expect((await gateway.peakBytes()) - before).toBeLessThan(100 * 1024 * 1024);
  });

  test('as long as requests of a connection wait, no more of them are read, also when some answers were', async () => {
    const gateway = await testGateway(database);
    const accepted = once(gateway.app.server, 'connection') as Promise<[Socket]>;
    const socket = await deaf(gateway.port, large(1).repeat(100));
    const [served] = await accepted;
    const answered = () => gateway.observations.filter(({ kind }) => kind === 'request').length;
    socket.write('GET /health HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(100_000));
    await vi.waitFor(() => expect(answered()).toBeGreaterThan(0));
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > 10_000_000) socket.pause();
    });
    socket.resume();
    await vi.waitFor(() => expect(bytes).toBeGreaterThan(10_000_000));
    await gateway.ask('{ itemCollection(first: 1) { edges { node { id } } } }');
    expect(served.bytesRead).toBeLessThan(200_000);
  });

  test('requests that are sent at once are answered in their order, whatever their size, and none is lost', async () => {
    const padding = '#'.repeat(150_000);
    const asked = Array.from({ length: 130 }, (_, index) =>
      request(`${index % 60 === 7 ? `${padding}\n` : ''}{ itemByPk(id: ${index + 1}) { id } }`),
    );
    const client = await rawClient(gateway.url, asked.join(''));
    await client.until(/"id":130\D/);
    const ids = [...client.text().matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
    expect(ids).toEqual(asked.map((_, index) => index + 1));
    client.socket.write(asked[0] ?? '');
    await client.until(/"id":130\D[\s\S]*"id":1\D/);
  });

  test('an answer that is read slowly arrives whole', async () => {
    giveTime(streaming, { timeout: 2000 });
    const socket = await deaf(streaming.port, large(30).replace('host: a', 'host: a\r\nconnection: close'));
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 1);
    });
    socket.resume();
    await once(socket, 'end');
    expect(bytes).toBeGreaterThan(30_000_000);
  });
});

test('A statement may take longer than a client may take to read', async () => {
  giveTime(gateway, { timeout: 700 });
  const client = await rawClient(gateway.url, request('mutation { late }'));
  await client.until(/"late":7/);
});

describe('There is a limit of connections', () => {
  const small = '{ itemCollection(first: 1) { edges { node { id } } } }';

  test('for the process: one more is closed, and the next is served when one has left', async () => {
    const gateway = await testGateway(database, { maxConnections: 5 });
    const held = await Promise.all(Array.from({ length: 5 }, () => deaf(gateway.port, 'GET /')));
    expect(await (await rawClient(gateway.url, request(small))).closed).toBe('');
    held[0]?.destroy();
    await vi.waitFor(async () => expect(await openOf(gateway)).toBe(4));
    await (await rawClient(gateway.url, request(small))).until(/HTTP\/1\.1 200 /);
    await vi.waitFor(
      () => expect(gateway.observations).toContainEqual({ kind: 'connections_refused', count: 1 }),
      5000,
    );
  });

  test('for an address: others are served while one has too many', async () => {
    const gateway = await testGateway(database, { maxConnectionsPerAddress: 5 });
    const held = await Promise.all(Array.from({ length: 5 }, () => deaf(gateway.port, 'GET /', '127.0.0.2')));
    const more = await deaf(gateway.port, request(small), '127.0.0.2');
    more.resume();
    await new Promise((resolve) => more.once('close', resolve));
    expect(more.bytesRead).toBe(0);
    expect((await gateway.ask(small)).status).toBe(200);
    held[0]?.destroy();
    await vi.waitFor(async () => expect(await openOf(gateway)).toBeLessThan(6));
    const again = await deaf(gateway.port, request(small), '127.0.0.2');
    await once(again.resume(), 'data');
  });

  test('there is no limit of connections for a proxy that is trusted, which brings the connections of many', async () => {
    const gateway = await testGateway(database, { maxConnectionsPerAddress: 2, trustedProxies: ['127.0.0.2'] });
    for (let count = 0; count < 5; count += 1) {
      const socket = await deaf(gateway.port, request(small), '127.0.0.2');
      await once(socket.resume(), 'data');
    }
  });
});

test('The port of the metrics has a limit too, and half a request loses its connection', async () => {
  const metrics = await serveMetrics({ host: '127.0.0.1', port: 0 }, async () => ({
    type: 'text/plain',
    text: 'none 0\n',
  }));
  onTestFinished(() => metrics.stop());
  let open = 100;
  for (let count = 0; count < 100; count += 1) {
    const socket = await deaf(metrics.port, 'GET /metr');
    const ended = new Promise<void>((resolve) => socket.resume().once('end', resolve).once('close', resolve));
    void ended.then(() => {
      open -= 1;
    });
  }
  await vi.waitFor(() => expect(open).toBeLessThanOrEqual(32));
  await vi.waitFor(() => expect(open).toBe(0));
  expect(await (await fetch(`http://127.0.0.1:${metrics.port}/metrics`)).text()).toBe('none 0\n');
});

test('A process that gets a signal to stop does, whatever clients are connected', async () => {
  const { statementTimeoutMs } = defaultConfig;
  const given = { drainTimeoutMs: 600_000, limits: raisedLimits, statementTimeoutMs };
  const gateway = await gatewayProcess(database, given);
  for (const [, bytes] of halves) for (let count = 0; count < 5; count += 1) await deaf(gateway.port, bytes);
  for (const bytes of [large(15), large(30), large(1).repeat(300)]) await deaf(gateway.port, bytes);
  expect(await gateway.ask('{ itemCollection(first: 1) { edges { node { id } } } }')).toHaveProperty('data');
  gateway.child.kill('SIGTERM');
  expect(await once(gateway.child, 'exit')).toEqual([0, null]);
});
