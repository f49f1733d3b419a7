/**
 * Values for columns, filters, orders and cursors of random operations: often those of existing rows, so that they match.
 */
import { encodeArray } from './encoded.ts';
import type { OrderKey } from './evaluate-order.ts';
import { argumentName, type Entity, type ExpectedModel, type Relationship } from './expected-model.ts';
import { writeJsonFilter } from './generate-json.ts';
import { writeRelated } from './generate-related.ts';
import { writeRank, writeSearchFilter } from './generate-search.ts';
import type { Random } from './random.ts';
import { entityOf } from './reader.ts';
import type { Type } from './types.ts';
import { type Column, columnOf, type Relation, type Routine } from './world.ts';
import { nullValue, type Writer, type Written, writeList, writeObject, writeScalar, writeToken } from './writer.ts';

/** A cursor that an earlier page answered, with the order it belongs to. */
export interface KnownCursor {
  readonly entity: Entity;
  readonly order: readonly OrderKey[];
  readonly text: string;
}

/** What operations are made from. */
export interface Material {
  readonly model: ExpectedModel;
  /** jsonb texts and plain texts of existing values. */
  readonly texts: (relation: Relation, column: string) => readonly (string | null)[];
  readonly nodeIds: (relation: Relation) => readonly string[];
  /** How many related rows each row has. */
  readonly sizes: (from: Relation, relationship: Relationship) => readonly number[];
  readonly cursors: readonly KnownCursor[];
}

/** A value of a column: of an existing row, or any of its type. */
export function columnText(random: Random, material: Material, relation: Relation, column: Column): string {
  const known = material.texts(relation, column.name).filter((text) => text !== null);
  return known.length > 0 && !column.type.isList && random.chance(0.7)
    ? random.pick(known)
    : random.pick(column.type.values);
}

/** One value of the type's own GraphQL type. */
export function scalarOf(random: Random, type: Type, text: string): Written {
  return writeScalar(random, type, text) ?? writeScalar(random, type, '0.5') ?? nullValue;
}

/** The filter of a connection, an update or a deletion, or of the rows that so many relationships lead to. */
export function writeFilter(writer: Writer, material: Material, entity: Entity, depth = 2, passed = 0): Written {
  const { random } = writer;
  // Conditions beside it would often decide alone.
  const isRelated = passed < 3 && entity.related.size > 0 && random.chance(0.4);
  const entries: [string, Written][] = random
    .some(isRelated ? [] : [...entity.filters], Math.min(0.9, 1.3 / entity.filters.size))
    .map(([name, column]) => [name, writeColumnFilter(writer, material, entity, column)]);
  for (const [name, column] of isRelated ? [] : random.some([...entity.json], 0.5)) {
    const known = material.texts(entity.relation, column.name).filter((text) => text !== null);
    entries.push([name, writeJsonFilter(writer, column.type, known)]);
  }
  for (const [name, column] of isRelated ? [] : random.some([...entity.searches], 0.4))
    entries.push([name, writeSearchOf(writer, material, entity, column)]);
  for (const [name, routine] of isRelated ? [] : random.some([...entity.filterCalls], 0.3))
    entries.push([name, random.chance(0.04) ? nullValue : writeObject(writeGiven(writer, material, routine))]);
  const type = `${entity.base}Filter`;
  const inner = () => writeFilter(writer, material, entity, depth - 1, passed);
  for (const name of depth > 0 ? random.some(['and', 'or', 'not'], 0.15) : []) {
    if (entity.filters.has(name) || entity.searches.has(name)) continue;
    const members = () => (random.chance(0.1) ? inner() : writeList(Array.from({ length: random.int(0, 3) }, inner)));
    const place = { type: name === 'not' ? type : `[${type}!]` };
    entries.push([name, random.chance(0.04) ? nullValue : writer.value(place, name === 'not' ? inner : members)]);
  }
  for (const [name, relationship] of passed < 3 ? random.some([...entity.related], isRelated ? 0.7 : 0.15) : []) {
    if (!writer.mayRelate()) continue;
    entries.push([
      name,
      random.chance(0.04)
        ? nullValue
        : writeRelated(writer, material, { from: entity.relation, relationship }, passed + 1),
    ]);
  }
  const ids = material.nodeIds(entity.relation);
  if (ids.length > 0 && random.chance(0.06)) {
    const id = random.pick(ids);
    const operand = writer.value({ type: 'ID', canBeNull: false }, () => ({ text: JSON.stringify(id), json: id }));
    entries.push(['nodeId', writeObject([['eq', operand]])]);
  }
  return writeObject(random.shuffle(entries));
}

