/** Random changes of updates, with those of related rows. */
import { getNamedType } from 'graphql';
import { conflictAt, entryFields, makeKey, type Source } from './make-links.ts';
import { giveReferences, makeChildren, makeTrees, type Place } from './make-trees.ts';
import { type Filter, inputFields, makeFilter, makeValue, operand, type Rows, rowsOf, type Value } from './values.ts';
import type { Column, Reference, Table } from './world.ts';
import type { Change, Deletion, Link, Related } from './write.ts';

const operatorDomains: Readonly<Record<string, readonly string[]>> = {
  increment: ['count'],
  append: ['list', 'json', 'note'],
  prepend: ['list'],
  remove: ['list', 'json'],
};

interface ChangePlace extends Omit<Place, 'conflict'> {
  readonly kind: 'root' | 'entry' | 'nested';
  /** Rows that belong to the one around them, as far as it is known. */
  readonly rows: Rows;
}

export function makeChange(source: Source, table: Table, place: ChangePlace): Change {
  const { random, schema } = source;
  const { kind, left } = place;
  const offered = inputFields(schema, `${table.name}UpdateInput`);
  const links = kind === 'entry' ? [] : makeLinks(source, table, place);
  const linked = links.flatMap(({ way, reference }) => (way === 'update' ? [] : reference.columns));
  const given = [...left, ...linked];
  const set = new Map<string, Value>();
  // Entries of one statement are written in any order, and a value may be unique.
  const kept = kind === 'entry' ? ['key', 'code'] : [];
  for (const column of table.columns) {
    if (!offered.has(column.name) || kept.includes(column.domain)) continue;
    if (given.includes(column.name) && !(source.isForging && random.chance(0.5))) continue;
    // Keys are changed rarely: other statements would find other rows.
    if (random.chance(column.domain === 'key' ? 0.03 : 0.25))
      set.set(column.name, makeChanged(source, table, column, kind));
  }
  giveReferences(source, table, set);
  const operators = Object.entries(operatorDomains).flatMap(([name, domains]) => {
    const argument = schema
      .getMutationType()
      ?.getFields()
      [`update${table.name}Collection`]?.args.find((each) => each.name === name);
    const fields = inputFields(schema, argument ? String(getNamedType(argument.type)) : '');
    const column = random.pick(table.columns.filter(({ domain }) => domains.includes(domain)));
    if (!fields.has(column.name) || set.has(column.name) || !random.chance(0.3)) return [];
    return [{ name, column, value: operand(random, name, column) }];
  });
  const once = operators.filter(
    ({ column }, index) => kind !== 'nested' && operators.findIndex((other) => other.column === column) === index,
  );
  const fruitfulIn = (rows: Rows) => (place.depth > 0 ? rows.filter((row) => hasRelated(source, table, row)) : []);
  const fruitful = random.chance(0.7) ? fruitfulIn(place.rows.length > 0 ? place.rows : rowsOf(source, table)) : [];
  const among = fruitful.length > 0 ? fruitful : place.rows;
  const likely = makeFilter(source, table, { root: 0.7, entry: 0.8, nested: 0.3 }[kind], among);
  const related = makeRelated(source, table, place, rowOf(source, table, likely));
  const isChosen = links.length + related.length > 0 && random.chance(0.5);
  if (isChosen) set.clear();
  else if (set.size === 0 && once.length === 0 && offered.has('note')) set.set('note', 'changed');
  const needsOne =
    links.some(({ way }) => way === 'insert') ||
    related.some(({ trees, keys, replace }) => trees.length + keys.length > 0 || replace !== null);
  const isOne = needsOne && random.chance(0.9);
  const filter = isOne && rowOf(source, table, likely) === null ? makeFilter(source, table, 1, among) : likely;
  const isForged = given.some((name) => set.has(name));
  return {
    set,
    operators: isChosen ? [] : once,
    links,
    related,
    filter,
    isForged,
    atMost: random.chance(0.3) ? 1 : random.int(1, kind === 'entry' ? 3 : 8),
  };
}

/** Of the entries of one statement, none changes a key, which others could refer to: by a trigger neither. */
export function makeChanged(source: Source, table: Table, column: Column, kind: ChangePlace['kind']): Value {
  const value = makeValue(source, table, column);
  return kind === 'entry' && value === 'rekey' ? 'x' : value;
}

