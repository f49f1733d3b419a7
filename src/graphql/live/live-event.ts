/** What a subscriber of a live query gets: whole answers, each with an id by which equal ones are known. */
import { hash } from 'node:crypto';
import type { Code } from '../../shared/errors.ts';
import type { Text } from '../execute/answer/compressed-text.ts';
import type { Answer } from '../execute/executor.ts';

/** One answer, shared by all subscribers that get it. */
export interface LiveEvent {
  /** Equal for equal bodies. */
  readonly id: string;
  /** The body of a GraphQL response: JSON in UTF-8. */
  readonly body: Buffer;
}

/** Why a subscription has ended: its client left, the gateway stops, or an error. */
export type EndReason = 'client' | 'stopping' | Code;

/** Somebody who has subscribed. */
export interface Subscriber {
  /** The id of the last answer that the client has got, also in an earlier connection; null: none. */
  readonly lastId: string | null;
  /** A newer answer. Whoever cannot take it now asks for the latest one later (`Subscription.refresh`). */
  next(event: LiveEvent): void;
  /** It is over. @param last What is wrong. @param reason The code of that. */
  end(last: LiveEvent, reason: Code): void;
}

/** The event of an answer. */
export function eventOf({ body }: Pick<Answer, 'body'>): LiveEvent {
  const bytes = bytesOf(body);
  return { id: hash('sha256', bytes, 'base64url'), body: bytes };
}

function bytesOf(body: Text): Buffer {
  return typeof body === 'object' && 'take' in body ? body.take() : Buffer.from(String(body));
}
