/**
 * Trusted documents with Apollo Client and the manifest of Apollo's own tool, generate-persisted-query-manifest: requests have the
 * ids of the manifest. The gateway has it too (`--trusted-documents`), and runs no others.
 */
import { readFileSync } from 'node:fs';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { generatePersistedQueryIdsFromManifest } from '@apollo/persisted-query-lists';
import { endpoint, user } from '../settings.ts';

const query = gql`
  query ListedProduct($id: BigInt!) {
    productByPk(id: $id) {
      nodeId
      name
    }
  }
`;

const path = new URL('__generated__/persisted-query-manifest.json', import.meta.url);
const loadManifest = async () => JSON.parse(readFileSync(path, 'utf8'));

const apollo = new ApolloClient({
  link: ApolloLink.from([
    new PersistedQueryLink(generatePersistedQueryIdsFromManifest({ loadManifest })),
    new HttpLink({ uri: endpoint, headers: user }),
  ]),
  cache: new InMemoryCache(),
});
const { data } = await apollo.query<{ productByPk: { name: string } }>({ query, variables: { id: '3' } });
console.log(`Apollo: ${data?.productByPk.name}`);
const post = (body: object) =>
  fetch(endpoint, {
    method: 'POST',
    headers: { ...user, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const refused = await post({ query: '{ productByPk(id: "4") { name } }' });
console.log(`  another document: ${(await refused.json()).errors[0].extensions.code}`);
apollo.stop();
