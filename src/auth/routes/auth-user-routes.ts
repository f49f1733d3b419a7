/** The routes of the auth service for applications and their users. */
import type { AuthAttempt } from '../../shared/observation.ts';
import { about, anyOf, oneOf, optional, text } from '../../shared/schema.ts';
import { toUserJson, userSerializer } from '../answers/user-json.ts';
import { AuthError, OAuthStyleError } from '../model/auth-error.ts';
import { codeBody, signInWithCode } from '../requests/exchange-auth-code.ts';
import { logOut } from '../requests/log-out.ts';
import { reauthenticate } from '../requests/reauthenticate.ts';
import { recover, recoverBody } from '../requests/recover.ts';
import { resendBody, resendMessage } from '../requests/resend.ts';
import { publicSettings, settingsSerializer } from '../requests/settings.ts';
import { idTokenBody, signInWithIdToken } from '../requests/sign-in-id-token.ts';
import { magicLinkBody, oneTimeBody, sendMagicLinkOnly, sendOneTimeSignIn } from '../requests/sign-in-one-time.ts';
import { passwordBody, signInWithPassword } from '../requests/sign-in-password.ts';
import { refreshBody, signInWithRefreshToken } from '../requests/sign-in-refresh.ts';
import { anonymousBody, signUp, signUpAnonymously, signUpBody } from '../requests/sign-up.ts';
import { unlinkedSerializer, unlinkIdentity } from '../requests/unlink-identity.ts';
import { updateOwnUser, updateUserBody } from '../requests/update-user.ts';
import { otherAddressSerializer, verify, verifyBody } from '../requests/verify.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { sessionSerializer } from '../secrets/access-token.ts';
import type { AuthContext } from '../steps/auth-context.ts';
import { messageSerializer } from '../steps/message-answer.ts';
import { type Body, bodySchema, readFields } from '../steps/request-body.ts';
import { requestAllowance } from '../store/rate-limit.ts';
import {
  limitOpened,
  linkForm,
  opened,
  openedAnswers,
  openedLink,
  submitLinkForm,
  verification,
} from './auth-link-routes.ts';
import type { AuthReply } from './auth-reply.ts';
import { type AddressLimit, type AskingUser, type AuthRequest, limitBy } from './auth-request.ts';
import { type AuthRoutes, always, json, redirectQuery } from './auth-route-table.ts';

/** Interval in seconds of a configured number of requests. */
const fiveMinutes = 300;
const hour = 3600;

/** Codes and links share a count. */
const limitVerify = limitBy('verify', 'rate_limit_verify', fiveMinutes);
const limitTokens = limitBy('token', 'rate_limit_token_refresh', fiveMinutes);

/** The routes. */
export const userRoutes: AuthRoutes = {
  'GET /settings': {
    access: 'key',
    summary: 'Read the enabled sign-in methods',
    answer: settingsSerializer,
    run: ({ context }) => json(publicSettings(context.config)),
  },
  'POST /signup': {
    access: 'key',
    summary: 'Sign up; anonymously without an email address or phone',
    query: redirectQuery,
    body: [signUpBody, anonymousBody],
    answer: anyOf(sessionSerializer, userSerializer),
    limit: limitSignUp,
    attempt: (request) => ({ action: 'sign_up', method: signUpMethod(request.body()) }),
    captcha: always,
    run: ({ context, body }) => json((hasAddress(body()) ? signUp : signUpAnonymously)(context, body())),
  },
  'POST /token': {
    access: 'key',
    summary: 'Sign in, or refresh a session',
    query: {
      grant_type: about(
        oneOf('password', 'refresh_token', 'pkce', 'id_token'),
        'How to sign in; each has a body of its own.',
      ),
    },
    body: [passwordBody, refreshBody, codeBody, idTokenBody],
    answer: sessionSerializer,
    limit: (request) => (grantOf(request.query) === undefined ? null : limitTokens(request)),
    attempt: ({ query }) => attempts.get(query.get('grant_type') ?? '') ?? null,
    // The other grants present what a sign-in has given already.
    captcha: ({ query }) => query.get('grant_type') === 'password',
    run: runToken,
  },
  'POST /verify': {
    access: 'key',
    opensFromEmail: true,
    summary: 'Verify a code or a token hash; as a form without a key, use an emailed link',
    body: [verifyBody],
    form: linkForm,
    redirects: [303],
    answer: anyOf(sessionSerializer, otherAddressSerializer),
    limit: limitVerify,
    attempt: (request) =>
      verification(request.isForm ? request.form().get('type') : readFields(request.body(), verifyBody).type),
    run: (request) => (request.isForm ? submitLinkForm(request) : json(verify(request.context, request.body()))),
  },
  ...sendingRoute('otp', 'Send a sign-in link or code', oneTimeBody, sendOneTimeSignIn),
  ...sendingRoute('magiclink', 'Send a sign-in link', magicLinkBody, sendMagicLinkOnly),
  ...sendingRoute('recover', 'Send a password reset link', recoverBody, recover),
  ...sendingRoute('resend', 'Resend a message', resendBody, resendMessage),
  'GET /verify': {
    ...openedLink,
    ...openedAnswers,
    summary: 'Open an emailed link',
    limit: limitOpened(limitVerify),
    attempt: opened,
  },
  'HEAD /verify': { ...openedLink, summary: 'Look at an emailed link; 405 unless a page asks first' },
};

