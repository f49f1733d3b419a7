/**
 * The headers that `smtp_headers` adds to every email: settings of mail providers, for example against link tracking.
 *
 * They cannot replace standard headers (addresses, subject, encoding).
 */

import { isObject, parseJson } from '../shared/json.ts';
/** Header name -> value. */
export type ExtraHeaders = Readonly<Record<string, string>>;

/** Standard headers. */
const reserved = /^(from|to|cc|bcc|subject|date|message-id|mime-version|content-.*|resent-.*|return-path|received)$/i;

/** The characters of a header name (RFC 5322). */
const headerName = /^[!-9;-~]+$/;

/** Parses the JSON object; null if invalid. Values are texts or lists of texts; others are left out. */
export function parseExtraHeaders(json: string | null): Readonly<Record<string, readonly string[]>> | null {
  if (json === null || json.trim() === '') return {};
  const parsed = parseJson(json);
  if (!isObject(parsed)) return null;
  const entries = Object.entries(parsed).map(([name, value]) => [name, toTexts(value)] as const);
  return Object.fromEntries(entries);
}

/** The headers of one email. Several values of a name are joined; empty names and values are left out. */
export function extraHeaders(json: string | null, messageType: string): ExtraHeaders {
  const headers: [string, string][] = [];
  for (const [name, values] of Object.entries(parseExtraHeaders(json) ?? {})) {
    if (!headerName.test(name) || reserved.test(name)) continue;
    const value = values.map((text) => cleanValue(text.replaceAll('$messageType', () => messageType))).filter(Boolean);
    if (value.length > 0) headers.push([name, value.join(', ')]);
  }
  return Object.fromEntries(headers);
}

function toTexts(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string');
}

/** A line break would start another header. */
function cleanValue(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim();
}
