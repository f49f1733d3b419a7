/** The lifetime of access tokens, in seconds. */
import type { AuthConfig } from './auth-config.ts';

/** As Supabase Auth reads it: 0 is no lifetime, but the usual one. */
export function tokenSeconds({ jwt_exp }: Pick<AuthConfig, 'jwt_exp'>): number {
  return jwt_exp || 3600;
}
