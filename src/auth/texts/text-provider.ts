/**
 * What differs between providers of text messages: one row of data each. All of them take a form over HTTP and answer JSON.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { AuthError } from '../auth-error.ts';

/** A message that is ready to be sent. */
export interface OutgoingText {
  /** Digits, without the plus sign. */
  readonly to: string;
  readonly text: string;
  readonly code: string;
  readonly channel: Channel;
}

/** A request to a provider. */
export interface ProviderRequest {
  /** Below the address of its API. */
  readonly path: string;
  /** Header `authorization`; null where the form has the login. */
  readonly authorization: string | null;
  readonly form: Readonly<Record<string, string>>;
}

/** What an answer says: the provider's id of the message, or why there will be none: its code for the reason, or null. */
export type ProviderVerdict =
  | { readonly kind: 'taken'; readonly id: string }
  | { readonly kind: 'refused'; readonly code: string | null };

/** One provider. The fields that it needs are there. */
export interface TextProvider {
  /** Usual address of its API. */
  readonly url: string;
  toRequest(message: OutgoingText, config: AuthConfig): ProviderRequest;
  /** @param answer Its JSON; anything, when the provider is not itself. */
  read(answer: unknown): ProviderVerdict;
}

/** The member at the end of a path through objects and lists; undefined where the path leads nowhere. */
export function memberAt(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    json,
  );
}

/** The verdict for what should be an id, and what should be a code. */
export function verdict(id: unknown, code: unknown): ProviderVerdict {
  if (typeof id === 'string' && id !== '') return { kind: 'taken', id };
  // Codes are numbers or short words; anything longer could repeat what was sent.
  const isCode = /^[A-Za-z0-9_.-]{1,20}$/.test(String(code ?? ''));
  return { kind: 'refused', code: isCode ? String(code) : null };
}

/**
 * A text message that was not handed over. The message of the error is for the client as well as for the log: it says what
 * happened and perhaps the provider's code for it, never an address, a login or a number.
 */
export class TextError extends Error {
  override readonly name = 'TextError';
}

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
