/**
 * Verification by a person who opened the link of an email: the answer is where the browser goes next.
 *
 * Whatever happens, it goes to the application, which learns of it from fragment and query; only a link without its
 * parameters is answered directly.
 */
import { AuthError } from '../auth-error.ts';
import { isPkceHash } from '../secrets/one-time-code.ts';
import { type AuthContext, type Transaction, transact } from '../steps/auth-context.ts';
import { completeVerification } from '../steps/complete-verification.ts';
import { issueSession, type SignedIn, sessionAnswer } from '../steps/issue-session.ts';
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
export async function openLink(context: AuthContext, { token, type }: LinkParameters): Promise<LinkTarget> {
  if (!type) throw new AuthError('validation_failed', 'Verify requires a verification type');
  if (!token) throw new AuthError('validation_failed', 'Verify requires a token or a token hash');
  try {
    return { location: await follow(context, token, type), refusal: null };
  } catch (refusal) {
    const parameters = errorParameters(refusal);
    const base = isPkceHash(token) ? withQuery(context.redirectTo, parameters) : context.redirectTo;
    return { location: withFragment(base, { ...parameters, sb: '' }), refusal };
  }
}

async function follow(context: AuthContext, token: string, typeName: string): Promise<string> {
  const type = findVerificationType(typeName);
  if (type === null || isPhoneType(type)) {
    throw new AuthError('validation_failed', 'Invalid email verification type');
  }
  const outcome = await transact(context, ['custom_access_token'], async (tx): Promise<Outcome> => {
    const presented = await presentHash(tx, { type, tokenHash: token });
    const verified = resolveKind(type, presented.type);
    const { id } = presented.user;
    const by = isPkceHash(token) ? 'pkce_link' : 'link';
    const enter = async (): Promise<Outcome> => {
      if (isPkceHash(token)) return { kind: 'code', code: await issueCode(tx, id, verified) };
      return { kind: 'signed_in', verified, signedIn: await issueSession(tx, id, 'otp') };
    };
    const outcome = await completeVerification(tx, { presented, kind: verified, by }, enter);
    return outcome ?? { kind: 'other_address' };
  });
  return targetOf(context, outcome, isPkceHash(token));
}

/** Without a flow nobody could use the code, so the token stays: the transaction is undone. */
function issueCode(tx: Transaction, userId: string, verified: VerificationKind): Promise<string> {
  const method = flowMethodOf(verified);
  if (method === null) throw new AuthError('flow_state_not_found', 'No associated flow state found.', { status: 400 });
  return issueFlowCode(tx, userId, method);
}

async function targetOf(context: AuthContext, outcome: Outcome, isPkce: boolean): Promise<string> {
  switch (outcome.kind) {
    case 'code':
      return withQuery(context.redirectTo, { code: outcome.code });
    case 'other_address': {
      const message = { message: otherAddressMessage };
      return withFragment(isPkce ? withQuery(context.redirectTo, message) : context.redirectTo, { ...message, sb: '' });
    }
    case 'signed_in': {
      const answer = await sessionAnswer(context, outcome.signedIn);
      const names = ['access_token', 'expires_at', 'expires_in', 'refresh_token', 'token_type'];
      const parameters = Object.fromEntries(names.map((name) => [name, String(answer[name])]));
      return withFragment(context.redirectTo, { ...parameters, sb: '', type: outcome.verified });
    }
  }
}
