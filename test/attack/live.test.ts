/**
 * Who subscribes gets nothing more once a query would give nothing: token, grant, policy. One caller's rows never reach
 * another, and one caller's subscriptions take nothing from the others.
 */
import type { EventEmitter } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import WebSocket from 'ws';
import { defaultConfig } from '../../src/config/config.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey, token } from '../support/http.ts';
import { overEvents, overSocket, type Result } from '../support/live.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table secret (id int primary key, body text, tenant text);
  alter table secret enable row level security;
  create policy own on secret for select to authenticated
    using (tenant = current_setting('request.jwt.claims')::json->>'tenant');
  create policy by_header on secret for select to anon
    using (tenant = current_setting('request.headers')::json->>'x-tenant');
  create policy hidden on secret as restrictive for select using (id < 1000);
  create table long (id int primary key, body text);
  insert into long values (1, repeat('x', 2000000));
  create sequence ran;
  grant usage on sequence ran to anon;
  alter table long enable row level security;
  create policy counted on long to anon using (nextval('ran') > 0);
  create policy every on long to authenticated using (true);
  grant select on secret, long to anon, authenticated;
  grant insert on long to authenticated;
`);
const started: (() => unknown)[] = [];
const later = (stop: () => unknown) => void started.push(stop);
const gateway = await testGateway(database, { liveIntervalMs: 50, livePollMs: 20 }, later);
/** One that pages of other origins may not ask. */
const listed = await testGateway(database, { corsOrigins: ['https://app.test'] }, later);
afterAll(() => Promise.all(started.map((stop) => stop())));
beforeEach(() => database.query(`delete from secret; insert into secret values (1, 'of a', 'a'), (2, 'of b', 'b')`));

const query = 'subscription { secretCollection { edges { node { body } } } }';
const bodies = ({ data }: Result): readonly string[] =>
  data.secretCollection.edges.map((edge: Result) => edge.node.body);
const claims = async (more: Readonly<Record<string, unknown>>) => ({
  apikey: anonKey,
  authorization: `Bearer ${await token({ sub: 'same', role: 'authenticated', ...more })}`,
});
const longQuery = 'subscription { longCollection { edges { node { id body } } } }';

/** Subscribes, and reads nothing after the first bytes. */
function unread({ query, authorization = '' }: { query: string; authorization?: string }): Socket {
  const body = JSON.stringify({ query });
  const socket = connect(gateway.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.write(
    `POST /graphql/v1 HTTP/1.1\r\nhost: x\r\napikey: ${anonKey}\r\naccept: text/event-stream\r\n` +
      `${authorization === '' ? '' : `authorization: ${authorization}\r\n`}` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  socket.once('data', () => socket.pause());
  return socket;
}

describe('rows of others', () => {
  test('two users with other claims never share an answer, nor do callers with other headers', async () => {
    const open = [
      overEvents(gateway.url, { query, headers: await claims({ tenant: 'a' }) }),
      overSocket(gateway.url, { query, headers: await claims({ tenant: 'b' }) }),
      overEvents(gateway.url, { query, headers: { apikey: anonKey, 'x-tenant': 'a' } }),
      overEvents(gateway.url, { query, headers: { apikey: anonKey, 'x-tenant': 'b' } }),
    ];
    const first = await Promise.all(open.map((heard) => heard.next()));
    expect(first.map(bodies)).toEqual([['of a'], ['of b'], ['of a'], ['of b']]);
    await database.query(`insert into secret values (3, 'more of a', 'a')`);
    expect(bodies(await open[0]!.next())).toEqual(['of a', 'more of a']);
    expect(bodies(await open[2]!.next())).toEqual(['of a', 'more of a']);
    await database.query(`insert into secret values (4, 'more of b', 'b')`);
    expect(bodies(await open[1]!.next())).toEqual(['of b', 'more of b']);
    expect(JSON.stringify([open[1]!.results, open[3]!.results])).not.toContain('of a');
  });

  test('claims and headers that the operator leaves out do not reach a policy, from nobody', async () => {
    const narrow = await testGateway(database, { liveIntervalMs: 50, liveClaims: ['sub', 'role'], liveHeaders: [] });
    const open = [
      overEvents(narrow.url, { query, headers: await claims({ tenant: 'a' }) }),
      overEvents(narrow.url, { query, headers: await claims({ tenant: 'b' }) }),
      overEvents(narrow.url, { query, headers: { apikey: anonKey, 'x-tenant': 'a' } }),
    ];
    expect((await Promise.all(open.map((heard) => heard.next()))).map(bodies)).toEqual([[], [], []]);
  });

  test('a policy that starts to hide a row hides it from who has subscribed', async () => {
    const heard = overEvents(gateway.url, { query, headers: await claims({ tenant: 'a' }) });
    expect(bodies(await heard.next())).toEqual(['of a']);
    await database.query(`alter policy hidden on secret using (id > 1)`);
    expect(bodies(await heard.next())).toEqual([]);
    await database.query(`alter policy hidden on secret using (id < 1000)`);
  });
});

describe('a token that ends', () => {
  const soon = () => Math.floor(Date.now() / 1000) - 28;

  test('ends the stream with UNAUTHENTICATED, and nothing follows', async () => {
    const heard = overEvents(gateway.url, { query, headers: await claims({ tenant: 'a', exp: soon() }) });
    expect(bodies(await heard.next())).toEqual(['of a']);
    expect((await heard.next()).errors[0].extensions.code).toBe('UNAUTHENTICATED');
    expect(await heard.end).toBe('complete');
    await database.query(`insert into secret values (3, 'more of a', 'a')`);
    expect(JSON.stringify(heard.results)).not.toContain('more of a');
  });

  test('closes the WebSocket with 4403, after which clients ask for a new token', async () => {
    const heard = overSocket(gateway.url, { query, headers: await claims({ tenant: 'a', exp: soon() }) });
    expect(bodies(await heard.next())).toEqual(['of a']);
    expect(await heard.end).toMatchObject({ code: 4403 });
  });

  test('ends a stream once that has ended and is not read', async () => {
    const { authorization } = await claims({ exp: soon() + 2 });
    const socket = unread({ query: longQuery.replace('body', 'a: body b: body c: body'), authorization });
    await vi.waitFor(() => expect(socket.isPaused()).toBe(true));
    await database.query('revoke select on long from authenticated');
    onTestFinished(async () => void (await database.query('grant select on long to authenticated')));
    const { live } = gateway.graphql;
    await vi.waitFor(() => expect(live.state().subscriptions).toBe(0), { timeout: 3000 });
    // What is written to an ended response ends the process, unless somebody listens.
    const problems: unknown[] = [];
    const note = (problem: unknown) => void problems.push(problem);
    process.on('uncaughtException', note);
    onTestFinished(() => void process.off('uncaughtException', note));
    await delay(4500);
    expect(problems).toEqual([]);
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1').slice(-2000);
    });
    socket.resume();
    await vi.waitFor(() => expect(text).toContain('event: complete'));
    expect(text.match(/event: complete/g)).toHaveLength(1);
  });

  test('a WebSocket with a forged token, or none of our keys, opens nothing', async () => {
    const forged = overSocket(gateway.url, { query, headers: { apikey: anonKey, authorization: 'Bearer a.b.c' } });
    expect(await forged.end).toMatchObject({ code: 4403 });
    expect(await overSocket(gateway.url, { query, headers: {} }).end).toMatchObject({ code: 4403 });
    expect([forged.results]).toEqual([[]]);
  });
});

/** A WebSocket that sends what it is told, also against the protocol. */
async function rawSocket(headers: Readonly<Record<string, string>> = { apikey: anonKey }) {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql/v1`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  const send = (message: unknown) => socket.send(JSON.stringify(message));
  const next = () => new Promise<string>((done) => socket.once('message', (data) => done(String(data))));
  await new Promise((done) => socket.once('open', done));
  send({ type: 'connection_init', payload: headers });
  expect(await next()).toContain('connection_ack');
  return { socket, send, next };
}