/** The routes for signed-in users. */
export const ownRoutes: AuthRoutes = {
  'GET /reauthenticate': {
    summary: 'Send a code to confirm a password change',
    access: 'user',
    answer: messageSerializer,
    run: async (_request, asking) => json(reauthenticate(asking.context, assertSameAudience(asking).user)),
  },
  'GET /user': {
    summary: 'Read the current user',
    access: 'user',
    use: 'read',
    answer: userSerializer,
    run: async (_request, asking) => json(toUserJson(assertSameAudience(asking).user)),
  },
  'PUT /user': {
    summary: 'Update the current user',
    access: 'user',
    query: redirectQuery,
    body: [updateUserBody],
    answer: userSerializer,
    limit: limitBy('user', 'rate_limit_otp', fiveMinutes),
    run: ({ body }, { context, bearer }) => json(updateOwnUser(context, bearer, body())),
  },
  'POST /logout': {
    summary: 'Sign out',
    access: 'user',
    query: {
      scope: optional(
        about(oneOf('global', 'local', 'others'), { description: 'Which sessions end.', default: 'global' }),
      ),
    },
    status: 204,
    answer: null,
    async run({ query }, { context, bearer }) {
      await logOut(context, bearer, query.get('scope'));
      return { status: 204 };
    },
  },
  'DELETE /user/identities/:id': {
    summary: 'Unlink an identity; at least one must remain',
    access: 'user',
    answer: unlinkedSerializer,
    run: ({ path }, { context, bearer }) => json(unlinkIdentity(context, bearer, path('id'))),
  },
};

type Sending = (context: AuthContext, body: unknown) => Promise<unknown>;

/** A route that sends a message. */
function sendingRoute(bucket: string, summary: string, body: Body<object>, send: Sending): AuthRoutes {
  const route: AuthRoutes[keyof AuthRoutes] = {
    access: 'key',
    summary,
    query: redirectQuery,
    body: [body],
    answer: messageSerializer,
    limit: limitBy(bucket, 'rate_limit_otp', fiveMinutes),
    captcha: always,
    async run(request) {
      try {
        return await json(send(request.context, request.body()));
      } catch (error) {
        throw bucket === 'magiclink' ? rewordUnread(error) : error;
      }
    },
  };
  return { [`POST /${bucket}`]: route };
}

/** Supabase Auth has a special message for an unreadable body of `/magiclink`. */
function rewordUnread(error: unknown): unknown {
  if (!(error instanceof AuthError) || error.code !== 'bad_json') return error;
  return new AuthError('bad_json', error.message.replace(/^[^:]*/, 'Could not read verification params'));
}

function limitSignUp(request: AuthRequest): AddressLimit {
  if (hasAddress(request.body())) return limitBy('signup', 'rate_limit_otp', fiveMinutes)(request);
  const perHour = request.context.config.rate_limit_anonymous_users;
  return { bucket: 'anonymous', allowance: requestAllowance(perHour, hour, perHour) };
}

/** Grant types, as attempts. */
const attempts: ReadonlyMap<string, AuthAttempt> = new Map([
  ['password', { action: 'sign_in', method: 'password' }],
  ['pkce', { action: 'sign_in', method: 'code' }],
  ['id_token', { action: 'sign_in', method: 'id_token' }],
  ['refresh_token', { action: 'refresh', method: 'refresh_token' }],
]);

function signUpMethod(body: unknown): string {
  const { email, phone } = readFields(body, addressBody);
  if (email) return 'email';
  return phone ? 'phone' : 'anonymous';
}

const addressBody = bodySchema({ email: text, phone: text });

function hasAddress(body: unknown): boolean {
  const { email, phone } = readFields(body, addressBody);
  return Boolean(email || phone);
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

async function askToLink(request: AuthRequest): Promise<AskingUser> {
  if (request.hasAuthorization) return request.asUser();
  throw new OAuthStyleError('invalid request', 'Linking requires a valid user access token in Authorization');
}

function assertSameAudience({ bearer, context }: AskingUser): UserBearer {
  if (bearer.claims.aud === context.audience) return bearer;
  throw new AuthError('validation_failed', "Token audience doesn't match request audience");
}
