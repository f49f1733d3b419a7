/**
 * Finds links of a rendered sample that cannot work: a whole address that does not stand at the beginning of one, text behind the
 * confirmation link, a code in place of an access token, and redirects to applications that are filtered.
 */
import { decodeHTMLAttribute } from 'entities/decode';
import { splitPatterns } from '../../config/url-pattern.ts';
import { refusedUrl } from '../engine/escape/escape-url.ts';
import type { TemplateData } from '../engine/template.ts';
import { parseOptions } from '../message/parse-options.ts';
import type { CheckName } from './check-names.ts';
import type { CheckedConfig } from './checked-config.ts';
import type { LinkAddress } from './email-markup.ts';
import { findingAt, findingOnWhole, type TemplateFinding } from './finding.ts';
import { shorten } from './language-variables.ts';

interface BrokenLink {
  readonly message: string;
  /** The variable in it, with its dot. */
  readonly variable: string;
  readonly isDead: boolean;
}

/** Whole addresses; the site URL may be the beginning of the others. */
const wholeAddresses = ['ConfirmationURL', 'RedirectTo', 'SiteURL'] as const;

/** What is wrong with an address of a sample; null: nothing. @param data The values of the sample. */
export function brokenLink(address: string, data: TemplateData): BrokenLink | null {
  const [link, code, hash] = ['ConfirmationURL', 'Token', 'TokenHash'].map((name) => String(data[name] ?? ''));
  const inner = innerAddress(address, data);
  if (inner !== null) {
    const message = `the link cannot work: ${inner} is a whole address, so it has to begin the href`;
    return { message, variable: inner, isDead: true };
  }
  if (link && address.startsWith(link) && address !== link) {
    const behind = shorten(address.slice(link.length));
    const message = `what follows .ConfirmationURL is lost or changes where it leads: remove ${behind}, and pass it in emailRedirectTo`;
    return { message, variable: '.ConfirmationURL', isDead: false };
  }
  const [, token] = /[?&#](?:access|refresh)_token=([^&#]*)/.exec(address) ?? [];
  if (token === undefined || !(token === code || token === hash)) return null;
  const message =
    'the link cannot work: a code is no access token: write {{ .ConfirmationURL }}, or token_hash={{ .TokenHash }}';
  return { message, variable: '.Token', isDead: false };
}

/** The whole address in the middle of another one; one in a query is a parameter. */
function innerAddress(address: string, data: TemplateData): string | null {
  const [path = ''] = address.split(/[?#]/, 1);
  const at = path.slice(1).search(/https?:\/\//i) + 1;
  if (at === 0) return null;
  const before = path.slice(0, at).replace(/^[a-z][\w+.-]*:\/*/i, '');
  const known = (text: string) => wholeAddresses.find((name) => data[name] && text.startsWith(String(data[name])));
  // Behind a path of another site it may be meant: some redirect so.
  if (before.includes('/') && known(path) === undefined) return null;
  const name = known(address.slice(at));
  return name === undefined ? shorten(address.slice(at)) : `.${name}`;
}

/** The check whose findings depend on the redirect allow list. */
export const deepLink = 'deep-link';

/** The schemes of applications that the redirect allow list has, and links do not. */
export function filteredSchemes(config: CheckedConfig): readonly string[] {
  const schemes = splitPatterns(config.uri_allow_list).flatMap(
    (pattern) => /^([a-z][a-z\d+.-]*):/i.exec(pattern)?.[1]?.toLowerCase() ?? [],
  );
  const shown = ['http', 'https', 'mailto', ...(parseOptions('content', config).extraUrlSchemes ?? [])];
  return [...new Set(schemes)].filter((scheme) => !shown.includes(scheme));
}

/** The links that a redirect to an application makes unusable. @param addresses With such a redirect. @param usual Without. */
export function filteredLinks(
  { addresses, usual }: Readonly<Record<'addresses' | 'usual', readonly string[]>>,
  schemes: readonly string[],
  places: Places,
): readonly TemplateFinding[] {
  const isFiltered = (address: string) => address.startsWith(refusedUrl);
  const before = usual.filter(isFiltered).length;
  const lost = addresses.filter(isFiltered);
  if (lost.length <= before) return [];
  const names = schemes.map((scheme) => `${scheme}://`).join(', ');
  const message = `a redirect to ${names} becomes ${refusedUrl} here: add ${schemes.join(', ')} to mailer_extra_url_schemes`;
  const [lastOfAll = ''] = lost.slice(-1);
  return [places.say(lastOfAll.slice(refusedUrl.length), { message, variable: '.RedirectTo' }, deepLink)];
}

/** The links of a source, to find the place of one in a rendered sample. */
export class Places {
  readonly #source: string;
  readonly #links: readonly (LinkAddress & { readonly literals: readonly string[] })[];

  constructor(source: string, links: readonly LinkAddress[]) {
    this.#source = source;
    this.#links = links
      .filter(({ address }) => address.includes('{{'))
      .slice(0, maxPlaces)
      .map((link) => ({
        ...link,
        literals: link.address.split(/\{\{(?:[^{}]|\{(?!\{))*\}\}/).map((text) => decodeHTMLAttribute(text)),
      }));
  }

  /** A finding at the link that most likely made an address; about the text as a whole if it is in none. */
  say(address: string, { message, variable }: { message: string; variable: string }, name: CheckName): TemplateFinding {
    let [best, most]: [LinkAddress | null, number] = [null, -1];
    for (const link of this.#links) {
      if (!writes(link.literals, address)) continue;
      const likely = link.literals.join('').length + (link.address.includes(variable) ? 0.5 : 0);
      if (likely > most) [best, most] = [link, likely];
    }
    if (best === null) return findingOnWhole(message, name);
    return findingAt(this.#source, { at: best.at, length: best.address.length }, message, name);
  }
}

/** Links that are compared with each address: they may be any number. */
const maxPlaces = 200;

/** Whether an address consists of these texts, in order, with any values between them. */
function writes(literals: readonly string[], address: string): boolean {
  const [first = '', ...rest] = literals.map((text) => text.trim());
  const last = rest.pop();
  if (last === undefined) return first === address;
  if (!address.startsWith(first) || !address.endsWith(last)) return false;
  let at = first.length;
  for (const text of rest) {
    const found = address.indexOf(text, at);
    if (found < 0) return false;
    at = found + text.length;
  }
  return at <= address.length - last.length;
}
