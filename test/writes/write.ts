/** Random mutations as data: from it come the document for the gateway and the same writes in plain SQL. */
import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
} from 'graphql';
import {
  columnNamed,
  type Filter,
  inputFields,
  keyFilter,
  makeFilter,
  makeRelatedFilter,
  makeValue,
  operand,
  type RelatedFilter,
  type Rows,
  rowsOf,
  rowToMeet,
  type Value,
  type ValueSource,
  type Values,
} from './values.ts';
import type { Column, Reference, Table } from './world.ts';

/** An object of an insert with its related objects. */
export interface Tree {
  readonly values: Values;
  readonly up: readonly { readonly reference: Reference; readonly tree: Tree; readonly conflict: Conflict | null }[];
  readonly down: readonly Children[];
  /** Whether it gives a column that a relationship sets. */
  readonly isForged: boolean;
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
  readonly filter: RelatedFilter;
}

/** Rows that refer to the updated ones. */
export interface Related {
  readonly reference: Reference;
  readonly table: Table;
  readonly deletes: readonly Deletion[];
  readonly updates: readonly Change[];
  readonly trees: readonly Tree[];
  readonly conflict: Conflict | null;
}

export interface Deletion {
  readonly filter: Filter;
  readonly atMost: number;
}

export interface Change extends Deletion {
  readonly isForged: boolean;
  readonly set: Values;
  readonly operators: readonly { readonly name: string; readonly column: Column; readonly value: Value }[];
  /** In the order of the schema. */
  readonly related: readonly Related[];
}

/** One mutation field. */
export type Write = { readonly table: Table; readonly columns: readonly string[] } & (
  | { readonly kind: 'insert'; readonly trees: readonly Tree[]; readonly conflict: Conflict | null }
  | { readonly kind: 'update'; readonly change: Change }
  | ({ readonly kind: 'delete' } & Deletion)
  | { readonly kind: 'updateMany'; readonly changes: readonly Change[] }
);

/** What writes are made of. */
interface Source extends ValueSource {
  /** What is said about conflicts at each place: objects there must say the same. */
  readonly conflicts: Map<string, Conflict | null>;
}

/** A random write; null: what was picked is not offered. */
export function generateWrite(source: Source): Write | null {
  const { random, world, schema } = source;
  const table = random.pick(world.tables);
  const { name } = table;
  const fields = schema.getMutationType()?.getFields() ?? {};
  const columns = columnsOf(schema, name, table);
  const kind = random.pick([
    'insert',
    'insert',
    'insert',
    'insert',
    'update',
    'update',
    'update',
    'updateMany',
    'delete',
  ]);
  const shared = { table, columns };
  if (kind === 'insert' && fields[`insertInto${name}Collection`]) {
    const isNested = random.chance(0.6);
    const isSure = isNested && random.chance(source.isCareful ? 0.95 : 0.7);
    const conflict = random.chance(0.4) ? makeConflict(source, table, isSure) : null;
    const trees = makeTrees(source, table, { depth: isNested ? 2 : 0, left: [], path: '', conflict });
    return { kind, ...shared, trees, conflict };
  }
  if (kind === 'update' && fields[`update${name}Collection`])
    return {
      kind,
      ...shared,
      change: makeChange(source, table, { kind: 'root', depth: 2, left: [], path: '', rows: [] }),
    };
  if (kind === 'updateMany' && fields[`updateMany${name}Collection`]) {
    const changes = Array.from({ length: random.int(1, 5) }, () =>
      makeChange(source, table, { kind: 'entry', depth: 0, left: [], path: '', rows: [] }),
    );
    return { kind, ...shared, changes: random.chance(0.5) ? alike(source, table, changes) : changes };
  }
  if (kind === 'delete' && fields[`deleteFrom${name}Collection`])
    return {
      kind,
      ...shared,
      filter: makeFilter(source, table, 0.8),
      atMost: random.chance(0.3) ? 1 : random.int(1, 6),
    };
  return null;
}

/** Entries of one shape, each for another row. */
function alike(source: Source, table: Table, changes: readonly Change[]): readonly Change[] {
  const [first] = changes as [Change];
  return changes.map(() => ({
    ...first,
    set: new Map(
      [...first.set.keys()].map((name) => [name, makeChanged(source, table, columnNamed(table, name), 'entry')]),
    ),
    filter: keyFilter(source, table) ?? first.filter,
  }));
}

/** Columns that the role may select. */
export function columnsOf(schema: GraphQLSchema, name: string, table: Table): string[] {
  const type = schema.getType(name) as GraphQLObjectType | undefined;
  const fields = type?.getFields() ?? {};
  return table.columns.map((column) => column.name).filter((column) => column in fields);
}

/** Where objects are. */
interface Place {
  /** Levels below them. */
  readonly depth: number;
  /** Columns that the object around them sets. */
  readonly left: readonly string[];
  readonly path: string;
  readonly conflict: Conflict | null;
}

