/**
 * Parses the target of a hook (a function of the database, or a webhook) and the secrets that sign its requests
 * (Standard Webhooks).
 *
 * The rules are Supabase Auth's: `pg-functions://postgres/schema/function`, `https://`, and `http://` only for this
 * machine.
 */

/** A function that takes and returns `jsonb`, or an address that takes and returns JSON. */
type HookTarget = HookFunction | { readonly kind: 'webhook'; readonly url: string };

/** Names contain only letters, digits and underscores, so they need no escaping in double quotes. */
export interface HookFunction {
  readonly kind: 'function';
  readonly schema: string;
  readonly name: string;
}

/** At most 63 bytes, PostgreSQL's limit. */
const namePattern = /^[a-zA-Z_][a-zA-Z0-9_]{0,62}$/;
const functionPattern = /^pg-functions:\/\/postgres\/([^/]+)\/([^/]+)$/;

/** Hosts of this machine: for development, where no network is involved. */
const localHosts = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal'];

/** @throws Error with the rest of a sentence that begins with the field's name. */
export function parseHookTarget(text: string): HookTarget {
  if (/^https?:/i.test(text)) return { kind: 'webhook', url: parseWebhookUrl(text) };
  const [, schema = '', name = ''] = functionPattern.exec(text) ?? [];
  if (namePattern.test(schema) && namePattern.test(name)) return { kind: 'function', schema, name };
  throw new Error('must be pg-functions://postgres/SCHEMA/FUNCTION or the https address of a webhook');
}

/** @throws Error with the rest of a sentence that begins with the field's name. */
function parseWebhookUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error('must be an https address');
  if (url.username !== '' || url.password !== '') throw new Error('must not have a login in it');
  if (url.protocol === 'http:' && !localHosts.includes(url.hostname)) {
    throw new Error('must be an https address; http is for this machine (localhost) alone');
  }
  return url.href;
}

/** As `parseHookTarget`, as a check of a field. */
export function checkHookTarget(text: string): string | null {
  return problemOf(() => parseHookTarget(text));
}

/** As `parseWebhookUrl`, as a check of a field. */
export function checkWebhookUrl(text: string): string | null {
  return problemOf(() => parseWebhookUrl(text));
}

/** The message of the error that `parse` throws; null for none. */
export function problemOf(parse: () => unknown): string | null {
  try {
    parse();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const secretPattern = /^v1,whsec_([A-Za-z0-9+/]{32,88}={0,2})$/;

/**
 * The keys that sign requests: `v1,whsec_BASE64`, several separated by `|`, so that a new key can be added before the
 * old one is removed.
 *
 * @throws Error with the rest of a sentence that begins with the field's name, without the text.
 */
export function parseWebhookSecrets(text: string): readonly Buffer[] {
  return text.split('|').map((part) => {
    const [, base64] = secretPattern.exec(part.trim()) ?? [];
    if (base64 !== undefined) return Buffer.from(base64, 'base64');
    throw new Error('must be secrets of the form v1,whsec_BASE64 (24 to 66 bytes), separated by |');
  });
}
