/**
 * Both halves of a sign-in at a provider: the URL that the browser is sent to, and the exchange of the code that it
 * returns with. State, PKCE and nonce belong to one sign-in, so the answer to another one is refused.
 */
import type { Configuration } from 'openid-client';
import type { Clock } from '../../shared/clock.ts';
import { type FailedOutcome, observeCall } from '../../shared/external-call.ts';
import type { Observe } from '../../shared/observation.ts';
import { AuthError } from '../model/auth-error.ts';
import { type ExternalUser, toExternalUser } from './external-user.ts';
import { configurePlain, type FindIssuer, type Issuer } from './issuers.ts';
import type { ApiUser, Claims, PlainProvider } from './plain-provider.ts';
import { ProviderError } from './provider-error.ts';
import { issuerOf, type ProviderSettings } from './provider-settings.ts';
import { verifyIdToken } from './verify-id-token.ts';

/** The request that starts a sign-in. */
interface SignInStart {
  readonly state: string;
  readonly verifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
  /** Requested in addition to the provider's default scopes. */
  readonly scopes: readonly string[];
  /** From the application, passed to the provider. */
  readonly parameters: URLSearchParams;
}

/** The parameters that the browser returns with, and the stored secrets of the sign-in. */
interface SignInAnswer {
  readonly code: string;
  /** Null if the provider sends no `iss`. */
  readonly issuer: string | null;
  readonly verifier: string;
  /** Null if no nonce was sent. */
  readonly nonce: string | null;
  readonly redirectUri: string;
  /** The user's name, if the provider sends it only through the browser. */
  readonly name: string | null;
}

