/**
 * Verification by a person who opened the link of an email: the answer is where the browser goes next.
 *
 * Whatever happens, it goes to the application, which learns of it from fragment and query; only a link without its
 * parameters is answered directly.
 */
import type { SystemSession } from '../../postgres/system/system-session.ts';
import { AuthError } from '../auth-error.ts';
import { isPkceHash } from '../secrets/one-time-code.ts';
import { completeVerification } from '../steps/complete-verification.ts';
import { type Flow, nowOf } from '../steps/flow.ts';
import { issueSession, type SignedIn, sessionAnswer, transactSignIn } from '../steps/issue-session.ts';
import { errorParameters, withFragment, withQuery } from '../steps/redirect-target.ts';
import {
  findVerificationType,
  flowMethodOf,
  isPhoneType,
  resolveKind,
  type VerificationKind,
} from '../steps/verification-types.ts';
import { issueFlowCode } from '../store/pkce.ts';
import { otherAddressMessage, presentHash } from './verify.ts';

/** What the link says; null for an absent parameter. */
export interface LinkParameters {
  readonly token: string | null;
  readonly type: string | null;
}

/** Where the browser goes next. */
export interface LinkTarget {
  readonly location: string;
  /** Why the link was refused, which the address says as far as it may be known; null where it was good. */
  readonly refusal: unknown;
}

type Outcome =
  | { readonly kind: 'signed_in'; readonly signedIn: SignedIn; readonly verified: VerificationKind }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'other_address' };

/** `GET /verify`. @throws AuthError `validation_failed` where a parameter is missing. */
export async function openLink(flow: Flow, { token, type }: LinkParameters): Promise<LinkTarget> {
  if (!type) throw new AuthError('validation_failed', 'Verify requires a verification type');
  if (!token) throw new AuthError('validation_failed', 'Verify requires a token or a token hash');
  try {
    return { location: await follow(flow, token, type), refusal: null };
  } catch (refusal) {
    const parameters = errorParameters(refusal);
    const base = isPkceHash(token) ? withQuery(flow.redirectTo, parameters) : flow.redirectTo;
    return { location: withFragment(base, { ...parameters, sb: '' }), refusal };
  }
}

async function follow(flow: Flow, token: string, typeName: string): Promise<string> {
  const type = findVerificationType(typeName);
  if (type === null || isPhoneType(type)) {
    throw new AuthError('validation_failed', 'Invalid email verification type');
  }
  const outcome = await transactSignIn(flow, async (session): Promise<Outcome> => {
    const presented = await presentHash(session, flow, { type, tokenHash: token });
    const verified = resolveKind(type, presented.type);
    const { id } = presented.user;
    const by = isPkceHash(token) ? 'pkce_link' : 'link';
    const enter = async (): Promise<Outcome> => {
      if (isPkceHash(token)) return { kind: 'code', code: await issueCode(session, flow, id, verified) };
      return { kind: 'signed_in', verified, signedIn: await issueSession(session, flow, id, 'otp') };
    };
    const outcome = await completeVerification(session, flow, { presented, kind: verified, by }, enter);
    return outcome ?? { kind: 'other_address' };
  });
  return targetOf(flow, outcome, isPkceHash(token));
}

/** Without a flow nobody could use the code, so the token stays: the transaction is undone. */
function issueCode(session: SystemSession, flow: Flow, userId: string, verified: VerificationKind): Promise<string> {
  const method = flowMethodOf(verified);
  if (method === null) throw new AuthError('flow_state_not_found', 'No associated flow state found.', { status: 400 });
  return issueFlowCode(session, userId, method, nowOf(flow));
}

async function targetOf(flow: Flow, outcome: Outcome, isPkce: boolean): Promise<string> {
  switch (outcome.kind) {
    case 'code':
      return withQuery(flow.redirectTo, { code: outcome.code });
    case 'other_address': {
      const message = { message: otherAddressMessage };
      return withFragment(isPkce ? withQuery(flow.redirectTo, message) : flow.redirectTo, { ...message, sb: '' });
    }
    case 'signed_in': {
      const answer = await sessionAnswer(flow, outcome.signedIn);
      const names = ['access_token', 'expires_at', 'expires_in', 'refresh_token', 'token_type'];
      const parameters = Object.fromEntries(names.map((name) => [name, String(answer[name])]));
      return withFragment(flow.redirectTo, { ...parameters, sb: '', type: outcome.verified });
    }
  }
}
