/** The handler of an embedded GraphQL API answers what the server answers: POST, batches, queries by GET, trusted documents. */
import { afterAll, expect, test } from 'vitest';
import { createGraphql } from '../../src/embed/graphql.ts';
import type { Json } from '../support/execution.ts';
import { anonKey, secret, serviceKey } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text);
  insert into note values (1, 'a');
  grant all on note to anon, service_role;
`);
const options = { databaseUrl: database.urlAs('authenticator', 'test'), jwtSecret: secret, schemas: ['public'] };
const api = await createGraphql({ ...options, anonKey, serviceKey, getMaxAge: 60, maxBatch: 3 });
afterAll(() => api.close());

const url = 'https://shop.example.com/graphql/v1';
const read = '{ noteCollection { edges { node { id } } } }';
const add = (id: number) => `mutation { insertIntoNoteCollection(objects: [{ id: ${id} }]) { affectedCount } }`;
const answer = { data: { noteCollection: { edges: [{ node: { id: 1 } }] } } };

async function ask(init: RequestInit, search = '') {
  const headers = { apikey: anonKey, 'content-type': 'application/json', ...(init.headers as object) };
  const response = await api.fetch(new Request(`${url}${search}`, { ...init, headers }));
  const get = (name: string) => response.headers.get(name);
  return {
    status: response.status,
    cached: get('cache-control'),
    vary: get('vary'),
    allow: get('allow'),
    json: (await response.json()) as Json,
  };
}
const byGet = (parameters: Record<string, string>, headers = {}) =>
  ask({ method: 'GET', headers }, `?${new URLSearchParams(parameters)}`);

test('an embedded handler answers queries by GET, with what caches may keep', async () => {
  expect(await byGet({ query: read })).toMatchObject({ status: 200, json: answer, cached: 'public, max-age=60' });
  const other = await byGet({ query: read }, { authorization: `Bearer ${serviceKey}` });
  expect([other.json, other.cached, other.vary]).toEqual([
    answer,
    'no-store',
    'Accept, Authorization, apikey, pgreflect-lsn',
  ]);
  expect(await byGet({ query: add(2) })).toMatchObject({ status: 405, allow: 'POST', cached: 'no-store' });
  expect(await byGet({})).toMatchObject({ status: 400 });
  expect(await ask({ method: 'PUT', body: '{}' })).toMatchObject({ status: 405, allow: 'GET, POST' });
  expect(await database.query('select id from note')).toEqual([{ id: 1 }]);
});

test('an embedded handler answers batches within the limits of the server', async () => {
  const post = (body: unknown) => ask({ method: 'POST', body: JSON.stringify(body) });
  const { status, json } = await post([{ query: read }, { query: add(1) }, { query: read }]);
  expect([status, json]).toMatchObject([
    200,
    [answer, { errors: [{ extensions: { code: 'CONSTRAINT_VIOLATION' } }] }, answer],
  ]);
  expect(await post([1, 2, 3, 4].map(() => ({ query: read })))).toMatchObject({
    status: 400,
    json: { errors: [{ extensions: { limit: 'max-batch' } }] },
  });
});

test('an embedded API runs only trusted documents where its options say so', async () => {
  const trusted = await createGraphql({ ...options, trustedDocuments: 'examples/shop/queries', trustedOnly: true });
  try {
    const codeOf = async (operation: Parameters<typeof trusted.execute>[1], role = 'anon') =>
      (await trusted.execute({ role }, operation)).errors?.[0]?.extensions?.code;
    expect(await codeOf({ query: read })).toBe('DOCUMENT_NOT_TRUSTED');
    expect(await codeOf({ documentId: 'sha256:ab' })).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect(await codeOf({ query: read }, 'service_role')).toBeUndefined();
  } finally {
    await trusted.close();
  }
  await expect(createGraphql({ ...options, trustedOnly: true })).rejects.toThrow(
    '--trusted-only refuses every document.',
  );
  await expect(createGraphql({ ...options, trustedDocuments: 'nowhere.json' })).rejects.toThrow(
    'cannot be read (ENOENT)',
  );
});
