/** Groups of features beyond pg_graphql, each enabled by its name in `--extensions` or a schema's comment directive. */
import { names } from './value-kinds.ts';

/** All of them. `live` has no features yet. */
export const extensionNames = ['reads', 'writes', 'live'] as const;

/** An extension. */
export type ExtensionName = (typeof extensionNames)[number];

/** `all`, `none`, or names separated by commas. */
export function parseExtensions(text: string): readonly ExtensionName[] {
  const word = text.trim();
  if (word === 'none') return [];
  return word === 'all' ? extensionNames : toExtensions(names.parseText(word));
}

/** The extensions with these names. @throws Error with the rest of a sentence, for an unknown name. */
export function toExtensions(names: readonly string[]): readonly ExtensionName[] {
  return names.map((name) => {
    const found = extensionNames.find((each) => each === name);
    if (found !== undefined) return found;
    throw new Error(`names the extension "${name}", which does not exist; there are ${extensionNames.join(', ')}`);
  });
}
