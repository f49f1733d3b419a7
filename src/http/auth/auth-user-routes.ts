/**
 * The routes of the auth service for applications and their users.
 */

import { anyOf } from '../../auth/answer-shape.ts';
import { AuthError, OAuthStyleError } from '../../auth/auth-error.ts';
import type { BearerUse, UserBearer } from '../../auth/bearer.ts';
import { logOut } from '../../auth/requests/log-out.ts';
import { reauthenticate } from '../../auth/requests/reauthenticate.ts';
import { recover, recoverBody } from '../../auth/requests/recover.ts';
import { resend, resendBody } from '../../auth/requests/resend.ts';
import { publicSettings, settingsShape } from '../../auth/requests/settings.ts';
import { codeBody, signInWithCode } from '../../auth/requests/sign-in-code.ts';
import { idTokenBody, signInWithIdToken } from '../../auth/requests/sign-in-id-token.ts';
import {
  magicLinkBody,
  messageShape,
  oneTimeBody,
  sendMagicLinkOnly,
  sendOneTimeSignIn,
} from '../../auth/requests/sign-in-one-time.ts';
import { passwordBody, signInWithPassword } from '../../auth/requests/sign-in-password.ts';
import { refreshBody, signInWithRefreshToken } from '../../auth/requests/sign-in-refresh.ts';
import { signUp, signUpBody } from '../../auth/requests/sign-up.ts';
import { anonymousBody, signUpAnonymously } from '../../auth/requests/sign-up-anonymous.ts';
import { updateOwnUser, updateUserBody } from '../../auth/requests/update-user.ts';
import { otherAddressShape, verify, verifyBody } from '../../auth/requests/verify.ts';
import { openLink } from '../../auth/requests/verify-link.ts';
import { sessionShape } from '../../auth/secrets/access-token.ts';
import type { AuthContext } from '../../auth/steps/auth-context.ts';
import { readMembers } from '../../auth/steps/members.ts';
import { requestAllowance } from '../../auth/store/rate-limit.ts';
import { toUserJson, userShape } from '../../auth/user-json.ts';
import type { Observe } from '../../shared/observation.ts';
import { factorRoutes } from './auth-factor-routes.ts';
import { identityRoutes } from './auth-identity-routes.ts';
import { createProviderRoutes } from './auth-provider-routes.ts';
import { noteRefusal } from './auth-refusal.ts';
import type { AuthReply } from './auth-reply.ts';
import type { AddressLimit, AuthRequest } from './auth-request.ts';
import { type AuthRow, json, redirectQuery } from './auth-rows.ts';

/** Seconds in which a configured number of requests comes back. */
const fiveMinutes = 300;
const hour = 3600;

/** The rows. */
export function createUserRoutes(observe: Observe): readonly AuthRow[] {
  const linkRoutes = [linkRoute(observe), ...createProviderRoutes(observe)];
  return [...signInRoutes, ...mailRoutes, ...linkRoutes, ...ownRoutes, ...identityRoutes, ...factorRoutes];
}

const signInRoutes: readonly AuthRow[] = [
  {
    method: 'GET',
    path: '/settings',
    summary: 'Read the enabled sign-in methods',
    answer: settingsShape,
    run: ({ context }) => json(publicSettings(context.config)),
  },
  {
    method: 'POST',
    path: '/signup',
    summary: 'Sign up; anonymously without an email address or phone',
    query: redirectQuery,
    body: [signUpBody, anonymousBody],
    answer: anyOf(sessionShape, userShape),
    limit: limitSignUp,
    hasMinResponse: true,
    run: runSignUp,
  },
  {
    method: 'POST',
    path: '/token',
    summary: 'Sign in, or refresh a session',
    query: { grant_type: '`password`, `refresh_token`, `pkce` or `id_token`.' },
    body: [passwordBody, refreshBody, codeBody, idTokenBody],
    answer: sessionShape,
    limit: ({ context, query }) =>
      grantOf(query) === undefined ? null : limitSignIns('token', context.config.rate_limit_token_refresh),
    run: runToken,
  },
  {
    method: 'POST',
    path: '/verify',
    summary: 'Verify a code or a token hash',
    body: [verifyBody],
    answer: anyOf(sessionShape, otherAddressShape),
    limit: limitVerify,
    run: runVerify,
  },
];

const mailRoutes: readonly AuthRow[] = [
  {
    method: 'POST',
    path: '/otp',
    summary: 'Send a sign-in link or code',
    query: redirectQuery,
    body: [oneTimeBody],
    answer: messageShape,
    limit: limitMessages('otp'),
    hasMinResponse: true,
    run: (request) => json(sendOneTimeSignIn(request.context, request.body())),
  },
  {
    method: 'POST',
    path: '/magiclink',
    summary: 'Send a sign-in link',
    query: redirectQuery,
    body: [magicLinkBody],
    answer: messageShape,
    limit: limitMessages('magiclink'),
    hasMinResponse: true,
    run: runMagicLink,
  },
  {
    method: 'POST',
    path: '/recover',
    summary: 'Send a password reset link',
    query: redirectQuery,
    body: [recoverBody],
    answer: messageShape,
    limit: limitMessages('recover'),
    hasMinResponse: true,
    run: (request) => json(recover(request.context, request.body())),
  },
  {
    method: 'POST',
    path: '/resend',
    summary: 'Resend a message',
    query: redirectQuery,
    body: [resendBody],
    answer: messageShape,
    limit: limitMessages('resend'),
    hasMinResponse: true,
    run: (request) => json(resend(request.context, request.body())),
  },
];

