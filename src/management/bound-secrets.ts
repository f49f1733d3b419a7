/**
 * Protects secrets that are sent to a configured address: changing the address requires the secret. Otherwise, a
 * user who may change the configuration could have a secret sent to their own server, although no answer shows it.
 * Giving up the stored secret is the same in two steps: the start value would go to the stored address.
 */
import { type AuthConfig, type AuthValues, layerAuthConfig } from '../config/auth/auth-config.ts';
import { providers } from '../config/auth/auth-provider-fields.ts';
import { isDigest } from './secret-digest.ts';

const smsSecrets = [
  'sms_twilio_auth_token', 'sms_messagebird_access_key', 'sms_textlocal_api_key', 'sms_vonage_api_secret',
] as const; // biome-ignore format: a list of names

/** The address fields, and the secrets sent there. */
const rows: readonly (readonly [keyof AuthConfig, readonly (keyof AuthConfig)[]])[] = [
  ['smtp_host', ['smtp_pass']],
  ['smtp_port', ['smtp_pass']],
  ['sms_provider_url', smsSecrets],
  ['mailer_api_url', ['mailer_api_key']],
  ['security_captcha_url', ['security_captcha_secret']],
  ...providers.map((name) => [`external_${name}_url`, [`external_${name}_secret`]] as const),
];

/**
 * Sentences about secrets that would go to another address without being given again.
 *
 * @param values Stored values before and after the change, on top of the start values.
 */
export function checkBoundSecrets(
  changes: ReadonlyMap<string, unknown>,
  { start, before, after }: Readonly<Record<'start' | 'before' | 'after', AuthValues>>,
): readonly string[] {
  const [then, now] = [before, after].map((values) => layerAuthConfig(start, values));
  const isAtStart = (name: string) => !Object.hasOwn(after, name);
  const isGiven = (name: string) => typeof changes.get(name) === 'string' && !isDigest(changes.get(name));
  return rows.flatMap(([address, secrets]) => {
    if (!now?.[address]) return [];
    const isMoved = (secret: keyof AuthConfig) => now[address] !== then?.[address] || now[secret] !== then?.[secret];
    const unknown = secrets.filter(
      (secret) => now[secret] && isMoved(secret) && !isGiven(secret) && !(isAtStart(address) && isAtStart(secret)),
    );
    return unknown.map((secret) => `${address} is where ${secret} is sent; send the secret itself with it`);
  });
}
