/**
 * Groups of raw rows (docs/aggregates.md, "Groups"). Which values are equal, and what a date is truncated to, is PostgreSQL's.
 */
import { Num, OneOf, type Value } from './canonical.ts';
import { type Document, type Field, type Input, listOf } from './document.ts';
import { FieldError } from './encoded.ts';
import { evaluateAggregate } from './evaluate-aggregate.ts';
import { type Filtering, prepareFilter } from './evaluate-filter.ts';
import { prepareAggregate } from './evaluate-related.ts';
import type { Entity, ExpectedModel, Relationship } from './expected-model.ts';
import type { Ranked } from './oracle.ts';
import { entityOf, type Row, relatedRows } from './reader.ts';
import { type AggregateFunction, aggregateFunctions, resultsOf } from './types.ts';
import type { Column } from './world.ts';

interface Setting extends Filtering {
  readonly document: Document;
}

type Entries = ReadonlyMap<string, Input>;

interface Key {
  /** Of the relationships that lead to the row, then of the column. */
  readonly names: readonly string[];
  readonly path: readonly Relationship[];
  readonly column: Column;
  /** Over the value `v`; null: the value itself. */
  readonly expression: string | null;
}

interface Group {
  readonly keys: readonly Ranked[];
  readonly rows: readonly Row[];
}

interface Term {
  /** A key by its index, the number of rows, or a function of a column. */
  readonly of: number | 'count' | { readonly name: AggregateFunction; readonly column: Column };
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
}

/**
 * Reads the arguments of `groups`.
 * @throws FieldError for what the root field is refused for.
 */
export function prepareGroups(
  setting: Setting,
  entity: Entity,
  field: Field,
): (rows: readonly Row[]) => Promise<readonly Value[]> {
  const { document } = setting;
  const keys = readKeys(setting.model, entity, document.argument(field, 'by'));
  const [first, offset] = (['first', 'offset'] as const).map((name) => readCount(document.argument(field, name), name));
  const having = prepareHaving(setting, entity, document.argument(field, 'having'));
  const order = readOrder(entity, keys, document.argument(field, 'orderBy'));
  const type = `${entity.base}Aggregate`;
  const parts = document.fields(field.nodes, [type]);
  return async (rows) => {
    const groups: Group[] = [];
    for (const group of await groupRows(setting, keys, rows)) if (await having(group.rows)) groups.push(group);
    const sorted = await sortGroups(setting, order, groups);
    const start = offset ?? 0;
    const page = sorted.slice(start, start + Math.min(first ?? entity.maxRows, entity.maxRows));
    const answers: Value[] = [];
    for (const group of page) {
      const values = await evaluateAggregate(
        setting,
        entity,
        parts.filter(({ name }) => name !== 'key'),
        { rows: group.rows, type },
      );
      const answer = parts.map(({ key, name, nodes }): [string, Value] => [
        key,
        name === 'key' ? keyObject(setting, entity, nodes, { keys, group, names: [] }) : (values.get(key) ?? null),
      ]);
      answers.push(new Map(answer));
    }
    return answers;
  };
}

const units: Readonly<Record<string, readonly string[]>> = {
  date: ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY'],
  time: ['HOUR', 'MINUTE'],
  timestamp: ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE'],
  timestamptz: ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE'],
};

/** The type of dates and times that a column's values are of. */
export function momentOf({ type }: Column): string {
  return (type.comparedAs ?? type.sql).replace(/\(\d\)$/, '');
}

function readKeys(model: ExpectedModel, entity: Entity, by: Input): readonly Key[] {
  const keys = listOf(by).map((item) => readKey(model, entity, item as Entries));
  const texts = keys.map(({ names }) => names.join());
  if (keys.length === 0 || new Set(texts).size < keys.length) throw new FieldError(null);
  return keys;
}

