/**
 * Renders a template with samples, and says what reaches the reader: whether they can continue, and which links cannot work.
 */
import type { EmailKind } from '../../config/auth/email-kinds.ts';
import { metadataOf, renderTemplate, type Template, type TemplateData, templateVariables } from '../engine/template.ts';
import { TemplateError } from '../engine/template-error.ts';
import type { TemplatePart } from '../message/parse-options.ts';
import { brokenLink, filteredLinks, filteredSchemes, type Places } from './broken-links.ts';
import type { CheckedConfig } from './checked-config.ts';
import { isComparison, noteWrongValue } from './describe-fault.ts';
import type { TemplateFinding } from './finding.ts';
import { sampleData } from './template-samples.ts';
import { type SeenEmail, whatReadersSee } from './what-readers-see.ts';

/**
 * Time limit of checks, once for parsing and once per rendering, in milliseconds: they run beside all other requests.
 */
export const maxTryMs = 250;
const limitCodes = ['depth_limit', 'iteration_limit', 'output_limit', 'time_limit'];

/** No author has written this one down. */
const code = '904817';

/** A rendering, and what is seen of it. */
interface RenderedSample {
  readonly data: TemplateData;
  readonly seen: SeenEmail;
}

/** All renderings of a template. */
export type RenderedSamples = readonly RenderedSample[];

interface Tried {
  readonly template: Template;
  readonly email: EmailKind;
  readonly part: TemplatePart;
}

/**
 * The renderings that do not fail for want of metadata. Finds comparisons of the template itself that are false for users with the
 * metadata of a sample. @throws TemplateError
 */
export function tryTemplate({ template, email, part }: Tried, found: Map<string, TemplateFinding>): RenderedSamples {
  const lines = template.source.split('\n').length;
  return samplesOf(email).flatMap((data) => {
    try {
      // Lenient, because strict rendering would stop at the first wrong value.
      const output = renderTemplate(template, data, {
        maxMs: maxTryMs,
        onWrongValue: (message, place) => {
          // Those of a layout or partial would be told of each email.
          if (isComparison(message) && place.line <= lines) noteWrongValue(found, template, message, place);
        },
      });
      return [{ data, seen: see(output, part) }];
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      if (error.phase === 'escape' || limitCodes.includes(error.code)) throw error;
      return [];
    }
  });
}

function samplesOf(email: EmailKind): readonly TemplateData[] {
  return sampleData(email).map((data) =>
    'Token' in data ? { ...data, Token: code, SpelledToken: [...code].join(' ') } : data,
  );
}

function see(output: string, part: TemplatePart): SeenEmail {
  return part === 'content' ? whatReadersSee(output) : { text: output, addresses: [] };
}

/** Renders with other data, which may fail. */
function renderMore({ template, part }: Tried, samples: readonly TemplateData[]): RenderedSamples {
  // They share the time of one trial.
  const maxMs = Math.floor(maxTryMs / samples.length);
  return samples.flatMap((data) => {
    try {
      return [{ data, seen: see(renderTemplate(template, data, { maxMs, onWrongValue: () => {} }), part) }];
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return [];
    }
  });
}

/** Whether readers of any sample can continue. @param act Variables of which they need one. */
export function canContinue(tried: Tried, trials: RenderedSamples, act: readonly string[]): boolean {
  const shows = (trial: RenderedSample) => showsOne(trial, act);
  return trials.some(shows) || renderMore(tried, otherSamples(tried)).some(shows);
}

function showsOne({ data, seen }: RenderedSample, act: readonly string[]): boolean {
  const { text, addresses } = seen;
  // A code may be in several elements, digit by digit.
  if (act.includes('Token') && text.replace(/\D/g, '').includes(code)) return true;
  const marks = act.map((name) => markOf(name, data));
  const carries = (where: string) => marks.some((mark) => where.includes(mark));
  if (marks.some((mark) => mark !== code && text.includes(mark))) return true;
  return addresses.some(({ kind, address, isShown }) => {
    if (!isShown || !carries(address)) return false;
    // A picture may be a QR code of the link; the link itself is none.
    if (kind === 'image') return !address.startsWith(String(data.ConfirmationURL));
    return brokenLink(address, data)?.isDead !== true;
  });
}

