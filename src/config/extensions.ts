/**
 * Extensions of the API beyond pg_graphql, each enabled by its name in `--extensions` or in a schema's comment
 * directive.
 */
import { nearestName } from './nearest-name.ts';
import { parseNames } from './value-kinds.ts';

/** All of them, in the order in which their schema names are assigned. Append new ones. */
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
  'upsert',
  'nested_writes',
  'update_operators',
  'batch_update',
  'functions',
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
 * The extensions with these names.
 *
 * @throws Error with the rest of a sentence, for an unknown name.
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
