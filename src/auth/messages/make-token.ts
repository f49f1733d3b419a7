/** One-time tokens of emails: makes code and link, and stores them in place of the older ones. */
import type { LinkKind } from '../../config/auth/email-kinds.ts';
import type { User } from '../model/user.ts';
import { hashCode, makeCode, makeLinkToken, pkcePrefix } from '../secrets/one-time-code.ts';
import type { Transaction } from '../steps/auth-context.ts';
import { type OneTimeTokenType, storeToken } from '../store/one-time-tokens.ts';

/** A new token: the code to type, and what links carry, marked for the PKCE flow. */
export interface MadeToken {
  readonly code: string;
  /** `TokenHash` in templates, `token_hash` in requests, as in Supabase Auth. */
  readonly linkToken: string;
}

/** An email with a token. */
export interface TokenEmail {
  readonly kind: LinkKind | 'reauthentication';
  readonly user: User;
  /** The recipient's address; also part of the code hash. */
  readonly to: string;
  readonly tokenType: OneTimeTokenType;
  /** Only for a change of the address. */
  readonly newEmail?: string;
}

/**
 * Stores a new token of the user. The code proves access to the emails of the address.
 *
 * @param isSent False: no email carries it, so its code is too long to be guessed.
 */
export async function makeToken(
  tx: Transaction,
  token: { readonly userId: string; readonly type: OneTimeTokenType; readonly address: string },
  { isPkce = false, isSent = true } = {},
): Promise<MadeToken> {
  const { config } = tx;
  const code = isSent ? makeCode(config.mailer_otp_length) : makeLinkToken();
  const address = token.address.toLowerCase();
  const prefix = isPkce ? pkcePrefix : '';
  const codeHash = `${prefix}${hashCode(address, code)}`;
  const linkToken = `${prefix}${makeLinkToken()}`;
  await storeToken(tx, { userId: token.userId, type: token.type, codeHash, linkToken, address });
  return { code, linkToken };
}
