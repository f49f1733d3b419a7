/**
 * All differences between providers, as data: address, scopes, and which claims become data of the identity, as with
 * Supabase Auth. The rest of a sign-in is the same for all.
 */
import type { Provider } from '../../config/auth/auth-provider-fields.ts';
import { type ClaimShape, isTrueClaim } from './claim-shape.ts';
import { type Claims, gitHub, gitLab, type PlainProvider } from './plain-provider.ts';

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
  /** Absent: the ID token's, by their own names. */
  readonly shape?: ClaimShape;
  /** The claims of a sign-in in the browser are those of the userinfo endpoint, and have that shape. */
  readonly infoShape?: ClaimShape;
}

const usual = ['openid', 'email', 'profile'];

const named = { name: 'name', full_name: 'name' };
const pictured = { picture: 'picture', avatar_url: 'picture' };
const provided = { provider_id: 'sub' };

/** Claims of the protocol, which say nothing of the user. */
const protocol = [
  'aud', 'iss', 'iat', 'nbf', 'exp', 'c_hash', 'at_hash', 's_hash', 'nonce', 'jti', 'azp', 'auth_time', 'acr', 'amr', 'sid',
  'session_state', 'typ',
]; // biome-ignore format: a list of names

/** https://learn.microsoft.com/en-us/entra/identity-platform/id-token-claims-reference */
const protocolOfAzure = [
  'aud',
  'iss',
  'iat',
  'nbf',
  'exp',
  'c_hash',
  'at_hash',
  'aio',
  'nonce',
  'rh',
  'uti',
  'jti',
  'ver',
];

/** By name. */
export const knownProviders = {
  apple: {
    address: 'https://appleid.apple.com',
    scopes: ['openid', 'email', 'name'],
    // Apple returns name and email only in a form post.
    parameters: { response_mode: 'form_post' },
    plain: null,
    isEmailVerified: isEmailUsuallyVerified,
    shape: { fields: { ...provided, ...named }, custom: { only: ['is_private_email', 'auth_time', 'transfer_sub'] } },
  },
  azure: {
    address: 'https://login.microsoftonline.com/common',
    issuerPath: '/v2.0',
    scopes: usual,
    plain: null,
    issuerPrefixes: ['https://login.microsoftonline.com/', 'https://sts.windows.net/'],
    isEmailVerified: isAzureEmailVerified,
    shape: {
      fields: { ...provided, full_name: 'name', preferred_username: 'preferred_username' },
      custom: { allBut: [...protocolOfAzure, 'sub', 'name', 'preferred_username'] },
    },
  },
  facebook: {
    address: 'https://www.facebook.com',
    scopes: null,
    plain: null,
    skipsNonce: true,
    isEmailVerified: isEmailUsuallyVerified,
    shape: { fields: { ...provided, name: 'name', picture: 'picture' } },
  },
  github: {
    address: 'https://github.com',
    scopes: ['user:email'],
    plain: gitHub,
    shape: {
      fields: { ...provided, ...named, avatar_url: 'picture', preferred_username: 'login', user_name: 'login' },
    },
  },
  gitlab: {
    address: 'https://gitlab.com',
    scopes: ['read_user'],
    plain: gitLab,
    shape: { fields: { ...provided, ...named, ...pictured } },
  },
  google: {
    address: 'https://accounts.google.com',
    scopes: usual,
    plain: null,
    shape: { fields: { ...provided, ...named, ...pictured }, custom: { only: ['hd'] } },
  },
  kakao: {
    address: 'https://kauth.kakao.com',
    scopes: null,
    plain: null,
    isEmailVerified: isEmailUsuallyVerified,
    shape: { fields: { ...provided, name: 'nickname', preferred_username: 'nickname', picture: 'picture' } },
  },
  keycloak: {
    address: null,
    scopes: usual,
    plain: null,
    infoShape: {
      fields: { ...provided, ...named },
      custom: { allBut: [...protocol, 'sub', 'name', 'email', 'email_verified'] },
    },
  },
} as const satisfies Record<Provider, ProviderTraits>;

/** Their ID tokens need not have the claim, and Supabase Auth takes their addresses as verified. */
function isEmailUsuallyVerified({ email_verified: said }: Claims): boolean {
  return said === undefined || isTrueClaim(said);
}

/**
 * A tenant sets the addresses of its users freely. `xms_edov` states that the tenant owns the domain. Without that
 * claim only the configured tenant is trusted, not any tenant.
 */
function isAzureEmailVerified({ xms_edov: isOwned, iss }: Claims, ownIssuer: string): boolean {
  return isOwned === undefined ? iss === ownIssuer : [true, 1, '1', 'true'].includes(isOwned as string);
}