/** The search of a column. */
function writeSearchOf(writer: Writer, material: Material, entity: Entity, column: Column): Written {
  const { random } = writer;
  return writeSearchFilter(writer, () =>
    scalarOf(random, column.type, columnText(random, material, entity.relation, column)),
  );
}

/** The argument behind the row of a function: often a value of the column that it reads. */
export function writeGiven(
  writer: Writer,
  material: Material,
  { takes, of, ...routine }: Routine,
): [string, Written][] {
  const { random } = writer;
  return routine.arguments.flatMap(({ name, type, default: value }): [string, Written][] => {
    const field = argumentName({ takes, of, ...routine }, name);
    if (value !== null && random.chance(0.3)) return [];
    if (value !== null && random.chance(0.1)) return [[field, nullValue]];
    const one = () => scalarOf(random, type, columnText(random, material, of as Relation, takes!.column));
    const item = () => (random.chance(0.1) ? nullValue : writer.value({ type: type.graphql }, one));
    const write = () => (type.isList ? writeList(Array.from({ length: random.int(0, 3) }, item)) : one());
    const place = { type: type.isList ? `[${type.graphql}]` : type.graphql, isRequired: value === null };
    return [[field, writer.value(place, write)]];
  });
}

/** The operators of a column, or of what is computed of one. */
export function writeColumnFilter(writer: Writer, material: Material, entity: Entity, column: Column): Written {
  const { random } = writer;
  if (random.chance(0.04)) return nullValue;
  const { type } = column;
  const filterType = `${type.graphql}${type.isList ? 'List' : ''}Filter`;
  return writer.value({ type: filterType }, () => {
    const all = [...type.operators, ...(type.elements === null ? [] : elementOperators)];
    const operators = random.chance(0.04) ? [] : new Set([random.pick(all), ...random.some(all, 0.08)]);
    return writeObject(
      [...operators].map((operator) => [operator, writeOperand(writer, material, { entity, column, operator })]),
    );
  });
}

function writeOperand(
  writer: Writer,
  material: Material,
  { entity, column, operator }: { entity: Entity; column: Column; operator: string },
): Written {
  const { random } = writer;
  const { type } = column;
  if (operator === 'is') {
    return writer.value({ type: 'FilterIs', canBeNull: false }, () =>
      writeToken(random, random.pick(['NULL', 'NOT_NULL'])),
    );
  }
  if (random.chance(0.03)) return nullValue;
  const { elements } = type;
  if (elements !== null && elementOperators.includes(operator))
    return writeColumnFilter(writer, material, entity, { ...column, name: 'its elements', type: elements });
  const one = () => scalarOf(random, type, columnText(random, material, entity.relation, column));
  if (operator === 'in' || type.isList) {
    const many = () =>
      writeList(
        Array.from({ length: random.int(0, 3) }, () => writer.value({ type: type.graphql, isRequired: true }, one)),
      );
    return writer.value({ type: `[${type.graphql}!]` }, () => (random.chance(0.15) ? one() : many()));
  }
  if (['startsWith', 'like', 'ilike', 'regex', 'iregex'].includes(operator)) {
    const text = patternOf(random, operator, columnText(random, material, entity.relation, column));
    return writer.value({ type: 'String' }, () => ({ text: JSON.stringify(text), json: text }));
  }
  return writer.value({ type: type.graphql }, one);
}

