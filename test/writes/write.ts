/** Random mutations as data: from it come the document for the gateway and the same writes in plain SQL. */
import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
} from 'graphql';
import type { Random } from '../property/random.ts';
import type { Column, Reference, Table, World } from './world.ts';

export type Value = string | number | boolean | null | readonly (string | null)[];
export type Values = ReadonlyMap<string, Value>;

/** An object of an insert with its related objects. */
export interface Tree {
  readonly values: Values;
  readonly up: readonly { readonly reference: Reference; readonly tree: Tree; readonly conflict: Conflict | null }[];
  readonly down: readonly Children[];
}

export interface Children {
  readonly reference: Reference;
  readonly table: Table;
  readonly trees: readonly Tree[];
  readonly conflict: Conflict | null;
}

export interface Conflict {
  readonly constraint: string;
  readonly arbiter: string;
  readonly columns: readonly string[];
  readonly filter: Filter;
}

/** All of them hold. */
export type Filter = readonly {
  readonly column: Column;
  readonly operator: 'eq' | 'lt' | 'neq';
  readonly value: Value;
}[];

export interface Change {
  readonly set: Values;
  readonly operators: readonly { readonly name: string; readonly column: Column; readonly value: Value }[];
  readonly filter: Filter;
  readonly atMost: number;
}

/** One mutation field. */
export type Write = { readonly table: Table; readonly columns: readonly string[] } & (
  | { readonly kind: 'insert'; readonly trees: readonly Tree[]; readonly conflict: Conflict | null }
  | { readonly kind: 'update'; readonly change: Change }
  | { readonly kind: 'delete'; readonly filter: Filter; readonly atMost: number }
  | { readonly kind: 'updateMany'; readonly changes: readonly Change[] }
);

/** What writes are made of. */
export interface Source {
  readonly random: Random;
  readonly world: World;
  /** Columns with defaults that objects of a table give, where all do alike. */
  readonly shapes: Map<string, ReadonlySet<string>>;
  /** What the role is offered. */
  readonly schema: GraphQLSchema;
  /** Rows as they are, of each table. */
  readonly rows: ReadonlyMap<string, readonly Readonly<Record<string, Value>>[]>;
}

/** A random write; null: what was picked is not offered. */
export function generateWrite(source: Source): Write | null {
  const { random, world, schema } = source;
  const table = random.pick(world.tables);
  const { name } = table;
  const fields = schema.getMutationType()?.getFields() ?? {};
  const columns = columnsOf(schema, name, table);
  const kind = random.pick(['insert', 'insert', 'insert', 'insert', 'update', 'update', 'updateMany', 'delete']);
  const shared = { table, columns };
  if (kind === 'insert' && fields[`insertInto${name}Collection`]) {
    const isNested = random.chance(0.6);
    const conflict = random.chance(0.4) ? makeConflict(source, table) : null;
    const trees = makeTrees(source, table, isNested ? 2 : 0, []);
    return { kind, ...shared, trees, conflict };
  }
  if (kind === 'update' && fields[`update${name}Collection`])
    return { kind, ...shared, change: makeChange(source, table, false) };
  if (kind === 'updateMany' && fields[`updateMany${name}Collection`]) {
    const changes = Array.from({ length: random.int(1, 5) }, () => makeChange(source, table, true));
    return { kind, ...shared, changes: random.chance(0.5) ? alike(source, table, changes) : changes };
  }
  if (kind === 'delete' && fields[`deleteFrom${name}Collection`])
    return { kind, ...shared, filter: makeFilter(source, table, 0.8), atMost: random.int(1, 6) };
  return null;
}

/** Entries of one shape, each for another row. */
function alike(source: Source, table: Table, changes: readonly Change[]): readonly Change[] {
  const [first] = changes as [Change];
  return changes.map(() => ({
    ...first,
    set: new Map([...first.set.keys()].map((name) => [name, makeValue(source, table, columnNamed(table, name))])),
    filter: keyFilter(source, table) ?? first.filter,
  }));
}

/** Columns that the role may select. */
export function columnsOf(schema: GraphQLSchema, name: string, table: Table): string[] {
  const type = schema.getType(name) as GraphQLObjectType | undefined;
  const fields = type?.getFields() ?? {};
  return table.columns.map((column) => column.name).filter((column) => column in fields);
}

function inputFields(schema: GraphQLSchema, name: string): ReadonlySet<string> {
  return new Set(Object.keys((schema.getType(name) as GraphQLInputObjectType | undefined)?.getFields() ?? {}));
}

