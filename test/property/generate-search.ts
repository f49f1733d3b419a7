/**
 * Invents text searches: words and phrases that must be there, others that must not, and orders by rank.
 */
import type { Random } from './random.ts';
import { nullValue, type Writer, type Written, writeObject, writeToken } from './writer.ts';

const words = ['tea', 'jam', 'milk', 'cup', 'Tea', 'none'];
const neighbors = ['cup', 'jam', 'milk', 'milk', 'jam'];

/** The filter of a searched column. @param eq An operand of `eq`. */
export function writeSearchFilter(writer: Writer, eq: () => Written): Written {
  const { random } = writer;
  if (random.chance(0.04)) return nullValue;
  return writer.value({ type: 'TextSearchFilter' }, () => {
    const search = random.chance(0.85) ? writeSearch(writer) : [];
    const isEqual = search.length === 0 || random.chance(0.05);
    const is = () => writeToken(random, random.pick(['NULL', 'NOT_NULL']));
    return writeObject([
      ...search,
      ...(isEqual ? [['eq', random.chance(0.1) ? nullValue : writer.value({ type: 'Opaque' }, eq)] as const] : []),
      ...(random.chance(0.1) ? [['is', writer.value({ type: 'FilterIs', canBeNull: false }, is)] as const] : []),
    ]);
  });
}

/** A search with a configuration that the database does not have: an error, if it is asked about. */
export function writeUnknownConfig({ random }: Writer): Written {
  const write = (text: string): Written => ({ text: JSON.stringify(text), json: text });
  return writeObject([
    [random.pick(['websearch', 'plain', 'phrase', 'query']), write('tea')],
    ['config', write('klingon')],
  ]);
}

/** The order by the rank of a searched column. */
export function writeRank(writer: Writer, direction: () => Written): Written {
  const { random } = writer;
  if (random.chance(0.04)) return nullValue;
  return writer.value({ type: 'TextSearchOrder' }, () => {
    return writeObject([
      ...writeRankEntries(writer),
      ...(random.chance(0.6) ? [['direction', direction()] as const] : []),
    ]);
  });
}

/** The search of a rank, and how it is computed: as arguments of a field, too. */
export function writeRankEntries(writer: Writer): (readonly [string, Written])[] {
  const { random } = writer;
  const normalization = random.pick([0, 1, 2, 32]);
  const isCover = random.chance(0.5);
  return [
    ...(random.chance(0.02) ? [] : writeSearch(writer)),
    ...(random.chance(0.3) ? [['normalization', { text: String(normalization), json: normalization }] as const] : []),
    ...(random.chance(0.3) ? [['coverDensity', { text: String(isCover), json: isCover }] as const] : []),
  ];
}

function writeSearch(writer: Writer): (readonly [string, Written])[] {
  const { random } = writer;
  const by = random.pick(['websearch', 'websearch', 'websearch', 'plain', 'phrase', 'query']);
  const [first, second] = [textOf(random, by), textOf(random, 'plain')];
  const write = (text: string) => () => ({ text: JSON.stringify(text), json: text });
  const config = random.pick(['simple', 'simple', 'Simple', 'english', null, undefined]);
  const searches: (readonly [string, Written])[] = [
    [by, random.chance(0.03) ? nullValue : writer.value({ type: 'String' }, write(first))],
    // Two of them are refused.
    ...(by !== 'plain' && random.chance(0.02)
      ? [['plain', writer.value({ type: 'String' }, write(second))] as const]
      : []),
  ];
  if (config === undefined) return searches;
  return [...searches, ['config', config === null ? nullValue : writer.value({ type: 'String' }, write(config))]];
}

function textOf(random: Random, by: string): string {
  const sign = { websearch: '-', query: '!' }[by];
  const count = random.pick([1, 1, 1, 2, 2, 3]);
  if (random.chance(0.03) && by !== 'query') return '';
  if (by === 'phrase') return phraseOf(random, count).join(' ');
  const all = Array.from({ length: count }, () => {
    const isPhrase = sign !== undefined && random.chance(0.25);
    const words = phraseOf(random, isPhrase ? random.pick([1, 2, 2, 3]) : 1);
    const term = !isPhrase ? words[0]! : by === 'query' ? `(${words.join(' <-> ')})` : `"${words.join(' ')}"`;
    return sign !== undefined && random.chance(0.3) ? `${sign}${term}` : term;
  });
  if (by === 'query') return all.join(' & ');
  return all.join(by === 'websearch' && random.chance(0.25) ? ' or ' : ' ');
}

/** Words that often stand in this order in a value. */
function phraseOf(random: Random, count: number): string[] {
  const start = random.int(0, neighbors.length - count);
  return random.chance(0.6)
    ? neighbors.slice(start, start + count)
    : Array.from({ length: count }, () => random.pick(words));
}
