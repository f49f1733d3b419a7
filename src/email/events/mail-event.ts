/** What a mail service tells of an email that it took: facts of an event, and readers of JSON that anybody may send. */
import { isObject, parseJson } from '../../shared/json.ts';

/** `bounced` is for good; `failed` is this email alone. */
export type MailEventKind = 'delivered' | 'bounced' | 'failed' | 'complained';

/** One event about one recipient. */
export interface MailEvent {
  readonly kind: MailEventKind;
  /** Ids that the delivery may have, without angle brackets. */
  readonly messageIds: readonly string[];
  readonly address: string;
  /** What the recipient's server said; null for nothing. */
  readonly answer: string | null;
}

/** A request whose sender has been verified. */
export interface VerifiedEvents {
  /** The same for a repetition of the request: a replay has no effect. */
  readonly id: string;
  readonly events: readonly MailEvent[];
}

/** A request of a mail service, or of anybody else. */
export interface EventRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** What verification needs. */
export interface EventTools {
  /** `mailer_events_secret` */
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Reads a text of the address, which is one of AWS. @throws Error */
  readonly fetchText: (url: string) => Promise<string>;
}

/** Verifies a request and reads its events. @throws EventRefusal */
export type ReadEvents = (request: EventRequest, tools: EventTools) => VerifiedEvents | Promise<VerifiedEvents>;

/** The request is not from the service, too old or malformed. The message names no value. */
export class EventRefusal extends Error {
  override readonly name = 'EventRefusal';
}

/** A header; empty if it is missing or there are several. */
export function headerOf({ headers }: EventRequest, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** The body as a JSON object or list. @throws EventRefusal */
export function jsonOf({ body }: EventRequest): unknown {
  return parseEvent(body.toString('utf8'));
}

/** @throws EventRefusal */
export function parseEvent(text: string): unknown {
  const json = parseJson(text);
  if (json === undefined) throw new EventRefusal('The body is not JSON');
  return json;
}

/** What is at a path; null for nothing. */
export function at(json: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : null),
    json,
  );
}

/** A text or number at a path, as text; empty for nothing. Without NUL, which PostgreSQL cannot store. */
export function textAt(json: unknown, ...path: readonly string[]): string {
  const value = at(json, ...path);
  return typeof value === 'string' || typeof value === 'number' ? String(value).replaceAll('\0', '') : '';
}

/** A list at a path; empty for nothing. */
export function listAt(json: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = at(json, ...path);
  return Array.isArray(value) ? value : [];
}

/** An id of a message without its angle brackets; none if it is empty. */
export function idsOf(...ids: readonly string[]): readonly string[] {
  return ids.map((id) => id.trim().replace(/^<|>$/g, '')).filter((id) => id !== '' && id.length <= 998);
}

/** Age of a request that is still taken, in milliseconds; clocks may differ by as much. */
const toleranceMs = 300_000;

/** @param seconds Unix time as text. @throws EventRefusal if it is too old, or in the future. */
export function assertRecent(seconds: string, now: number, maxAgeMs = toleranceMs): void {
  const ageMs = now - Number(seconds) * 1000;
  const isTime = /^\d{1,12}(\.\d{1,9})?$/.test(seconds);
  if (!isTime || ageMs > maxAgeMs || ageMs < -toleranceMs) throw new EventRefusal('The event is too old');
}