/** What is in an address that carries a variable, however it is encoded. */
function markOf(name: string, data: TemplateData): string {
  const text = String(data[name]);
  return name === 'ConfirmationURL' ? (/token=(\w+)/.exec(text)?.[1] ?? text) : text;
}

/** Constants that are tried as values of the metadata. */
const maxConstants = 20;

/** Samples whose metadata has what the template looks for: it may write its link for those users alone. */
function otherSamples({ template, email }: Tried): readonly TemplateData[] {
  const { paths, constants } = metadataOf(template);
  const [data = {}] = samplesOf(email);
  return ['x', 1000, ...constants.slice(0, maxConstants)].map((value) => ({
    ...data,
    ...(typeof value === 'string' && { Locale: value, ...(value.includes('/') && { RedirectTo: value }) }),
    Data: withPaths(paths, value),
  }));
}

/** Maps, because a template may name a member `__proto__`. */
function withPaths(paths: readonly (readonly string[])[], value: unknown): ReadonlyMap<string, unknown> {
  const data = new Map<string, unknown>();
  // Longer ones last, because they replace the values of shorter ones.
  for (const path of [...paths].sort((a, b) => a.length - b.length)) {
    let inside = data;
    for (const name of path.slice(0, -1)) {
      const known = inside.get(name);
      const next = known instanceof Map ? known : new Map<string, unknown>();
      inside.set(name, next);
      inside = next;
    }
    inside.set(path.at(-1) ?? '', value);
  }
  return data;
}

/** Links that cannot work. */
export interface LinkFindings {
  readonly warnings: readonly TemplateFinding[];
  /** Those that lead nowhere, if there is no other way. */
  readonly dead: readonly TemplateFinding[];
}

const maxLinks = 20;

/** The links of the samples that cannot work, each once. */
export function brokenLinksIn(
  tried: Tried,
  trials: RenderedSamples,
  { config, places }: { readonly config: CheckedConfig; readonly places: Places },
): LinkFindings {
  const found = new Map<string, { readonly finding: TemplateFinding; readonly isDead: boolean }>();
  for (const { data, seen } of trials) {
    for (const { kind, address } of seen.addresses) {
      const broken = kind === 'link' && found.size < maxLinks ? brokenLink(address, data) : null;
      if (broken === null) continue;
      const finding = places.say(address, broken, 'broken-link');
      found.set(`${finding.line} ${finding.column} ${finding.message}`, { finding, isDead: broken.isDead });
    }
  }
  const dead = [...found.values()].filter(({ isDead }) => isDead);
  const others = [...found.values()].filter(({ isDead }) => !isDead);
  const deep = deepLinksIn(tried, trials, { config, places });
  return { warnings: [...others.map(({ finding }) => finding), ...deep], dead: dead.map(({ finding }) => finding) };
}

/** Links to applications that the filter of schemes makes unusable, for redirects that the allow list has. */
function deepLinksIn(
  tried: Tried,
  [usual]: RenderedSamples,
  { config, places }: { readonly config: CheckedConfig; readonly places: Places },
): readonly TemplateFinding[] {
  const schemes = filteredSchemes(config);
  if (schemes.length === 0 || usual === undefined || !templateVariables(tried.template).has('RedirectTo')) return [];
  const [deep] = renderMore(tried, [{ ...usual.data, RedirectTo: `${schemes[0]}://callback` }]);
  if (deep === undefined) return [];
  const addressesOf = ({ seen }: RenderedSample) => seen.addresses.map(({ address }) => address);
  return filteredLinks({ addresses: addressesOf(deep), usual: addressesOf(usual) }, schemes, places);
}
