/** Subscriptions on the whole gateway: each event is the answer that the query has at that moment, for that caller. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { anonKey, token } from '../support/http.ts';
import { type Heard, overEvents, overSocket, type Result, readEvents, type Subscribing } from '../support/live.ts';
import { createDatabase } from '../support/postgres.ts';

const watch = readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8');
const database = await createDatabase(`
  ${watch};
  grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator;
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text, owner text);
  alter table note enable row level security;
  create policy own on note for select using (owner is null or owner = current_setting('request.jwt.claims')::json->>'sub');
  grant all on note to anon, authenticated;
  create policy write on note for insert with check (true);
  create function notes_like(pattern text) returns setof note language sql stable as
    'select * from note where body like pattern';
`);
const started: (() => unknown)[] = [];
const gateway = await testGateway(database, { liveIntervalMs: 100 }, (stop) => void started.push(stop));
afterAll(() => Promise.all(started.map((stop) => stop())));
beforeEach(() => database.query(`delete from note; insert into note values (1, 'first')`));

const query = 'subscription { noteCollection(orderBy: [{ id: AscNullsLast }]) { edges { node { body } } } }';
const bodies = (result: Result): readonly string[] =>
  result.data.noteCollection.edges.map((edge: Result) => edge.node.body);
const as = async (sub: string) => ({
  apikey: anonKey,
  authorization: `Bearer ${await token({ sub, role: 'authenticated' })}`,
});

describe.each([
  ['Server-Sent Events', overEvents],
  ['a WebSocket', overSocket],
] as const)('over %s', (_name, subscribe) => {
  const open = (more: Partial<Subscribing> = {}): Heard => subscribe(gateway.url, { query, ...more });

  test('the first answer comes at once, and another one after each change', async () => {
    const heard = open();
    expect(bodies(await heard.next())).toEqual(['first']);
    await database.query(`insert into note values (2, 'second')`);
    expect(bodies(await heard.next())).toEqual(['first', 'second']);
    await database.query(`update note set body = 'other' where id = 2`);
    expect(bodies(await heard.next())).toEqual(['first', 'other']);
  });

  test('a subscriber sees what the policies show to it, and is not told of other changes', async () => {
    const [mine, others] = [open({ headers: await as('ada') }), open()];
    expect([bodies(await mine.next()), bodies(await others.next())]).toEqual([['first'], ['first']]);
    await database.query(`insert into note values (2, 'for ada', 'ada')`);
    expect(bodies(await mine.next())).toEqual(['first', 'for ada']);
    await database.query(`insert into note values (3, 'for all')`);
    expect(bodies(await others.next())).toEqual(['first', 'for all']);
    expect(others.results).toHaveLength(2);
  });

  test('variables and functions are those of queries', async () => {
    const text = 'subscription($like: String!) { notesLike(pattern: $like) { edges { node { id } } } }';
    const heard = open({ query: text, variables: { like: 'f%' } });
    expect(await heard.next()).toEqual({ data: { notesLike: { edges: [{ node: { id: 1 } }] } } });
    await database.query(`insert into note values (2, 'four')`);
    expect((await heard.next()).data.notesLike.edges).toHaveLength(2);
  });

  test('a subscription that does not fit the schema ends with the errors that the query has', async () => {
    const heard = open({ query: 'subscription { nothingCollection { edges { cursor } } }' });
    const said = JSON.stringify([await Promise.race([heard.next(), heard.end])]);
    expect(said).toContain('Cannot query field \\"nothingCollection\\" on type \\"Subscription\\"');
  });

  test('a table that is created is found, and a grant that is revoked ends the subscription', async () => {
    await database.query(`create table late (id int primary key); grant select on late to anon`);
    const heard = open({ query: 'subscription { lateCollection { edges { node { id } } } }' });
    expect(await heard.next()).toEqual({ data: { lateCollection: { edges: [] } } });
    await database.query(`revoke select on late from anon`);
    const said = JSON.stringify([await Promise.race([heard.next(), heard.end])]);
    expect(said).toContain('lateCollection');
    await heard.end;
    await database.query(`drop table late`);
  });
});

test('a WebSocket answers queries and mutations, with numbers of any length', async () => {
  const write = 'mutation { insertIntoNoteCollection(objects: [{ id: 9, body: "new" }]) { affectedCount } }';
  expect(await overSocket(gateway.url, { query: write }).next()).toEqual({
    data: { insertIntoNoteCollection: { affectedCount: 1 } },
  });
  const heard = overSocket(gateway.url, { query: '{ note: noteByPk(id: 9) { body } }' });
  expect(await heard.next()).toEqual({ data: { note: { body: 'new' } } });
  expect(await heard.end).toBe('complete');
});

test('EventSource of browsers subscribes by GET with the key in the URL, and goes on where it was', async () => {
  const url = new URL(`${gateway.url}/graphql/v1`);
  url.search = new URLSearchParams({ apikey: anonKey, query }).toString();
  const left = new AbortController();
  onTestFinished(() => left.abort());
  const open = (headers = {}) =>
    fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: left.signal });
  const { value: first } = await readEvents((await open()).body!).next();
  expect(bodies(JSON.parse(first!.data))).toEqual(['first']);
  const again = readEvents((await open({ 'last-event-id': first!.id })).body!);
  await database.query(`insert into note values (2, 'second')`);
  expect(bodies(JSON.parse((await again.next()).value!.data))).toEqual(['first', 'second']);
  url.searchParams.set('apikey', 'of nobody');
  expect((await open()).status).toBe(401);
});

test('a stream is compressed where the client accepts that, event by event', async () => {
  const body = JSON.stringify({ query });
  const headers = { apikey: anonKey, 'content-type': 'application/json', accept: 'text/event-stream' };
  const left = new AbortController();
  onTestFinished(() => left.abort());
  const response = await fetch(`${gateway.url}/graphql/v1`, { method: 'POST', headers, body, signal: left.signal });
  expect(response.headers.get('content-encoding')).toBe('gzip');
  const events = readEvents(response.body!);
  expect(bodies(JSON.parse((await events.next()).value!.data))).toEqual(['first']);
  await database.query(`insert into note values (2, 'second')`);
  expect(bodies(JSON.parse((await events.next()).value!.data))).toEqual(['first', 'second']);
});

test('subscribers are told to come back when the gateway stops: the stream breaks, and the WebSocket says 1012', async () => {
  const stopping = await testGateway(database, { drainTimeoutMs: 1000 });
  const open = [overEvents(stopping.url, { query }), overSocket(stopping.url, { query })] as const;
  await Promise.all(open.map((heard) => heard.next()));
  await stopping.stop();
  expect(String(await open[0].end)).toMatch(/terminated|without the event complete/);
  expect(await open[1].end).toMatchObject({ code: 1012 });
});

test('a client that closes its side of the connection, as browsers do, has left', async () => {
  const body = JSON.stringify({ query });
  const socket = connect(gateway.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(
    `POST /graphql/v1 HTTP/1.1\r\nhost: x\r\napikey: ${anonKey}\r\naccept: text/event-stream\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, 'data');
  expect(gateway.graphql.live.state().subscriptions).toBe(1);
  socket.end();
  await once(socket, 'end');
  await vi.waitFor(() => expect(gateway.graphql.live.state().subscriptions).toBe(0));
});
