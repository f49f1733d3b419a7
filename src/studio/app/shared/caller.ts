/** The caller of operations. Operators need no service key: a path of the studio takes their access token. */
import type { OperatorToken } from '../../../auth/answers/operator-token.ts';
import type { StudioProject } from '../../routes/studio-project.ts';
import { ApiError, bearer } from './api.ts';
import { apiKeys } from './keys.ts';
import { session } from './session.ts';
import { createStore, type Store } from './store.ts';
import { actAsUser } from './users.ts';

/** The choice. */
export type Caller =
  /** `authenticated`: the role of users, without a user. */
  | { readonly kind: 'anon' | 'authenticated' | 'service' }
  /** Null: none selected yet. */
  | { readonly kind: 'user'; readonly userId: string | null };

/** Made with the session's access token, and dropped with it. */
const tokens = new Map<string, OperatorToken>();

/** As whom each page runs operations in this visit; null: not chosen yet. What was chosen on one holds for no other. */
export const callersOfVisit: { readonly [page in 'data' | 'graphql']: Store<Caller | null> } = {
  data: createStore<Caller | null>(null),
  graphql: createStore<Caller | null>(null),
};
session.subscribe(() => {
  if (session.get().kind === 'none') for (const caller of Object.values(callersOfVisit)) caller.set(null);
  // Tokens made with one access token must not be used with another.
  tokens.clear();
});

/** The role of a caller. That of a user is the role of most users. */
export function roleOf({ kind }: Caller, { anon, authenticated, service }: StudioProject['roles']): string {
  return { anon, authenticated, user: authenticated, service }[kind];
}

/** The credentials of a request, and its claims. */
export interface Credentials {
  /** If not the API's path. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly role: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** For operators, by default as the service role. */
const operatorPath = '/studio/graphql';

/** Whether a 401 concerns the access token. @param path Of credentials. */
export function isOperatorPath(path: string | undefined): boolean {
  return path?.startsWith(operatorPath) === true;
}

/** A token with less time left is made anew, in seconds. */
const marginSeconds = 60;

/** @throws ApiError if there is no user for it. */
export async function credentialsOf(caller: Caller): Promise<Credentials> {
  const now = session.get();
  if (now.kind === 'none') throw new ApiError(401, 'unauthorized', 'Sign in first.');
  const { roles } = now.project;
  const keys = apiKeys.get();
  if (caller.kind === 'service' && keys.service === '' && now.project.scopes.includes('project:operate')) {
    return { path: operatorPath, headers: bearer(now.token), role: roles.service, claims: { role: roles.service } };
  }
  if (caller.kind === 'authenticated') {
    const role = roles.authenticated;
    const path = `${operatorPath}?${new URLSearchParams({ role })}`;
    return { path, headers: bearer(now.token), role, claims: { role } };
  }
  if (caller.kind !== 'user') {
    const [apikey, role] = caller.kind === 'anon' ? [keys.anon, roles.anon] : [keys.service, roles.service];
    // Without a key that signs there is no anon key, and the gateway says what it needs.
    return { headers: apikey === '' ? {} : { apikey, ...bearer(apikey) }, role, claims: { role } };
  }
  if (caller.userId === null) throw new ApiError(400, 'no_user', 'Select a user first.');
  const token = await tokenOf(caller.userId);
  const claims = claimsOf(token);
  const key = keys.anon === '' ? {} : { apikey: keys.anon };
  return { headers: { ...key, ...bearer(token) }, role: String(claims.role), claims };
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
