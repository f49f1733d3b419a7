/**
 * Everything that is known of each provider, as data: where it is, what is asked of it, and in which of its claims it differs
 * from OpenID Connect. Whatever else happens at a sign-in is the same for all.
 */
import type { Provider } from '../../config/auth/auth-provider-fields.ts';
import { type Claims, gitHub, type PlainProvider } from './plain-provider.ts';

/** One provider. */
export interface ProviderTraits {
  /** The issuer, or the site where it speaks OAuth alone; null where the configuration has to name it. */
  readonly address: string | null;
  /** What follows the configured address in that of the issuer. */
  readonly issuerPath?: string;
  /** What is always asked for. Null: its ID tokens are accepted, browsers are not sent there. */
  readonly scopes: readonly string[] | null;
  /** Further parameters of the address that browsers are sent to. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Null: it speaks OpenID Connect. */
  readonly plain: PlainProvider | null;
  /** Beginnings of the issuers of ID tokens that are its own too, besides its address. */
  readonly issuerPrefixes?: readonly string[];
  /** Its ID tokens never have the nonce of the request. */
  readonly skipsNonce?: true;
  /** Whether an address is proved to be the user's, where `email_verified` does not say so. */
  readonly isEmailVerified?: (claims: Claims, ownIssuer: string) => boolean;
  /** Claims of its own that are kept. With an empty list the object for them is there all the same. */
  readonly customClaims?: readonly string[];
}

const usual = ['openid', 'email', 'profile'];

/** By name. */
export const knownProviders = {
  apple: {
    address: 'https://appleid.apple.com',
    scopes: ['openid', 'email', 'name'],
    // It tells name and email to nobody who does not take them as a form.
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
 * A tenant decides which addresses its users have. `xms_edov` says that it owns the domain; without that claim the tenant
 * that the configuration names is believed, but not any tenant of the world.
 */
function isAzureEmailVerified({ xms_edov: isOwned, iss }: Claims, ownIssuer: string): boolean {
  return isOwned === undefined ? iss === ownIssuer : [true, 1, '1', 'true'].includes(isOwned as string);
}
