/**
 * Trusted documents with Apollo Client, urql and a network function of its own: requests have the hashes that graphql-codegen
 * wrote into the documents, by POST and GET. The gateway has its list (`--trusted-documents`) and runs no others.
 */
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { parse } from 'graphql';
import { endpoint, user } from '../settings.ts';
import { graphql } from './__generated__/gql.ts';

// The cache of Apollo adds `__typename` where it is missing, and the list has the document as it is here.
const product = graphql(`
  query TrustedProduct($id: BigInt!) {
    productByPk(id: $id) { __typename nodeId name }
  }
`);

/** In no list. */
const unlisted = parse('{ productByPk(id: "4") { nodeId name } }');

/** What requests were like: the method, and whether they had the document. */
const sent: string[] = [];
const noted: typeof fetch = (input, init) => {
  const text = `${input} ${init?.body ?? ''}`;
  sent.push(`${init?.method}${/[?&]query=|"query":/.test(text) ? ' with the document' : ''}`);
  return fetch(input, init);
};

/** The hash of graphql-codegen; none for a document that it has not seen. */
const hashOf = (document: object) => (document as { __meta__?: { hash: string } }).__meta__?.hash ?? 'unknown';

for (const useGETForHashedQueries of [false, true]) {
  const apollo = new ApolloClient({
    link: ApolloLink.from([
      new PersistedQueryLink({ generateHash: hashOf, useGETForHashedQueries }),
      new HttpLink({ uri: endpoint, headers: user, fetch: noted }),
    ]),
    cache: new InMemoryCache(),
  });
  const { data } = await apollo.query({ query: product, variables: { id: '3' } });
  console.log(`Apollo: ${data?.productByPk?.name}, ${sent.splice(0).join(', ')}`);
  const other = apollo.query({ query: unlisted });
  await other.catch((error: unknown) => {
    if (!CombinedGraphQLErrors.is(error)) throw error;
    console.log(`  another document: ${error.errors[0]?.extensions?.code}, ${sent.splice(0).join(', ')}`);
  });
  apollo.stop();
}

for (const preferGetForPersistedQueries of [false, 'force'] as const) {
  const urql = new Client({
    url: endpoint,
    fetchOptions: { headers: user },
    fetch: noted,
    exchanges: [
      persistedExchange({ generateHash: async (_, document) => hashOf(document), preferGetForPersistedQueries }),
      fetchExchange,
    ],
  });
  const { data } = await urql.query(product, { id: '3' }).toPromise();
  console.log(`urql: ${data?.productByPk?.name}, ${sent.splice(0).join(', ')}`);
  const { error } = await urql.query(unlisted, {}).toPromise();
  console.log(`  another document: ${error?.graphQLErrors[0]?.extensions.code}, ${sent.splice(0).join(', ')}`);
}

const response = await fetch(endpoint, {
  method: 'POST',
  headers: { ...user, 'content-type': 'application/json' },
  body: JSON.stringify({ documentId: hashOf(product), variables: { id: '3' } }),
});
console.log(`fetch: ${(await response.json()).data.productByPk.name}`);