function makeTrees(source: Source, table: Table, depth: number, left: readonly string[]): Tree[] {
  const count = source.random.pick(left.length > 0 ? [1, 1, 2, 3] : [1, 1, 2, 3, 4]);
  return Array.from({ length: count }, () => makeTree(source, table, depth, left));
}

/**
 * Objects that give different columns with defaults are written by several inserts in any order, so that numbers of
 * sequences are theirs in any order: such objects are made only for tables whose keys are given.
 */
function isGiven({ random, shapes }: Source, table: Table, { name, domain, ddl }: Column): boolean {
  // A reference that must not be null is mostly given.
  if (domain === 'reference' && ddl !== '' && table.kind === 'table') return random.chance(0.9);
  if (table.keyKind === 'composite') return domain === 'key' || random.chance(0.7);
  const isMade = domain === 'key' && table.keyKind !== 'by a trigger';
  // Those of a view may have defaults of its own.
  const withDefaults = table.columns.filter((column) => column.ddl !== '' || table.kind !== 'table');
  if (!withDefaults.some((column) => column.name === name)) return random.chance(0.7);
  const shape =
    shapes.get(table.name) ?? new Set(random.some(withDefaults, isMade ? 0.5 : 0.6).map((column) => column.name));
  shapes.set(table.name, shape);
  return shape.has(name);
}

/** @param left Columns that the object around it sets, and the fields of that relationship. */
function makeTree(source: Source, table: Table, depth: number, left: readonly string[]): Tree {
  const { random, schema, world } = source;
  const offered = inputFields(schema, `${table.name}InsertInput`);
  const up = table.references.flatMap((reference) => {
    const isLeft = reference.columns.some((column) => left.includes(column));
    if (depth === 0 || isLeft || !offered.has(reference.up) || !hasUp(source, table, reference)) return [];
    const tree = makeTree(source, reference.target, depth - 1, []);
    const conflict =
      hasConflict(schema, reference.target, 'NestedInsert') && random.chance(0.3)
        ? makeConflict(source, reference.target)
        : null;
    return [{ reference, tree, conflict }];
  });
  const down = world.tables.flatMap((child) =>
    child.references.flatMap((reference): Children[] => {
      const isHere = reference.target.name === table.name;
      if (depth === 0 || !isHere || !offered.has(reference.down) || !random.chance(0.5)) return [];
      const conflict =
        hasConflict(schema, child, 'NestedInsert') && random.chance(0.3) ? makeConflict(source, child) : null;
      return [{ reference, table: child, trees: makeTrees(source, child, depth - 1, reference.columns), conflict }];
    }),
  );
  const set = new Set([...left, ...up.flatMap(({ reference }) => reference.columns)]);
  const values = new Map<string, Value>();
  for (const column of table.columns) {
    if (!offered.has(column.name) || set.has(column.name) || !isGiven(source, table, column)) continue;
    values.set(column.name, makeValue(source, table, column));
  }
  giveReferences(source, table, values);
  return { values, up, down };
}

/** The same for all objects of a view whose keys are made: a row above gives columns, as objects do. */
function hasUp({ random, shapes }: Source, table: Table, { up }: Reference): boolean {
  if (table.kind === 'table' || table.keyKind === 'composite') return random.chance(0.4);
  const shape = shapes.get(up) ?? new Set(random.chance(0.4) ? [up] : []);
  shapes.set(up, shape);
  return shape.has(up);
}

/** Mostly those of a row that is there. */
function giveReferences({ random, rows }: Source, table: Table, values: Map<string, Value>): void {
  for (const { columns, target, targetColumns } of table.references) {
    const there = rows.get((target.base ?? target).name) ?? [];
    if (!columns.every((column) => values.has(column)) || there.length === 0 || random.chance(0.05)) continue;
    const row = random.pick(there);
    for (const [index, column] of columns.entries()) values.set(column, row[targetColumns[index] ?? ''] ?? null);
  }
}

function hasConflict(schema: GraphQLSchema, { name }: Table, kind: string): boolean {
  return inputFields(schema, `${name}${kind}`).has('onConflict');
}

function makeConflict(source: Source, table: Table): Conflict | null {
  const { random, schema } = source;
  const offered = schema.getType(`${table.name}Constraint`) as GraphQLEnumType | undefined;
  const names = new Set(offered?.getValues().map(({ name }) => name));
  const uniques = table.uniques.filter(({ name }) => names.has(name));
  if (uniques.length === 0) return null;
  const { name, arbiter } = random.pick(uniques);
  const update = schema.getType(`${table.name}UpdateColumn`) as GraphQLEnumType | undefined;
  const columns = random.some(update?.getValues().map((value) => value.name) ?? [], random.pick([0, 0.3, 0.6]));
  const changing = columns.filter((column) => !table.key.includes(column));
  const filter = changing.length > 0 && random.chance(0.4) ? makeFilter(source, table, 0) : [];
  return { constraint: name, arbiter, columns: changing, filter };
}

