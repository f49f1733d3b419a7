/**
 * The pages that ask before an emailed link is used and before an identity is linked: a template around a form, whose
 * button sends what the address carried.
 *
 * The template engine escapes every value, and the form is not a value: it takes the place of a random mark that the
 * template printed, which must stand between tags.
 */
import { randomBytes } from 'node:crypto';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { linkPageField, translationsField } from '../../config/auth/auth-template-fields.ts';
import { lookUpTag } from '../../shared/language-tag.ts';
import { builtInLocales, languages as languageTexts } from '../built-in/built-in.ts';
import { parseTemplate, renderTemplate, type Template } from '../engine/template.ts';
import { unseenBehind } from '../markup/hiding-elements.ts';
import { translated } from '../message/choose-texts.ts';
import { parseOptions, type TemplateSwitches } from '../message/parse-options.ts';
import { cachedTemplate } from '../message/template-cache.ts';
import { builtInLinkPage, type LinkAction, linkPageTextsOf, pageTemplate } from './link-page-texts.ts';

/** What a page shows, and what its button sends. */
export interface LinkPage {
  readonly action: LinkAction;
  /** With its middle hidden; empty if the link does not say. */
  readonly email: string;
  readonly siteUrl: string;
  /** Language tag; empty: unknown. */
  readonly locale: string;
  /** Languages of the browser, for the button of a page whose own is not known. */
  readonly languages: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
}

/** Variables of the template. */
export const linkPageVariables: readonly string[] = ['Action', 'SiteURL', 'Email', 'Locale', 'Button'];

/** A template that makes no page whose button works. The message is the rest of a sentence that begins with "it". */
export class LinkPageFault extends Error {
  override readonly name = 'LinkPageFault';
}

/** The tag whose page is shown; empty: the configured page, whose language is unknown. */
export function chooseLinkPage(config: AuthConfig, preferredTags: readonly string[]): string {
  const own = Object.keys(config[translationsField('link_page')] ?? {});
  if (config[linkPageField]) return lookUpTag(preferredTags, own) ?? '';
  return lookUpTag(preferredTags, [...own, ...builtInLocales]) ?? 'en';
}

/** The page by the configured template. @throws LinkPageFault, TemplateError */
export function renderConfigured(config: AuthConfig, page: LinkPage): string {
  const source =
    translated(config[translationsField('link_page')], 'content', page.locale) ??
    (config[linkPageField] || builtInLinkPage(page.locale));
  return renderPage(cachedTemplate(source, { ...parseOptions('content', config), layout: null }), page);
}

/** The built-in page. */
export function renderBuiltIn(page: LinkPage): string {
  return renderPage(cachedTemplate(builtInLinkPage(page.locale), { kind: 'html' }), page);
}

/** Parses a template for trials. @throws TemplateError */
export function parseLinkPage(source: string, switches: TemplateSwitches, maxMs: number): Template {
  return parseTemplate(source, { ...parseOptions('content', switches), layout: null, maxMs });
}

/** @throws LinkPageFault, TemplateError */
export function renderPage(template: Template, page: LinkPage, maxMs?: number): string {
  const { action, email, siteUrl, locale, fields } = page;
  const data = { Action: action, SiteURL: siteUrl, Email: email, Locale: locale };
  const label = linkPageTextsOf(locale, ...page.languages).actions[action].button;
  return renderAroundForm(template, data, printForm(label, fields), maxMs);
}

/** The template with the form in place of `.Button`. @throws LinkPageFault, TemplateError */
function renderAroundForm(
  template: Template,
  values: Readonly<Record<string, string>>,
  form: string,
  maxMs?: number,
): string {
  const mark = `button-${randomBytes(16).toString('hex')}`;
  const html = renderTemplate(template, { ...values, Button: mark }, maxMs === undefined ? {} : { maxMs });
  const [before = '', ...after] = html.split(mark);
  if (after.length !== 1)
    throw new LinkPageFault(`must use {{ .Button }} exactly once, and uses it ${after.length} times`);
  const unseen = unseenBehind(before, '{{ .Button }}');
  if (unseen !== null) throw new LinkPageFault(unseen);
  if (/<form[\s/>]/i.test(html)) throw new LinkPageFault('must not have a <form> of its own: {{ .Button }} is one');
  return `${before}${form}${after[0]}`;
}

/** What the page asks before an identity is linked. */
interface LinkingPage extends Pick<LinkPage, 'siteUrl' | 'languages' | 'fields'> {
  readonly provider: string;
  /** Email address or phone number of the account that gets the identity; null if it has neither. */
  readonly account: string | null;
}

/** That page. */
export function renderLinkingPage({ provider, account, siteUrl, languages, fields }: LinkingPage): string {
  const locale = builtInLocales.find((name) => name === lookUpTag(languages, builtInLocales)) ?? 'en';
  const texts = languageTexts[locale].linking;
  const source = pageTemplate(texts.heading, `<p>${texts.account}</p>`, `<p>${texts.unexpected}</p>`);
  const data = { Provider: provider, Account: account ?? texts.guest, SiteURL: siteUrl, Locale: locale };
  return renderAroundForm(cachedTemplate(source, { kind: 'html' }), data, printForm(texts.button, fields));
}

/** The action is the page's own address without its query, whatever proxies have made of it. */
function printForm(label: string, fields: LinkPage['fields']): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  return `<form method="post" action="?">${inputs.join('')}<button type="submit">${escapeHtml(label)}</button></form>`;
}

/** Text for HTML, also inside quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\r\n]/g, (character) => `&#${character.charCodeAt(0)};`);
}
