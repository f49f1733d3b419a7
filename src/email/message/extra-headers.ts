/**
 * The headers of an email besides the standard ones: that it was sent by a program, where replies go, and what
 * `smtp_headers` adds, such as settings of mail providers against link tracking.
 *
 * `smtp_headers` cannot replace standard headers (addresses, subject, encoding).
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { EmailKind } from '../../config/auth/email-kinds.ts';
import { isObject, parseJson } from '../../shared/json.ts';
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

/** Keeps vacation replies and other automatic answers away (RFC 3834, and Exchange). */
const automatic: ExtraHeaders = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };

/** All of one email. `smtp_headers` may override those of automatic emails. */
export function messageHeaders(
  config: Pick<AuthConfig, 'mailer_compatible' | 'mailer_reply_to' | 'smtp_headers'>,
  kind: EmailKind,
): ExtraHeaders {
  const { mailer_compatible, mailer_reply_to: replyTo, smtp_headers } = config;
  const extra = extraHeaders(smtp_headers, messageTypeOf(kind));
  const own = replyTo ? { 'Reply-To': replyTo } : {};
  return { ...without(mailer_compatible ? {} : automatic, extra), ...without(extra, own), ...own };
}

/** Supabase Auth names one type after the verb. */
function messageTypeOf(kind: EmailKind): string {
  return kind === 'reauthentication' ? 'reauthenticate' : kind;
}

/** Names are compared in any case. */
function without(headers: ExtraHeaders, others: ExtraHeaders): ExtraHeaders {
  const taken = new Set(Object.keys(others).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase())));
}

/** The headers of `smtp_headers`. Several values of a name are joined; empty names and values are left out. */
function extraHeaders(json: string | null, messageType: string): ExtraHeaders {
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
