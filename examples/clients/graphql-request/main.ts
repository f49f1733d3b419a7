/** graphql-request: the smallest client, with variables, a header per request, and errors as exceptions. */
import { ClientError, GraphQLClient, gql } from 'graphql-request';
import { accessToken, endpoint, visitor } from '../settings.ts';

const client = new GraphQLClient(endpoint, { headers: visitor });

interface Products {
  readonly productCollection: {
    readonly totalCount: number;
    readonly edges: { readonly node: { readonly name: string; readonly price: string } }[];
  };
}

interface Product {
  readonly productByPk: { readonly name: string };
}

const gifts = gql`
  query Gifts($tags: [String!]!, $max: BigFloat!) {
    productCollection(
      first: 2
      filter: { tags: { contains: $tags }, price: { lte: $max } }
      orderBy: [{ price: AscNullsLast }, { id: AscNullsLast }]
    ) {
      totalCount
      edges { node { name price } }
    }
  }
`;
const { productCollection } = await client.request<Products>(gifts, { tags: ['gift'], max: '80.00' });
console.log(productCollection.totalCount, 'gifts, the cheapest:');
for (const { node } of productCollection.edges) console.log(`  ${node.name}: ${node.price}`);

const byKey = gql`query ByKey($id: BigInt!) { productByPk(id: $id) { name } }`;
const answers = await client.batchRequests<[{ data: Product }, { data: Product }]>([
  { document: byKey, variables: { id: '3' } },
  { document: byKey, variables: { id: '4' } },
]);
console.log('a batch:', answers.map(({ data }) => data.productByPk.name).join(', '));

const orders = gql`{ orderCollection { totalCount } }`;
const signedIn = { authorization: `Bearer ${accessToken}` };
console.log('my orders:', await client.request(orders, {}, signedIn));

try {
  await client.request(orders);
} catch (error) {
  if (!(error instanceof ClientError)) throw error;
  console.log('as a visitor:', error.response.errors?.[0]?.extensions);
}
