/**
 * A cache of parsed templates by their text, because the same few are rendered repeatedly.
 *
 * All configurations may share it: the parse options are part of the key.
 */
import { LRUCache } from 'lru-cache';
import { parseTemplate, type Template, type TemplateOptions } from '../engine/template.ts';

/** The options that parsing depends on. */
export type ParseOptions = Omit<TemplateOptions, 'maxMs'>;

/** Limit of cached source characters: 26 current texts, their drafts, and a few large ones. */
const maxCharacters = 8_000_000;

/** Parse options per source: those in force, and those of a change that is being checked. */
const maxOptions = 2;

/** Keyed by source only: a combined key would hash the whole source on every lookup. */
const cache = new LRUCache<string, Map<string, Template>>({
  max: 500,
  maxSize: maxCharacters,
  sizeCalculation: (_templates, source) => source.length * maxOptions + 1,
});

/** The parsed template. @throws TemplateError of the phases `parse` and `escape`. */
export function cachedTemplate(source: string, options: ParseOptions): Template {
  const { kind, extraUrlSchemes = [], keepConditionalComments = false, layout = null, partials = {} } = options;
  const surroundings = layout === null && Object.keys(partials).length === 0 ? '' : JSON.stringify([layout, partials]);
  const key = `${kind} ${keepConditionalComments} ${extraUrlSchemes.join()} ${surroundings}`;
  const templates = cache.get(source);
  const known = templates?.get(key);
  if (known !== undefined) return known;
  const template = parseTemplate(source, options);
  if (templates === undefined) cache.set(source, new Map([[key, template]]));
  else {
    if (templates.size === maxOptions) templates.clear();
    templates.set(key, template);
  }
  return template;
}
