/** Where the API is and who asks: read from the environment by every program here; see README.md for how to set it. */

/** Origin of the API, without a slash at its end. */
export const apiUrl = process.env.API_URL ?? 'http://localhost:54321';

/** What the GraphQL clients are given. */
export const endpoint = `${apiUrl}/graphql/v1`;

/** The public key of the project: a visitor who has not signed in. */
export const anonKey = required('ANON_KEY');

/** The token of a signed-in user, valid for a while. */
export const accessToken = required('ACCESS_TOKEN');

/** The headers of a visitor, and of the signed-in user. */
export const visitor = { apikey: anonKey };
export const user = { apikey: anonKey, authorization: `Bearer ${accessToken}` };

function required(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set. On a local project: eval "$(npm run --silent keys -- ../..)", see README.md.`);
}