const subscribing = (id: string, text = query) => ({ id, type: 'subscribe', payload: { query: text } });

describe('a client that breaks the protocol', () => {
  const { live } = gateway.graphql;

  test('a WebSocket leaves no subscription behind where it uses an id again before it has begun', async () => {
    await vi.waitFor(() => expect(live.state().subscriptions).toBe(0));
    const { socket, send } = await rawSocket();
    for (let again = 0; again < 5; again += 1) {
      send(subscribing('__proto__', `${query} # ${again}`));
      send({ id: '__proto__', type: 'complete' });
    }
    send(subscribing('__proto__'));
    await vi.waitFor(() => expect(live.state().subscriptions).toBeGreaterThan(0));
    socket.terminate();
    await vi.waitFor(() => expect(live.state().subscriptions).toBe(0));
  });

  test('runs nothing after its token has expired, also where it keeps the WebSocket open', async () => {
    const exp = Math.floor(Date.now() / 1000) - 28;
    const { socket, send, next } = await rawSocket(await claims({ tenant: 'a', exp }));
    send(subscribing('live'));
    expect(await next()).toContain('of a');
    // Answers the closing frame of the gateway with nothing.
    const { _receiver: receiver } = socket as unknown as { _receiver: EventEmitter };
    const closed = new Promise((done) => receiver.removeAllListeners('conclude').once('conclude', done));
    await closed;
    expect(live.state().subscriptions).toBe(0);
    send(subscribing('late', 'mutation { insertIntoLongCollection(objects: [{ id: 77 }]) { affectedCount } }'));
    await delay(500);
    expect(await database.query('select from long where id = 77')).toEqual([]);
  });

  test('a WebSocket has few answers in memory that its client does not read, and all of them once it reads', async () => {
    const { socket, send } = await rawSocket();
    const answered = new Set<string>();
    socket.on('message', (data) => {
      const { id, type } = JSON.parse(String(data));
      if (type === 'next') answered.add(id);
    });
    socket.pause();
    const text = longQuery.replace('subscription', 'query').replace('body', 'a: body b: body');
    for (let id = 0; id < 25; id += 1) send(subscribing(`${id}`, text));
    const scans = async () => {
      const [row] = await database.query(`select last_value::int as n from ran`);
      return row!.n;
    };
    await delay(1500);
    // Eight, and those that the buffers of the network hold.
    expect(await scans()).toBeLessThan(20);
    socket.resume();
    await vi.waitFor(() => expect(answered.size).toBe(25), { timeout: 10_000 });
  });

  test('pings that a client sends without reading queue no more pongs than it reads', async () => {
    const { socket, send } = await rawSocket();
    socket.pause();
    const { _socket: stream } = socket as unknown as { _socket: Socket };
    const ping = { type: 'ping', payload: { text: 'x'.repeat(900_000) } };
    for (let sent = 0; sent < 40; sent += 1) send(ping);
    await delay(1500);
    // The others stay with the client.
    expect(stream.writableLength).toBeGreaterThan(15_000_000);
  });
});

