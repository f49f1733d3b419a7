/**
 * What rows are ordered by (docs/filters.md, "Order", "Order by related rows"): columns of the row, of a row that a path of to-one
 * relationships leads to, and what is computed of all rows at its end.
 */
import { Num } from './canonical.ts';
import { type Input, listOf } from './document.ts';
import { type Filtering, givenTo } from './evaluate-filter.ts';
import { rankExpression } from './evaluate-search.ts';
import type { Computation, Entity, ExpectedModel, Relationship } from './expected-model.ts';
import { callExpression } from './generate-routines.ts';
import type { Oracle } from './oracle.ts';
import { entityOf, type Row, relatedRows } from './reader.ts';
import { computedType, countType, rankType, type Type } from './types.ts';
import { type Column, columnOf } from './world.ts';

/** One value of an effective order, which `withSortKeys` makes a cell of the row. */
export interface OrderKey {
  /** Its name and type in the row. */
  readonly column: Column;
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
  /** Where it is read; null: it is a column of the row. */
  readonly from: Source | null;
}

interface Source {
  /** The names that lead to it in `orderBy`. */
  readonly names: readonly string[];
  readonly path: readonly Relationship[];
  /** What is computed of all rows at the end, or of the one row; null: a column of the one row. */
  readonly computation: 'count' | 'function' | Exclude<Computation, 'distinctCount'> | null;
  /** What arguments make of the value `v` of the column, as SQL; cursors end with their digest. */
  readonly expression?: string;
  /** Null for a count. */
  readonly column: Column | null;
}

/** The terms of `orderBy` with those of `distinctOn` in front, then the primary key. */
export function effectiveOrder(
  model: ExpectedModel,
  entity: Entity,
  orderBy: Input,
  distinctOn: Input,
): { readonly order: readonly OrderKey[]; readonly distinct: number } {
  const elements = orderBy === null || orderBy === undefined ? [] : listOf(orderBy);
  const chosen = elements.flatMap((element) => readElement(model, entity, element, { names: [], path: [] }));
  const ascending = (column: Column): OrderKey => ({ column, isDescending: false, nullsFirst: false, from: null });
  const key = entity.relation.key.map((name) => ascending(columnOf(entity.relation, name)));
  const named = distinctOn === null || distinctOn === undefined ? [] : listOf(distinctOn);
  const columns = new Set(named.map((name) => entity.distinctOn.get(name as string)!));
  const other = chosen.findIndex(({ column }, index) => {
    const isFirst = chosen.findIndex((each) => each.column === column) === index;
    return !isFirst || !columns.has(column);
  });
  const front = chosen.slice(0, other < 0 ? chosen.length : other);
  const added = [...columns].filter((column) => front.every((each) => each.column !== column)).map(ascending);
  return { order: [...front, ...added, ...chosen.slice(front.length), ...key], distinct: columns.size };
}

function readElement(
  model: ExpectedModel,
  entity: Entity,
  element: Input,
  way: Pick<Source, 'names' | 'path'>,
): OrderKey[] {
  if (!(element instanceof Map)) return [];
  return [...(element as ReadonlyMap<string, Input>)].flatMap(([name, input]): OrderKey[] => {
    const names = [...way.names, name];
    const relationship = entity.ordered.get(name);
    if (relationship) {
      const target = entityOf(model, relationship.target);
      const further = { names, path: [...way.path, relationship] };
      return relationship.kind === 'to-one'
        ? readElement(model, target, input, further)
        : readCollection(target, input, further);
    }
    const ranked = entity.ranks.get(name);
    const call = entity.orderCalls.get(name);
    if (ranked || call) {
      if (!(input instanceof Map)) return [];
      const given = input as ReadonlyMap<string, Input>;
      const expression = call ? callExpression(call, givenTo(call, given)) : rankExpression(given);
      const direction = (given.get('direction') ?? (call ? 'AscNullsLast' : 'DescNullsLast')) as string;
      const type = call ? (call.result as { type: Type }).type : rankType;
      const column = { ...(ranked ?? call!.takes!.column), type };
      const source = { ...way, names, computation: 'function', column, expression } as const;
      return [toKey(direction, source)];
    }
    if (typeof input !== 'string') return [];
    const column = entity.columns.get(name) ?? entity.orderFunctions.get(name);
    if (!column) throw new Error(`There is no column ${name}.`);
    const isFunction = entity.orderFunctions.has(name);
    return [toKey(input, { ...way, names, computation: isFunction ? 'function' : null, column })];
  });
}

