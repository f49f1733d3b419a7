/** What a mail service needs of a message, and what its answers mean. Each service is one file. */
import type { PostAnswer } from '../../../shared/egress/post-limited.ts';
import { isObject } from '../../../shared/json.ts';
import type { ExtraHeaders } from '../../message/extra-headers.ts';
import type { EmailMessage } from '../../message/message.ts';
import type { EmailErrorCode } from '../email-error.ts';

/** The login of a service. */
export interface ServiceSettings {
  /** Without a slash at the end. */
  readonly url: string;
  readonly apiKey: string;
}

/** A message with its text part; null for none. */
interface ServiceMessage extends EmailMessage {
  readonly plainText: string | null;
  readonly date: Date;
}

interface ServiceRequest {
  /** Below the service's address. */
  readonly path: string;
  /** Lower-case names; in addition to the content type, which is JSON. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A service. */
export interface MailService {
  /** Address of the API, if none is configured. */
  readonly url: string;
  toRequest(message: ServiceMessage, settings: ServiceSettings): Promise<ServiceRequest> | ServiceRequest;
  /** The id in the answer to an accepted message; null for none. */
  idOf(answer: PostAnswer, json: unknown): string | null;
  /** What a refusal means, where its status alone does not say; null: as the status says. */
  refusalOf(answer: PostAnswer, json: unknown): EmailErrorCode | null;
  /** The service's code of a refusal; null for none. */
  codeOf(json: unknown): string | null;
}

/** `Shop <shop@mail.test>`; the name in quotes, because it may have any characters. */
export function mailboxText({ name, address }: EmailMessage['from']): string {
  return name === '' ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`;
}

/** The address for replies, and the other headers: services have a member of its own for it. */
export function splitReplyTo(headers: ExtraHeaders): {
  readonly replyTo: string | null;
  readonly others: ExtraHeaders;
} {
  const isReplyTo = ([name]: readonly [string, string]) => name.toLowerCase() === 'reply-to';
  const entries = Object.entries(headers);
  return {
    replyTo: entries.find(isReplyTo)?.[1] ?? null,
    others: Object.fromEntries(entries.filter((entry) => !isReplyTo(entry))),
  };
}

/** A member of an answer that is a text or number, as text; null for none. */
export function wordAt(json: unknown, name: string): string | null {
  const value = isObject(json) ? json[name] : null;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
