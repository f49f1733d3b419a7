/** Random objects of inserts, with their related objects and links to rows that are there. */
import { conflictAt, entryFields, makeKey, type Source } from './make-links.ts';
import { inputFields, makeValue, rowsOf, rowToMeet, type Value } from './values.ts';
import type { Column, Reference, Table } from './world.ts';
import type { Children, Conflict, Key, Parent, Tree } from './write.ts';

/** Where objects are. */
export interface Place {
  /** Levels below them. */
  readonly depth: number;
  /** Columns that the object around them sets. */
  readonly left: readonly string[];
  readonly path: string;
  readonly conflict: Conflict | null;
}

export function makeTrees(source: Source, table: Table, place: Place): Tree[] {
  const { random } = source;
  const count = random.pick(place.left.length > 0 ? [1, 1, 2, 3] : [1, 1, 2, 3, 4]);
  const isShared = place.depth > 0 && random.chance(0.5);
  const make = () => makeTree(source, table, { ...place, isShared: isShared && count > 1 });
  const share = (trees: Tree[]) => (isShared ? shareAbove(source, table, trees) : trees);
  const mayVanish = table.kind === 'instead of' || (table.base ?? table).traits.has('trigger: skip');
  const [first, ...others] = Array.from({ length: count }, make) as [Tree, ...Tree[]];
  const canVanish = place.depth > 0 && mayVanish && first.values.has('note');
  if (!canVanish || !random.chance(source.isCareful ? 0.02 : 0.25)) return share([first, ...others]);
  // The rows below a suppressed one could be given to the last, which none of its own claim.
  return [{ ...first, values: new Map([...first.values, ['note', 'skip']]) }, ...others, { ...make(), down: [] }];
}

/** Equal and nearly equal objects at several places, by whatever relationships. */
export function shareAcross(source: Source, trees: readonly Tree[]): Tree[] {
  const { random } = source;
  const found = new Map<string, Tree>();
  const visit = (tree: Tree): Tree => ({
    ...tree,
    up: tree.up.map((each) => {
      if (each.tree === null) return each;
      const inner = visit(each.tree);
      const { name } = each.reference.target;
      if (each.conflict !== null) return { ...each, tree: inner };
      const known = found.get(name);
      if (known === undefined && inner.up.length + inner.down.length === 0) found.set(name, inner);
      if (known === undefined || random.chance(0.2)) return { ...each, tree: inner };
      return { ...each, tree: random.chance(0.6) ? known : nearlyEqual(source, each.reference.target, known) };
    }),
    down: tree.down.map((each) => ({ ...each, trees: each.trees.map(visit) })),
  });
  return trees.map(visit);
}

/** Equal objects above several: the database gets one row of them, and others of nearly equal ones. */
function shareAbove(source: Source, table: Table, [first, ...others]: Tree[]): Tree[] {
  if (first === undefined) return [];
  const parentOf = ({ up }: Tree, reference: Reference) => up.find((each) => each.reference === reference);
  const shared = others.map((tree): Tree => {
    const values = new Map(tree.values);
    const up = table.references.flatMap((reference): Parent[] => {
      const [same, own] = [parentOf(first, reference), parentOf(tree, reference)];
      if (same === undefined) return own === undefined ? [] : [own];
      if (own === undefined) for (const column of reference.columns) values.delete(column);
      if (same.tree === null || source.random.chance(0.6)) return [same];
      return [{ ...same, tree: nearlyEqual(source, reference.target, same.tree) }];
    });
    return { ...tree, values, up };
  });
  return [first, ...shared];
}

/** The object with other values in the keys that it gives, or else with another value: it has the same names. */
function nearlyEqual(source: Source, table: Table, tree: Tree): Tree {
  const { random } = source;
  const isGiven = (column: Column) => tree.values.has(column.name) && tree.values.get(column.name) !== null;
  const unique = table.columns.filter((column) => isGiven(column) && ['key', 'code'].includes(column.domain));
  const others = table.columns.filter((column) => tree.values.has(column.name) && column.domain !== 'reference');
  const changed = unique.length > 0 ? unique : others.length > 0 ? [random.pick(others)] : [];
  const values = new Map(tree.values);
  for (const column of changed) values.set(column.name, makeValue(source, table, column));
  return { ...tree, values };
}

function isGiven({ random, isCareful }: Source, table: Table, { domain, ddl }: Column): boolean {
  if (isCareful && domain === 'key' && table.keyKind === 'identity always') return false;
  // A reference that must not be null is mostly given.
  if (domain === 'reference' && ddl !== '' && table.kind === 'table') return random.chance(0.9);
  if (domain === 'key' && table.keyKind === 'composite') return true;
  return random.chance(domain === 'key' ? 0.4 : 0.7);
}

