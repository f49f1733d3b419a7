/** A provider as configured: its traits, our client there, and the accepted client IDs. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { type Provider, providers } from '../../config/auth/auth-provider-fields.ts';
import { AuthError } from '../model/auth-error.ts';
import { knownProviders, type ProviderTraits } from './known-providers.ts';

/** A provider that is switched on. */
export interface ProviderSettings {
  readonly name: Provider;
  readonly traits: ProviderTraits;
  /** Without a slash at the end. Empty if neither the provider nor the configuration has one. */
  readonly address: string;
  /** Our client ID, and others whose ID tokens are accepted. Empty if none is configured. */
  readonly clientIds: readonly string[];
  readonly secret: string;
  /** Redirect URI for the provider; null for our callback. */
  readonly redirectUri: string | null;
  readonly isEmailOptional: boolean;
  readonly skipsNonce: boolean;
}

/** Whether the provider is switched on. */
export function isProviderOn(config: AuthConfig, name: Provider): boolean {
  return config[`external_${name}_enabled`];
}

/** Whether users can be sent to the provider to sign in. */
export function isBrowserProvider(name: string): boolean {
  const known = findProvider(name);
  return known !== null && knownProviders[known].scopes !== null;
}

/** Null for any other text. */
export function findProvider(name: string): Provider | null {
  return providers.find((known) => known === name) ?? null;
}

/** Reads a provider from the configuration. */
export function readProvider(config: AuthConfig, name: Provider): ProviderSettings {
  const traits: ProviderTraits = knownProviders[name];
  const ids = [config[`external_${name}_client_id`], config[`external_${name}_additional_client_ids`]];
  return {
    name,
    traits,
    address: (config[`external_${name}_url`] || traits.address || '').replace(/(?<!\/)\/+$/, ''),
    clientIds: ids.flatMap(splitList),
    secret: config[`external_${name}_secret`] ?? '',
    redirectUri: config[`external_${name}_redirect_uri`] || null,
    isEmailOptional: config[`external_${name}_email_optional`],
    skipsNonce: traits.skipsNonce === true || config[`external_${name}_skip_nonce_check`],
  };
}

/** The issuer URL of an OpenID Connect provider. */
export function issuerOf({ address, traits: { issuerPath = '' } }: ProviderSettings): string {
  return address.endsWith(issuerPath) ? address : `${address}${issuerPath}`;
}

/** A provider that browsers can be sent to. @throws AuthError `validation_failed`: unknown, or not configured. */
export function requireBrowserProvider(config: AuthConfig, given: string): ProviderSettings {
  const refuse = (reason: string) => new AuthError('validation_failed', `Unsupported provider: ${reason}`);
  const name = findProvider(given);
  if (name === null || !isBrowserProvider(name)) {
    throw refuse(`provider "${given.slice(0, 100)}" could not be found`);
  }
  if (!isProviderOn(config, name)) throw refuse('provider is not enabled');
  const settings = readProvider(config, name);
  if (settings.clientIds.length === 0) throw refuse('missing OAuth client ID');
  if (settings.secret === '') throw refuse('missing OAuth secret');
  if (settings.address === '') throw refuse('missing URL of the provider');
  return settings;
}

/** `a, b` -> the entries. */
export function splitList(text: string | null): readonly string[] {
  const entries = (text ?? '').split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '');
}
