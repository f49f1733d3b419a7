/** The lifetime of access tokens. */
import type { AuthConfig } from './auth-config.ts';

/** In seconds, as Supabase Auth reads it: 0 is no lifetime, but the usual one. */
export function tokenSeconds({ jwt_exp }: Pick<AuthConfig, 'jwt_exp'>): number {
  return jwt_exp || 3600;
}

/** A gateway looks at the file of keys after two seconds, and signs with the new one five seconds later. */
const signsStillMs = 10_000;

/** When the last access token that a key has signed expires, in milliseconds. @param until When another was told to sign. */
export function lastTokenEnds(until: number, seconds: number): number {
  return until + signsStillMs + seconds * 1000;
}
