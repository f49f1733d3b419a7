/**
 * The session of the studio: an access token, kept in the tab (`sessionStorage`), and the project as described to its
 * holder.
 *
 * An expired token does not close the page: the session is `expired`, input stays, and a new token continues it.
 */
import type { StudioProject } from '../../routes/studio-project.ts';
import { type ApiAnswer, ApiError, type ApiRequest, ask, bearer, outage, whenAnswered } from './api.ts';
import { createStore, type Store, useStore } from './store.ts';
import { mayLose } from './unsaved.ts';

/** The states of a session. `expired` keeps the project, so that pages stay unchanged. */
type Session =
  | { readonly kind: 'none' }
  | { readonly kind: 'open' | 'expired'; readonly token: string; readonly project: StudioProject };

/** The session of this tab. */
export const session: Store<Session> = createStore<Session>({ kind: 'none' });

const storageName = 'pgreflect:access-token';

/**
 * Signs in with the one-time token of the address, otherwise with the tab's token; waits while that cannot be answered.
 *
 * @returns Why there is no session although there should be one; null otherwise.
 */
export async function enterByTicket(): Promise<string | null> {
  const ticket = new URLSearchParams(location.hash.slice(1)).get('token');
  if (ticket !== null) history.replaceState(null, '', location.pathname + location.search);
  const kept = sessionStorage.getItem(storageName);
  try {
    if (kept !== null && (await insist(() => enterIfGood(kept)))) return null;
    if (ticket === null) return null;
    const { body } = await insist(() =>
      ask<{ accessToken: string }>('/studio/session', { method: 'POST', body: { token: ticket } }),
    );
    await insist(() => signIn(body.accessToken));
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) return error.message;
    return 'This link was already used or has expired. Sign in with the access token printed next to it.';
  }
}

/** Tries again after each outage. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (outage.get() === null) throw error;
      await whenAnswered();
    }
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

// An address with a one-time token was pasted over this page's.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) location.reload();
});

/** How people name the project: two tabs of a browser tell staging from production. */
export function projectName({ name, isLocal }: StudioProject): string {
  return isLocal ? `${name} (local)` : `${name} on ${location.host}`;
}

/** @throws ApiError if the token is invalid. */
export async function signIn(token: string): Promise<void> {
  const { body: project } = await ask<StudioProject>('/studio/project', { headers: bearer(token) });
  sessionStorage.setItem(storageName, token);
  session.set({ kind: 'open', token, project });
}

/** Reads the project again, as for its keys, which change while it runs. @throws ApiError */
export async function readProjectAgain(): Promise<StudioProject> {
  const { body: project } = await askAsOperator<StudioProject>('/studio/project');
  const now = session.get();
  if (now.kind === 'open') session.set({ ...now, project });
  return project;
}

/** Drops the token and the tab's data; asks first if unsaved input would be lost. */
export function signOut(): void {
  if (!mayLose()) return;
  sessionStorage.clear();
  session.set({ kind: 'none' });
}

/** A request to the project's management API. @throws ApiError. An invalid token ends the session: `expired`. */
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

/** Call when the server refused the access token. */
export function expireSession(token: string): void {
  const now = session.get();
  if (now.kind === 'open' && now.token === token) session.set({ ...now, kind: 'expired' });
}

/** Hook: the token's scopes. */
export function useScopes(): readonly string[] {
  const now = useStore(session);
  return now.kind === 'none' ? [] : now.project.scopes;
}

/** Hook: whether the token may change the configuration. */
export function useMayWrite(): boolean {
  return useScopes().includes('auth_config:write');
}

/** Hook: whether SQL runs from here: it does, the token lacks the scope, or the gateway has no connection for it. */
export function useRunsSql(): 'yes' | 'no scope' | 'no connection' {
  const now = useStore(session);
  if (now.kind === 'none' || !now.project.hasAdminConnection) return 'no connection';
  return now.project.scopes.includes('database:write') ? 'yes' : 'no scope';
}

/** Hook: whether the token may see plans and act as a user. */
export function useMayOperate(): boolean {
  return useScopes().includes('project:operate');
}