const elementOperators: readonly string[] = ['anyElement', 'anyElement', 'everyElement'];

function patternOf(random: Random, operator: string, text: string): string {
  const start = [...text].slice(0, random.int(0, 3)).join('');
  if (operator === 'startsWith') return random.pick([start, '%', '', 'a ', 'A']);
  if (operator.endsWith('like'))
    return random.pick([`${start.replaceAll('\\', '\\\\')}%`, '%a%', '_', '%', 'A%', '\\%', '']);
  return random.pick(['^a', 'b$', '^$', '.', '[a-c]+', 'é|日', '\\d', 'A', '^.{2}$']);
}

/** A value of `orderBy`; there is no such argument where no column can be ordered by. */
export function writeOrder(writer: Writer, material: Material, entity: Entity): Written {
  const { random } = writer;
  const single = () => writeOrderElement(writer, material, entity, 0);
  const element = () => (entity.isExact && random.chance(0.15) ? joinObjects(single(), single()) : single());
  const type = `${entity.base}OrderBy`;
  if (random.chance(0.1)) return writer.value({ type }, element);
  const many = () =>
    writeList(Array.from({ length: random.int(0, 3) }, () => writer.value({ type, isRequired: true }, element)));
  return writer.value({ type: `[${type}!]` }, many);
}

/** One object with the members of both, unless they share one. */
function joinObjects(one: Written, other: Written): Written {
  const [left, right] = [one.json as object, other.json as object];
  if (Object.keys(left).some((key) => key in right)) return one;
  return { text: `{${one.text.slice(1, -1)}, ${other.text.slice(1, -1)}}`, json: { ...left, ...right } };
}

/** A direction of an order. */
function writeOrderElement(writer: Writer, material: Material, entity: Entity, passed: number): Written {
  const { random } = writer;
  if (random.chance(0.03)) return writeObject([]);
  const related = passed < 3 ? [...entity.ordered] : [];
  if (related.length > 0 && random.chance(passed === 0 ? 0.4 : 0.65)) {
    // Few tables have flags.
    const flagged = related.filter(
      ([, { kind, target }]) => kind === 'to-many' && hasFlags(entityOf(material.model, target)),
    );
    const [name, { kind, target }] = random.pick([...related, ...flagged, ...flagged, ...flagged]);
    const other = entityOf(material.model, target);
    const type = `${other.base}${kind === 'to-one' ? 'OrderBy' : 'AggregateOrderBy'}`;
    const below = () =>
      kind === 'to-one' ? writeOrderElement(writer, material, other, passed + 1) : writeCollectionOrder(writer, other);
    return writeObject([[name, random.chance(0.03) ? nullValue : writer.value({ type }, below)]]);
  }
  const columns = [...entity.columns].filter(([, { type }]) => type.canOrder).map(([name]) => name);
  const direction = () => writer.value({ type: 'OrderByDirection', isRequired: true }, () => directionToken(random));
  const argued = [...entity.ranks.keys(), ...entity.orderCalls.keys()];
  if (argued.length > 0 && random.chance(0.25)) {
    const name = random.pick(argued);
    const routine = entity.orderCalls.get(name);
    if (routine === undefined) return writeObject([[name, writeRank(writer, direction)]]);
    const given = writeGiven(writer, material, routine);
    const isDirected = random.chance(0.6);
    return writeObject([[name, writeObject([...given, ...(isDirected ? [['direction', direction()] as const] : [])])]]);
  }
  const sortable = [...columns, ...entity.orderFunctions.keys()];
  return writeObject([[random.pick(sortable), random.chance(0.04) ? nullValue : writeDirection(writer)]]);
}

