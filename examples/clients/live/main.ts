/**
 * Live queries with five clients: each subscribes to a review, which then changes, and prints its rating before and after.
 * graphql-sse listens to Server-Sent Events; Apollo, urql and Relay take it or graphql-ws, which opens a WebSocket.
 */
import { ApolloClient, gql as apolloGql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client, fetchExchange, subscriptionExchange, gql as urqlGql } from '@urql/core';
import { createClient as createEventsClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { Network, Observable } from 'relay-runtime';
import { endpoint, user } from '../settings.ts';

const document = `subscription Rating {
  reviewCollection(filter: { customerId: { eq: "1" }, productId: { eq: "88" } }) { edges { node { nodeId rating } } }
}`;

interface Answer {
  readonly data?: unknown;
}

/** Subscribes; returns the function that ends it. */
type Subscribe = (next: (answer: Answer) => void) => () => void;

const fail = (problem: unknown): never => {
  throw problem;
};

const events = createEventsClient({ url: endpoint, headers: user });
const socket = createSocketClient({ url: endpoint.replace('http', 'ws'), connectionParams: user });

const apollo = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });

const urql = new Client({
  url: endpoint,
  exchanges: [
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables: variables ?? null }, sink) }),
      }),
    }),
  ],
});

const relay = Network.create(
  () => fail(new Error('only subscriptions')),
  ({ text, name }, variables) =>
    Observable.create((sink) =>
      events.subscribe(
        { query: text ?? '', operationName: name, variables },
        sink as Parameters<typeof events.subscribe>[1],
      ),
    ),
);
const operation = {
  operationKind: 'subscription',
  name: 'Rating',
  text: document,
  id: null,
  metadata: {},
  cacheID: '',
};

const clients: Readonly<Record<string, Subscribe>> = {
  'graphql-sse': (next) =>
    events.subscribe({ query: document }, { next: (answer) => next(answer), error: fail, complete() {} }),
  'graphql-ws': (next) =>
    socket.subscribe({ query: document }, { next: (answer) => next(answer), error: fail, complete() {} }),
  Apollo(next) {
    const subscription = apollo.subscribe({ query: apolloGql(document) }).subscribe({ next, error: fail });
    return () => subscription.unsubscribe();
  },
  urql: (next) => urql.subscription(urqlGql(document), {}).subscribe(next).unsubscribe,
  Relay(next) {
    const observable = relay.execute(operation as Parameters<typeof relay.execute>[0], {}, {}, null);
    const subscription = observable.subscribe({ next: (answer) => next(answer as Answer), error: fail });
    return () => subscription.unsubscribe();
  },
};

async function rate(rating: number): Promise<void> {
  const query = `mutation { updateReviewByPk(productId: "88", customerId: "1", set: { rating: ${rating} }) { rating } }`;
  const headers = { ...user, 'content-type': 'application/json' };
  await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify({ query }) });
}

for (const [name, subscribe] of Object.entries(clients)) {
  const ratings: number[] = [];
  await new Promise<void>((resolve) => {
    const unsubscribe = subscribe((answer) => {
      const rating = (answer as { data: { reviewCollection: { edges: [{ node: { rating: number } }] } } }).data
        .reviewCollection.edges[0].node.rating;
      ratings.push(rating);
      if (ratings.length === 1) void rate(rating - 1);
      if (ratings.length === 2) void rate(ratings[0]!);
      if (ratings.length < 3) return;
      unsubscribe();
      resolve();
    });
  });
  console.log(`${name}: ${ratings.join(', ')}`);
}
await socket.dispose();
