/**
 * The auth configuration: what the authentication service is told, under the names of the management API.
 *
 * Immutable; the gateway swaps it whole when a layer changes. Start values come from load-auth-config.ts, stored ones from
 * the management API. Secrets are in here: never log a whole `AuthConfig`.
 */
import type { AuthField } from './auth-field.ts';
import { authField, authFieldNames, type authFields } from './auth-fields.ts';
import { checkHooks } from './auth-hook-fields.ts';

/** All fields with their effective values. Seconds, hours and digits as the field's doc line says. */
export type AuthConfig = {
  readonly [K in keyof typeof authFields]: (typeof authFields)[K] extends AuthField<infer T> ? T : never;
};

/** Values of some fields. */
export type AuthValues = Partial<AuthConfig>;

/** Every field at its default. */
export const defaultAuthConfig = Object.freeze(
  Object.fromEntries(authFieldNames.map((name) => [name, authField(name).default])),
) as AuthConfig;

/** Lays layers over the defaults, later ones over earlier ones. */
export function layerAuthConfig(...layers: readonly AuthValues[]): AuthConfig {
  return Object.freeze(Object.assign({}, defaultAuthConfig, ...layers)) as AuthConfig;
}

/** What is wrong with fields together, as sentences; empty where nothing is. */
export function checkAuthConfig(config: AuthConfig): readonly string[] {
  const isOpen = config.mailer_autoconfirm && config.mailer_allow_unverified_email_sign_ins;
  return [
    ...(isOpen ? ['mailer_autoconfirm and mailer_allow_unverified_email_sign_ins cannot both be true'] : []),
    ...checkHooks(config),
  ];
}
