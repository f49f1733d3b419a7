/** Routes for sign-in with a provider: the redirect to it, the page before an identity is linked, the callback. */
import { renderLinkingPage } from '../../email/link-page/link-page.ts';
import type { AuthAttempt } from '../../shared/observation.ts';
import { from, serializerOf, text } from '../../shared/schema.ts';
import {
  continueLinking,
  type LinkingQuestion,
  linkingQuery,
  type StartedSignIn,
  signInQuery,
  startLinking,
  startSignIn,
} from '../requests/authorize.ts';
import { callbackQuery, finishSignIn } from '../requests/callback.ts';
import type { AuthReply } from './auth-reply.ts';
import { type AuthRequest, limitBy, noteRefusal } from './auth-request.ts';
import type { AuthRoutes } from './auth-route-table.ts';
import { clearFlowCookie, hasFlowCookie, hasPageCookie, makePageCookie, setFlowCookie } from './flow-cookie.ts';
import { htmlPageHeaders } from './refused-link-page.ts';

const addressSerializer = serializerOf<string>('AuthProviderAddress', { url: from(text, (url) => url) });

/** The URL that the browser leaves may contain a code, and the next one a session. */
const privately = { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };

const comeBack = {
  access: 'anyone',
  redirects: [302, 303],
  answer: null,
  attempt: (): AuthAttempt => ({ action: 'sign_in', method: 'provider' }),
  run: runCallback,
} as const;

/** Each start stores rows and requests the provider's discovery document. */
const limitStarts = limitBy('authorize', 'rate_limit_token_refresh', 300);

/** The routes. */
export const providerRoutes: AuthRoutes = {
  'GET /authorize': {
    access: 'anyone',
    summary: 'Sign in with a provider',
    query: signInQuery,
    page: 'The page that asks before an identity is linked.',
    redirects: [302],
    answer: null,
    limit: limitStarts,
    run: async (request) => {
      const { context, query } = request;
      const isOwn = (state: string) => hasFlowCookie({ state, authUrl: context.authUrl }, request.cookies);
      return leadOn(request, await startSignIn(context, query, isOwn), query);
    },
  },
  'POST /authorize': {
    access: 'anyone',
    summary: 'Agree to the linking of an identity',
    form: { ...signInQuery, page_secret: 'Secret of the page.' },
    page: 'The page again, if the browser does not have it.',
    redirects: [303],
    answer: null,
    limit: limitStarts,
    run: async (request) => {
      const { context, cookies } = request;
      const form = request.form();
      const pageSecret = form.get('page_secret') ?? '';
      form.delete('page_secret');
      const isOwn = (state: string) => hasPageCookie({ state, authUrl: context.authUrl }, pageSecret, cookies);
      return leadOn(request, await continueLinking(context, form, isOwn), form);
    },
  },
  'GET /user/identities/authorize': {
    summary: 'Link the identity of a provider',
    limit: limitStarts,
    access: 'user',
    query: linkingQuery,
    redirects: [302],
    answer: addressSerializer,
    run: async ({ query }, { context, bearer }) => {
      const { url, state, answersByForm } = await startLinking(context, bearer, query);
      // A page of this site gets the cookie, one of another site does not.
      const headers = { ...privately, 'set-cookie': setFlowCookie({ state, authUrl: context.authUrl }, answersByForm) };
      // Programs that send a token do not follow redirects.
      const isWanted = query.get('skip_http_redirect') === 'true';
      return isWanted
        ? { body: addressSerializer.print(url), headers }
        : { status: 302, headers: { ...headers, location: url } };
    },
  },
  'GET /callback': { ...comeBack, summary: 'Return from a provider', query: callbackQuery },
  'POST /callback': { ...comeBack, summary: 'Return from a provider that posts a form', form: callbackQuery },
};

/** To the provider, or to the page that asks first. @param fields Of the address, which the page's button sends. */
function leadOn(
  { context, isForm }: AuthRequest,
  next: StartedSignIn | LinkingQuestion,
  fields: URLSearchParams,
): AuthReply {
  const { authUrl, config, languages } = context;
  if ('flow' in next) {
    const { pageSecret, cookie } = makePageCookie({ state: next.flow, authUrl });
    // Of several fields of a name, the first counts, as everywhere.
    const sent = { ...Object.fromEntries([...fields].reverse()), page_secret: pageSecret };
    const page = renderLinkingPage({ ...next, siteUrl: config.site_url, languages, fields: sent });
    return { headers: { ...htmlPageHeaders(...next.leadsTo), 'set-cookie': cookie }, page };
  }
  const { url, state, answersByForm } = next;
  const status = isForm ? 303 : 302;
  const cookie = state === null ? {} : { 'set-cookie': setFlowCookie({ state, authUrl }, answersByForm) };
  return { status, headers: { location: url, ...cookie, ...privately } };
}

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
