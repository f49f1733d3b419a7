/**
 * Parts of Supabase Auth that this service does not have: their paths answer as if they were switched off.
 */
import { AuthError, type AuthErrorCode } from '../../auth/auth-error.ts';

interface Unserved {
  readonly path: string;
  readonly code: AuthErrorCode;
  readonly message: string | null;
}

const rows = (code: AuthErrorCode, message: string | null, ...paths: readonly string[]): readonly Unserved[] =>
  paths.map((path) => ({ path, code, message }));

/** Paths below the service, some with a star for the rest, and the refusal of each. */
export const unservedPaths: readonly Unserved[] = [
  ...rows('saml_provider_disabled', null, '/sso', '/sso/*', '/admin/sso/*'),
  ...rows('passkey_disabled', null, '/passkeys', '/passkeys/*', '/admin/users/:id/passkeys', '/admin/users/:id/passkeys/*'),
  ...rows(
    'feature_disabled', 'OAuth server is disabled',
    '/oauth/*', '/user/oauth/grants', '/admin/oauth/*', '/.well-known/oauth-authorization-server',
  ),
  ...rows('feature_disabled', 'SCIM server is disabled', '/scim/v2/*'),
  ...rows('feature_disabled', 'Custom OAuth providers are disabled', '/admin/custom-providers', '/admin/custom-providers/*'),
]; // biome-ignore format: one row per feature

/** The refusal. */
export function refuseUnserved({ code, message }: Unserved): never {
  throw new AuthError(code, message);
}
