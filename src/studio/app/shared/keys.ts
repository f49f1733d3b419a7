/** The API keys that the gateway tells this session. */
import { session } from './session.ts';
import { createStore, type Store } from './store.ts';

/** Empty where it tells none. */
interface ApiKeys {
  readonly anon: string;
  /** Of a local project alone. */
  readonly service: string;
}

/** The keys. */
export const apiKeys: Store<ApiKeys> = createStore(readKeys());
session.subscribe(() => apiKeys.set(readKeys()));

function readKeys(): ApiKeys {
  const now = session.get();
  return (now.kind === 'none' ? null : now.project.keys) ?? { anon: '', service: '' };
}
