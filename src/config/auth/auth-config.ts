/**
 * The auth configuration: what the authentication service is told, under the names of the management API.
 *
 * Immutable; the gateway swaps it whole when a layer changes. Start values come from load-auth-config.ts, stored ones from
 * the management API. Secrets are in here: never log a whole `AuthConfig`.
 */
import type { AuthField } from './auth-field.ts';
import { authField, authFieldNames, type authFields } from './auth-fields.ts';
import { checkHooks } from './auth-hook-fields.ts';
import { checkSmsProvider } from './auth-sms-fields.ts';

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
    ...checkPhone(config),
  ];
}

/** Users who may sign in by phone need somebody who sends; a hook does so in place of a provider. */
function checkPhone(config: AuthConfig): readonly string[] {
  const { external_phone_enabled, hook_send_sms_enabled, sms_provider } = config;
  if (!external_phone_enabled || hook_send_sms_enabled || sms_provider === null) return [];
  const problem = checkSmsProvider(sms_provider, config);
  return problem === null ? [] : [problem];
}
