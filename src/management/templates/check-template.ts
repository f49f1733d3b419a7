/**
 * Tries subjects and bodies of emails before they are stored: what would fail for every email is a problem, what is valid and
 * most likely a mistake a warning.
 *
 * Faults that depend on the data do not count: a template may rely on metadata that the samples here do not have.
 */
import { textFields } from '../../config/auth/auth-template-fields.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { type EmailKind, emailKindNames, emailKinds } from '../../email/email-kind.ts';
import { parseOptions, type TemplatePart, type TemplateSwitches } from '../../email/parse-options.ts';
import { findEmptyLinks } from '../../email/template/parse/empty-links.ts';
import { findDeadAddresses, findPlainVariables, type PlainText } from '../../email/template/parse/plain-variables.ts';
import { findUnevenBranches } from '../../email/template/parse/uneven-branches.ts';
import { parseTemplate, renderTemplate, type Template, templateVariables } from '../../email/template/template.ts';
import { placeOf, TemplateError } from '../../email/template/template-error.ts';
import { describeFault } from './describe-fault.ts';
import { sampleData, variablesThatAct } from './template-samples.ts';

/** What was found; sentences without the field's name. */
export interface TemplateFindings {
  readonly problem: string | null;
  readonly warnings: readonly string[];
  /** Links that lead nowhere: problems, unless whoever stores the text wants it so. */
  readonly emptyLinks: readonly string[];
}

const nothing: TemplateFindings = { problem: null, warnings: [], emptyLinks: [] };

/** The template that a field holds. */
export interface TemplateField {
  readonly part: TemplatePart;
  readonly email: EmailKind;
}

const fields: ReadonlyMap<string, TemplateField> = new Map(
  emailKindNames.flatMap((email): [string, TemplateField][] => [
    [textFields(email).subject, { part: 'subject', email }],
    [textFields(email).content, { part: 'content', email }],
  ]),
);

/** Names of the fields that hold subject or body of an email, email by email. */
export const templateFieldNames: readonly string[] = [...fields.keys()];

/** What the field holds; null for a field that is no subject or body. */
export function templateField(name: string): TemplateField | null {
  return fields.get(name) ?? null;
}

/** Checks one subject or body. Empty text stands for the built-in one and is always right. */
export function checkTemplate(field: TemplateField, text: string, switches: TemplateSwitches): TemplateFindings {
  if (text === '') return nothing;
  return findings(field.email, () => {
    const template = parseTemplate(text, { ...parseOptions(field.part, switches), maxMs: trialMs });
    tryTemplate(template, field.email);
    return { ...nothing, warnings: warningsOf(template, field), emptyLinks: emptyLinksOf(template, field) };
  });
}

/** Checks the text of a message to a phone. */
export function checkMessageTemplate(text: string): TemplateFindings {
  return findings(null, () => {
    parseTemplate(text, { kind: 'text', maxMs: trialMs });
    return nothing;
  });
}

function findings(email: EmailKind | null, check: () => TemplateFindings): TemplateFindings {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const problem = describeFault(error, email);
    return { ...nothing, problem: error.line === null ? problem : `line ${error.line}: ${problem}` };
  }
}

/** Milliseconds for what sends nothing, once for the reading and once for each rendering: it runs beside the requests of everybody. */
export const trialMs = 250;
const limitCodes = ['depth_limit', 'iteration_limit', 'output_limit', 'time_limit'];

function tryTemplate(template: Template, email: EmailKind): void {
  for (const data of sampleData(email)) {
    try {
      // Leniently, because that goes on where strictly the rendering would end.
      renderTemplate(template, data, { maxMs: trialMs, onWrongValue: () => {} });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      if (error.phase === 'escape' || limitCodes.includes(error.code)) throw error;
    }
  }
}

/** What is valid and does not do what somebody meant, links that lead nowhere among it; sentences without the field's name. */
export function mistakesIn(template: Template, field: TemplateField): readonly string[] {
  return [...warningsOf(template, field), ...emptyLinksOf(template, field)];
}