describe('one caller', () => {
  test('the subscriptions of one caller are limited, and those that end make room', async () => {
    const limits = { ...defaultConfig.limits, maxLivePerCaller: 2 };
    const small = await testGateway(database, { limits, liveIntervalMs: 50 });
    const headers = await claims({ tenant: 'a' });
    const [first] = [overEvents(small.url, { query, headers }), overEvents(small.url, { query, headers })];
    await first!.next();
    const refused = await overEvents(small.url, { query, headers }).next();
    expect(JSON.stringify(refused)).toContain('LIMIT_EXCEEDED');
    expect(JSON.stringify(await overSocket(small.url, { query, headers }).end)).toContain('LIMIT_EXCEEDED');
    expect(bodies(await overEvents(small.url, { query, headers: await claims({ sub: 'other' }) }).next())).toEqual([]);
    first!.stop();
    await vi.waitFor(() => expect(small.graphql.live.state().subscriptions).toBe(2));
    expect(bodies(await overEvents(small.url, { query, headers }).next())).toEqual(['of a']);
  });

  test('who does not read has one answer queued, and nothing more', async () => {
    const socket = unread({ query: longQuery });
    const { live } = gateway.graphql;
    const before = live.state().events;
    await vi.waitFor(() => expect(live.state().events).toBeGreaterThan(before));
    for (let change = 2; change < 12; change += 1) {
      const { runs } = live.state();
      await database.query(`update long set id = ${change}`);
      await vi.waitFor(() => expect(live.state().runs).toBeGreaterThan(runs));
    }
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.resume();
    await vi.waitFor(() => expect(text).toContain('"id":11'));
    expect(text.match(/event: next/g)!.length).toBeLessThanOrEqual(4);
  });

  test('the requests of one caller take no more memory together than one request may, and others subscribe', async () => {
    const { socket } = await rawSocket();
    const { live } = gateway.graphql;
    await vi.waitFor(() => expect(live.state().subscriptions).toBe(0));
    const refused: string[] = [];
    socket.on('message', (data) => {
      const { id, type, payload } = JSON.parse(String(data));
      if (type === 'error') refused.push(`${id} ${payload[0].extensions.code} ${payload[0].extensions.limit}`);
    });
    const text = `query($long: String) { ${query.slice(query.indexOf('{') + 1)}`.replace('query', 'subscription');
    for (let id = 0; id < 30; id += 1) {
      const variables = { long: `${id}`.padEnd(100_000, 'x') };
      socket.send(JSON.stringify({ id: `${id}`, type: 'subscribe', payload: { query: text, variables } }));
    }
    await vi.waitFor(() => expect(refused.length + live.state().subscriptions).toBe(30));
    const held = live.state().subscriptions * 100_000;
    expect(held).toBeLessThanOrEqual(defaultConfig.limits.maxBodyBytes);
    expect(new Set(refused.map((each) => each.split(' ').slice(1).join(' ')))).toEqual(
      new Set(['LIMIT_EXCEEDED max-body-bytes']),
    );
    expect(bodies(await overEvents(gateway.url, { query, headers: await claims({ tenant: 'a' }) }).next())).toEqual([
      'of a',
    ]);
    // What ends makes room.
    socket.terminate();
    await vi.waitFor(() => expect(live.state().subscriptions).toBe(1));
    expect(bodies(await overEvents(gateway.url, { query }).next())).toEqual([]);
  });

  test('a page of another origin opens no event stream with a key in the URL where origins are listed', async () => {
    const url = `${listed.url}/graphql/v1?${new URLSearchParams({ apikey: anonKey, query })}`;
    const open = (headers: Readonly<Record<string, string>>) =>
      new Promise((done) => {
        const sent = get(url, { headers: { accept: 'text/event-stream', ...headers } }, (response) => {
          done(response.statusCode);
          sent.destroy();
        });
      });
    const { live } = listed.graphql;
    const foreign = [{ origin: 'https://evil.test' }, { origin: 'null' }, { 'sec-fetch-mode': 'no-cors' }];
    for (const headers of foreign) expect(await open(headers)).toBe(400);
    expect([live.state().subscriptions, live.state().runs]).toEqual([0, 0]);
    for (const headers of [{ origin: 'https://app.test' }, { 'sec-fetch-mode': 'cors' }, {}])
      expect(await open(headers)).toBe(200);
  });

  test('a page of another origin opens no WebSocket where origins are listed', async () => {
    const open = (origin: string) => {
      const socket = new WebSocket(`${listed.url.replace('http', 'ws')}/graphql/v1`, 'graphql-transport-ws', {
        origin,
      });
      onTestFinished(() => socket.close());
      return new Promise((done) => {
        socket.on('open', () => done('open'));
        socket.on('error', (error) => done(error.message));
      });
    };
    expect(await open('https://evil.test')).toContain('403');
    expect(await open('https://app.test')).toBe('open');
    expect(await open(listed.url)).toBe('open');
  });
});
