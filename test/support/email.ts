/**
 * Facts and messages for tests of emails.
 */
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import type { EmailKind } from '../../src/config/auth/email-kinds.ts';
import { buildMessage, type EmailMessage, type MessageData } from '../../src/email/message/message.ts';

/** The link of the facts below. */
export const sampleUrl = 'https://db.test/auth/v1/verify?token=hash&type=email&redirect_to=https://app.test/welcome';

/** Every fact there is. */
export const sampleData: MessageData = {
  to: 'to@mail.test',
  email: 'ana@mail.test',
  userMetadata: { name: 'Ana', plan: 'pro' },
  redirectTo: 'https://app.test/welcome',
  token: '012345',
  tokenHash: 'hash',
  confirmationUrl: sampleUrl,
  newEmail: 'new@mail.test',
  oldEmail: 'old@mail.test',
  phone: '491511111',
  oldPhone: '491522222',
  provider: 'google',
  factorType: 'totp',
};

/** A message of a kind. */
export function sampleMessage(
  values: AuthValues = {},
  data: Partial<MessageData> = {},
  kind: EmailKind = 'recovery',
): EmailMessage {
  const config = layerAuthConfig({ smtp_admin_email: 'shop@mail.test', smtp_sender_name: 'Shop', ...values });
  return buildMessage(kind, config, { ...sampleData, ...data });
}
