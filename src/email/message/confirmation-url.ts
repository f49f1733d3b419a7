/**
 * The link in an email: `<link base>?token=…&type=…&redirect_to=…`, for a page that asks first also `&address=…`.
 *
 * The redirect stays readable if possible: it is encoded only if a character would not survive in the query.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { emailKinds, type LinkKind } from '../../config/auth/email-kinds.ts';
import { stampAddress } from './shown-address.ts';

interface ConfirmationLink {
  /** Public base of the auth service without a slash at the end: `https://db.example.net/auth/v1`. */
  readonly authUrl: string;
  /** The stored hash of the token; with the prefix `pkce_` in the PKCE flow. */
  readonly linkToken: string;
  /** The resolved redirect. */
  readonly redirectTo: string;
  /** Overrides the kind's type: links of the admin API use `signup` for a confirmation. */
  readonly type?: string;
  /** The recipient, for a page that asks first. Absent: it names no recipient. */
  readonly recipient?: Recipient;
}

interface Recipient {
  readonly address: string;
  /** See shown-address.ts. */
  readonly key: Buffer;
}

/** The fields that links depend on. */
type LinkConfig = Pick<
  AuthConfig,
  | 'mailer_confirmation_link_type'
  | 'mailer_link_confirmation'
  | 'mailer_urlpaths_confirmation'
  | 'mailer_urlpaths_invite'
  | 'mailer_urlpaths_recovery'
  | 'mailer_urlpaths_email_change'
>;

/** In links of test emails; no hash is like it. */
export const testEmailToken = 'test-email';

/** The URL, parameters in this order and no others: Supabase Auth's three, unless a page asks first. */
export function buildConfirmationUrl(kind: LinkKind, config: LinkConfig, link: ConfirmationLink): string {
  const type =
    link.type ?? (kind === 'confirmation' ? config.mailer_confirmation_link_type : emailKinds[kind].link.type);
  const query = `token=${encodeQuery(link.linkToken)}&type=${encodeQuery(type)}&redirect_to=${encodeRedirect(link.redirectTo)}`;
  return `${linkBase(config[emailKinds[kind].link.path], link.authUrl)}?${query}${shownTo(config, link)}`;
}

function shownTo({ mailer_link_confirmation }: LinkConfig, { linkToken, recipient }: ConfirmationLink): string {
  if (mailer_link_confirmation !== 'page' || recipient === undefined) return '';
  return `&address=${encodeRedirect(stampAddress(recipient.key, linkToken, recipient.address))}`;
}

const defaultPath = '/verify';

function linkBase(path: string, authUrl: string): string {
  // The default is this service's endpoint, wherever mounted; any other path is relative to the host.
  if (path === '' || path === defaultPath) return `${authUrl}${defaultPath}`;
  if (path.startsWith('/')) return new URL(authUrl).origin + path.replace(/[?#].*$/s, '');
  return path.replace(/[?#].*$/s, '');
}

/** Characters that survive in a query unencoded; `&`, `=` and `#` do not. */
const readable = /^[A-Za-z0-9\-._~:/?@!$'()*,;]*$/;

function encodeRedirect(url: string): string {
  return readable.test(url) ? url : encodeQuery(url);
}

/** As HTML forms encode, except `*`: all but `A-Za-z0-9-_.~`, blanks as `+`. */
function encodeQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}
