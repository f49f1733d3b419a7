/**
 * As whom operations are sent: with the anon key, as a user, or as the service role. For the last one operators need no key: the server
 * takes their access token for it at a path of the studio.
 */
import { ApiError, bearer } from '../../shared/api.ts';
import { apiKeys } from '../../shared/keys.ts';
import { session } from '../../shared/session.ts';
import { createStore, type Store } from '../../shared/store.ts';
import { actAsUser, type OperatorToken } from '../../shared/users.ts';

/** The choice. */
export type Caller =
  | { readonly kind: 'anon' | 'service' }
  /** Null: none is chosen yet. */
  | { readonly kind: 'user'; readonly userId: string | null };

/** Made with the access token of the session, and forgotten with it. */
const tokens = new Map<string, OperatorToken>();

/** The choice of this visit. */
export const chosenCaller: Store<Caller> = createStore<Caller>({ kind: 'anon' });
session.subscribe(() => {
  if (session.get().kind === 'none') chosenCaller.set({ kind: 'anon' });
  // Whoever goes on with another access token acts as nobody by what was made with this one.
  tokens.clear();
});

/** What a request is sent with, and what the database is told of it. */
export interface Credentials {
  /** Where it is not the API's. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly role: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Where operators are the service role. A 401 there is about their access token. */
export const servicePath = '/studio/graphql';

/** A token is made anew when it has less than this left, in seconds. */
const marginSeconds = 60;

/** @throws ApiError where there is no key or no user for it. */
export async function credentialsOf(caller: Caller): Promise<Credentials> {
  const now = session.get();
  if (now.kind === 'none') throw new ApiError(401, 'unauthorized', 'Sign in first.');
  const { roles } = now.project;
  const keys = apiKeys.get();
  if (caller.kind === 'service' && keys.service === '' && now.project.scopes.includes('project:operate')) {
    return { path: servicePath, headers: bearer(now.token), role: roles.service, claims: { role: roles.service } };
  }
  if (caller.kind !== 'user') {
    const [apikey, role] = caller.kind === 'anon' ? [keys.anon, roles.anon] : [keys.service, roles.service];
    if (apikey === '') throw new ApiError(401, 'no_key', `Enter the ${caller.kind} key first.`);
    return { headers: { apikey, ...bearer(apikey) }, role, claims: { role } };
  }
  if (caller.userId === null) throw new ApiError(400, 'no_user', 'Select a user first.');
  const token = await tokenOf(caller.userId);
  const claims = claimsOf(token);
  return { headers: { apikey: keys.anon, ...bearer(token) }, role: String(claims.role), claims };
}

async function tokenOf(userId: string): Promise<string> {
  const known = tokens.get(userId);
  if (known !== undefined && known.expiresAt - marginSeconds > Date.now() / 1000) return known.accessToken;
  const asked = session.get();
  const token = await actAsUser(userId);
  if (session.get() === asked) tokens.set(userId, token);
  return token.accessToken;
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const text = atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0))));
}
