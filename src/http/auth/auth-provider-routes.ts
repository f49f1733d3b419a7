/**
 * The routes of the auth service for sign-in with a provider: to it and back.
 */
import { answerShape, text } from '../../auth/answer-shape.ts';
import { linkingQuery, signInQuery, startLinking, startSignIn } from '../../auth/requests/authorize.ts';
import { callbackQuery, finishSignIn } from '../../auth/requests/callback.ts';
import { requestAllowance } from '../../auth/store/rate-limit.ts';
import type { Observe } from '../../shared/observation.ts';
import { noteRefusal } from './auth-refusal.ts';
import type { AuthReply } from './auth-reply.ts';
import type { AddressLimit, AuthRequest } from './auth-request.ts';
import type { AuthRow } from './auth-rows.ts';
import { clearFlowCookie, hasFlowCookie, setFlowCookie } from './flow-cookie.ts';

const addressShape = answerShape<string>('AuthProviderAddress', { url: text((url) => url) });

/** The address that is left may have a code in it, and the one that follows a session. */
const privately = { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };

/** The rows. */
export function createProviderRoutes(observe: Observe): readonly AuthRow[] {
  const comeBack = { path: '/callback', access: 'anyone', redirects: [302, 303], answer: null } as const;
  return [
    {
      method: 'GET',
      path: '/authorize',
      access: 'anyone',
      summary: 'Sign in with a provider',
      query: signInQuery,
      redirects: [302],
      answer: null,
      limit: limitStarts,
      run: async ({ context, query }) => {
        const { url, state, answersByForm } = await startSignIn(context, query);
        const headers = { location: url, ...privately };
        if (state === null) return { status: 302, headers };
        const cookie = setFlowCookie({ state, authUrl: context.authUrl }, answersByForm);
        return { status: 302, headers: { ...headers, 'set-cookie': cookie } };
      },
    },
    {
      method: 'GET',
      path: '/user/identities/authorize',
      summary: 'Link the identity of a provider',
      limit: limitStarts,
      caller: 'user',
      query: linkingQuery,
      redirects: [302],
      answer: addressShape,
      run: async (request) => {
        const { context, bearer } = await request.asUser();
        const url = await startLinking(context, bearer, request.query);
        // Programs that send a token follow no redirect.
        const isWanted = request.query.get('skip_http_redirect') === 'true';
        return isWanted
          ? { body: addressShape.toJson(url), headers: privately }
          : { status: 302, headers: { location: url, ...privately } };
      },
    },
    {
      ...comeBack,
      method: 'GET',
      summary: 'Return from a provider',
      query: callbackQuery,
      run: (request) => runCallback(request, observe),
    },
    {
      ...comeBack,
      method: 'POST',
      summary: 'Return from a provider that posts a form',
      form: callbackQuery,
      run: (request) => runCallback(request, observe),
    },
  ];
}

/** Each start leaves rows, and asks the provider where its pages are. */
function limitStarts({ context }: AuthRequest): AddressLimit {
  return { bucket: 'authorize', allowance: requestAllowance(context.config.rate_limit_token_refresh, 300) };
}

async function runCallback(request: AuthRequest, observe: Observe): Promise<AuthReply> {
  const given = new URLSearchParams([...request.form(), ...request.query]);
  const { context, cookies } = request;
  const { isAllowed } = request.redirects;
  const own = { state: (given.get('state') ?? '').toLowerCase(), authUrl: context.authUrl };
  const isOwn = () => hasFlowCookie(own, cookies);
  const { status, location, refusal } = await finishSignIn(context, given, { isAllowed, isOwn });
  const errorCode = refusal === null ? null : noteRefusal(refusal, request, observe);
  const cookie = isOwn() ? { 'set-cookie': clearFlowCookie(own) } : {};
  return { status, headers: { location, ...cookie, ...privately }, errorCode };
}
