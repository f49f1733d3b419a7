/**
 * Checks the texts of emails before they are stored: what would fail for every email is a problem, what is
 * valid but probably a mistake is a warning.
 *
 * Faults that depend on the data do not count: a template may use metadata that the samples lack.
 */
import { textFields } from '../../config/auth/auth-template-fields.ts';
import { type EmailKind, emailKindNames, emailKinds } from '../../config/auth/email-kinds.ts';
import { assertKnownCalls, isWrapped } from '../engine/compose.ts';
import { parseTemplate, type Template, templateVariables } from '../engine/template.ts';
import { TemplateError } from '../engine/template-error.ts';
import { parseOptions, type TemplatePart } from '../message/parse-options.ts';
import { Places } from './broken-links.ts';
import { ignoredNames, unknownCheck } from './check-names.ts';
import type { CheckedConfig } from './checked-config.ts';
import { describeFault } from './describe-fault.ts';
import { type ReadMarkup, readEmailMarkup } from './email-markup.ts';
import { findEmptyLinks } from './empty-links.ts';
import { findingAt, findingOnWhole, type TemplateFinding } from './finding.ts';
import { differentVariables, shorten } from './language-variables.ts';
import { maxText } from './longest-text.ts';
import { meantVariable } from './meant-variable.ts';
import { findPlainVariables, type PlainText } from './plain-variables.ts';
import { variablesThatAct } from './template-samples.ts';
import {
  brokenLinksIn,
  canContinue,
  type LinkFindings,
  maxTryMs,
  type RenderedSamples,
  tryTemplate,
} from './try-template.ts';
import { findUnevenBranches } from './uneven-branches.ts';

/** The findings. */
export interface TemplateFindings {
  readonly problem: TemplateFinding | null;
  readonly warnings: readonly TemplateFinding[];
  /** Links that lead nowhere, and emails that need a link and have none: problems for clients that ask to refuse them. */
  readonly deadEnds: readonly TemplateFinding[];
}

/** No findings. */
export const nothing: TemplateFindings = { problem: null, warnings: [], deadEnds: [] };

/** The template in a field. */
export interface TemplateField {
  readonly part: TemplatePart;
  readonly email: EmailKind;
  /** Of a translation: the text of the email itself, to compare it with; absent: it is not compared. */
  readonly base?: string | null;
  /** The field that would have to be on for the email to be sent; absent: it is sent. */
  readonly offBy?: string | null;
}

const fields: ReadonlyMap<string, TemplateField> = new Map(
  emailKindNames.flatMap((email): [string, TemplateField][] => [
    [textFields(email).subject, { part: 'subject', email }],
    [textFields(email).content, { part: 'content', email }],
    [textFields(email).text, { part: 'text', email }],
  ]),
);

/** Names of the fields with a text of an email, in order of the emails. */
export const templateFieldNames: readonly string[] = [...fields.keys()];

/** The template in a field; null for other fields. */
export function templateField(name: string): TemplateField | null {
  return fields.get(name) ?? null;
}

/** Checks one text. An empty one means the built-in one and is always valid. */
export function checkTemplate(field: TemplateField, text: string, config: CheckedConfig): TemplateFindings {
  if (text === '') return nothing;
  return findings(text, field.email, () => {
    const template = parseTemplate(text, { ...parseOptions(field.part, config), maxMs: maxTryMs });
    assertKnownCalls(template.composed);
    return { ...nothing, ...mistakesIn(template, field, config) };
  });
}

/** Checks the text of a text message. */
export function checkMessageTemplate(text: string): TemplateFindings {
  return findings(text, null, () => {
    parseTemplate(text, { kind: 'text', maxMs: maxTryMs });
    return nothing;
  });
}

function findings(text: string, email: EmailKind | null, check: () => TemplateFindings): TemplateFindings {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { ...nothing, problem: describeFault(error, text, email) };
  }
}

/** Mistakes, without those that comments of the template switch off. */
type Mistakes = Pick<TemplateFindings, 'warnings' | 'deadEnds'>;

/** Valid but probably unintended text. @param wrong As `noteWrongValue` fills it. @throws TemplateError */
export function mistakesIn(
  template: Template,
  field: TemplateField,
  config: CheckedConfig,
  wrong = new Map<string, TemplateFinding>(),
): Mistakes {
  const { source } = template;
  const trials = tryTemplate({ template, ...field }, wrong);
  const { warnings, deadEnds } = allMistakesIn({ template, ...field }, trials, config);
  const ignored = ignoredNames(source);
  const counts = notIgnored(source);
  const unknown = ignored.flatMap(({ name, at }) => {
    const problem = unknownCheck(name);
    return problem === null ? [] : [{ problem, at, length: name.length }];
  });
  return {
    warnings: [
      ...[...[...wrong.values()].slice(0, maxPlaces), ...warnings].filter(counts),
      ...unknown.slice(0, maxPlaces).map((place) => findingAt(source, place, place.problem, 'unknown-check')),
    ],
    deadEnds: deadEnds.filter(counts),
  };
}

