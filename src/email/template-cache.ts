/**
 * Parsed templates by their text, because the same few are rendered over and over.
 *
 * A cache may be shared by all configurations: what the parsing depends on beside the text is part of the key.
 */
import { LRUCache } from 'lru-cache';
import { parseTemplate, type Template, type TemplateOptions } from './template/template.ts';

/** What a text is parsed with. */
export type ParseOptions = Pick<TemplateOptions, 'kind' | 'extraUrlSchemes' | 'keepConditionalComments'>;

/** Characters of source that are kept at most: 26 texts in force, their drafts, and a few large ones. */
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