function linkRoute(observe: Observe): AuthRow {
  return {
    method: 'GET',
    path: '/verify',
    access: 'anyone',
    summary: 'Open an emailed link',
    query: { token: 'Hash of the link.', type: 'What it is for.', ...redirectQuery },
    redirects: [303],
    answer: null,
    limit: limitVerify,
    run: (request) => runVerifyLink(request, observe),
  };
}

const ownRoutes: readonly AuthRow[] = [
  {
    method: 'GET',
    path: '/reauthenticate',
    summary: 'Send a code to confirm a password change',
    caller: 'user',
    answer: messageShape,
    run: runReauthenticate,
  },
  {
    method: 'GET',
    path: '/user',
    summary: 'Read the current user',
    caller: 'user',
    answer: userShape,
    run: async (request) => json(toUserJson((await asUser(request, 'read')).bearer.user)),
  },
  {
    method: 'PUT',
    path: '/user',
    summary: 'Update the current user',
    caller: 'user',
    query: redirectQuery,
    body: [updateUserBody],
    answer: userShape,
    limit: limitMessages('user'),
    run: runUpdateUser,
  },
  {
    method: 'POST',
    path: '/logout',
    summary: 'Sign out',
    caller: 'user',
    query: { scope: '`global`, `local` or `others`.' },
    status: 204,
    answer: null,
    run: runLogOut,
  },
];

/** Sign-ups and requests for a message: each route has a bucket of its own. */
function limitMessages(bucket: string): (request: AuthRequest) => AddressLimit {
  return ({ context }) => ({ bucket, allowance: requestAllowance(context.config.rate_limit_otp, fiveMinutes) });
}

function limitSignUp(request: AuthRequest): AddressLimit {
  if (hasAddress(request.body())) return limitMessages('signup')(request);
  const perHour = request.context.config.rate_limit_anonymous_users;
  return { bucket: 'anonymous', allowance: requestAllowance(perHour, hour, perHour) };
}

function hasAddress(body: unknown): boolean {
  const { email, phone } = readMembers(body, { email: 'text', phone: 'text' });
  return Boolean(email || phone);
}

function runSignUp(request: AuthRequest): Promise<AuthReply> {
  const body = request.body();
  return json((hasAddress(body) ? signUp : signUpAnonymously)(request.context, body));
}

const grants: Readonly<
  Record<string, (context: AuthContext, body: unknown, request: AuthRequest) => Promise<unknown>>
> = {
  password: signInWithPassword,
  refresh_token: signInWithRefreshToken,
  pkce: signInWithCode,
  id_token: (context, body, request) => signInWithIdToken(context, body, () => askToLink(request)),
  web3: async () => {
    throw new AuthError('web3_provider_disabled');
  },
};

async function runToken(request: AuthRequest): Promise<AuthReply> {
  const grant = grantOf(request.query);
  if (grant === undefined) throw new AuthError('invalid_credentials', 'unsupported_grant_type');
  return json(grant(request.context, request.body(), request));
}

function grantOf(query: URLSearchParams): (typeof grants)[string] | undefined {
  const name = query.get('grant_type') ?? '';
  return Object.hasOwn(grants, name) ? grants[name] : undefined;
}

async function askToLink(request: AuthRequest): ReturnType<AuthRequest['asUser']> {
  if (request.hasAuthorization) return request.asUser();
  throw new OAuthStyleError('invalid request', 'Linking requires a valid user access token in Authorization');
}

/** The original has words of its own for a body that this route cannot read. */
async function runMagicLink(request: AuthRequest): Promise<AuthReply> {
  try {
    return await json(sendMagicLinkOnly(request.context, request.body()));
  } catch (error) {
    if (!(error instanceof AuthError) || error.code !== 'bad_json') throw error;
    const reason = error.message.replace('Could not parse request body as JSON: ', '');
    throw new AuthError('bad_json', `Could not read verification params: ${reason}`);
  }
}

function runVerify(request: AuthRequest): Promise<AuthReply> {
  return json(verify(request.context, request.body()));
}

/** Codes and links are counted together. */
function limitVerify({ context }: AuthRequest): AddressLimit {
  return limitSignIns('verify', context.config.rate_limit_verify);
}

function limitSignIns(bucket: string, perFiveMinutes: number): AddressLimit {
  return { bucket, allowance: requestAllowance(perFiveMinutes, fiveMinutes) };
}

async function runVerifyLink(request: AuthRequest, observe: Observe): Promise<AuthReply> {
  const { query, context } = request;
  const parameters = { token: query.get('token') || query.get('token_hash'), type: query.get('type') };
  const { location, refusal } = await openLink(context, parameters);
  const errorCode = refusal === null ? null : noteRefusal(refusal, request, observe);
  // The address that is left has a token in it, and the one that follows perhaps a session.
  const headers = { location, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };
  return { status: 303, headers, errorCode };
}

async function asUser(
  request: AuthRequest,
  use?: BearerUse,
): Promise<{ readonly bearer: UserBearer; readonly context: AuthContext }> {
  const asking = await request.asUser(use);
  if (asking.bearer.claims.aud !== asking.context.audience) {
    throw new AuthError('validation_failed', "Token audience doesn't match request audience");
  }
  return asking;
}

async function runUpdateUser(request: AuthRequest): Promise<AuthReply> {
  const { context, bearer } = await request.asUser();
  return json(updateOwnUser(context, bearer, request.body()));
}

async function runReauthenticate(request: AuthRequest): Promise<AuthReply> {
  const { context, bearer } = await asUser(request);
  return json(reauthenticate(context, bearer.user));
}

async function runLogOut(request: AuthRequest): Promise<AuthReply> {
  const { context, bearer } = await request.asUser();
  await logOut(context, bearer, request.query.get('scope'));
  return { status: 204 };
}
