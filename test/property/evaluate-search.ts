/**
 * Text searches over raw values (docs/extensions.md, "Text search"): words and phrases that must and must not be among those of a value.
 * The words of random worlds are those that no configuration changes but for their case.
 */
import type { Input } from './document.ts';
import { FieldError } from './encoded.ts';
import { type Condition, conjunction, prepareColumn } from './evaluate-filter.ts';
import type { Oracle } from './oracle.ts';
import { type Column, literal } from './world.ts';

type Entries = ReadonlyMap<string, Input>;

/** The ways to read a text, each with PostgreSQL's function for it. */
const parsers: Readonly<Record<string, string>> = {
  websearch: 'websearch_to_tsquery',
  plain: 'plainto_tsquery',
  phrase: 'phraseto_tsquery',
  query: 'to_tsquery',
};

/**
 * Reads the filter of a searched column; null: no condition.
 * @throws FieldError for more than one search.
 */
export function prepareSearch(oracle: Oracle, column: Column, entries: Entries): Condition | null {
  const search = searchOf(entries);
  const operators = new Map([...entries].filter(([name]) => name === 'eq' || name === 'is'));
  const conditions = [
    search && (isKnown(entries) ? findWords(column, search) : refuse),
    prepareColumn(oracle, column, operators),
  ];
  return conjunction(conditions.filter((condition) => condition !== null));
}

/** PostgreSQL alone knows the configurations, so the error comes when it is asked. */
const refuse: Condition = async () => {
  throw new FieldError(null);
};

function isKnown(entries: Entries): boolean {
  return entries.get('config') !== 'klingon';
}

/** SQL of the rank of the value `v`. @throws FieldError unless there is one search. */
export function rankExpression(entries: Entries): string {
  const search = searchOf(entries);
  if (search === null) throw new FieldError(null);
  const [by, text] = search;
  const normalization = entries.get('normalization') ?? '0';
  const name = entries.get('coverDensity') === 'true' ? 'ts_rank_cd' : 'ts_rank';
  return `${name}(v::tsvector, ${parsers[by]}('simple', ${text === null ? 'null' : literal(text)}), ${normalization})`;
}

function searchOf(entries: Entries): readonly [by: string, text: string | null] | null {
  const searches = [...entries].filter(([name, input]) => name in parsers && input !== undefined);
  const [search, other] = searches;
  if (other !== undefined) throw new FieldError(null);
  return search === undefined ? null : [search[0], search[1] as string | null];
}

function findWords(column: Column, [by, text]: readonly [string, string | null]): Condition {
  if (text === null) return async () => () => null;
  const alternatives = (by === 'websearch' ? text.split(' or ') : [text]).map((part) => termsOf(by, part));
  return async () => (row) => {
    const value = row.cells.get(column.name)?.text ?? null;
    if (value === null) return null;
    const places = new Map([...value.matchAll(/'([^']+)':([\dA-D,]+)/g)].map(([, word, at]) => [word!, placesOf(at!)]));
    // A search without words finds nothing.
    return alternatives.some(
      (terms) => terms.length > 0 && terms.every(({ words, isNegated }) => hasPhrase(places, words) !== isNegated),
    );
  };
}

/** Words that follow each other, or must not. */
interface Term {
  readonly words: readonly string[];
  readonly isNegated: boolean;
}

function termsOf(by: string, text: string): readonly Term[] {
  const wordsOf = (part: string) => part.toLowerCase().match(/[a-z]+/g) ?? [];
  if (by === 'phrase') return text === '' ? [] : [{ words: wordsOf(text), isNegated: false }];
  const terms = text.match(/[-!]?(?:"[^"]*"|\([^)]*\)|[^\s&]+)/g) ?? [];
  return terms.map((term) => ({ words: wordsOf(term), isNegated: /^[-!]/.test(term) }));
}

function placesOf(text: string): ReadonlySet<number> {
  return new Set(text.split(',').map((place) => Number.parseInt(place, 10)));
}

function hasPhrase(places: ReadonlyMap<string, ReadonlySet<number>>, [first, ...others]: readonly string[]): boolean {
  const starts = [...(places.get(first!) ?? [])];
  return starts.some((start) => others.every((word, index) => places.get(word)?.has(start + index + 1)));
}
