/**
 * The published client, unmodified, as an application has it: its session in memory, refreshed when asked.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installClients } from './clients.ts';
import { anonKey } from './http.ts';

/** Finds files of the client and of what came with it. */
export const requireClient = createRequire(join(import.meta.dirname, '../../examples/clients/package.json'));

// biome-ignore lint/suspicious/noExplicitAny: the package belongs to the examples, its types are not the project's
export type SupabaseClient = any;

/** Installs the client, which takes minutes where nothing is cached. */
export function installSupabaseJs(): void {
  installClients();
}

/** A client of a gateway. @param options Of its auth part. @param via How its requests travel. */
export function supabaseClient(
  url: string,
  options: object = {},
  key: string = anonKey,
  via: typeof fetch = fetch,
): SupabaseClient {
  const storage = new Map<string, string>();
  const memory = {
    getItem: (name: string) => storage.get(name) ?? null,
    setItem: (name: string, value: string) => void storage.set(name, value),
    removeItem: (name: string) => void storage.delete(name),
  };
  const { createClient } = requireClient('@supabase/supabase-js');
  const auth = { storage: memory, autoRefreshToken: false, ...options };
  return createClient(url, key, { auth, global: { fetch: via } });
}