/** What is valid and most likely a mistake; sentences without the field's name. */
function warningsOf(template: Template, { part, email }: TemplateField): readonly string[] {
  const used = templateVariables(template);
  const known: readonly string[] = emailKinds[email].variables;
  const empty = used
    .filter((name) => !known.includes(name))
    .map((name) => `.${shorten(name)} is always empty in this email${guess(name, email)}`);
  const act = part === 'content' ? variablesThatAct(email) : [];
  const leadsNowhere = act.length > 0 && !act.some((name) => used.includes(name));
  const names = act.map((name) => `.${name}`).join(', ');
  const uneven = (act.length === 0 ? [] : findUnevenBranches(template.tree, act)).slice(0, maxPlaces).map((at) => {
    const { line } = placeOf(template.source, at);
    return `line ${line}: a branch uses none of ${names}, and another does, so some recipients cannot continue`;
  });
  return [
    ...empty,
    ...(leadsNowhere ? [`the email uses none of ${names}, so recipients cannot continue`] : []),
    ...uneven,
    ...plainTextOf(template, { part, email }).warnings,
  ];
}

function emptyLinksOf(template: Template, { part, email }: TemplateField): readonly string[] {
  if (part === 'subject' || variablesThatAct(email).length === 0) return [];
  const empty = findEmptyLinks(template.tree, emailKinds[email].variables).slice(0, maxPlaces);
  return [
    ...empty.map(({ name, at }) => {
      const { line } = placeOf(template.source, at);
      return `line ${line}: the link would be empty: .${shorten(name)} is no variable of this email${guess(name, email)}`;
    }),
    ...plainTextOf(template, { part, email }).brokenLinks,
  ];
}

/** Places that are reported of each mistake; a template may have any number. */
const maxPlaces = 20;

/** Links to plain text, of which those that hold a variable without its braces are `brokenLinks`, and other such variables. */
function plainTextOf({ source }: Template, { part, email }: TemplateField) {
  const addresses = part === 'subject' ? [] : findDeadAddresses(source);
  const variables = outside(addresses, findPlainVariables(source));
  const isBroken = ({ text }: PlainText) => variablesThatAct(email).length > 0 && !['', '#'].includes(text.trim());
  const links = (chosen: readonly PlainText[]) =>
    chosen.slice(0, maxPlaces).map(({ text, at }) => {
      const address = text.trim() === '' ? 'empty' : `the plain text ${shorten(text)}`;
      const advice = text.includes('.') ? ' (write a variable as {{ .Name }})' : '';
      return `line ${placeOf(source, at).line}: the link leads nowhere, its address is ${address}${advice}`;
    });
  return {
    brokenLinks: links(addresses.filter(isBroken)),
    warnings: [
      ...links(addresses.filter((address) => !isBroken(address))),
      ...variables.slice(0, maxPlaces).map(({ text, name, at }) => {
        const { line } = placeOf(source, at);
        return `line ${line}: ${shorten(text)} is plain text and no variable: write {{ .${shorten(name)} }}`;
      }),
    ],
  };
}

/** Those of which the beginning is in none of the addresses; both in the order of the source, and each is looked at once. */
function outside<T extends PlainText>(addresses: readonly PlainText[], found: readonly T[]): readonly T[] {
  let next = 0;
  return found.filter(({ at }) => {
    while (next < addresses.length && addresses[next]!.at + addresses[next]!.text.length <= at) next += 1;
    return next === addresses.length || at < addresses[next]!.at;
  });
}

/** What somebody most likely meant. */
function guess(name: string, email: EmailKind): string {
  const nearest = nearestName(shorten(name), emailKinds[email].variables);
  return nearest === null ? '' : ` (did you mean .${nearest}?)`;
}

/** A template may have names of any length. */
function shorten(name: string): string {
  return name.slice(0, 80);
}
