/** The API keys that the studio sends: a local project's, or keys that the operator entered, kept in the tab. */
import { session } from './session.ts';
import { createStore, type Store } from './store.ts';

/** Both may be empty. */
interface ApiKeys {
  readonly anon: string;
  readonly service: string;
}

const storageName = 'pgreflect:keys';

/** The keys of this tab. */
export const apiKeys: Store<ApiKeys> = createStore(readKeys());
session.subscribe(() => apiKeys.set(readKeys()));

function readKeys(): ApiKeys {
  const now = session.get();
  const kept = JSON.parse(sessionStorage.getItem(storageName) ?? 'null') as ApiKeys | null;
  const known = now.kind === 'none' ? null : now.project.keys;
  // After a restart, a project may provide another key than the one it refused.
  return { anon: '', ...known, ...kept, service: kept?.service || known?.service || '' };
}

/** Sets other keys. */
export function keepKeys(keys: ApiKeys): void {
  sessionStorage.setItem(storageName, JSON.stringify(keys));
  apiKeys.set(keys);
}
