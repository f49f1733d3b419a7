/**
 * The auth configuration: the settings of the authentication service, under the management API's names.
 *
 * Immutable; the gateway replaces it as a whole when a layer changes. Start values come from load-auth-config.ts,
 * stored ones from the management API. It contains secrets: never log a whole `AuthConfig`.
 */
import { checkEvents } from './auth-events.ts';
import type { AuthField } from './auth-field.ts';
import { authField, authFieldNames, type authFields } from './auth-fields.ts';
import { checkHooks } from './auth-hook-fields.ts';
import { checkSmsProvider } from './auth-sms-fields.ts';

/** All fields with their effective values. Each field's `doc` states the unit. */
export type AuthConfig = {
  readonly [K in keyof typeof authFields]: (typeof authFields)[K] extends AuthField<infer T> ? T : never;
};

/** Values of some fields. */
export type AuthValues = Partial<AuthConfig>;

/** Every field at its default. */
export const defaultAuthConfig = Object.freeze(
  Object.fromEntries(authFieldNames.map((name) => [name, authField(name).default])),
) as AuthConfig;

/** Merges layers over the defaults; later ones override earlier ones. */
export function layerAuthConfig(...layers: readonly AuthValues[]): AuthConfig {
  return Object.freeze(Object.assign({}, defaultAuthConfig, ...layers)) as AuthConfig;
}

/** Contradictions between fields, as sentences; empty for none. */
export function checkAuthConfig(config: AuthConfig): readonly string[] {
  const isOpen = config.mailer_autoconfirm && config.mailer_allow_unverified_email_sign_ins;
  return [
    ...(isOpen ? ['mailer_autoconfirm and mailer_allow_unverified_email_sign_ins cannot both be true'] : []),
    ...checkHiding(config),
    ...checkHooks(config),
    ...checkPhone(config),
    ...checkSigning(config),
    ...checkCaptcha(config),
    ...checkMailService(config),
    ...checkEvents(config),
  ];
}

/** A new user without a proof has a session at once, or an address that others see is free. */
function checkHiding(config: AuthConfig): readonly string[] {
  if (!config.security_hide_accounts) return [];
  return [
    ...(config.external_email_enabled && config.mailer_autoconfirm ? ['mailer_autoconfirm'] : []),
    ...(config.external_phone_enabled && config.sms_autoconfirm ? ['sms_autoconfirm'] : []),
    ...(config.mailer_allow_unverified_email_sign_ins ? ['mailer_allow_unverified_email_sign_ins'] : []),
  ].map((name) => `security_hide_accounts and ${name} cannot both be true`);
}

/** Sign-in by phone needs a sender of messages: a provider or a hook. */
function checkPhone(config: AuthConfig): readonly string[] {
  const { external_phone_enabled, hook_send_sms_enabled, sms_provider } = config;
  if (!external_phone_enabled || hook_send_sms_enabled || sms_provider === null) return [];
  const problem = checkSmsProvider(sms_provider, config);
  return problem === null ? [] : [problem];
}

/** A signature needs all three. An unsigned email could be taken for a forged one, so none is left out silently. */
function checkSigning(config: AuthConfig): readonly string[] {
  const names = ['mailer_dkim_domain', 'mailer_dkim_selector', 'mailer_dkim_private_key'] as const;
  const missing = names.filter((name) => !config[name]);
  if (missing.length === 0 || missing.length === names.length) return [];
  return [`DKIM signatures need ${names.join(', ')}; missing: ${missing.join(', ')}`];
}

function checkCaptcha({ security_captcha_enabled, security_captcha_secret }: AuthConfig): readonly string[] {
  const lacksSecret = security_captcha_enabled && !security_captcha_secret?.trim();
  return lacksSecret ? ['security_captcha_enabled needs security_captcha_secret'] : [];
}

function checkMailService({ mailer_transport: name, mailer_api_key: key }: AuthConfig): readonly string[] {
  if (name === 'smtp') return [];
  if (!key) return [`mailer_transport ${name} needs mailer_api_key`];
  const isPair = /^[^:]+:.+$/.test(key);
  return name === 'ses' && !isPair ? ['mailer_api_key must be ACCESS_KEY_ID:SECRET_ACCESS_KEY for ses'] : [];
}
