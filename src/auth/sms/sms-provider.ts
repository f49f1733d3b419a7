/** How providers of text messages differ: one row each. All take a form over HTTP and answer JSON. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { AuthError } from '../model/auth-error.ts';

/** A message ready to be sent. */
export interface OutgoingText {
  /** Digits, without the plus sign. */
  readonly to: string;
  readonly text: string;
  readonly code: string;
  readonly channel: Channel;
}

interface ProviderRequest {
  /** Relative to the address of its API. */
  readonly path: string;
  /** Header `authorization`; null if the form contains the login. */
  readonly authorization: string | null;
  readonly form: Readonly<Record<string, string>>;
}

/** A provider's answer: its id of the message, or its error code (null for none) if it refused. */
type ProviderVerdict =
  | { readonly kind: 'taken'; readonly id: string }
  | { readonly kind: 'refused'; readonly code: string | null };

/** One provider. Its required configuration fields are set. */
export interface TextProvider {
  /** Default address of its API. */
  readonly url: string;
  toRequest(message: OutgoingText, config: AuthConfig): ProviderRequest;
  /** @param answer Its JSON; any value, because a broken provider may send anything. */
  read(answer: unknown): ProviderVerdict;
}

/** The field at a path through objects and lists; undefined if there is none. */
export function fieldAt(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    json,
  );
}

/** The verdict from values that should be an id and an error code. */
export function verdict(id: unknown, code: unknown): ProviderVerdict {
  if (typeof id === 'string' && id !== '') return { kind: 'taken', id };
  // Codes are numbers or short words; longer text could repeat the message.
  const isCode = /^[A-Za-z0-9_.-]{1,20}$/.test(String(code ?? ''));
  return { kind: 'refused', code: isCode ? String(code) : null };
}

/**
 * A text message that could not be sent. Clients and the log get the error's message: what happened, perhaps with the
 * provider's code, but never an address, a login or a number.
 */
export class TextError extends Error {
  override readonly name = 'TextError';
}

/** A text message to send. */
export interface TextMessage {
  /** Digits, without the plus sign. */
  readonly to: string;
  readonly code: string;
  readonly channel: 'sms' | 'whatsapp';
  /** Its text, in the template language of emails. */
  readonly template: string;
  readonly config: AuthConfig;
}

/**
 * Sends a message and returns the sender's id of it. Rejects on failure, with a `TextError` if the reason may be told.
 *
 * Null instead of a function: no sender is configured.
 */
export type SendText = (message: TextMessage) => Promise<string | null>;

/** How a message reaches a phone. */
export type Channel = TextMessage['channel'];

/** The channel of a request; default `sms`. @throws AuthError `validation_failed` */
export function parseChannel(
  channel: string | null,
  { sms_provider: provider, hook_send_sms_enabled: hook }: Pick<AuthConfig, 'sms_provider' | 'hook_send_sms_enabled'>,
): Channel {
  if (!channel || channel === 'sms') return 'sms';
  if (channel === 'whatsapp' && (hook || provider === 'twilio')) return 'whatsapp';
  const message =
    "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.";
  throw new AuthError('validation_failed', message);
}
