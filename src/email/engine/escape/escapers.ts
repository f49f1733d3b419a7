/** All escapers by name. The tree escaper chooses names; rendering applies the functions in order. */
import { printShown, stringify } from '../values/stringify.ts';
import type { Value } from '../values/value.ts';
import { escapeCssString, filterCssValue } from './escape-css.ts';
import { escapeHtmlFunction, escapeMarkup, escapeUnquoted, filterName } from './escape-html.ts';
import { escapeRegexp, escapeScriptString, escapeScriptValue, escapeTemplateLiteral } from './escape-script.ts';
import { encodeQueryFunction, encodeUrl, makeSchemeFilter, makeSrcsetEscaper, normalizeUrl } from './escape-url.ts';

/** Turns a value into text that is safe in one context. Never fails. */
export type Escaper = (value: Value) => string;

/** Names of escapers; templates may call `html` and `urlquery` directly. */
export type EscaperName =
  | 'text' | 'markup' | 'unquoted' | 'name' | 'comment' | 'scheme' | 'normalUrl' | 'fullUrl' | 'srcset'
  | 'cssString' | 'cssValue' | 'scriptValue' | 'scriptString' | 'templateLiteral' | 'regexp'
  | 'html' | 'urlquery'; // biome-ignore format: a list

/** The functions of all names. */
export type Escapers = Readonly<Record<EscaperName, Escaper>>;

/** Of what stands in a comment, which is not sent. */
export const leftOut: Escaper = () => '';

/** @param extraSchemes Lower-case schemes allowed in URLs in addition to http, https and mailto. */
export function makeEscapers(extraSchemes: readonly string[]): Escapers {
  const ofText =
    (change: (text: string) => string): Escaper =>
    (value) =>
      change(stringify(value));
  return {
    text: stringify,
    markup: ofText(escapeMarkup),
    unquoted: ofText(escapeUnquoted),
    name: ofText(filterName),
    comment: leftOut,
    scheme: ofText(makeSchemeFilter(extraSchemes)),
    normalUrl: ofText(normalizeUrl),
    fullUrl: ofText(encodeUrl),
    srcset: ofText(makeSrcsetEscaper(extraSchemes)),
    cssString: ofText(escapeCssString),
    cssValue: ofText(filterCssValue),
    scriptValue: escapeScriptValue,
    scriptString: ofText(escapeScriptString),
    templateLiteral: ofText(escapeTemplateLiteral),
    regexp: ofText(escapeRegexp),
    html: (value) => escapeHtmlFunction(printShown([value])),
    urlquery: (value) => encodeQueryFunction(printShown([value])),
  };
}

/** The predefined escaper that can replace a context's. */
const equals: Partial<Record<EscaperName, EscaperName>> = {
  markup: 'html',
  normalUrl: 'urlquery',
  fullUrl: 'urlquery',
};

/** Whether a function at the end of a pipeline does the same as this escaper. */
export function isReplacedBy(escaper: EscaperName, called: string): boolean {
  return equals[escaper] === called;
}
