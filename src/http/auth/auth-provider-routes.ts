/**
 * The routes of the auth service for sign-in with a provider: the redirect to it and the callback.
 */

import { linkingQuery, signInQuery, startLinking, startSignIn } from '../../auth/requests/authorize.ts';
import { callbackQuery, finishSignIn } from '../../auth/requests/callback.ts';
import { serializerOf, text } from '../../auth/serializer.ts';
import type { AuthReply } from './auth-reply.ts';
import { type AuthRequest, limitBy, noteRefusal } from './auth-request.ts';
import type { AuthRoutes } from './auth-route-table.ts';
import { clearFlowCookie, hasFlowCookie, setFlowCookie } from './flow-cookie.ts';

const addressSerializer = serializerOf<string>('AuthProviderAddress', { url: text((url) => url) });

/** The URL that the browser leaves may contain a code, and the next one a session. */
const privately = { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };

const comeBack = { access: 'anyone', redirects: [302, 303], answer: null, run: runCallback } as const;

/** Each start stores rows and requests the provider's discovery document. */
const limitStarts = limitBy('authorize', 'rate_limit_token_refresh', 300);

/** The routes. */
export const providerRoutes: AuthRoutes = {
  'GET /authorize': {
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
  'GET /user/identities/authorize': {
    summary: 'Link the identity of a provider',
    limit: limitStarts,
    caller: 'user',
    query: linkingQuery,
    redirects: [302],
    answer: addressSerializer,
    run: async ({ query }, { context, bearer }) => {
      const url = await startLinking(context, bearer, query);
      // Programs that send a token do not follow redirects.
      const isWanted = query.get('skip_http_redirect') === 'true';
      return isWanted
        ? { body: addressSerializer.toJson(url), headers: privately }
        : { status: 302, headers: { location: url, ...privately } };
    },
  },
  'GET /callback': { ...comeBack, summary: 'Return from a provider', query: callbackQuery },
  'POST /callback': { ...comeBack, summary: 'Return from a provider that posts a form', form: callbackQuery },
};

async function runCallback(request: AuthRequest): Promise<AuthReply> {
  const given = new URLSearchParams([...request.form(), ...request.query]);
  const { context, cookies } = request;
  const { isAllowed } = request.redirects;
  const own = { state: (given.get('state') ?? '').toLowerCase(), authUrl: context.authUrl };
  const isOwn = () => hasFlowCookie(own, cookies);
  const { status, location, refusal } = await finishSignIn(context, given, { isAllowed, isOwn });
  const errorCode = refusal === null ? null : noteRefusal(refusal, request);
  const cookie = isOwn() ? { 'set-cookie': clearFlowCookie(own) } : {};
  return { status, headers: { location, ...cookie, ...privately }, errorCode };
}
