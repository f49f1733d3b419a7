/**
 * supabase-js has no GraphQL method of its own: its users send operations with fetch and let the client look after the
 * session. Before sign-in the anon key is the bearer token, afterwards the session's access token.
 */
import { createClient } from '@supabase/supabase-js';
import { accessToken, anonKey, apiUrl } from '../settings.ts';

// What a browser keeps in localStorage.
const storage = new Map<string, string>();
const supabase = createClient(apiUrl, anonKey, {
  auth: {
    storageKey: 'session',
    storage: {
      getItem: (key) => storage.get(key) ?? null,
      setItem: (key, value) => void storage.set(key, value),
      removeItem: (key) => void storage.delete(key),
    },
    autoRefreshToken: false,
  },
});

async function graphql<Data>(query: string, variables: object = {}): Promise<Data> {
  const { data } = await supabase.auth.getSession();
  const response = await fetch(`${apiUrl}/graphql/v1`, {
    method: 'POST',
    headers: {
      apikey: anonKey,
      authorization: `Bearer ${data.session?.access_token ?? anonKey}`,
      'content-type': 'application/json',
      'x-client-info': 'supabase-js-web/2',
    },
    body: JSON.stringify({ query, variables }),
  });
  const body = (await response.json()) as { data: Data; errors?: { message: string }[] };
  if (body.errors) throw new Error(body.errors.map(({ message }) => message).join('\n'));
  return body.data;
}

interface Products {
  readonly productCollection: { readonly edges: { readonly node: { readonly name: string } }[] };
}
interface Orders {
  readonly orderCollection: { readonly totalCount: number };
}

const search = `query Search($term: String!) {
  productCollection(first: 2, filter: { name: { ilike: $term } }) { edges { node { name } } }
}`;
const orders = '{ orderCollection { totalCount } }';

const { productCollection } = await graphql<Products>(search, { term: '%tent' });
console.log('visitor:', productCollection.edges.map(({ node }) => node.name).join(', '));
await graphql<Orders>(orders).catch((error: Error) => console.log('visitor:', error.message));

// What sign-in leaves behind: the client finds the session where it stored it.
const expires_at = Math.floor(Date.now() / 1000) + 3600;
const session = { access_token: accessToken, refresh_token: '', token_type: 'bearer', expires_in: 3600, expires_at };
storage.set('session', JSON.stringify({ ...session, user: { id: '00000000-0000-4000-8000-000000000001' } }));

const { orderCollection } = await graphql<Orders>(orders);
console.log('signed in:', orderCollection.totalCount, 'orders');
