/**
 * Who has which GraphQL type name. An object gets all its names or none.
 *
 * The names of a table's types are its base name with suffixes. Most bases cannot meet another name, because none begins
 * with them and goes on as a type of theirs might; what types they have is then all that is kept. Only the names of the
 * others are compared one by one: ten thousand tables have four hundred thousand.
 */
import { builtInTypeNames } from './codecs.ts';
import { tableTypeSuffixes } from './inflect.ts';
import type { TableType } from './model.ts';

/** A type of a table; null: that of its rows. */
export type ClaimedType = TableType | null;

const suffixOf = (type: ClaimedType): string => (type === null ? '' : tableTypeSuffixes[type]);

const suffixes = ['', ...new Set(Object.values(tableTypeSuffixes))];

/** What a base may have at its end, so that names of the base without it meet its own: `Edge`, or `Min` of `MinOrderBy`. */
const differences = new Set(
  suffixes.flatMap((longer) =>
    suffixes
      .filter((shorter) => shorter.length < longer.length && longer.endsWith(shorter))
      .map((shorter) => longer.slice(0, longer.length - shorter.length)),
  ),
);

/** `text` without its end; null if it has another. */
function without(text: string, end: string): string | null {
  return text.endsWith(end) ? text.slice(0, text.length - end.length) : null;
}

interface Base {
  readonly holder: () => string;
  /** Suffixes of its types. */
  readonly types: string[];
}

/** Taken names, each with its holder as a phrase. */
export class NameClaims {
  readonly #holders = new Map<string, string>();
  /** What names in `#holders` begin with, if they are those of a table. */
  readonly #stems = new Set<string>();
  /** Bases that meet no other name. */
  readonly #apart = new Map<string, Base>();
  /** All bases that were seen. */
  readonly #bases = new Set<string>();
  /** Bases that begin with another one, by that one. */
  readonly #longer = new Map<string, string[]>();

  constructor() {
    this.claim([...builtInTypeNames], 'a built-in type');
  }

  /** Takes all names for `holder` and returns null, or takes none and returns the holder of one of them. */
  claim(names: readonly string[], holder: string): string | null {
    for (const name of names) this.#meet(name);
    const taken = names.find((name) => this.#holders.has(name));
    if (taken !== undefined) return this.#holders.get(taken)!;
    for (const name of names) this.#holders.set(name, holder);
    return null;
  }

  /** The same for types of a table. */
  claimTypes(base: string, types: readonly ClaimedType[], holder: () => string): string | null {
    if (!this.#bases.has(base)) this.#add(base, holder);
    const apart = this.#apart.get(base);
    if (apart === undefined) {
      return this.claim(
        types.map((type) => base + suffixOf(type)),
        holder(),
      );
    }
    if (types.some((type) => apart.types.includes(suffixOf(type)))) return apart.holder();
    for (const type of types) apart.types.push(suffixOf(type));
    return null;
  }

  /** Before a name is looked up: bases that have it, or may get it, are compared name by name. */
  #meet(name: string): void {
    for (const suffix of suffixes) {
      const stem = without(name, suffix);
      if (stem === null || this.#stems.has(stem)) continue;
      this.#stems.add(stem);
      this.#compare(stem);
    }
  }

  #add(base: string, holder: () => string): void {
    this.#bases.add(base);
    const shorter = [...differences].flatMap((end) => without(base, end) ?? []);
    const longer = this.#longer.get(base) ?? [];
    for (const each of shorter) this.#longer.set(each, [...(this.#longer.get(each) ?? []), base]);
    const met = [...longer, ...shorter.filter((each) => this.#bases.has(each))];
    if (met.length === 0 && !this.#stems.has(base)) this.#apart.set(base, { holder, types: [] });
    for (const each of met) this.#compare(each);
  }

  /** From now on, the names of the base are compared one by one. */
  #compare(base: string): void {
    const apart = this.#apart.get(base);
    if (apart === undefined) return;
    this.#apart.delete(base);
    for (const suffix of apart.types) this.#holders.set(base + suffix, apart.holder());
  }
}