function readKey(model: ExpectedModel, entity: Entity, entries: Entries): Key {
  for (const [name, below] of entries) {
    const relationship = entity.groupPaths.get(name);
    if (relationship === undefined || !(below instanceof Map)) continue;
    const key = readKey(model, entityOf(model, relationship.target), below as Entries);
    return { ...key, names: [name, ...key.names], path: [relationship, ...key.path] };
  }
  const name = entries.get('column');
  if (typeof name !== 'string') throw new FieldError('A key of "by" is one column: give one.');
  const column = entity.groupKeys.get(name);
  if (!column) throw new Error(`There is no group by ${name}.`);
  const [unit, zone] = ['truncate', 'timeZone'].map((entry) => entries.get(entry) ?? null) as (string | null)[];
  const own = { names: [name], path: [], column };
  const moment = momentOf(column);
  if (zone && (!unit || moment !== 'timestamptz')) throw new FieldError(null);
  if (zone === 'AAA1' || zone === 'No/Where') throw new FieldError(null);
  if (!unit) return { ...own, expression: null };
  if (!units[moment]?.includes(unit)) throw new FieldError(`"${name}" cannot be truncated to ${unit}.`);
  return { ...own, expression: truncation(column, unit, zone ?? null) };
}

function truncation({ type }: Column, unit: string, zone: string | null): string {
  const value = `v::${type.comparedAs ?? type.sql}`;
  switch (momentOf({ type } as Column)) {
    case 'date':
      return `date_trunc('${unit}', ${value}::timestamp)::date`;
    case 'time':
      return `date_trunc('${unit}', ${value})::time`;
    default:
      return zone === null
        ? `date_trunc('${unit}', ${value})`
        : `date_trunc('${unit}', ${value} at time zone '${zone}') at time zone '${zone}'`;
  }
}

function readCount(input: Input, name: string): number | null {
  if (typeof input !== 'string') return null;
  if (Number(input) < 0) throw new FieldError(`\`${name}\` must be an unsigned integer`);
  return Number(input);
}

function prepareHaving(setting: Setting, entity: Entity, having: Input): (rows: readonly Row[]) => Promise<boolean> {
  if (!(having instanceof Map)) return async () => true;
  const limits = { computations: entity.groups?.computations ?? null, most: Number.POSITIVE_INFINITY };
  const questions = prepareAggregate(setting.oracle, entity, having, limits);
  const filter = prepareFilter(setting, entity, having.get('filter'));
  return async (rows) => {
    const truthOf = filter === null ? () => true : await filter(rows);
    const counted = rows.filter((row) => truthOf(row) === true);
    for (const question of questions) if (!(await question(rows, counted))) return false;
    return true;
  };
}

function readOrder(entity: Entity, keys: readonly Key[], orderBy: Input): readonly Term[] {
  const elements = orderBy === null || orderBy === undefined ? [] : listOf(orderBy);
  const terms = elements.flatMap((element) => {
    const given = element as Entries;
    const inOrder = ['key', 'count', ...aggregateFunctions].filter((name) => given.has(name));
    return inOrder.flatMap((name) => readTerms(entity, keys, name, given.get(name)));
  });
  const rest = keys.flatMap((_, of) => (terms.some((term) => term.of === of) ? [] : [readTerm(of, 'AscNullsLast')]));
  return [...terms, ...rest];
}

function readTerms(entity: Entity, keys: readonly Key[], name: string, input: Input): Term[] {
  if (input === null || input === undefined) return [];
  if (name === 'count') return [readTerm('count', input)];
  if (name === 'key') return readKeyTerms(keys, input, []);
  return [...entity.columns].flatMap(([field, column]): Term[] => {
    const direction = (input as Entries).get(field);
    if (direction === null || direction === undefined) return [];
    return [readTerm({ name: name as AggregateFunction, column }, direction)];
  });
}

/** @param names Of the relationships above. */
function readKeyTerms(keys: readonly Key[], input: Input, names: readonly string[]): Term[] {
  if (!(input instanceof Map)) return [];
  return [...(input as Entries)].flatMap(([field, below]): Term[] => {
    if (below === null || below === undefined) return [];
    const all = [...names, field];
    if (below instanceof Map) return readKeyTerms(keys, below, all);
    const of = keys.findIndex((key) => key.names.join() === all.join());
    if (of < 0) throw new FieldError(`Groups cannot be ordered by "${field}", which is not in "by".`);
    return [readTerm(of, below)];
  });
}

function readTerm(of: Term['of'], direction: Input): Term {
  const text = String(direction);
  return { of, isDescending: text.startsWith('Desc'), nullsFirst: text.endsWith('First') };
}