function makeTrees(source: Source, table: Table, place: Place): Tree[] {
  const { random } = source;
  const count = random.pick(place.left.length > 0 ? [1, 1, 2, 3] : [1, 1, 2, 3, 4]);
  const make = () => makeTree(source, table, place);
  const share = (trees: Tree[]) => (random.chance(0.3) ? shareAbove(trees) : trees);
  const mayVanish = table.kind === 'instead of' || (table.base ?? table).traits.has('trigger: skip');
  const [first, ...others] = Array.from({ length: count }, make) as [Tree, ...Tree[]];
  const canVanish = place.depth > 0 && mayVanish && first.values.has('note');
  if (!canVanish || !random.chance(source.isCareful ? 0.02 : 0.25)) return share([first, ...others]);
  // The rows below a suppressed one could be given to the last, which none of its own claim.
  return [{ ...first, values: new Map([...first.values, ['note', 'skip']]) }, ...others, { ...make(), down: [] }];
}

/** Equal objects above several: the database gets one row of them. */
function shareAbove([first, ...others]: Tree[]): Tree[] {
  const above = new Map(first?.up.map((each) => [each.reference, each]));
  const shared = others.map((tree) => ({ ...tree, up: tree.up.map((each) => above.get(each.reference) ?? each) }));
  return first === undefined ? [] : [first, ...shared];
}

/**
 * Objects that give different columns with defaults are written by several inserts in any order, so that numbers of
 * sequences are theirs in any order: such objects are made only for tables whose keys are given.
 */
