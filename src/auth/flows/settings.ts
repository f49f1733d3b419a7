/**
 * What applications may know of the configuration before anybody has signed in.
 */
import type { AuthConfig } from '../../config/auth-config.ts';

/** Names of the sign-in methods that clients look for; providers that are not spoken to are off. */
const methods = [
  'anonymous_users', 'apple', 'azure', 'bitbucket', 'discord', 'facebook', 'snapchat', 'figma', 'fly', 'github', 'gitlab',
  'google', 'keycloak', 'kakao', 'linkedin', 'linkedin_oidc', 'notion', 'spotify', 'slack', 'slack_oidc', 'workos',
  'twitch', 'twitter', 'email', 'phone', 'zoom',
] as const; // biome-ignore format: a list of names

/** `GET /settings`. */
export function publicSettings(config: AuthConfig): Readonly<Record<string, unknown>> {
  const on: Partial<Record<(typeof methods)[number], boolean>> = {
    anonymous_users: config.external_anonymous_users_enabled,
    email: config.external_email_enabled,
    phone: config.external_phone_enabled,
  };
  return {
    external: Object.fromEntries(methods.map((name) => [name, on[name] ?? false])),
    disable_signup: config.disable_signup,
    mailer_autoconfirm: config.mailer_autoconfirm,
    phone_autoconfirm: config.sms_autoconfirm,
    sms_provider: config.sms_provider ?? '',
    saml_enabled: false,
    saml_private_key_next_configured: false,
    passkeys_enabled: false,
  };
}
