/** The keys by which the API orders rows, of all exposed tables of a running gateway, by the current catalog. */
import { invariant } from '../../shared/invariant.ts';
import { keyNames } from '../model/tables/primary-key.ts';
import type { Reflector } from './reflector.ts';

/** Makes the function that reads them. It throws a `DatabaseError`. */
export function createKeyReader(reflector: Pick<Reflector, 'current' | 'refreshIfChanged'>) {
  return async (): Promise<ReturnType<typeof keyNames>> => {
    await reflector.refreshIfChanged('description');
    const reflection = reflector.current();
    invariant(reflection, 'whoever refreshes has a catalog');
    return keyNames(reflection.catalog);
  };
}
