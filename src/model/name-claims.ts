/**
 * Who has which GraphQL type name: first come, first served, all names of a thing or none (graphql.md 1.8).
 */
import { builtInTypeNames } from './codecs.ts';

/** Type names that are taken. */
export interface NameClaims {
  /**
   * Takes all the names for `holder` and returns null, or takes none and returns who has one of them, as a phrase for a
   * sentence.
   */
  claim(names: readonly string[], holder: string): string | null;
}

/** Claims that start with the names of the built-in types. */
export function createNameClaims(): NameClaims {
  const holders = new Map<string, string>([...builtInTypeNames].map((name) => [name, 'a built-in type']));
  return {
    claim(names, holder) {
      for (const name of names) {
        const other = holders.get(name);
        if (other !== undefined) return other;
      }
      for (const name of names) holders.set(name, holder);
      return null;
    },
  };
}
