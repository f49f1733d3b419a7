/** W3C Trace Context: the headers by which a request says which trace it belongs to. Anyone may send them. */
import { randomFillSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A span as other machines know it. */
export interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** Whoever made it has recorded it, or says so. */
  readonly isSampled: boolean;
  /** What tracing systems keep beside it, as they wrote it; empty: nothing. */
  readonly state: string;
}

const traceParent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const onlyZeros = /^0+$/;
/** Longest text of `tracestate`; the standard demands 512 characters. */
const maxStateLength = 512;
const stateMember = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const maxStateMembers = 32;

/** What the headers say; null without a valid `traceparent`. An invalid `tracestate` is ignored alone. */
export function readTraceParent({ traceparent, tracestate }: IncomingHttpHeaders): TraceParent | null {
  if (typeof traceparent !== 'string') return null;
  const [, version, traceId = '', spanId = '', flags = '', more] = traceParent.exec(traceparent) ?? [];
  // Later versions may append fields.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (onlyZeros.test(traceId) || onlyZeros.test(spanId)) return null;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isSampled, state: typeof tracestate === 'string' ? readState(tracestate) : '' };
}

function readState(text: string): string {
  if (text.length > maxStateLength) return '';
  const members = text.split(',').map((member) => member.trim());
  const named = members.filter((member) => member !== '');
  const keys = new Set(named.map((member) => member.slice(0, member.indexOf('='))));
  const isValid = named.every((member) => stateMember.test(member)) && keys.size === named.length;
  return isValid && named.length <= maxStateMembers ? named.join(',') : '';
}

/** The headers for a request to another machine. */
export function traceHeaders(parent: TraceParent): Readonly<Record<string, string>> {
  const traceparent = writeTraceParent(parent);
  return parent.state === '' ? { traceparent } : { traceparent, tracestate: parent.state };
}

/** The header `traceparent`. */
export function writeTraceParent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Made in advance, because asking for few at a time costs more. */
const random = Buffer.alloc(4096);
let used = random.length;

/** A new id of so many random bytes, in hexadecimal digits. */
export function randomId(bytes: 8 | 16): string {
  if (used + bytes > random.length) {
    randomFillSync(random);
    used = 0;
  }
  const id = random.toString('hex', used, used + bytes);
  used += bytes;
  return onlyZeros.test(id) ? randomId(bytes) : id;
}
