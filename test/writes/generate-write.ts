/** A random mutation field. */
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { makeChange, makeChanged } from './make-changes.ts';
import { makeConflict, type Source } from './make-links.ts';
import { makeTrees, shareAcross } from './make-trees.ts';
import { columnNamed, keyFilter, makeFilter } from './values.ts';
import type { Table } from './world.ts';
import type { Change, Write } from './write.ts';

/** A random write; null: what was picked is not offered. */
export function generateWrite(source: Source): Write | null {
  const { random, world, schema } = source;
  const table = random.pick(world.tables);
  const { name } = table;
  const fields = schema.getMutationType()?.getFields() ?? {};
  const isReadable = schema.getType(name) !== undefined;
  const columns = isReadable && random.chance(0.85) ? columnsOf(schema, name, table) : null;
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
    return { kind, ...shared, trees: random.chance(0.7) ? shareAcross(source, trees) : trees, conflict };
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
