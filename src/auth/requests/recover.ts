/** Recovers an account: emails a link that signs the user in, so that the application can set a new password. */
import { text } from '../../shared/schema.ts';
import { answerFirst, assertFirstAsked } from '../messages/answer-first.ts';
import { parseEmail } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import { type AuthContext, type Transaction, transact } from '../steps/auth-context.ts';
import { bodySchema, needed, readFields } from '../steps/request-body.ts';
import { parsePkce } from '../store/flows.ts';
import { lockUserByEmail } from '../store/users.ts';
import { emailSignIn } from './sign-in-one-time.ts';

/** Fields of the body. */
export const recoverBody = bodySchema({
  email: needed(text),
  code_challenge: text,
  code_challenge_method: text,
});

/** `POST /recover`. The answer is the same for unknown users. */
export async function recover(context: AuthContext, body: unknown): Promise<Record<string, never>> {
  const fields = readFields(body, recoverBody);
  const { config, audience } = context;
  if (!config.external_email_enabled) throw new AuthError('email_provider_disabled', null, { status: 400 });
  if (!fields.email) throw new AuthError('validation_failed', 'Password recovery requires an email');
  const email = parseEmail(fields.email);
  const pkce = parsePkce(fields.code_challenge, fields.code_challenge_method);
  const asked = { kind: 'email', address: email } as const;
  const send = async (tx: Transaction) => {
    await assertFirstAsked(tx, asked, 'recover');
    const user = await lockUserByEmail(tx, email, audience);
    if (user !== null) await emailSignIn(tx, 'recovery', user, pkce);
    return {};
  };
  return answerFirst(context, asked, {}, (own) => transact(own, ['send_email'], send));
}
