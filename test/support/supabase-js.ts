/**
 * The published client, unmodified, as an application has it: its session in memory, refreshed when asked.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createClient } from '@supabase/supabase-js';
import { anonKey } from './http.ts';

/** The file that a page loads. */
export const clientScript = join(createRequire(import.meta.url).resolve('@supabase/supabase-js'), '../umd/supabase.js');

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
export type SupabaseClient = any;

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
  const auth = { storage: memory, autoRefreshToken: false, ...options };
  return createClient(url, key, { auth, global: { fetch: via } });
}
