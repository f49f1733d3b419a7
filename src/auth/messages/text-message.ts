/**
 * Text messages to phones: the seam to whoever sends them.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { AuthError } from '../auth-error.ts';

/** One message to be. */
export interface TextMessage {
  /** Digits, without the plus sign. */
  readonly to: string;
  readonly code: string;
  readonly channel: 'sms' | 'whatsapp';
  /** Its text, in the language of the templates of emails. */
  readonly template: string;
  readonly config: AuthConfig;
}

/**
 * Hands a message over and returns the sender's id of it. Rejects where that fails, with a `TextError` where that can be said.
 *
 * Null in its place: nobody is configured who sends messages.
 */
export type SendText = (message: TextMessage) => Promise<string | null>;

/** How a message reaches a phone. */
export type Channel = TextMessage['channel'];

/** The channel of a request; `sms` where none is given. @throws AuthError `validation_failed` */
export function parseChannel(channel: string | null, { sms_provider }: Pick<AuthConfig, 'sms_provider'>): Channel {
  if (!channel || channel === 'sms') return 'sms';
  if (channel === 'whatsapp' && sms_provider === 'twilio') return 'whatsapp';
  const message =
    "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.";
  throw new AuthError('validation_failed', message);
}
