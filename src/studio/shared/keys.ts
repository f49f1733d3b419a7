/**
 * The API keys that the studio sends: those of a local project, or what an operator typed, kept in the tab.
 */

import { session } from './session.ts';
import { createStore, type Store } from './store.ts';

/** Both may be empty. */
export interface ApiKeys {
  readonly anon: string;
  readonly service: string;
  /** Why the service key that was given is forgotten. */
  readonly refusal?: string;
}

const storageName = 'pgreflect:keys';

/** The keys of this tab. */
export const apiKeys: Store<ApiKeys> = createStore(readKeys());
session.subscribe(() => apiKeys.set(readKeys()));

function readKeys(): ApiKeys {
  const now = session.get();
  const kept = JSON.parse(sessionStorage.getItem(storageName) ?? 'null') as ApiKeys | null;
  const known = now.kind === 'none' ? null : now.project.keys;
  // A project that was started again may tell another one than it has refused.
  return { anon: '', ...known, ...kept, service: kept?.service || known?.service || '' };
}

/** Uses others from now on. */
export function keepKeys(keys: ApiKeys): void {
  sessionStorage.setItem(storageName, JSON.stringify(keys));
  apiKeys.set(keys);
}

/** Forgets a service key that the server has refused, unless another one was given meanwhile. */
export function forgetService(service: string, refusal: string): void {
  const keys = apiKeys.get();
  if (keys.service === service) keepKeys({ ...keys, service: '', refusal });
}
