/**
 * urql with its normalised cache: the cache knows the schema, keeps rows by node id, joins the pages of a connection, and
 * shows what a mutation returned without asking again.
 */
import { readFileSync } from 'node:fs';
import { Client, CombinedError, fetchExchange, gql } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import type { IntrospectionQuery } from 'graphql';
import { endpoint, user } from '../settings.ts';

// pgreflect schema --role authenticated --json --out __generated__/schema.json
const file = new URL('../__generated__/schema.json', import.meta.url);
const schema = (JSON.parse(readFileSync(file, 'utf8')) as { data: IntrospectionQuery }).data;

// Rows are entities of their own; connections, edges and the rest live inside of what holds them.
const keys = Object.fromEntries(
  schema.__schema.types
    .filter((type) => type.kind === 'OBJECT')
    .map((type) => {
      const isRow = type.fields.some(({ name }) => name === 'nodeId');
      return [type.name, (data: Record<string, unknown>) => (isRow ? (data.nodeId as string) : null)];
    }),
);

let requests = 0;
const client = new Client({
  url: endpoint,
  fetchOptions: { headers: user },
  fetch: (...request) => {
    requests += 1;
    return fetch(...request);
  },
  exchanges: [
    cacheExchange({ schema, keys, resolvers: { Query: { productCollection: relayPagination() } } }),
    fetchExchange,
  ],
});

async function ask(document: string, variables: object = {}) {
  const { data, error } = await client.query(gql(document), variables).toPromise();
  if (error) throw error;
  return data;
}

const products = `query Products($after: Cursor) {
  productCollection(first: 3, after: $after, orderBy: [{ name: AscNullsLast }, { id: AscNullsLast }]) {
    edges { node { nodeId name } }
    pageInfo { hasNextPage endCursor }
  }
}`;
let { productCollection } = await ask(products);
for (let page = 2; page <= 3; page++) {
  ({ productCollection } = await ask(products, { after: productCollection.pageInfo.endCursor }));
}
console.log('three pages:', productCollection.edges.length, 'edges,', requests, 'requests');

const mine = `{
  reviewCollection(filter: { customerId: { eq: "1" }, productId: { eq: "88" } }) { edges { node { nodeId rating } } }
}`;
const change = gql(`mutation Change($rating: Int!) {
  updateReviewCollection(set: { rating: $rating }, filter: { customerId: { eq: "1" }, productId: { eq: "88" } }) {
    records { nodeId rating }
  }
}`);
const rating = async () => (await ask(mine)).reviewCollection.edges[0].node.rating;
const before = await rating();
const asked = requests;
await client.mutation(change, { rating: 5 }).toPromise();
console.log(`my review: ${before}, after the mutation ${await rating()}`);
await client.mutation(change, { rating: before }).toPromise();
console.log(`and back to ${await rating()};`, requests - asked, 'requests, both of them mutations');

// Errors arrive with their code, whichever status the answer had.
await ask('{ productCollection(first: "many") { totalCount } }').catch((error: unknown) => {
  if (!(error instanceof CombinedError)) throw error;
  console.log('mistake:', error.graphQLErrors[0]?.extensions.code);
});
