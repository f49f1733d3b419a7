/**
 * Apollo Client 4: connections are merged page by page with its own relayStylePagination, rows are cached by their node id,
 * a mutation changes what a watching query shows, and its answer is shown before it arrives.
 */
import {
  ApolloClient,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
  type TypedDocumentNode,
} from '@apollo/client';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { relayStylePagination } from '@apollo/client/utilities';
import { endpoint, user } from '../settings.ts';

const client = new ApolloClient({
  link: new HttpLink({ uri: endpoint, headers: user, useGETForQueries: true }),
  cache: new InMemoryCache({
    // Every row carries its id, unique in the whole API.
    dataIdFromObject: (row) => (typeof row.nodeId === 'string' ? row.nodeId : undefined),
    typePolicies: {
      Query: { fields: { productCollection: relayStylePagination(['filter', 'orderBy']) } },
      Product: { fields: { reviews: relayStylePagination(['filter', 'orderBy']) } },
    },
  }),
});

interface Products {
  readonly productCollection: {
    readonly edges: readonly { readonly node: { readonly nodeId: string; readonly name: string } }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

const products: TypedDocumentNode<Products, { after: string | null }> = gql`
  query Products($after: Cursor) {
    productCollection(first: 3, after: $after, orderBy: [{ name: AscNullsLast }, { id: AscNullsLast }]) {
      edges { node { nodeId name } }
      pageInfo { hasNextPage endCursor }
    }
  }
`;

const list = client.watchQuery({ query: products, variables: { after: null } });
// A list on a screen: it is told whenever a page came in.
const threePages = Promise.withResolvers<Products['productCollection']['edges']>();
const subscription = list.subscribe(({ data, dataState }) => {
  if (dataState !== 'complete') return;
  const { edges } = data.productCollection;
  if (edges.length === 9) threePages.resolve(edges);
});
let { data: page } = await client.query({ query: products, variables: { after: null } });
for (const _ of ['second page', 'third page']) {
  ({ data: page } = await list.fetchMore({ variables: { after: page?.productCollection.pageInfo.endCursor ?? null } }));
}
const edges = await threePages.promise;
subscription.unsubscribe();
console.log('three pages:', edges.length, 'edges,', new Set(edges.map(({ node }) => node.nodeId)).size, 'products');

interface Review {
  readonly nodeId: string;
  readonly rating: number;
}
interface ProductReviews {
  readonly productByPk: {
    readonly nodeId: string;
    readonly reviews: { readonly totalCount: number; readonly edges: readonly { readonly node: Review }[] };
  } | null;
}

const reviews: TypedDocumentNode<ProductReviews> = gql`
  query Reviews {
    productByPk(id: "1") {
      nodeId
      reviews(first: 20, orderBy: [{ createdAt: DescNullsLast }]) {
        totalCount
        edges { cursor node { nodeId rating } }
      }
    }
  }
`;
const insert: TypedDocumentNode<{ insertIntoReviewCollection: { records: Review[] } }> = gql`
  mutation Insert {
    insertIntoReviewCollection(objects: [{ productId: "1", customerId: "1", rating: 5, title: "Keeps the rain out" }]) {
      records { nodeId rating }
    }
  }
`;
// A customer has one review of a product: where it is there already, it is changed.
const save: TypedDocumentNode<{ insertIntoReviewCollection: { records: Review[] } }, { rating: number }> = gql`
  mutation Save($rating: Int!) {
    insertIntoReviewCollection(
      objects: [{ productId: "1", customerId: "1", rating: $rating, title: "Keeps the rain out" }]
      onConflict: { constraint: review_pkey, updateColumns: [rating] }
    ) {
      records { nodeId rating }
    }
  }
`;
const remove: TypedDocumentNode<{ deleteFromReviewCollection: { records: Review[] } }> = gql`
  mutation Remove {
    deleteFromReviewCollection(filter: { productId: { eq: "1" }, customerId: { eq: "1" } }) { records { nodeId rating } }
  }
`;

const describe = () => {
  // With what mutations under way expect.
  const list = client.readQuery({ query: reviews }, true)?.productByPk?.reviews;
  return `${list?.totalCount} reviews: ${list?.edges.map(({ node }) => node.rating).join(' ')}`;
};

await client.query({ query: reviews });
console.log('before:', describe());

// A new row is in no list yet: the mutation's update puts it where it belongs.
await client.mutate({
  mutation: insert,
  update(cache, { data }) {
    const [node] = data?.insertIntoReviewCollection.records ?? [];
    cache.updateQuery({ query: reviews }, (known) => {
      if (!known?.productByPk || !node) return known;
      const { totalCount, edges, ...rest } = known.productByPk.reviews;
      const edge = { __typename: 'ReviewEdge', cursor: '', node };
      return {
        productByPk: {
          ...known.productByPk,
          reviews: { ...rest, totalCount: totalCount + 1, edges: [edge, ...edges] },
        },
      };
    });
  },
});
console.log('inserted:', describe());

// The new rating is shown at once. The answer finds its row by the node id, without our help.
const mine = client.readQuery({ query: reviews })?.productByPk?.reviews.edges[0]?.node.nodeId ?? '';
const saveRating = (rating: number) =>
  client.mutate({
    mutation: save,
    variables: { rating },
    optimisticResponse: {
      insertIntoReviewCollection: {
        __typename: 'ReviewInsertResponse',
        records: [{ __typename: 'Review', nodeId: mine, rating }],
      },
    } as never,
  });
const saving = saveRating(4);
console.log('at once:', describe());
await saving;
console.log('saved:', describe());

// What the database refuses disappears again.
const refused = saveRating(9).catch((error: unknown) => error);
console.log('at once:', describe());
const problem = await refused;
if (!CombinedGraphQLErrors.is(problem)) throw problem;
console.log(`${problem.errors[0]?.extensions?.code}:`, describe());

// A removed row is put out of the cache; what counts it is asked for again.
await client.mutate({
  mutation: remove,
  update(cache, { data }) {
    for (const { nodeId } of data?.deleteFromReviewCollection.records ?? []) cache.evict({ id: nodeId });
  },
});
await client.query({ query: reviews, fetchPolicy: 'network-only' });
console.log('removed:', describe());

// Errors arrive with their code, whichever status the answer had.
await client.query({ query: gql`{ productCollection { nothing } }` }).catch((error: unknown) => {
  if (!CombinedGraphQLErrors.is(error)) throw error;
  console.log('mistake:', error.errors[0]?.extensions?.code);
});
client.stop();

// What is asked for within 10 milliseconds is one request, and one mistake is the mistake of its query alone.
let requests = 0;
const counted: typeof fetch = (...request) => {
  requests += 1;
  return fetch(...request);
};
const batching = new ApolloClient({
  link: new BatchHttpLink({ uri: endpoint, headers: user, fetch: counted }),
  cache: new InMemoryCache(),
});
const byKey: TypedDocumentNode<{ productByPk: { name: string } | null }, { id: string }> = gql`
  query ByKey($id: BigInt!) { productByPk(id: $id) { nodeId name } }
`;
const asked = ['3', '0', 'x', '4'].map((id) => batching.query({ query: byKey, variables: { id } }));
const results = await Promise.allSettled(asked);
const found = results.map((result) =>
  result.status === 'fulfilled' ? result.value.data?.productByPk?.name : 'mistake',
);
console.log(`${requests} batch:`, found.join(', '));
batching.stop();