function readCollection(entity: Entity, element: Input, way: Pick<Source, 'names' | 'path'>): OrderKey[] {
  if (!(element instanceof Map)) return [];
  return [...(element as ReadonlyMap<string, Input>)].flatMap(([name, input]): OrderKey[] => {
    const names = [...way.names, name];
    if (name === 'count') {
      return typeof input === 'string' ? [toKey(input, { ...way, names, computation: 'count', column: null })] : [];
    }
    if (!(input instanceof Map)) return [];
    const computation = name as Exclude<Computation, 'distinctCount'>;
    return [...(input as ReadonlyMap<string, Input>)].flatMap(([field, direction]): OrderKey[] => {
      if (typeof direction !== 'string') return [];
      const column = entity.orderComputations.get(computation)?.get(field) ?? null;
      if (column === null) throw new Error(`There is no ${name} of ${field}.`);
      return [toKey(direction, { ...way, names: [...names, field], computation, column })];
    });
  });
}

function toKey(direction: string, source: Source): OrderKey {
  const sides = { isDescending: direction.startsWith('Desc'), nullsFirst: direction.endsWith('First') };
  const { path, column, computation, names } = source;
  if (path.length === 0 && computation === null && column !== null) return { column, ...sides, from: null };
  const type =
    column === null
      ? countType
      : computation === null || computation === 'function'
        ? column.type
        : computedType(column.type, computation as 'sum');
  const name = `|${names.join('.')}${source.expression ?? ''}`;
  return { column: { ...(column as Column), name, type }, ...sides, from: source };
}

/** The rows with a cell for each key that is read elsewhere. */
export async function withSortKeys(
  setting: Filtering,
  order: readonly OrderKey[],
  rows: readonly Row[],
): Promise<readonly Row[]> {
  let keyed = rows;
  for (const { column, from } of order) {
    if (from === null) continue;
    const texts: (string | null)[] = [];
    for (const row of keyed) texts.push(await textAt(setting, from, row));
    const cells = await setting.oracle.cells(column.type, texts);
    keyed = keyed.map((row, index) => ({ ...row, cells: new Map([...row.cells, [column.name, cells[index]!]]) }));
  }
  return keyed;
}

async function textAt({ snapshot, oracle }: Filtering, from: Source, start: Row): Promise<string | null> {
  const { path, computation, column, expression } = from;
  let at: readonly Row[] = [start];
  for (const relationship of path) {
    if (at[0] === undefined) return null;
    at = await relatedRows(snapshot, relationship, at[0]);
  }
  if (computation === 'count') return String(at.length);
  const texts = at.map(({ cells }) => cells.get((column as Column).name)?.text ?? null);
  if (expression !== undefined) {
    const [text] = texts;
    if (text === undefined) return null;
    return ((await oracle.rank(`(${expression})::text`, [text])).get(text)?.output ?? null) as string | null;
  }
  return computation === null || computation === 'function'
    ? (texts[0] ?? null)
    : computedText(oracle, column as Column, computation, texts);
}

/** The text of what is computed of values of a column. */
export async function computedText(
  oracle: Oracle,
  column: Column,
  computation: Exclude<Computation, 'distinctCount'>,
  texts: readonly (string | null)[],
): Promise<string | null> {
  const value = await oracle.aggregate(column.type, computation, texts);
  return value === null ? null : value instanceof Num ? value.text : String(value);
}
