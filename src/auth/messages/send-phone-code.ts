/** Makes, stores and sends a one-time code, in the request's transaction. Numbers with a test code get no message. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Time } from '../../shared/times.ts';
import { toUserJson } from '../answers/user-json.ts';
import { AuthError } from '../model/auth-error.ts';
import type { User } from '../model/user.ts';
import { hashCode, makeCode, makeLinkToken } from '../secrets/one-time-code.ts';
import type { TextMessage } from '../sms/sms-provider.ts';
import { TextError } from '../sms/sms-provider.ts';
import { askHook } from '../steps/ask-hook.ts';
import { nowOf, type Transaction } from '../steps/auth-context.ts';
import { sentAtOf, storeToken } from '../store/one-time-tokens.ts';
import { assertSendAllowed, findTooFrequent } from '../store/rate-limit.ts';
import { reloadUser } from '../store/users.ts';
import { assertNumberAllowed } from './number-limit.ts';

/** The purpose of a code, which also names its columns. */
type CodePurpose = 'confirmation' | 'phone_change' | 'reauthentication';

const tokenTypes = {
  confirmation: 'confirmation_token',
  phone_change: 'phone_change_token',
  reauthentication: 'reauthentication_token',
} as const satisfies Record<CodePurpose, string>;

/**
 * Stores a code and sends it.
 *
 * @returns The sender's id of the message; empty for a test number.
 * @throws AuthError `over_sms_send_rate_limit`, `sms_send_failed`, `unexpected_failure` if no sender is configured.
 */
export async function sendCode(
  tx: Transaction,
  message: Pick<PhoneCodeRequest, 'phone' | 'channel'> & { readonly purpose: CodePurpose; readonly user: User },
): Promise<string> {
  const { config } = tx;
  const { purpose, user, phone, channel } = message;
  const type = tokenTypes[purpose];
  const refusal = findTooFrequent('sms', sentAtOf(user, type), config.sms_max_frequency, nowOf(tx));
  if (refusal !== null) throw refusal;
  const { sms_otp_length: digits, sms_template: template } = config;
  const ownerId = purpose === 'phone_change' ? null : user.id;
  const made = await makePhoneCode(tx, { phone, channel, digits, template, purpose }, ownerId);
  const secrets = { codeHash: hashCode(phone, made.code), linkToken: makeLinkToken() };
  await storeToken(tx, { userId: user.id, type, ...secrets, address: phone });
  return sendPhoneCode(tx, user, made);
}

/** A text message before its code is made. */
interface PhoneCodeRequest {
  /** Digits only. */
  readonly phone: string;
  readonly channel: TextMessage['channel'];
  readonly digits: number;
  readonly template: string;
  /** The purpose of the code, as error messages name it. */
  readonly purpose: CodePurpose | 'MFA';
}

/** A message with its code. */
export interface PhoneCode extends PhoneCodeRequest {
  readonly code: string;
  /** The number has a fixed code and gets no message. */
  readonly isTest: boolean;
}

/**
 * Makes a code, if one more message may be sent.
 *
 * @param ownerId Who has the number; null for nobody who has proved it. @throws AuthError `over_sms_send_rate_limit`
 */
export async function makePhoneCode(
  tx: Transaction,
  request: PhoneCodeRequest,
  ownerId: string | null,
): Promise<PhoneCode> {
  const { services, config } = tx;
  const { phone } = request;
  const testCode = findTestCode(config, phone, nowOf(tx));
  if (testCode !== null) return { ...request, code: testCode, isTest: true };
  const pauseSeconds = request.purpose === 'MFA' ? config.mfa_phone_max_frequency : config.sms_max_frequency;
  if (!tx.isCounted) {
    await assertNumberAllowed(tx, tx, { phone, owner: async () => ownerId, pauseSeconds });
    await assertSendAllowed(services.limiter, 'sms', config.rate_limit_sms_sent);
  }
  return { ...request, code: makeCode(request.digits), isTest: false };
}

/**
 * Sends a message, through the hook `send_sms` if that is enabled.
 *
 * @returns The sender's id of it; empty for a test number, and from a hook.
 * @throws AuthError `sms_send_failed`, `unexpected_failure` if no sender is configured.
 */
export async function sendPhoneCode(tx: Transaction, user: User, message: PhoneCode): Promise<string> {
  const { services, config } = tx;
  const { phone, code, channel, template, purpose, isTest } = message;
  if (isTest) return '';
  if (config.hook_send_sms_enabled) {
    // Read the user again for the pending number: hooks send to the number in the user.
    const asked = toUserJson(await reloadUser(tx, user.id));
    const type = purpose === 'MFA' ? { sms_type: 'mfa' } : {};
    await askHook(tx, 'send_sms', { user: asked, sms: { otp: code, phone, channel, ...type } });
    return '';
  }
  let id: string | null;
  try {
    id = await services.sendText({ to: phone, code, channel, template, config });
  } catch (error) {
    if (error instanceof AuthError) throw error;
    const reason = error instanceof TextError ? error.message : 'the message was refused';
    const text = `Error sending ${purpose} OTP to provider: ${reason}`;
    throw new AuthError('sms_send_failed', text, { cause: error });
  }
  if (id === null) throw new AuthError('unexpected_failure', 'Unable to get SMS provider');
  return id;
}

/** The fixed code of a number, for tests of applications; null for none. */
function findTestCode(
  config: Pick<AuthConfig, 'sms_test_otp' | 'sms_test_otp_valid_until'>,
  phone: string,
  now: Time,
): string | null {
  const until = config.sms_test_otp_valid_until;
  if (until !== null && until !== '' && now > Date.parse(until)) return null;
  const pairs = (config.sms_test_otp ?? '').split(',').map((pair) => pair.split('='));
  return pairs.find(([number]) => number === phone)?.[1] ?? null;
}
