/**
 * What the API offers beyond pg_graphql's, each by a name that `--extensions` and the comment directive of a schema switch on.
 */
import { nearestName } from './nearest-name.ts';
import { parseNames } from './value-kinds.ts';

/** All of them, in the order in which they get their names in the schema. A new extension is a new entry. */
export const extensionNames = [
  'relation_filters',
  'relation_order',
  'function_filters',
  'json_filters',
  'text_search',
  'distinct',
  'groups',
  'counts',
  'many_to_many',
  'exact_cursors',
  'domains',
  'descriptions',
] as const;

/** An extension. */
export type ExtensionName = (typeof extensionNames)[number];

/** `all`, `none`, or names separated by commas. */
export function parseExtensions(text: string): readonly ExtensionName[] {
  const word = text.trim();
  if (word === 'none') return [];
  return word === 'all' ? extensionNames : toExtensions(parseNames(word));
}

/**
 * The extensions of these names.
 *
 * @throws Error with the rest of a sentence, where one does not exist.
 */
export function toExtensions(names: readonly string[]): readonly ExtensionName[] {
  return names.map((name) => {
    const found = extensionNames.find((each) => each === name);
    if (found !== undefined) return found;
    const nearest = nearestName(name, extensionNames);
    throw new Error(
      `names the extension "${name}", which does not exist; ${nearest === null ? `there are ${extensionNames.join(', ')}` : `"${nearest}" does`}`,
    );
  });
}
