/**
 * Finds the issuer and the accepted client IDs for the ID token of a request. Both come from the configuration alone;
 * the request and the token only choose among the configured ones.
 */
import { decodeJwt } from 'jose';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { type Provider, providers } from '../../config/auth/auth-provider-fields.ts';
import { isUuid } from '../../shared/uuid.ts';
import { AuthError, OAuthStyleError } from '../model/auth-error.ts';
import type { ClaimSource } from './external-user.ts';
import {
  findProvider,
  isProviderOn,
  issuerOf,
  type ProviderSettings,
  readProvider,
  splitList,
} from './provider-settings.ts';

/** What a request says about its token; empty for nothing. */
interface TokenOrigin {
  readonly provider: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly idToken: string;
}

/** An issuer whose tokens are accepted. */
export interface AcceptedIssuer {
  readonly address: string;
  /** The accepted client IDs: a token must be issued for one of them. */
  readonly clientIds: readonly string[];
  readonly skipsNonce: boolean;
  readonly isEmailOptional: boolean;
  readonly source: ClaimSource;
}

/**
 * @throws AuthError `provider_disabled`, `validation_failed`; OAuthStyleError if the token's issuer is not accepted.
 */
export function acceptIssuer(config: AuthConfig, origin: TokenOrigin): AcceptedIssuer {
  const name = findProvider(origin.provider) ?? findByIssuer(config, origin.issuer);
  return name === null ? acceptListed(config, origin) : acceptProvider(readProvider(config, name), config, origin);
}

function findByIssuer(config: AuthConfig, issuer: string): Provider | null {
  if (issuer === '') return null;
  return providers.find((name) => isOwnIssuer(readProvider(config, name), issuer)) ?? null;
}

function isOwnIssuer(settings: ProviderSettings, issuer: string): boolean {
  const { traits, address } = settings;
  if (traits.plain !== null || address === '') return false;
  const prefixes = traits.issuerPrefixes ?? [];
  const tenant = tenantOf(settings);
  return (
    issuer === issuerOf(settings) ||
    prefixes.some((prefix) => issuer.startsWith(tenant === null ? prefix : `${prefix}${tenant}/`))
  );
}

/** The tenant that the configuration names by id; null for none or for a multi-tenant address. */
function tenantOf({ address }: ProviderSettings): string | null {
  const last = address.slice(address.lastIndexOf('/') + 1);
  return isUuid(last) ? last : null;
}

function acceptProvider(settings: ProviderSettings, config: AuthConfig, { idToken }: TokenOrigin): AcceptedIssuer {
  const { name, traits, clientIds, skipsNonce, isEmailOptional } = settings;
  if (!isProviderOn(config, name)) {
    throw new AuthError('provider_disabled', `Provider (issuer "${issuerOf(settings)}") is not enabled`);
  }
  if (traits.plain !== null || settings.address === '') throw notAllowed(name);
  const address = traits.issuerPrefixes === undefined ? issuerOf(settings) : issuerInToken(idToken, settings);
  const source = { provider: name, traits, ownIssuer: issuerOf(settings) };
  return { address, clientIds, skipsNonce, isEmailOptional, source };
}

/** Each tenant is an issuer of its own. */
function issuerInToken(idToken: string, settings: ProviderSettings): string {
  const issuer = readIssuer(idToken);
  if (issuer !== null && isOwnIssuer(settings, issuer) && URL.canParse(issuer)) return issuer;
  throw new OAuthStyleError('invalid request', 'Bad ID token');
}

function readIssuer(idToken: string): string | null {
  try {
    return decodeJwt(idToken).iss ?? null;
  } catch {
    return null;
  }
}

function acceptListed(config: AuthConfig, { provider, issuer, clientId }: TokenOrigin): AcceptedIssuer {
  const entries = splitList(config.external_allowed_id_token_issuers).map((entry) => entry.split(/\s+/));
  const [, ...listed] = entries.find(([address]) => address === issuer) ?? [];
  const clientIds = listed.filter((id) => id === clientId);
  if (clientIds.length === 0 || !URL.canParse(issuer)) throw notAllowed(provider || issuer);
  const source = { provider: issuer, ownIssuer: issuer };
  return { address: issuer, clientIds, skipsNonce: false, isEmailOptional: false, source };
}

function notAllowed(name: string): AuthError {
  return new AuthError('validation_failed', `Custom OIDC provider "${name.slice(0, 200)}" not allowed`);
}
