/** Types that the compiler infers from the text of an operation, by gql.tada: nothing is generated but the schema's types. */

import { initGraphQLTada } from 'gql.tada';
import { GraphQLClient } from 'graphql-request';
import { endpoint, visitor } from '../settings.ts';
import type { introspection } from './__generated__/graphql-env.d.ts';

const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: {
    BigInt: string;
    BigFloat: string;
    Cursor: string;
    Date: string;
    Datetime: string;
    JSON: unknown;
    Opaque: unknown;
    Time: string;
    UUID: string;
  };
}>();

const dearest = graphql(`
  query Dearest($tags: [String!]!, $first: Int!) {
    productCollection(first: $first, filter: { tags: { contains: $tags } }, orderBy: [{ price: DescNullsLast }]) {
      nodes { name price status attributes category { name } }
      aggregate { max { price } }
    }
  }
`);

const client = new GraphQLClient(endpoint, { headers: visitor });
const { productCollection } = await client.request(dearest, { tags: ['gift'], first: 2 });
for (const { name, price, status, attributes, category } of productCollection.nodes) {
  const known: 'draft' | 'active' | 'retired' = status;
  const { colour } = attributes as { colour?: string };
  console.log(`${category?.name}: ${name}, ${price}, ${known}, ${colour}`);
}
// Exact numbers are strings, in rows and in aggregates.
const highest: string | null | undefined = productCollection.aggregate?.max?.price;
console.log('the highest price:', highest);

// @ts-expect-error: a variable of the wrong type
if (process.argv.includes('--never')) await client.request(dearest, { tags: 'gift', first: 2 });