function hasFlags({ orderComputations }: Entity): boolean {
  return orderComputations.has('boolOr');
}

function writeCollectionOrder(writer: Writer, { base, orderComputations }: Entity): Written {
  const { random } = writer;
  if (orderComputations.size === 0 || random.chance(0.4)) return writeObject([['count', writeDirection(writer)]]);
  const flags = [...orderComputations].filter(([name]) => name === 'boolAnd' || name === 'boolOr');
  const [name, columns] = random.pick(flags.length > 0 && random.chance(0.7) ? flags : [...orderComputations]);
  const type = `${base}OrderBy`;
  const below = () => writeObject([[random.pick([...columns.keys()]), writeDirection(writer)]]);
  return writeObject([[name, writer.value({ type }, below)]]);
}

export function writeDirection(writer: Writer): Written {
  return writer.value({ type: 'OrderByDirection' }, () => directionToken(writer.random));
}

function directionToken(random: Random): Written {
  return writeToken(random, random.pick(['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast']));
}

/** The seven arguments of a connection, mostly a combination that is legal. */
export function writeConnectionArguments(writer: Writer, material: Material, entity: Entity): string {
  const { random } = writer;
  const entries: [string, Written][] = [];
  const known = material.cursors.filter((cursor) => cursor.entity.relation === entity.relation);
  const cursor = known.length > 0 && random.chance(0.4) ? random.pick(known) : null;
  const isBackward = random.chance(0.35);
  const sortable = [...entity.columns].filter(([, { type }]) => type.canOrder).map(([name]) => name);
  const count = (name: string, low: number, high: number): void => {
    entries.push([
      name,
      random.chance(0.03) ? nullValue : writer.value({ type: 'Int' }, () => whole(random.int(low, high))),
    ]);
  };
  if (random.chance(0.6)) count(isBackward ? 'last' : 'first', 0, random.pick([2, 5, 40]));
  if (!isBackward && random.chance(0.2)) count('offset', 0, 4);
  if (cursor !== null) {
    const text = changeCursor(random, cursor);
    entries.push([
      isBackward ? 'before' : 'after',
      writer.value({ type: 'Cursor' }, () => ({ text: JSON.stringify(text), json: text })),
    ]);
    const named = orderArgument(entity, cursor.order.slice(0, cursor.order.length - entity.relation.key.length));
    if (named === null) return '';
    if (named.json !== null) entries.push(['orderBy', named]);
  } else if (random.chance(0.5) && sortable.length > 0)
    entries.push(['orderBy', random.chance(0.04) ? nullValue : writeOrder(writer, material, entity)]);
  if (entity.distinctOn.size > 0 && random.chance(0.15)) {
    // Behind a cursor, those columns that its order begins with.
    const leading = new Set(cursor?.order.slice(0, random.int(1, 2)).map(({ column }) => column));
    const all = [...entity.distinctOn].filter(([, column]) => cursor === null || leading.has(column));
    // What its order does not name is put in front of it in the order of the list, so that is the order of the cursor.
    const places = [...leading];
    const byPlace = (one: string, other: string) =>
      places.indexOf(entity.distinctOn.get(one)!) - places.indexOf(entity.distinctOn.get(other)!);
    const chosen = new Set([
      ...(all.length > 0 ? [random.pick(all)[0]] : []),
      ...random.some(all, 0.1).map(([name]) => name),
    ]);
    const names = new Set(cursor === null ? chosen : [...chosen].sort(byPlace));
    const isWhole = cursor === null || names.size === leading.size;
    const type = `${entity.base}Column`;
    const one = (name: string) => writer.value({ type, isRequired: true }, () => writeToken(random, name));
    const write = () => (names.size === 1 && random.chance(0.2) ? one([...names][0]!) : writeList([...names].map(one)));
    if (isWhole) entries.push(['distinctOn', writer.value({ type: `[${type}!]`, canBeNull: cursor === null }, write)]);
  }
  if (random.chance(0.45)) {
    const filter = () => writeFilter(writer, material, entity);
    entries.push(['filter', random.chance(0.03) ? nullValue : writer.value({ type: `${entity.base}Filter` }, filter)]);
  }
  if (random.chance(0.02)) entries.push(...illegal(random, entries));
  return argumentsText(random.shuffle(entries));
}

