/** The part of the configuration that applications may read without signing in. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { providers } from '../../config/auth/auth-provider-fields.ts';
import { type AnswerJson, flag, from, serializerOf, text } from '../../shared/schema.ts';
import { isBrowserProvider, isProviderOn } from '../providers/provider-settings.ts';

/** Names of the sign-in methods that clients look for; unsupported providers are off. */
const methods = [
  'anonymous_users', 'apple', 'azure', 'bitbucket', 'discord', 'facebook', 'snapchat', 'figma', 'fly', 'github', 'gitlab',
  'google', 'keycloak', 'kakao', 'linkedin', 'linkedin_oidc', 'notion', 'spotify', 'slack', 'slack_oidc', 'workos',
  'twitch', 'twitter', 'email', 'phone', 'zoom',
] as const; // biome-ignore format: a list of names

const on: Partial<Record<(typeof methods)[number], (config: AuthConfig) => boolean>> = {
  anonymous_users: (config) => config.external_anonymous_users_enabled,
  email: (config) => config.external_email_enabled,
  phone: (config) => config.external_phone_enabled,
  ...Object.fromEntries(
    providers.filter(isBrowserProvider).map((name) => [name, (config: AuthConfig) => isProviderOn(config, name)]),
  ),
};

const methodsSerializer = serializerOf<AuthConfig>(
  'AuthMethods',
  Object.fromEntries(methods.map((name) => [name, from(flag, (config: AuthConfig) => on[name]?.(config) ?? false)])),
);

/** Names of those that are switched on and lead to an account with a name. */
export function signInMethods(config: AuthConfig): readonly string[] {
  return methods.filter((name) => name !== 'anonymous_users' && on[name]?.(config));
}

/** The answer. */
export const settingsSerializer = serializerOf<AuthConfig>('AuthSettings', {
  external: from(methodsSerializer, (config) => config),
  disable_signup: from(flag, (config) => config.disable_signup),
  mailer_autoconfirm: from(flag, (config) => config.mailer_autoconfirm),
  phone_autoconfirm: from(flag, (config) => config.sms_autoconfirm),
  sms_provider: from(text, (config) => config.sms_provider ?? ''),
  saml_enabled: from(flag, () => false),
  saml_private_key_next_configured: from(flag, () => false),
  passkeys_enabled: from(flag, () => false),
});

/** `GET /settings`. */
export function publicSettings(config: AuthConfig): AnswerJson {
  return settingsSerializer.print(config);
}