/** Differences of a translation from the email itself. @param base The text of the email itself. */
export function languageMistakes(source: string, base: string, config: CheckedConfig): readonly TemplateFinding[] {
  return differentVariables(source, base, config, maxTryMs).filter(notIgnored(source));
}

function notIgnored(source: string): (finding: TemplateFinding) => boolean {
  const names: ReadonlySet<string | null> = new Set(ignoredNames(source).map(({ name }) => name));
  return ({ name }) => !names.has(name);
}

function allMistakesIn(
  tried: TemplateField & { readonly template: Template },
  trials: RenderedSamples,
  config: CheckedConfig,
): Mistakes {
  const { template, part, email } = tried;
  const { source, tree } = template;
  const markup = part === 'content' ? readEmailMarkup(source, config.mailer_keep_conditional_comments) : null;
  const { brokenLinks, warnings } = plainTextOf(template, email, markup);
  const act = variablesThatAct(email);
  const empty =
    part === 'content' && act.length > 0
      ? findEmptyLinks(tree, emailKinds[email].variables)
          .filter(({ at }) => isOwn(template, at))
          .slice(0, maxPlaces)
      : [];
  const isLost = act.length > 0 && part !== 'subject' && !canContinue(tried, trials, act);
  const noLink = isLost
    ? [findingOnWhole(`the email shows none of ${listed(act)}, so recipients cannot continue`, 'no-link')]
    : [];
  const body = markup === null ? { warnings: [], dead: [] } : inBody(tried, trials, { config, isLost, markup });
  const deadEnds = [
    ...empty.map(({ name, at }) => {
      const length = source.slice(at).search(/[\s|)}]|$/);
      const what = `the link would be empty: .${shorten(name)} is no variable of this email${guess(name, email)}`;
      return findingAt(source, { at, length }, what, 'dead-link');
    }),
    ...brokenLinks,
    ...(isLost ? body.dead : []),
  ];
  return {
    warnings: [
      ...emptyVariables(template, email),
      ...(part === 'subject' ? [] : unevenBranches(template, act)),
      // Most readers see the body.
      ...(part === 'text' ? noLink : []),
      ...warnings,
      ...body.warnings,
      ...(isLost ? [] : body.dead),
      ...ofLength(template, part),
      ...(part === 'content' && config.mailer_layout_content && !isWrapped(source) ? [wholePage(source)] : []),
      ...(tried.offBy ? [findingOnWhole(`the email is not sent: ${tried.offBy} is off`, 'switched-off')] : []),
      ...(tried.base ? differentVariables(source, tried.base, config, maxTryMs) : []),
    ],
    // A link that leads nowhere is told already.
    deadEnds: [...deadEnds, ...(part === 'content' && deadEnds.length === 0 ? noLink : [])],
  };
}

/** Whether a place is in the template itself, not in its layout or a partial. */
function isOwn({ source }: Template, at: number): boolean {
  return at < source.length;
}

function emptyVariables(template: Template, email: EmailKind): readonly TemplateFinding[] {
  const known: readonly string[] = emailKinds[email].variables;
  const unknown = [...templateVariables(template)]
    .filter(([name, at]) => !known.includes(name) && isOwn(template, at))
    .slice(0, maxPlaces);
  return unknown.map(([name, used]) => {
    const at = template.source.indexOf(`.${name}`, used);
    const what = `.${shorten(name)} is always empty in this email${guess(name, email)}`;
    return findingAt(template.source, { at, length: name.length + 1 }, what, 'empty-variable');
  });
}

/** Parts of an email that leave recipients without a next step, in an email that needs one. */
function unevenBranches(template: Template, act: readonly string[]): readonly TemplateFinding[] {
  if (act.length === 0) return [];
  const uneven = findUnevenBranches(template.tree, act)
    .filter((at) => isOwn(template, at))
    .slice(0, maxPlaces);
  return uneven.map((at) => {
    const [action = ''] = template.source.slice(at).split('}}', 1);
    const { length } = action.replace(/-$/, '').trimEnd();
    const what = `a branch uses none of ${listed(act)}, and another does, so some recipients cannot continue`;
    return findingAt(template.source, { at, length }, what, 'uneven-branches');
  });
}

function listed(names: readonly string[]): string {
  return names.map((name) => `.${name}`).join(', ');
}