function makeTree(
  source: Source,
  table: Table,
  { depth, left, path, conflict: own, isShared = false }: Place & { readonly isShared?: boolean },
): Tree {
  const { random, schema, world } = source;
  const offered = inputFields(schema, `${table.name}InsertInput`);
  const up = table.references.flatMap((reference) => {
    const isLeft = reference.columns.some((column) => left.includes(column));
    if (isLeft || !offered.has(reference.up) || !random.chance(isShared ? 0.7 : 0.4)) return [];
    return makeParent(source, table, { reference, depth, path: `${path}.${reference.up}`, isShared });
  });
  const down = world.tables.flatMap((child) =>
    child.references.flatMap((reference) => {
      const isHere = reference.target.name === table.name;
      if (depth === 0 || !isHere || !offered.has(reference.down) || !random.chance(0.5)) return [];
      const input = `${table.name}InsertInput`;
      const place = { depth: depth - 1, left: reference.columns, path: `${path}.${reference.down}` };
      return makeChildren(source, { reference, table: child, input, place });
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
    const isGenerated = column.isGenerated && random.chance(0.3);
    values.set(column.name, isGenerated ? null : (met ?? makeValue(source, table, column)));
  }
  giveReferences(source, table, values);
  if (own !== null && random.chance(own.filter.length > 0 ? 0.7 : 0.4))
    meetRow(source, table, { values, left: set, conflict: own });
  const isForged = [...values.keys()].some((name) => set.has(name));
  return { values, up, down, isForged };
}

/** Gives the object what the conflict is found by, of a row that is there. */
function meetRow(
  source: Source,
  table: Table,
  { values, left, conflict }: { values: Map<string, Value>; left: ReadonlySet<string>; conflict: Conflict },
): void {
  const row = rowToMeet(source, table);
  if (row === null) return;
  for (const name of inputFields(source.schema, `${table.name}InsertInput`)) {
    const isFound = new RegExp(`\\b${name}\\b`).test(conflict.arbiter);
    if (isFound && !left.has(name)) values.set(name, row[name] ?? null);
  }
}

/** A new row that an object refers to, or one that is there. */
function makeParent(
  source: Source,
  table: Table,
  { reference, depth, path, isShared }: Pick<Place, 'depth' | 'path'> & { reference: Reference; isShared: boolean },
): Parent[] {
  const { random, schema } = source;
  const input = `${table.name}InsertInput`;
  const members = entryFields(schema, input, reference.up);
  const isNew = depth > 0 && members.has('insert') && random.chance(isShared ? 0.9 : 0.6);
  const key = isNew || !members.has('connect') ? null : makeKey(source, reference.target);
  if (key !== null) return [{ reference, tree: null, conflict: null, key }];
  if (!isNew) return [];
  const conflict = conflictAt(source, reference.target, path, input);
  const tree = makeTree(source, reference.target, { depth: depth - 1, left: [], path, conflict });
  return [{ reference, tree, conflict, key: null }];
}

/** Rows that refer to an object: new ones, and some that are there. @param input The input that has their entry. */
export function makeChildren(
  source: Source,
  at: {
    readonly reference: Reference;
    readonly table: Table;
    readonly input: string;
    readonly place: Omit<Place, 'conflict'>;
  },
): Children[] {
  const { random, schema } = source;
  const { reference, table, input, place } = at;
  const members = entryFields(schema, input, reference.down);
  const keys = members.has('connect') && random.chance(0.3) ? makeKeys(source, table) : [];
  const isInserting = members.has('insert') && (keys.length === 0 || random.chance(0.5));
  const conflict = isInserting ? conflictAt(source, table, place.path, input) : null;
  const trees = isInserting ? makeTrees(source, table, { ...place, conflict }) : [];
  return trees.length + keys.length === 0 ? [] : [{ reference, table, trees, keys, conflict }];
}

function makeKeys(source: Source, table: Table): readonly Key[] {
  const count = source.random.pick([1, 1, 2]);
  return Array.from({ length: count }, () => makeKey(source, table)).filter((key) => key !== null);
}

/** Mostly those of a row that is there. */
export function giveReferences(source: Source, table: Table, values: Map<string, Value>): void {
  const { random } = source;
  for (const { columns, target, targetColumns } of table.references) {
    const there = rowsOf(source, target);
    const isFree = random.chance(source.isCareful ? 0.01 : 0.05);
    if (!columns.every((column) => values.has(column)) || there.length === 0 || isFree) continue;
    const row = random.pick(there);
    for (const [index, column] of columns.entries()) values.set(column, row[targetColumns[index] ?? ''] ?? null);
  }
}
