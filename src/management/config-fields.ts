/**
 * All fields of the management API: first those with a meaning (src/config/auth/auth-fields.ts), then the inert ones.
 *
 * Validation, answers and the OpenAPI description are made from these rows only.
 */
import { type AuthField, field, string } from '../config/auth/auth-field.ts';
import { authField, authFieldNames } from '../config/auth/auth-fields.ts';
import { flag, integerBetween } from '../shared/schema.ts';

/*
 * Inert fields: fields of Supabase Auth's configuration without effect here. They are accepted, type-checked, stored
 * and returned, so that scripts for hosted projects keep working; answers list them as ignored. When one gets a
 * meaning, move its row to src/config: stored values then take effect.
 */

const providers = [
  'bitbucket', 'discord', 'figma', 'linkedin_oidc', 'notion', 'slack', 'slack_oidc', 'spotify', 'twitch', 'twitter', 'workos',
  'x', 'zoom',
] as const; // biome-ignore format: a list of names

const hooks = ['after_user_created', 'mfa_verification_attempt', 'password_verification_attempt'] as const;

const switches = [
  'custom_oauth_enabled', 'external_web3_ethereum_enabled', 'external_web3_solana_enabled', 'mfa_web_authn_enroll_enabled',
  'mfa_web_authn_verify_enabled', 'nimbus_oauth_email_optional', 'oauth_server_allow_dynamic_registration',
  'oauth_server_enabled', 'passkey_enabled', 'saml_allow_encrypted_assertions', 'saml_enabled',
] as const; // biome-ignore format: a list of names

const numbers = ['custom_oauth_max_providers', 'db_max_pool_size', 'rate_limit_web3'] as const;

const texts = [
  'db_max_pool_size_unit', 'external_workos_url', 'nimbus_oauth_client_id',
  'oauth_server_authorization_path', 'saml_external_url', 'sms_twilio_verify_account_sid',
  'sms_twilio_verify_message_service_sid', 'webauthn_rp_display_name', 'webauthn_rp_id', 'webauthn_rp_origins',
] as const; // biome-ignore format: a list of names

const secrets = [
  'nimbus_oauth_client_secret', 'sms_twilio_verify_auth_token',
] as const; // biome-ignore format: a list of names

const doc = 'Accepted and stored; has no effect.';
const aSwitch = field(flag, false, doc);
const aNumber = field<number | null>(integerBetween(0, 2_147_483_647), null, doc);
const aText = field<string | null>(string(), null, doc);
const aSecret = field<string | null>(string(), null, doc, { secret: true, sentTo: [] });

/** The rows by name, sorted. */
export const inertFields: ReadonlyMap<string, AuthField<unknown>> = new Map(
  [
    ...rows(switches, aSwitch),
    ...rows(numbers, aNumber),
    ...rows(texts, aText),
    ...rows(secrets, aSecret),
    ...providers.flatMap((name) => [
      ...rows([`external_${name}_enabled`, `external_${name}_email_optional`], aSwitch),
      ...rows([`external_${name}_client_id`], aText),
      ...rows([`external_${name}_secret`], aSecret),
    ]),
    ...hooks.flatMap((name) => [
      ...rows([`hook_${name}_enabled`], aSwitch),
      ...rows([`hook_${name}_uri`], aText),
      ...rows([`hook_${name}_secrets`], aSecret),
    ]),
  ].sort(([a], [b]) => (a < b ? -1 : 1)),
);

function rows(names: readonly string[], row: AuthField<never> | object): [string, AuthField<unknown>][] {
  return names.map((name) => [name, row as AuthField<unknown>]);
}

/** One known field. */
export interface ConfigField {
  readonly name: string;
  readonly row: AuthField<unknown>;
  /** Accepted and stored, without effect. */
  readonly inert: boolean;
}

/** The fields by name, in the order in which problems are reported. */
export const configFields: ReadonlyMap<string, ConfigField> = new Map([
  ...authFieldNames.map((name): [string, ConfigField] => [name, { name, row: authField(name), inert: false }]),
  ...[...inertFields].map(([name, row]): [string, ConfigField] => [name, { name, row, inert: true }]),
]);

/** Values of fields by name, as JSON. An absent field has its default or start value. */
export type StoredValues = Readonly<Record<string, unknown>>;