/** Arguments in parentheses, nothing where there are none. */
export function argumentsText(entries: readonly (readonly [string, Written])[]): string {
  return entries.length === 0 ? '' : `(${entries.map(([name, { text }]) => `${name}: ${text}`).join(', ')})`;
}

function whole(value: number): Written {
  return { text: String(value), json: value };
}

/** An argument more that makes the combination illegal, or is wrong by itself. */
function illegal(random: Random, entries: readonly (readonly [string, Written])[]): [string, Written][] {
  const wrong: readonly [string, Written][] = [
    ['first', whole(-1)],
    ['last', whole(-2)],
    ['first', whole(2)],
    ['last', whole(2)],
    ['offset', whole(-1)],
    ['after', { text: '"no cursor"', json: 'no cursor' }],
    ['before', { text: '"W10="', json: 'W10=' }],
    ['after', { text: '"e30="', json: 'e30=' }],
  ];
  return wrong
    .filter(([name]) => !entries.some(([given]) => given === name))
    .slice(random.int(0, 5))
    .slice(0, 1) as [string, Written][];
}

/** A cursor as it was, shortened, or with another value of the same type in it. */
function changeCursor(random: Random, { text, order }: KnownCursor): string {
  const elements = splitCursor(text);
  if (random.chance(0.15)) return encodeArray(elements.slice(0, random.int(1, elements.length)));
  if (random.chance(0.1)) {
    const index = random.int(0, elements.length - 1);
    const value = random.chance(0.3)
      ? 'null'
      : JSON.stringify(random.pick((order[index] as OrderKey).column.type.values));
    return encodeArray(elements.with(index, value));
  }
  return text;
}

/** The elements of a cursor as JSON texts; a text holds commas and blanks, so they are found by reading. */
function splitCursor(cursor: string): string[] {
  const text = Buffer.from(cursor, 'base64').toString('utf8');
  const sources: string[] = [];
  JSON.parse(text, function (this: unknown, key: string, value: unknown, context?: { source?: string }) {
    if (key !== '' && Array.isArray(this)) sources.push(context?.source ?? JSON.stringify(value));
    return value;
  } as (this: unknown, key: string, value: unknown) => unknown);
  return sources;
}

/** `orderBy` for an order that was seen; null where one of its columns has no name. */
function orderArgument(entity: Entity, order: readonly OrderKey[]): Written | null {
  const elements = order.map(({ column, isDescending, nullsFirst, from }) => {
    const own = [...entity.columns].find(([, candidate]) => candidate === column)?.[0];
    const names = from?.names ?? (own === undefined ? undefined : [own]);
    const text = `${isDescending ? 'Desc' : 'Asc'}Nulls${nullsFirst ? 'First' : 'Last'}`;
    const direction: Written = { text, json: text };
    return names?.reduceRight((inner, name) => writeObject([[name, inner]]), direction);
  });
  if (elements.includes(undefined)) return null;
  return elements.length === 0 ? nullValue : writeList(elements as Written[]);
}

/** Values of a key: of an existing row, or any. */
export function keyTexts(random: Random, material: Material, entity: Entity): readonly string[] {
  const columns = entity.relation.key.map((name) => columnOf(entity.relation, name));
  const all = columns.map((column) => material.texts(entity.relation, column.name));
  const count = all[0]?.length ?? 0;
  const row = count === 0 || random.chance(0.15) ? -1 : random.int(0, count - 1);
  return columns.map((column, index) => all[index]?.[row] ?? random.pick(column.type.values));
}