function hasRelated({ world, rows }: Source, table: Table, row: Rows[number]): boolean {
  return world.tables.some((child) =>
    child.references.some(
      (reference) =>
        reference.target.name === (table.base ?? table).name &&
        (rows.get((child.base ?? child).name) ?? []).some((each) => isRelated(reference, each, row)),
    ),
  );
}

function isRelated({ columns, targetColumns }: Reference, child: Rows[number], row: Rows[number]): boolean {
  return columns.every((column, index) => {
    const value = child[column] ?? null;
    return value !== null && value === row[targetColumns[index] as string];
  });
}

/** The row that has exactly this key. */
function rowOf(source: Source, table: Table, filter: Filter): Rows[number] | null {
  const isKey =
    filter.length === table.key.length && table.key.every((name) => filter.some((each) => each.column.name === name));
  if (!isKey) return null;
  return rowsOf(source, table).find((row) => filter.every(({ column, value }) => row[column.name] === value)) ?? null;
}

/** @param row The updated one, if it is known. */
function makeRelated(source: Source, table: Table, { depth, path }: ChangePlace, row: Rows[number] | null): Related[] {
  const { random, schema, world } = source;
  const input = `${table.name}UpdateInput`;
  return [...inputFields(schema, input)].flatMap((field): Related[] => {
    const child = world.tables.find(({ references }) => references.some(({ down }) => down === field));
    const reference = child?.references.find(({ down }) => down === field);
    if (depth === 0 || !child || !reference || !random.chance(0.5)) return [];
    const offered = entryFields(schema, input, field);
    const rows = row === null ? [] : rowsOf(source, child).filter((each) => isRelated(reference, each, row));
    const place = { depth: depth - 1, left: reference.columns, path: `${path}.${field}`, rows };
    const has = (member: string, probability: number) => offered.has(member) && random.chance(probability);
    const deletions = (count: number): readonly Deletion[] =>
      Array.from({ length: count }, () => ({
        filter: makeFilter(source, child, 0.3, rows),
        atMost: random.int(1, 6),
      }));
    const deletes = deletions(has('delete', 0.4) ? random.int(1, 2) : 0);
    const updates = Array.from({ length: has('update', 0.5) ? random.int(1, 2) : 0 }, () =>
      makeChange(source, child, { ...place, kind: 'nested' }),
    );
    const disconnects = deletions(has('disconnect', 0.2) ? 1 : 0);
    const [made = { reference, table: child, trees: [], keys: [], conflict: null }] = random.chance(0.5)
      ? makeChildren(source, { reference, table: child, input, place })
      : [];
    const how = random.pick(['DELETE', 'DISCONNECT'] as const);
    const replace = has('replace', 0.35)
      ? { how, atMost: random.chance(0.5) ? random.pick([0, 0, 1, 2, 3]) : null }
      : null;
    const count = deletes.length + updates.length + disconnects.length + made.trees.length + made.keys.length;
    return count === 0 && replace === null ? [] : [{ ...made, deletes, updates, disconnects, replace }];
  });
}

/** What is done with the rows that the updated ones refer to. */
function makeLinks(source: Source, table: Table, { depth, left, path }: ChangePlace): Link[] {
  const { random, schema } = source;
  const input = `${table.name}UpdateInput`;
  const entries = inputFields(schema, input);
  return table.references.flatMap((reference): Link[] => {
    const isLeft = reference.columns.some((column) => left.includes(column));
    if (isLeft || !entries.has(reference.up) || !random.chance(0.3)) return [];
    const members = entryFields(schema, input, reference.up);
    const ways = (['insert', 'connect', 'update', 'disconnect'] as const).filter(
      (way) => members.has(way) && (depth > 0 || way === 'connect' || way === 'disconnect'),
    );
    if (ways.length === 0) return [];
    const way = random.pick(ways);
    const target = reference.target;
    const inside = { depth: depth - 1, left: [], path: `${path}.${reference.up}` };
    if (way === 'disconnect') return [{ reference, way }];
    if (way === 'update')
      return [{ reference, way, change: makeChange(source, target, { ...inside, kind: 'nested', rows: [] }) }];
    if (way === 'connect') {
      const key = makeKey(source, target);
      return key === null ? [] : [{ reference, way, key }];
    }
    const conflict = conflictAt(source, target, inside.path, input);
    const [tree] = makeTrees(source, target, { ...inside, conflict });
    return tree === undefined ? [] : [{ reference, way, tree, conflict }];
  });
}