async function groupRows({ oracle, snapshot }: Setting, keys: readonly Key[], rows: readonly Row[]): Promise<Group[]> {
  const values: ((row: Row) => Ranked)[] = [];
  for (const { column, expression, path } of keys) {
    const ends = new Map<Row, Row | undefined>();
    for (const row of rows) ends.set(row, await rowAt(snapshot, path, row));
    const cellOf = (row: Row) => ends.get(row)?.cells.get(column.name);
    const textOf = (row: Row) => cellOf(row)?.text ?? null;
    if (expression === null) {
      values.push((row) => {
        const { text, rank, output } = cellOf(row) ?? { text: null, rank: 0, output: null };
        return { rank: text === null ? null : rank, output };
      });
      continue;
    }
    const made = await oracle.rank(expression, rows.map(textOf));
    values.push((row) => made.get(textOf(row))!);
  }
  const groups = Map.groupBy(rows, (row) => JSON.stringify(values.map((ranked) => ranked(row).rank)));
  return [...groups.values()].map((members) => ({
    rows: members,
    keys: values.map((ranked) => ({
      rank: ranked(members[0]!).rank,
      output: new OneOf(members.map((row) => ranked(row).output)),
    })),
  }));
}

async function sortGroups({ oracle }: Setting, order: readonly Term[], groups: readonly Group[]): Promise<Group[]> {
  const ranks = new Map<Group, (number | null)[]>(groups.map((group) => [group, []]));
  for (const { of } of order) {
    if (typeof of === 'object') {
      const texts: (string | null)[] = [];
      for (const { rows } of groups) {
        const value = await oracle.aggregate(
          of.column.type,
          of.name,
          rows.map(({ cells }) => cells.get(of.column.name)?.text ?? null),
        );
        texts.push(value === null ? null : value instanceof Num ? value.text : String(value));
      }
      const isSum = ['Sum', 'Avg'].includes(resultsOf(of.name));
      const ranked = await oracle.rank(
        `v::${isSum ? 'numeric' : (of.column.type.comparedAs ?? of.column.type.sql)}`,
        texts,
      );
      for (const [index, group] of groups.entries()) ranks.get(group)!.push(ranked.get(texts[index]!)!.rank);
    } else {
      for (const group of groups) ranks.get(group)!.push(of === 'count' ? group.rows.length : group.keys[of]!.rank);
    }
  }
  return [...groups].sort((a, b) => {
    for (const [index, { isDescending, nullsFirst }] of order.entries()) {
      const [one, other] = [ranks.get(a)![index]!, ranks.get(b)![index]!];
      if (one === other) continue;
      if (one === null || other === null) return (one === null) === nullsFirst ? -1 : 1;
      return one < other === isDescending ? 1 : -1;
    }
    return 0;
  });
}

/** The row that relationships lead to. */
async function rowAt(
  snapshot: Setting['snapshot'],
  path: readonly Relationship[],
  start: Row,
): Promise<Row | undefined> {
  let at: Row | undefined = start;
  for (const relationship of path) at = at && (await relatedRows(snapshot, relationship, at))[0];
  return at;
}

/** @param of `names` are those of the relationships above. */
function keyObject(
  setting: Setting,
  entity: Entity,
  nodes: Field['nodes'],
  of: { readonly keys: readonly Key[]; readonly group: Group; readonly names: readonly string[] },
): Value {
  const type = `${entity.base}GroupKey`;
  let isKey = of.names.length === 0;
  const members = setting.document.fields(nodes, [type]).map(({ key, name, nodes: below }): [string, Value] => {
    if (name === '__typename') return [key, type];
    const names = [...of.names, name];
    const relationship = entity.groupPaths.get(name);
    if (relationship !== undefined) {
      const object = keyObject(setting, entityOf(setting.model, relationship.target), below, { ...of, names });
      isKey ||= object !== null;
      return [key, object];
    }
    const index = of.keys.findIndex((each) => each.names.join() === names.join());
    isKey ||= index >= 0;
    return [key, of.group.keys[index]?.output ?? null];
  });
  // A related row of which nothing is a key is none.
  return isKey ? new Map(members) : null;
}