function isGiven({ random, shapes, isCareful }: Source, table: Table, { name, domain, ddl }: Column): boolean {
  if (isCareful && domain === 'key' && table.keyKind === 'identity always') return false;
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

function makeTree(source: Source, table: Table, { depth, left, path, conflict: own }: Place): Tree {
  const { random, schema, world } = source;
  const offered = inputFields(schema, `${table.name}InsertInput`);
  const up = table.references.flatMap((reference) => {
    const isLeft = reference.columns.some((column) => left.includes(column));
    if (depth === 0 || isLeft || !offered.has(reference.up) || !hasUp(source, table, reference)) return [];
    const inside = `${path}.${reference.up}`;
    const conflict = conflictAt(source, reference.target, inside, `${table.name}InsertInput`);
    const tree = makeTree(source, reference.target, { depth: depth - 1, left: [], path: inside, conflict });
    return [{ reference, tree, conflict }];
  });
  const down = world.tables.flatMap((child) =>
    child.references.flatMap((reference): Children[] => {
      const isHere = reference.target.name === table.name;
      if (depth === 0 || !isHere || !offered.has(reference.down) || !random.chance(0.5)) return [];
      const inside = `${path}.${reference.down}`;
      const conflict = conflictAt(source, child, inside, `${table.name}InsertInput`);
      const trees = makeTrees(source, child, { depth: depth - 1, left: reference.columns, path: inside, conflict });
      return [{ reference, table: child, trees, conflict }];
    }),
  );
  const set = new Set([...left, ...up.flatMap(({ reference }) => reference.columns)]);
  const values = new Map<string, Value>();
  for (const column of table.columns) {
    const isForged = set.has(column.name) && source.isForging && random.chance(0.3);
    if (!offered.has(column.name) || (set.has(column.name) && !isForged) || !isGiven(source, table, column)) continue;
    const isMet = column.domain === 'code' && random.chance(source.isCareful ? 0.02 : 0.15);
    const there = isMet ? rowsOf(source, table) : [];
    const met = there.length > 0 ? random.pick(there).code : undefined;
    values.set(column.name, met ?? makeValue(source, table, column));
  }
  giveReferences(source, table, values);
  if (own !== null && random.chance(own.filter.length > 0 ? 0.7 : 0.4)) meetRow(source, table, values, own);
  const isForged = [...values.keys()].some((name) => set.has(name));
  return { values, up, down, isForged };
}

/** Gives the object what the conflict is found by, of a row that is there. */
function meetRow(source: Source, table: Table, values: Map<string, Value>, { arbiter }: Conflict): void {
  const row = rowToMeet(source, table);
  if (row === null) return;
  for (const name of values.keys()) if (new RegExp(`\\b${name}\\b`).test(arbiter)) values.set(name, row[name] ?? null);
}

/** The same for all objects of a view whose keys are made: a row above gives columns, as objects do. */
function hasUp({ random, shapes }: Source, table: Table, { up }: Reference): boolean {
  if (table.kind === 'table' || table.keyKind === 'composite') return random.chance(0.4);
  const shape = shapes.get(up) ?? new Set(random.chance(0.4) ? [up] : []);
  shapes.set(up, shape);
  return shape.has(up);
}

/** Mostly those of a row that is there. */
function giveReferences(source: Source, table: Table, values: Map<string, Value>): void {
  const { random } = source;
  for (const { columns, target, targetColumns } of table.references) {
    const there = rowsOf(source, target);
    const isFree = random.chance(source.isCareful ? 0.01 : 0.05);
    if (!columns.every((column) => values.has(column)) || there.length === 0 || isFree) continue;
    const row = random.pick(there);
    for (const [index, column] of columns.entries()) values.set(column, row[targetColumns[index] ?? ''] ?? null);
  }
}

/** @param input The input that has the entry, by its name at the end of the path. */
function conflictAt(source: Source, table: Table, path: string, input: string): Conflict | null {
  const { random, schema, conflicts } = source;
  const isOffered = entryFields(schema, input, path.slice(path.lastIndexOf('.') + 1)).has('onConflict');
  const known = conflicts.get(path);
  if (known !== undefined) return known;
  const made =
    isOffered && random.chance(0.4) ? makeConflict(source, table, random.chance(source.isCareful ? 0.95 : 0.8)) : null;
  conflicts.set(path, made);
  return made;
}

/** The members of an entry for related rows. */
function entryFields(schema: GraphQLSchema, input: string, entry: string): ReadonlySet<string> {
  const field = (schema.getType(input) as GraphQLInputObjectType | undefined)?.getFields()[entry];
  return inputFields(schema, field === undefined ? '' : String(getNamedType(field.type)));
}

/** @param isSure Whether each row is updated, and gets its foreign keys. */
function makeConflict(source: Source, table: Table, isSure: boolean): Conflict | null {
  const { random, schema } = source;
  const offered = schema.getType(`${table.name}Constraint`) as GraphQLEnumType | undefined;
  const names = new Set(offered?.getValues().map(({ name }) => name));
  const uniques = table.uniques.filter(({ name }) => names.has(name));
  if (uniques.length === 0) return null;
  const { name, arbiter } = random.pick(uniques);
  const update = schema.getType(`${table.name}UpdateColumn`) as GraphQLEnumType | undefined;
  const allowed = update?.getValues().map((value) => value.name) ?? [];
  const some = random.some(allowed, random.pick([0, 0.3, 0.6]));
  const foreign = table.references.flatMap((reference) => reference.columns);
  const columns = isSure ? allowed.filter((column) => foreign.includes(column) || some.includes(column)) : some;
  if (isSure && columns.length === 0 && allowed.includes('hits')) columns.push('hits');
  const changing = columns.filter((column) => !table.key.includes(column));
  const filter = !isSure && changing.length > 0 && random.chance(0.7) ? makeRelatedFilter(source, table, 2) : [];
  return { constraint: name, arbiter, columns: changing, filter };
}

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

function makeChange(source: Source, table: Table, place: ChangePlace): Change {
  const { random, schema } = source;
  const { kind, left } = place;
  const offered = inputFields(schema, `${table.name}UpdateInput`);
  const set = new Map<string, Value>();
  // Entries of one statement are written in any order, and a value may be unique.
  const kept = kind === 'entry' ? ['key', 'code'] : [];
  for (const column of table.columns) {
    if (!offered.has(column.name) || kept.includes(column.domain)) continue;
    if (left.includes(column.name) && !(source.isForging && random.chance(0.5))) continue;
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
  if (set.size === 0 && once.length === 0 && offered.has('note')) set.set('note', 'changed');
  const fruitful = place.depth > 0 ? rowsOf(source, table).filter((row) => hasRelated(source, table, row)) : [];
  const among = place.rows.length > 0 ? place.rows : random.chance(0.7) ? fruitful : [];
  const likely = makeFilter(source, table, { root: 0.7, entry: 0.8, nested: 0.3 }[kind], among);
  const related = makeRelated(source, table, place, rowOf(source, table, likely));
  const isOne = related.some(({ trees }) => trees.length > 0) && random.chance(0.9);
  const filter = isOne && rowOf(source, table, likely) === null ? makeFilter(source, table, 1, among) : likely;
  const isForged = left.some((name) => set.has(name));
  return {
    set,
    operators: once,
    related,
    filter,
    isForged,
    atMost: random.chance(0.3) ? 1 : random.int(1, kind === 'entry' ? 3 : 8),
  };
}

/** Of the entries of one statement, none changes a key, which others could refer to: by a trigger neither. */
function makeChanged(source: Source, table: Table, column: Column, kind: ChangePlace['kind']): Value {
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
    const deletes = Array.from({ length: has('delete', 0.4) ? random.int(1, 2) : 0 }, () => ({
      filter: makeFilter(source, child, 0.3, rows),
      atMost: random.int(1, 6),
    }));
    const updates = Array.from({ length: has('update', 0.5) ? random.int(1, 2) : 0 }, () =>
      makeChange(source, child, { ...place, kind: 'nested' }),
    );
    const isInserting = has('insert', 0.4);
    const conflict = isInserting ? conflictAt(source, child, place.path, input) : null;
    const trees = isInserting ? makeTrees(source, child, { ...place, conflict }) : [];
    if (deletes.length + updates.length + trees.length === 0) return [];
    return [{ reference, table: child, deletes, updates, trees, conflict }];
  });
}
