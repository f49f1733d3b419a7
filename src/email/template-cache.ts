/**
 * A cache of parsed templates by their text, because the same few are rendered repeatedly.
 *
 * All configurations may share it: the parse options are part of the key.
 */
import { LRUCache } from 'lru-cache';
import { parseTemplate, type Template, type TemplateOptions } from './template/template.ts';

/** The options that parsing depends on. */
export type ParseOptions = Pick<TemplateOptions, 'kind' | 'extraUrlSchemes' | 'keepConditionalComments'>;

/** Limit of cached source characters: 26 current texts, their drafts, and a few large ones. */
const maxCharacters = 8_000_000;

const cache = new LRUCache<string, Template>({
  max: 500,
  maxSize: maxCharacters,
  sizeCalculation: ({ source }) => source.length + 1,
});

/** The parsed template. @throws TemplateError of the phases `parse` and `escape`. */
export function cachedTemplate(source: string, options: ParseOptions): Template {
  const { kind, extraUrlSchemes = [], keepConditionalComments = false } = options;
  const key = `${kind} ${keepConditionalComments} ${extraUrlSchemes.join()}\n${source}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const template = parseTemplate(source, options);
  cache.set(key, template);
  return template;
}