/** The signed-in user, with the provider's tokens; empty for none. */
export interface ExternalSignIn {
  readonly user: ExternalUser;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Starts and finishes sign-ins at providers. */
export interface ProviderSignIn {
  /** @throws ProviderError `unreachable` */
  startUrl(settings: ProviderSettings, start: SignInStart): Promise<string>;
  /** @throws ProviderError; AuthError `validation_failed` if the provider's claims of the user cannot be stored. */
  finish(settings: ProviderSettings, answer: SignInAnswer): Promise<ExternalSignIn>;
  readonly findIssuer: FindIssuer;
}

/** Makes the `ProviderSignIn`. */
export function createProviderSignIn(findIssuer: FindIssuer, clock: Clock, observe: Observe): ProviderSignIn {
  return {
    findIssuer,
    startUrl: async (settings, start) => buildStart(await configure(settings, findIssuer), settings, start),
    finish: (settings, answer) => {
      const finish = () => finishSignIn(settings, answer, findIssuer, clock);
      return observeCall(observe, { service: 'provider', name: settings.name }, finish, outcomeOf);
    },
  };
}

/** Claims that cannot be stored are an AuthError. */
function outcomeOf(error: unknown): FailedOutcome {
  if (error instanceof ProviderError) return error.outcome;
  return error instanceof AuthError ? 'distrusted' : 'failed';
}

function clientOf({ clientIds, secret }: ProviderSettings) {
  return { id: clientIds[0] ?? '', secret };
}

async function configure(settings: ProviderSettings, findIssuer: FindIssuer): Promise<Configuration> {
  const { traits, address } = settings;
  if (traits.plain !== null) {
    return configurePlain(address, traits.plain.endpoints(address), clientOf(settings), findIssuer.egress);
  }
  return (await findIssuer(issuerOf(settings), clientOf(settings))).configuration;
}

async function buildStart(
  configuration: Configuration,
  { traits }: ProviderSettings,
  { state, verifier, nonce, redirectUri, scopes, parameters }: SignInStart,
): Promise<string> {
  const library = await import('openid-client');
  const all = new URLSearchParams(parameters);
  const own = {
    ...traits.parameters,
    state,
    scope: [...new Set([...(traits.scopes ?? []), ...scopes])].join(' '),
    redirect_uri: redirectUri,
    code_challenge: await library.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(traits.plain === null && { nonce }),
  };
  for (const [name, value] of Object.entries(own)) all.set(name, value);
  return library.buildAuthorizationUrl(configuration, all).href;
}

async function finishSignIn(
  settings: ProviderSettings,
  answer: SignInAnswer,
  findIssuer: FindIssuer,
  clock: Clock,
): Promise<ExternalSignIn> {
  const { name: provider, traits, address } = settings;
  const { plain } = traits;
  const finish =
    plain === null
      ? async () => exchangeForClaims(await findIssuer(issuerOf(settings), clientOf(settings)), answer, settings, clock)
      : async () => exchangeForApi(await configure(settings, findIssuer), answer, plain, address);
  const { ownIssuer, claims, emails, accessToken, refreshToken } = await finish().catch((error) => {
    throw error instanceof ProviderError ? error : new ProviderError('refused', error);
  });
  const named = answer.name === null ? claims : { name: answer.name, ...claims };
  const source = { provider, traits, ownIssuer, shape: traits.infoShape };
  return { user: toExternalUser(source, named, emails), accessToken, refreshToken };
}

interface Exchanged extends ApiUser {
  /** The issuer that the configured provider states in its discovery document. */
  readonly ownIssuer: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

async function exchangeForClaims(
  issuer: Issuer,
  answer: SignInAnswer,
  { traits }: ProviderSettings,
  clock: Clock,
): Promise<Exchanged> {
  const { configuration } = issuer;
  const tokens = await exchangeCode(configuration, answer, true);
  const { access_token: accessToken, refresh_token: refreshToken = '', id_token: idToken = '' } = tokens;
  const given = { idToken, issuer: tokens.claims()?.iss ?? '', accessToken };
  const claims = await verifyIdToken(issuer, given, clock.now());
  const { issuer: ownIssuer, userinfo_endpoint: endpoint } = configuration.serverMetadata();
  const exchanged = { ownIssuer, emails: [], accessToken, refreshToken };
  if (traits.infoShape === undefined || endpoint === undefined) return { ...exchanged, claims };
  const library = await import('openid-client');
  const info = await library.fetchUserInfo(configuration, accessToken, String(claims.sub));
  return { ...exchanged, claims: completeClaims(claims, info) };
}

/** Signed claims take precedence. `email_verified` applies only to the address from the same source. */
function completeClaims({ iss, sub, name, email, email_verified }: Claims, info: Claims): Claims {
  const signed = Object.entries({ iss, sub, name, email, email_verified }).filter(([, value]) => value !== undefined);
  const isSameEmail = email === undefined || email === info.email;
  return { ...info, ...(isSameEmail ? {} : { email_verified: false }), ...Object.fromEntries(signed) };
}

async function exchangeForApi(
  configuration: Configuration,
  answer: SignInAnswer,
  plain: PlainProvider,
  site: string,
): Promise<Exchanged> {
  const library = await import('openid-client');
  const { access_token: accessToken, refresh_token: refreshToken = '' } = await exchangeCode(
    configuration,
    answer,
    false,
  );
  const read = async (address: string): Promise<unknown> => {
    const response = await library.fetchProtectedResource(configuration, accessToken, new URL(address), 'GET');
    if (!response.ok) throw new Error(`The API answers with ${response.status}.`);
    return response.json();
  };
  return { ...(await plain.readUser(read, site)), ownIssuer: site, accessToken, refreshToken };
}

async function exchangeCode(configuration: Configuration, answer: SignInAnswer, idTokenExpected: boolean) {
  const library = await import('openid-client');
  const { code, issuer, verifier, nonce, redirectUri } = answer;
  const address = new URL(redirectUri);
  address.searchParams.set('code', code);
  if (issuer !== null) address.searchParams.set('iss', issuer);
  return library.authorizationCodeGrant(configuration, address, {
    pkceCodeVerifier: verifier,
    idTokenExpected,
    // The state was checked already: it is the key by which the sign-in was found.
    expectedState: library.skipStateCheck,
    ...(idTokenExpected && nonce !== null && { expectedNonce: nonce }),
  });
}