const operatorDomains: Readonly<Record<string, readonly string[]>> = {
  increment: ['count'],
  append: ['list', 'json', 'note'],
  prepend: ['list'],
  remove: ['list', 'json'],
};

function makeChange(source: Source, table: Table, isEntry: boolean): Change {
  const { random, schema } = source;
  const offered = inputFields(schema, `${table.name}UpdateInput`);
  const set = new Map<string, Value>();
  // Keys are changed rarely: other statements would find other rows.
  for (const column of table.columns)
    if (offered.has(column.name) && random.chance(column.domain === 'key' ? 0.03 : 0.25))
      set.set(column.name, makeValue(source, table, column));
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
    ({ column }, index) => operators.findIndex((other) => other.column === column) === index,
  );
  if (set.size === 0 && once.length === 0 && offered.has('note')) set.set('note', 'changed');
  const filter = makeFilter(source, table, isEntry ? 0.8 : 0.5);
  return { set, operators: once, filter, atMost: random.int(1, isEntry ? 3 : 8) };
}

function operand(random: Random, name: string, { domain }: Column): Value {
  if (domain === 'count') return random.int(-3, 9);
  if (domain === 'note') return random.pick(['+', '']);
  if (domain === 'json' && name === 'append') return random.pick(['{"a": 9}', '{"z": null}', '{}']);
  return random.some(['a', 'b', 'c'], 0.5);
}

/** @param byKey How often it is the whole key of a row. */
function makeFilter(source: Source, table: Table, byKey: number): Filter {
  const { random, schema } = source;
  const offered = inputFields(schema, `${table.name}Filter`);
  const found = random.chance(byKey) ? keyFilter(source, table) : null;
  if (found) return found;
  const columns = table.columns.filter(
    ({ name, domain }) => offered.has(name) && ['number', 'count', 'flag', 'code'].includes(domain),
  );
  return random
    .some(columns, 0.4)
    .map((column) => {
      const operator = column.domain === 'flag' ? 'eq' : random.pick(['eq', 'lt', 'neq'] as const);
      return {
        column,
        operator,
        value: column.domain === 'flag' ? random.chance(0.5) : (makeValue(source, table, column) ?? 'a'),
      };
    })
    .filter(
      ({ column, value }) =>
        typeof value === (column.type === 'int' ? 'number' : column.type === 'text' ? 'string' : 'boolean'),
    );
}

function keyFilter({ random, schema, rows }: Source, table: Table): Filter | null {
  const offered = inputFields(schema, `${table.name}Filter`);
  const there = rows.get((table.base ?? table).name) ?? [];
  if (there.length === 0 || !table.key.every((name) => offered.has(name))) return null;
  const row = random.pick(there);
  return table.key.map((name) => ({ column: columnNamed(table, name), operator: 'eq', value: row[name] as Value }));
}

function columnNamed({ columns }: Table, name: string): Column {
  return columns.find((column) => column.name === name) as Column;
}

function makeValue({ random, rows }: Source, table: Table, { name, domain, type }: Column): Value {
  switch (domain) {
    case 'code':
      return random.chance(0.1) ? null : random.pick([...'abcdefghijklmnopqrstuvwxyzABC', `c${random.int(1, 99)}`]);
    case 'number':
      return random.chance(0.15) ? random.pick([12, 13, 14, 15, 100]) : random.pick([null, 1, 2, 3, 4, 5, 6, 7]);
    case 'count':
      return random.chance(0.1) ? null : random.int(0, 20);
    case 'list':
      return random.chance(0.2)
        ? null
        : Array.from({ length: random.int(0, 3) }, () => random.pick(['a', 'b', 'c', null]));
    case 'json':
      return random.pick([null, '{}', '{"a": 1}', '{"a": {"b": 2}, "c": [3]}']);
    case 'note':
      return random.chance(0.3) ? random.pick(['skip', 'rekey', 'rekey', 'boom']) : random.pick([null, 'x', 'y', 'z']);
    case 'flag':
      return random.chance(0.2);
    case 'reference':
    case 'key': {
      const there = rows.get((table.base ?? table).name) ?? [];
      if (domain === 'key' && there.length > 0 && random.chance(0.3)) return random.pick(there)[name] ?? null;
      if (domain === 'reference' && random.chance(0.4)) return null;
      if (type === 'int') return random.int(1, 60);
      return type === 'uuid' ? `00000000-0000-4000-8000-0000000000${random.int(10, 60)}` : `p${random.int(1, 40)}`;
    }
  }
}
