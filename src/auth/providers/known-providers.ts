/**
 * All differences between providers, as data: address, scopes, and claims that differ from OpenID Connect. The rest of
 * a sign-in is the same for all.
 */
import type { Provider } from '../../config/auth/auth-provider-fields.ts';
import { type Claims, gitHub, type PlainProvider } from './plain-provider.ts';

/** One provider. */
export interface ProviderTraits {
  /** The issuer, or the site of a provider with plain OAuth; null if the configuration must set it. */
  readonly address: string | null;
  /** Path of the issuer after the configured address. */
  readonly issuerPath?: string;
  /** Scopes that are always requested. Null: only ID tokens are accepted, without a redirect of browsers. */
  readonly scopes: readonly string[] | null;
  /** Further parameters of the authorization URL. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Null for OpenID Connect. */
  readonly plain: PlainProvider | null;
  /** Prefixes of further issuers whose ID tokens are the provider's. */
  readonly issuerPrefixes?: readonly string[];
  /** Its ID tokens never contain the nonce of the request. */
  readonly skipsNonce?: true;
  /** Whether the address is verified, if `email_verified` does not say so. */
  readonly isEmailVerified?: (claims: Claims, ownIssuer: string) => boolean;
  /** The provider's own claims to keep. An empty list still creates the object for them. */
  readonly customClaims?: readonly string[];
}

const usual = ['openid', 'email', 'profile'];

/** By name. */
export const knownProviders = {
  apple: {
    address: 'https://appleid.apple.com',
    scopes: ['openid', 'email', 'name'],
    // Apple returns name and email only in a form post.
    parameters: { response_mode: 'form_post' },
    plain: null,
  },
  azure: {
    address: 'https://login.microsoftonline.com/common',
    issuerPath: '/v2.0',
    scopes: usual,
    plain: null,
    issuerPrefixes: ['https://login.microsoftonline.com/', 'https://sts.windows.net/'],
    isEmailVerified: isAzureEmailVerified,
  },
  facebook: { address: 'https://www.facebook.com', scopes: null, plain: null, skipsNonce: true },
  github: { address: 'https://github.com', scopes: ['user:email'], plain: gitHub },
  gitlab: { address: 'https://gitlab.com', scopes: usual, plain: null },
  google: { address: 'https://accounts.google.com', scopes: usual, plain: null, customClaims: ['hd'] },
  kakao: { address: 'https://kauth.kakao.com', scopes: null, plain: null },
  keycloak: { address: null, scopes: usual, plain: null, customClaims: [] },
} as const satisfies Record<Provider, ProviderTraits>;

/**
 * A tenant sets the addresses of its users freely. `xms_edov` states that the tenant owns the domain. Without that
 * claim only the configured tenant is trusted, not any tenant.
 */
function isAzureEmailVerified({ xms_edov: isOwned, iss }: Claims, ownIssuer: string): boolean {
  return isOwned === undefined ? iss === ownIssuer : [true, 1, '1', 'true'].includes(isOwned as string);
}
