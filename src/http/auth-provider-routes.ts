/**
 * The routes of the auth service for sign-in with a provider: to it and back.
 */
import { answerShape, text } from '../auth/answer-shape.ts';
import { linkingQuery, signInQuery, startLinking, startSignIn } from '../auth/flows/authorize.ts';
import { callbackQuery, finishSignIn } from '../auth/flows/callback.ts';
import type { Observe } from '../shared/observation.ts';
import { noteRefusal } from './auth-refusal.ts';
import type { AuthReply } from './auth-reply.ts';
import type { AuthRequest } from './auth-request.ts';
import type { AuthRow } from './auth-rows.ts';

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
      run: async ({ flow, query }) => sendOn(await startSignIn(flow, query)),
    },
    {
      method: 'GET',
      path: '/user/identities/authorize',
      summary: 'Link an identity of a provider',
      caller: 'user',
      query: linkingQuery,
      redirects: [302],
      answer: addressShape,
      run: async (request) => {
        const { flow, bearer } = await request.asUser();
        const url = await startLinking(flow, bearer, request.query);
        // Programs that send a token follow no redirect.
        const isWanted = request.query.get('skip_http_redirect') === 'true';
        return isWanted ? { body: addressShape.toJson(url), headers: privately } : sendOn(url);
      },
    },
    {
      ...comeBack,
      method: 'GET',
      summary: 'Come back from a provider',
      query: callbackQuery,
      run: (request) => runCallback(request, observe),
    },
    {
      ...comeBack,
      method: 'POST',
      summary: 'Come back from a provider that sends a form',
      form: callbackQuery,
      run: (request) => runCallback(request, observe),
    },
  ];
}

function sendOn(url: string): AuthReply {
  return { status: 302, headers: { location: url, ...privately } };
}

async function runCallback(request: AuthRequest, observe: Observe): Promise<AuthReply> {
  const given = new URLSearchParams([...request.form(), ...request.query]);
  const { status, location, refusal } = await finishSignIn(request.flow, given, request.redirects);
  const errorCode = refusal === null ? null : noteRefusal(refusal, request, observe);
  return { status, headers: { location, ...privately }, errorCode };
}
