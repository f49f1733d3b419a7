/**
 * Clients as they are published, on the real gateway with the example: each program of examples/clients runs to its end and
 * prints what it should. The programs change rows, and put back what they changed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { clientsDirectory, installClients, localKeys, removeGenerated, runClient } from '../support/clients.ts';
import { testGateway } from '../support/gateway.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const shop = join(import.meta.dirname, '../../examples/shop');
const read = (name: string) => readFileSync(join(shop, name), 'utf8');

let database: TestDatabase;
let keys: Record<string, string>;
let reviews: unknown[];

beforeAll(async () => {
  installClients();
  removeGenerated();
  keys = await localKeys();
  database = await createDatabase(read('schema.sql'), read('data.sql'));
  reviews = await readReviews();
  await runClient('schema', { DATABASE_URL: database.urlAs('authenticator', 'test') });
}, 300_000);

async function runWithGateway(name: string, options: Parameters<typeof testGateway>[1] = {}): Promise<string[]> {
  const gateway = await testGateway(database, options);
  return runClient(name, { API_URL: gateway.url, ...keys });
}

test('curl asks as a visitor and as a user, and sees the statuses of mistakes', async () => {
  const lines = await runWithGateway('curl');
  expect(lines.filter((line) => line.endsWith(':') || /^\d/.test(line))).toEqual([
    'A visitor asks:',
    'The same with a variable and an operation name:',
    'The same by GET:',
    'Two requests in one batch:',
    'A signed-in user sees the own orders:',
    'A mistake is answered with status 200, or with 400 where the client asks for the newer media type:',
    '200 application/json; charset=utf-8',
    '400 application/graphql-response+json; charset=utf-8',
    'Without a key:',
    '401',
  ]);
  const text = lines.join('');
  expect(text).toContain('{"name":"Plain Copper Tent","price":"161.69"}');
  expect(text.split('{"data":{"productByPk":{"name":"Plain Glass Bag","category":{"name":"Bags"}}}}')).toHaveLength(3);
  expect(text).toContain('[{"data":{"productByPk":{"name":"Plain Glass Bag"}}},{"data":{"postByPk":{"title":"');
  expect(text).toContain('{"orderCollection":{"totalCount":3},');
  expect(text).toContain('{"fullName":"Emil Silva"}');
});

test('subscriptions run with graphql-sse, graphql-ws, Apollo, urql and Relay, and see each change', async () => {
  const lines = await runWithGateway('live');
  expect(lines.map((line) => line.split(':')[0])).toEqual(['graphql-sse', 'graphql-ws', 'Apollo', 'urql', 'Relay']);
  const ratings = lines.map((line) => line.split(': ')[1]!.split(', ').map(Number));
  expect(ratings).toEqual(ratings.map(([first]) => [first, first! - 1, first]));
});

test('supabase-js sends the anon key as bearer token before sign-in and the access token after it', async () => {
  expect(await runWithGateway('supabase-js')).toEqual([
    'visitor: Plain Copper Tent, Classic Steel Tent',
    expect.stringMatching(/^visitor: Cannot query field "orderCollection" on type "Query"\./),
    'signed in: 3 orders',
  ]);
});

test('Apollo Client joins pages, its cache follows an insert, an upsert and a delete, and shows an answer before it arrives', async () => {
  expect(await runWithGateway('apollo-client')).toEqual([
    'three pages: 9 edges, 9 products',
    'before: 2 reviews: 5 2',
    'inserted: 3 reviews: 5 5 2',
    'at once: 3 reviews: 4 5 2',
    'saved: 3 reviews: 4 5 2',
    'at once: 3 reviews: 9 5 2',
    'CONSTRAINT_VIOLATION: 3 reviews: 4 5 2',
    'removed: 2 reviews: 5 2',
    'mistake: GRAPHQL_VALIDATION_FAILED',
    '1 batch: Plain Glass Bag, , mistake, Light Bamboo Tool',
  ]);
});

const ofRelay = [
  'first page: Classic Bamboo Desk, Classic Bamboo Desk, Classic Bamboo Lamp',
  'three pages: 9 products',
  'row: Classic Bamboo Desk from Desks',
  'guessed: -1',
  'refetched: as in the database',
  'at once: 4',
  'saved: 4',
  'and back to 2',
];

test('relay-compiler accepts the SDL; Relay joins pages, fetches a row again through node, and shows an upsert at once', async () => {
  expect(await runWithGateway('relay')).toEqual(ofRelay);
});

test('Apollo, urql and Relay name trusted documents, by the lists of graphql-codegen, relay-compiler and Apollo, where no others run', async () => {
  await runClient('trusted-documents', {});
  const trusted = (file: string) => ({ trustedDocuments: join(clientsDirectory, file), trustedOnly: true });
  expect(await runWithGateway('trusted', trusted('trusted/__generated__/persisted-documents.json'))).toEqual([
    'Apollo: Plain Glass Bag, POST',
    '  another document: DOCUMENT_NOT_TRUSTED, POST, POST with the document',
    'Apollo: Plain Glass Bag, GET',
    '  another document: DOCUMENT_NOT_TRUSTED, GET, POST with the document',
    'urql: Plain Glass Bag, POST',
    '  another document: DOCUMENT_NOT_TRUSTED, POST, POST with the document',
    'urql: Plain Glass Bag, GET',
    '  another document: DOCUMENT_NOT_TRUSTED, GET, GET with the document',
    'fetch: Plain Glass Bag',
  ]);
  const ofApollo = await runWithGateway(
    'apollo-trusted',
    trusted('trusted/__generated__/persisted-query-manifest.json'),
  );
  expect(ofApollo).toEqual(['Apollo: Plain Glass Bag', '  another document: DOCUMENT_NOT_TRUSTED']);
  expect(await runWithGateway('relay-trusted', trusted('relay/__generated__/documents.json'))).toEqual(ofRelay);
});

test('urql joins pages, and its normalised cache takes over what a mutation returns', async () => {
  expect(await runWithGateway('urql')).toEqual([
    'three pages: 9 edges, 3 requests',
    'my review: 2, after the mutation 5',
    'and back to 2; 2 requests, both of them mutations',
    'mistake: GRAPHQL_VALIDATION_FAILED',
  ]);
});

test('graphql-codegen makes types of the SDL, with which an operation is sent', async () => {
  expect(await runWithGateway('codegen')).toEqual([
    'Tents: 38 products',
    '  Heavy Cork Tent, 8.92, active, 2023',
    '  Rustic Copper Tent, 17.13, active, 2024',
  ]);
});

test('gql.tada infers types from operations and the SDL, and sends an operation with them', async () => {
  expect((await runWithGateway('gql-tada')).slice(-3)).toEqual([
    'Pans: Folding Bamboo Pan, 198.23, active, blue',
    'Stoves: Heavy Cork Stove, 196.38, active, natural',
    'the highest price: 198.23',
  ]);
});

test('graphql-request sends variables and headers, and throws what the API refuses', async () => {
  expect(await runWithGateway('graphql-request')).toEqual([
    '38 gifts, the cheapest:',
    '  Heavy Cork Pan: 4.40',
    '  Folding Oak Paper: 6.15',
    'a batch: Plain Glass Bag, Light Bamboo Tool',
    'my orders: { orderCollection: { totalCount: 3 } }',
    "as a visitor: { code: 'GRAPHQL_VALIDATION_FAILED' }",
  ]);
});

test('the compiler accepts every program with the types that Relay, graphql-codegen and gql.tada made', async () => {
  expect(await runWithGateway('check')).toEqual(['']);
});

test('the programs leave the shop as it was', async () => {
  expect(await readReviews()).toEqual(reviews);
});

function readReviews(): Promise<unknown[]> {
  return database.query('select product_id, customer_id, rating, title from review order by product_id, customer_id');
}