const toSite = /^\s*\{\{-?\s*\$?\.(?:SiteURL|RedirectTo)\b/;
/** A parameter without its value, or the type of a token that is not there. */
const asksForToken =
  /[?&](?:token_hash|token|code)=(?=$|[&#]|\{\{)|[?&]type=(?:signup|email|recovery|invite|magiclink|email_change)\b/i;
const carriesToken = /\.(?:ConfirmationURL|TokenHash|Token)\b|\{\{-?\s*(?:template\b|\$\w)/;

/** What does not work in the markup of an email, links that lack their token, and links that cannot work. */
function inBody(
  tried: TemplateField & { readonly template: Template },
  trials: RenderedSamples,
  {
    config,
    isLost,
    markup: { found, links },
  }: { readonly config: CheckedConfig; readonly isLost: boolean; readonly markup: ReadMarkup },
): LinkFindings {
  const { source } = tried.template;
  const { warnings, dead } = brokenLinksIn(tried, trials, { config, places: new Places(source, links) });
  const lacking = (variablesThatAct(tried.email).length === 0 ? [] : links)
    .filter(({ address }) => toSite.test(address) && !carriesToken.test(address))
    .filter(({ address }) => isLost || asksForToken.test(address))
    .slice(0, maxPlaces);
  const told = [
    ...lacking.map(({ address, at }) => {
      const what = 'the link goes to the site without a token: write {{ .ConfirmationURL }}, or add {{ .TokenHash }}';
      return findingAt(source, { at, length: address.length }, what, 'link-without-token');
    }),
    ...found.map((place) => findingAt(source, place, place.message, place.kind)),
  ];
  return { warnings: [...told, ...warnings], dead };
}

function wholePage(source: string): TemplateFinding {
  const what = 'the email is a whole page, so the layout is not used: leave out what is around its text';
  return findingAt(source, { at: source.search(/\S/), length: '<!doctype'.length }, what, 'whole-page');
}

/** Larger bodies are cut by common mail programs. */
const maxBytes = 100 * 1024;
/** Longer subjects are cut by common mail programs. */
const maxSubject = 70;

function ofLength({ source, tree }: Template, part: TemplatePart): readonly TemplateFinding[] {
  if (part === 'subject') {
    const length = maxText(tree);
    const what = `the subject has ${length} characters, and mail programs cut it after about ${maxSubject}`;
    return length <= maxSubject ? [] : [findingOnWhole(what, 'long-subject')];
  }
  const bytes = Buffer.byteLength(source);
  const what = `the text has ${Math.ceil(bytes / 1024)} KB, and Gmail cuts emails above 100 KB`;
  return bytes <= maxBytes ? [] : [findingOnWhole(what, 'size')];
}

/** Most places reported per mistake; a template may have any number. */
const maxPlaces = 20;

/** Links to plain text (`brokenLinks` if they contain a variable without its braces), and other such variables. */
function plainTextOf({ source }: Template, email: EmailKind, markup: ReadMarkup | null) {
  const dead = (markup?.links ?? []).filter(({ isDead }) => isDead);
  const addresses = dead.map(({ address, at }): PlainText => ({ text: address, at }));
  const variables = outside(addresses, findPlainVariables(source)).slice(0, maxPlaces);
  const isBroken = ({ text }: PlainText) => variablesThatAct(email).length > 0 && !['', '#'].includes(text.trim());
  const links = (chosen: readonly PlainText[]) =>
    chosen.slice(0, maxPlaces).map(({ text, at }) => {
      const address = text.trim() === '' ? 'empty' : `the plain text ${shorten(text)}`;
      const name = /(?:^|[{ ])\.([A-Za-z]\w{0,80})/.exec(text)?.[1] ?? null;
      const advice = name === null ? '' : ` (write a variable as {{ .${name} }})`;
      const what = `the link leads nowhere, its address is ${address}${advice}`;
      return findingAt(source, { at, length: text.length }, what, 'dead-link');
    });
  return {
    brokenLinks: links(addresses.filter(isBroken)),
    warnings: [
      ...links(addresses.filter((address) => !isBroken(address))),
      ...variables.map(({ text, name, at }) => {
        const what = `${shorten(text)} is plain text and no variable: write {{ .${shorten(name)} }}`;
        return findingAt(source, { at, length: text.length }, what, 'plain-variable');
      }),
    ],
  };
}

/** Items that start outside all addresses. Both lists are in source order, and each item is visited once. */
function outside<T extends PlainText>(addresses: readonly PlainText[], found: readonly T[]): readonly T[] {
  let next = 0;
  return found.filter(({ at }) => {
    while (next < addresses.length && addresses[next]!.at + addresses[next]!.text.length <= at) next += 1;
    return next === addresses.length || at < addresses[next]!.at;
  });
}

/** Suggests the variable that was probably meant. */
function guess(name: string, email: EmailKind): string {
  if (email === 'reauthentication' && name === 'ConfirmationURL') return ' (it has a code alone: {{ .Token }})';
  const meant = meantVariable(shorten(name), email);
  return meant === null ? '' : ` (did you mean ${meant}?)`;
}
