/** Types made from the schema by graphql-codegen: the compiler knows what comes back and refuses what does not exist. */
import { GraphQLClient } from 'graphql-request';
import { endpoint, visitor } from '../settings.ts';
import { graphql } from './__generated__/gql.ts';

const shelf = graphql(`
  query Shelf($slug: String!, $first: Int!) {
    categoryCollection(filter: { slug: { eq: $slug } }) {
      edges {
        node {
          name
          productCollection(first: $first, orderBy: [{ price: AscNullsLast }]) {
            totalCount
            edges { node { name price status releasedOn } }
          }
        }
      }
    }
  }
`);

const client = new GraphQLClient(endpoint, { headers: visitor });
const { categoryCollection } = await client.request(shelf, { slug: 'tents', first: 2 });
for (const { node: category } of categoryCollection.edges) {
  console.log(`${category.name}: ${category.productCollection?.totalCount} products`);
  for (const { node } of category.productCollection?.edges ?? []) {
    const price: string = node.price;
    const status: 'draft' | 'active' | 'retired' = node.status;
    console.log(`  ${node.name}, ${price}, ${status}, ${node.releasedOn?.slice(0, 4) ?? 'soon'}`);
    // @ts-expect-error: a column that the operation did not ask for
    node.stock;
  }
}

// @ts-expect-error: a variable of the wrong type
if (process.argv.includes('--never')) await client.request(shelf, { slug: 1, first: 2 });
