/**
 * Who uses the studio: an access token, kept in the tab (`sessionStorage`), and what the project says of itself to its holder.
 *
 * A token that has ended does not end the page: the session is `expired`, what was typed stays, and a new token goes on.
 */
import { type ApiAnswer, ApiError, type ApiRequest, ask, bearer } from './api.ts';
import { createStore, type Store, useStore } from './store.ts';
import { mayLose } from './unsaved.ts';

/** What the holder of a token may know of the project. */
export interface Project {
  readonly ref: string;
  /** A project of `pgreflect start`. */
  readonly isLocal: boolean;
  /** Of the token: `auth_config:write` may change the configuration, `project:operate` may see plans, act as a user and as the service role. */
  readonly scopes: readonly string[];
  /** Null: none are told. `service` is empty unless the project is local. */
  readonly keys: { readonly anon: string; readonly service: string } | null;
  readonly roles: { readonly anon: string; readonly authenticated: string; readonly service: string };
  readonly isEmailCaptured: boolean;
  readonly exampleOperations: readonly string[];
}

/** The states of a session. `expired` keeps the project, so that pages stay as they are. */
export type Session =
  | { readonly kind: 'none' }
  | { readonly kind: 'open' | 'expired'; readonly token: string; readonly project: Project };

/** The session of this tab. */
export const session: Store<Session> = createStore<Session>({ kind: 'none' });

const storageName = 'pgreflect:access-token';

/**
 * Uses the one-time token of the address, else the token that the tab has.
 *
 * @returns Why there is no session though there should be one; null where all is well.
 */
export async function enterByTicket(): Promise<string | null> {
  const ticket = new URLSearchParams(location.hash.slice(1)).get('token');
  if (ticket !== null) history.replaceState(null, '', location.pathname + location.search);
  const kept = sessionStorage.getItem(storageName);
  try {
    if (kept !== null && (await enterIfGood(kept))) return null;
    if (ticket === null) return null;
    const { body } = await ask<{ accessToken: string }>('/studio/session', { method: 'POST', body: { token: ticket } });
    await signIn(body.accessToken);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) return error.message;
    return 'This link was already used or has expired. Sign in with the access token printed next to it.';
  }
}

async function enterIfGood(token: string): Promise<boolean> {
  try {
    await signIn(token);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    sessionStorage.removeItem(storageName);
    return false;
  }
}

// Somebody has pasted the address with a one-time token over the one of this page.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) location.reload();
});

/** @throws ApiError where the token is not good. */
export async function signIn(token: string): Promise<void> {
  const { body: project } = await ask<Project>('/studio/project', { headers: bearer(token) });
  sessionStorage.setItem(storageName, token);
  session.set({ kind: 'open', token, project });
}

/** Forgets the token, and what the tab keeps beside it; asks first where something would be lost. */
export function signOut(): void {
  if (!mayLose()) return;
  sessionStorage.clear();
  session.set({ kind: 'none' });
}

/**
 * A request to the management API of the project, below `/v1/projects/{ref}/`.
 *
 * @throws ApiError. Where the token is no longer good, the session is `expired` from then on.
 */
export function askProject<T>(path: string, request: ApiRequest = {}): Promise<ApiAnswer<T>> {
  const now = session.get();
  const ref = now.kind === 'none' ? '' : now.project.ref;
  return askAsOperator(`/v1/projects/${ref}/${path}`, request);
}

/** A request with the access token. @throws ApiError as `askProject`. */
export async function askAsOperator<T>(path: string, request: ApiRequest = {}): Promise<ApiAnswer<T>> {
  const now = session.get();
  if (now.kind === 'none') throw new ApiError(401, 'unauthorized', 'Sign in first.');
  try {
    return await ask<T>(path, { ...request, headers: { ...request.headers, ...bearer(now.token) } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) expireSession(now.token);
    throw error;
  }
}

/** The server has refused the access token. */
export function expireSession(token: string): void {
  const now = session.get();
  if (now.kind === 'open' && now.token === token) session.set({ ...now, kind: 'expired' });
}

/** What the token may do, in a component. */
export function useScopes(): readonly string[] {
  const now = useStore(session);
  return now.kind === 'none' ? [] : now.project.scopes;
}

/** Whether the token may change the configuration, in a component. */
export function useMayWrite(): boolean {
  return useScopes().includes('auth_config:write');
}

/** Whether the token may see plans and act as a user, in a component. */
export function useMayOperate(): boolean {
  return useScopes().includes('project:operate');
}
