/**
 * Relay without React: a connection page by page, a refetch of one row through `node`, and a mutation that is shown before
 * it is answered. The compiler reads the operations
 * in this file, checks them against the schema, and writes what runs into __generated__; relay.config.json tells it that
 * the global id is called `nodeId`.
 */
import {
  commitLocalUpdate,
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  getFragment,
  getRequest,
  getSingularSelector,
  graphql,
  Network,
  RecordSource,
  Store,
} from 'relay-runtime';
import { endpoint, user } from '../settings.ts';
import type { main_product$data } from './__generated__/main_product.graphql.ts';
import type { main_products$data } from './__generated__/main_products.graphql.ts';
import pageQuery, { type mainPageQuery } from './__generated__/mainPageQuery.graphql.ts';
import productQuery, { type mainProductQuery } from './__generated__/mainProductQuery.graphql.ts';
import type { mainQuery } from './__generated__/mainQuery.graphql.ts';
import type { mainReviewQuery, mainReviewQuery$data } from './__generated__/mainReviewQuery.graphql.ts';
import type { mainSaveMutation } from './__generated__/mainSaveMutation.graphql.ts';

const environment = new Environment({
  store: new Store(new RecordSource()),
  network: Network.create(async ({ id, text }, variables) => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { ...user, 'content-type': 'application/json' },
      // relay.trusted.config.json gives documents an id in place of their text.
      body: JSON.stringify({ ...(id ? { documentId: id } : { query: text }), variables }),
    });
    return response.json();
  }),
  // Rows are known by the global id; Relay would look for a field named `id`.
  getDataID: (row) => (row.nodeId as string | undefined) ?? null,
});

const query = graphql`
  query mainQuery {
    ...main_products
  }
`;

const products = graphql`
  fragment main_products on Query
  @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "Cursor" })
  @refetchable(queryName: "mainPageQuery") {
    productCollection(first: $count, after: $cursor, orderBy: [{ name: AscNullsLast }, { id: AscNullsLast }])
      @connection(key: "main_productCollection") {
      edges {
        node {
          name
          ...main_product
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;

const product = graphql`
  fragment main_product on Product @refetchable(queryName: "mainProductQuery") {
    nodeId
    name
    stock
    category {
      name
    }
  }
`;

const operation = createOperationDescriptor(getRequest(query), {});
// What a component on the screen does: it keeps its data in the store, and shows all pages that are there.
environment.retain(operation);
function shown() {
  const selector = getSingularSelector(getFragment(products), environment.lookup(operation.fragment).data);
  return environment.lookup(selector!).data as main_products$data;
}

await fetchQuery<mainQuery>(environment, query, {}).toPromise();
console.log(
  'first page:',
  shown()
    .productCollection.edges.map(({ node }) => node.name)
    .join(', '),
);

for (let page = 2; page <= 3; page++) {
  const cursor = shown().productCollection.pageInfo.endCursor;
  await fetchQuery<mainPageQuery>(environment, pageQuery, { count: 3, cursor }).toPromise();
}
console.log('three pages:', shown().productCollection.edges.length, 'products');

// One row of the list, as the component of that row would see it.
const [first] = shown().productCollection.edges;
const row = getSingularSelector(getFragment(product), first!.node)!;
const shownRow = () => environment.lookup(row).data as main_product$data;
console.log('row:', shownRow().name, 'from', shownRow().category?.name);
const { nodeId, stock } = shownRow();

// Another client changes a number; fetched again by its node id, the row is right everywhere.
commitLocalUpdate(environment, (store) => void store.get(nodeId)?.setValue(-1, 'stock'));
console.log('guessed:', shownRow().stock);
await fetchQuery<mainProductQuery>(environment, productQuery, { nodeId }).toPromise();
console.log('refetched:', shownRow().stock === stock ? 'as in the database' : 'still wrong');

const reviewQuery = graphql`
  query mainReviewQuery {
    reviewCollection(filter: { customerId: { eq: "1" }, productId: { eq: "88" } }) {
      edges {
        node {
          nodeId
          rating
        }
      }
    }
  }
`;

// A customer has one review of a product: where it is there already, it is changed.
const saveReview = graphql`
  mutation mainSaveMutation($rating: Int!) @raw_response_type {
    insertIntoReviewCollection(
      objects: [{ productId: "88", customerId: "1", rating: $rating, title: "My review" }]
      onConflict: { constraint: review_pkey, updateColumns: [rating] }
    ) {
      records {
        nodeId
        rating
      }
    }
  }
`;

const reviews = createOperationDescriptor(getRequest(reviewQuery), {});
environment.retain(reviews);
await fetchQuery<mainReviewQuery>(environment, reviewQuery, {}).toPromise();
const review = () =>
  (environment.lookup(reviews.fragment).data as mainReviewQuery$data).reviewCollection.edges[0]!.node;

/** Resolves with the number of errors. */
function save(rating: number): Promise<number> {
  return new Promise((resolve, reject) => {
    commitMutation<mainSaveMutation>(environment, {
      mutation: saveReview,
      variables: { rating },
      optimisticResponse: {
        insertIntoReviewCollection: { records: [{ nodeId: review().nodeId, rating }] },
      },
      onCompleted: (_, errors) => resolve(errors?.length ?? 0),
      onError: reject,
    });
  });
}

const { rating: before } = review();
const saving = save(4);
console.log('at once:', review().rating);
await saving;
console.log('saved:', review().rating);
await save(before);
console.log('and back to', review().rating);
