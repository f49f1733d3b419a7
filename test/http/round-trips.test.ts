/**
 * One request, one round trip: what a client asks for travels to the database in one write and comes back in one answer,
 * counted by a proxy between the gateway and PostgreSQL.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import { anonKey, operation, testConfig } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recording-proxy.ts';

let proxy: RecordingProxy;
let gateway: Gateway;
/** Connections that the very first request had to wait for. */
let openedByFirst: number;

beforeAll(async () => {
  const database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
    create table author (id int primary key, name text);
    create table book (id int primary key, author_id int references author, title text);
    insert into author select g, 'author ' || g from generate_series(1, 5) g;
    insert into book select g, 1 + g % 5, 'book ' || g from generate_series(1, 20) g;
    grant usage on schema public to anon;
    grant all on author, book to anon;
  `);
  proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
  // Only what requests send is counted: no check at an interval, and the auth service, which looks for emails every few seconds, has
  // a way of its own.
  const urls = { databaseUrl: proxy.url, adminDatabaseUrl: database.url };
  const config = testConfig({ ...urls, schemas: ['public'], port: 0, poolSize: 1 });
  gateway = await startGateway({ ...config, schemaPollMs: 3_600_000 }, { observe: () => {} });
  // The start does not wait for the connection that hears of changes.
  const listening = "select from pg_stat_activity where datname = $1 and state = 'idle' and query = 'listen pgreflect'";
  await vi.waitFor(async () => expect(await database.query(listening, [database.name])).toHaveLength(1));
  proxy.reset();
  await ask(nested);
  openedByFirst = proxy.connections();
});

afterAll(async () => {
  await gateway.stop();
  await proxy.stop();
});

const nested =
  '{ authorCollection { edges { node { name bookCollection { edges { node { title author { name } } } } } } } }';

test('the first request finds a connection that is open', () => {
  expect(openedByFirst).toBe(0);
});

describe('a request takes one round trip', () => {
  test.each([
    ['a query with one root field', nested],
    [
      'a query with several root fields',
      `{ a: authorByPk(id: 1) { name } b: bookCollection { edges { node { id } } } c: authorCollection { pageInfo { hasNextPage } } }`,
    ],
    ['a mutation', 'mutation { updateAuthorCollection(set: {name: "x"}, filter: {id: {eq: 1}}) { affectedCount } }'],
    [
      'a mutation with several root fields',
      'mutation { a: insertIntoAuthorCollection(objects: [{id: 90, name: "n"}]) { affectedCount } b: updateAuthorCollection(set: {name: "m"}, filter: {id: {eq: 90}}) { records { name } } c: deleteFromAuthorCollection(filter: {id: {eq: 90}}) { affectedCount } }',
    ],
    [
      'a query that the database refuses',
      '{ bookCollection(filter: {title: {regex: "("}}) { edges { node { id } } } }',
    ],
    ['introspection', '{ __schema { queryType { name } } }'],
  ])('%s', async (_name, query) => {
    // The first request looks at the connection.
    await ask('{ __typename }');
    proxy.reset();
    const first = await ask(query);
    expect(proxy.roundTrips()).toBe(1);
    expect(await ask(query)).toEqual(first);
    expect(proxy.roundTrips()).toBe(2);
    expect(proxy.connections()).toBe(0);
  });
});

async function ask(query: string): Promise<unknown> {
  const response = await fetch(`${gateway.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json' },
    body: operation(query, {}),
  });
  return response.json();
}
