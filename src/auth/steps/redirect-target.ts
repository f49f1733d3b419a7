/** Adds parameters to a redirect URL: to the fragment for the implicit flow, to the query for PKCE. */
import { AuthError } from '../model/auth-error.ts';

/** Names and values. */
export type Parameters = Readonly<Record<string, string>>;

/** Adds sorted parameters as the fragment. Replaces an existing fragment, unless it is the path of a hash router. */
export function withFragment(url: string, parameters: Parameters): string {
  const { beforeFragment, fragment } = split(url);
  const kept = /^[/!]/.test(fragment) ? `#${fragment}` : '';
  return toAscii(`${beforeFragment}${kept}#${encode('', parameters)}`);
}

/** Sets the parameters in the query, sorted with the existing ones. The fragment stays. */
export function withQuery(url: string, parameters: Parameters): string {
  const { beforeFragment, fragment } = split(url);
  const start = beforeFragment.indexOf('?');
  const base = start === -1 ? beforeFragment : beforeFragment.slice(0, start);
  const query = start === -1 ? '' : beforeFragment.slice(start + 1);
  return toAscii(`${base}?${encode(query, parameters)}${fragment === '' ? '' : `#${fragment}`}`);
}

function split(url: string): { readonly beforeFragment: string; readonly fragment: string } {
  const start = url.indexOf('#');
  return start === -1
    ? { beforeFragment: url, fragment: '' }
    : { beforeFragment: url.slice(0, start), fragment: url.slice(start + 1) };
}

function encode(query: string, parameters: Parameters): string {
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(parameters)) all.set(name, value);
  all.sort();
  return all.toString();
}

/** Escapes characters that a header cannot carry. */
function toAscii(url: string): string {
  return url.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent);
}

const errorWords: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** The error parameters of a redirect. An error other than `AuthError` reveals nothing of itself. */
export function errorParameters(error: unknown): Parameters {
  const { status, code, message } = error instanceof AuthError ? error : new AuthError('unexpected_failure');
  return { error: errorWords[status] ?? 'access_denied', error_code: code, error_description: message };
}
