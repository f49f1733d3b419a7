/** Random values and filters, from rows that are there. */
import type { GraphQLInputObjectType, GraphQLSchema } from 'graphql';
import type { Random } from '../property/random.ts';
import type { Column, Reference, Table, World } from './world.ts';

export type Value = string | number | boolean | null | readonly (string | null)[];
export type Values = ReadonlyMap<string, Value>;

/** All of them hold. */
export type Filter = readonly {
  readonly column: Column;
  readonly operator: 'eq' | 'lt' | 'neq';
  readonly value: Value;
}[];

/** A condition on rows that a relationship leads to. */
export interface RelatedCondition {
  /** To the one row, or to one of many. */
  readonly field: string;
  readonly reference: Reference;
  readonly quantifier: 'one' | 'some' | 'every' | 'none';
  /** The table of the related rows. */
  readonly related: Table;
  readonly filter: RelatedFilter;
}

/** All of them hold. */
export type RelatedFilter = readonly (Filter[number] | RelatedCondition)[];

/** Rows of a table. */
export type Rows = readonly Readonly<Record<string, Value>>[];

/** What writes are made of. */
export interface ValueSource {
  readonly random: Random;
  readonly world: World;
  /** What the role is offered. */
  readonly schema: GraphQLSchema;
  /** Whether values are chosen that nothing refuses: of a refused write little is compared. */
  readonly isCareful: boolean;
  /** Whether objects give columns that relationships set. */
  readonly isForging: boolean;
  /** Rows as they are, of each table. */
  readonly rows: ReadonlyMap<string, Rows>;
}

export function inputFields(schema: GraphQLSchema, name: string): ReadonlySet<string> {
  return new Set(Object.keys((schema.getType(name) as GraphQLInputObjectType | undefined)?.getFields() ?? {}));
}

export function rowsOf({ rows }: ValueSource, { base, name }: Table) {
  return rows.get(base?.name ?? name) ?? [];
}

/** A row that is there, often one that policies or views hide; null: there is none. */
export function rowToMeet(source: ValueSource, table: Table): Rows[number] | null {
  const there = rowsOf(source, table);
  const hidden = there.filter(({ hidden, n }) => hidden === true || n === 12 || n === 13);
  if (there.length === 0) return null;
  return source.random.pick(hidden.length > 0 && source.random.chance(0.5) ? hidden : there);
}

export function operand(random: Random, name: string, { domain }: Column): Value {
  if (domain === 'count') return random.int(-3, 9);
  if (domain === 'note') return random.pick(['+', '']);
  if (domain === 'json' && name === 'append') return random.pick(['{"a": 9}', '{"z": null}', '{}']);
  return random.some(['a', 'b', 'c'], 0.5);
}

/** @param byKey How often it is the whole key of a row. @param among The rows that are of use. */
export function makeFilter(source: ValueSource, table: Table, byKey: number, among?: Rows): Filter {
  const { random, schema } = source;
  const offered = inputFields(schema, `${table.name}Filter`);
  const found = random.chance(byKey) ? keyFilter(source, table, among) : null;
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

/** As `makeFilter`, mostly with conditions on related rows. @param depth Relationships that may be passed. */
export function makeRelatedFilter(source: ValueSource, table: Table, depth: number): RelatedFilter {
  const { random, world, schema } = source;
  const own = makeFilter(source, table, 0.2);
  const offered = inputFields(schema, `${table.name}Filter`);
  if (depth === 0) return own;
  const up = table.references.map((reference) => ({ field: reference.up, reference, related: reference.target }));
  const down = world.tables.flatMap((related) =>
    related.references
      .filter(({ target }) => target.name === table.name)
      .map((reference) => ({ field: reference.down, reference, related })),
  );
  const related = [...up, ...down].filter(({ field }) => offered.has(field));
  const conditions = random.some(related, 1.5 / Math.max(related.length, 1)).flatMap((each): RelatedCondition[] => {
    const quantifier = up.some(({ field }) => field === each.field)
      ? ('one' as const)
      : random.pick(['some', 'every', 'none'] as const);
    const filter = makeRelatedFilter(source, each.related, depth - 1);
    // Without a condition these are none.
    if (filter.length === 0 && (quantifier === 'one' || quantifier === 'every')) return [];
    return [{ ...each, quantifier, filter }];
  });
  return [...(conditions.length > 0 ? random.some(own, 0.3) : own), ...conditions];
}

export function keyFilter(source: ValueSource, table: Table, among: Rows = rowsOf(source, table)): Filter | null {
  const { random, schema } = source;
  const offered = inputFields(schema, `${table.name}Filter`);
  const there = among.length > 0 ? among : rowsOf(source, table);
  if (there.length === 0 || !table.key.every((name) => offered.has(name))) return null;
  const row = random.pick(there);
  return table.key.map((name) => ({ column: columnNamed(table, name), operator: 'eq', value: row[name] as Value }));
}

export function columnNamed({ columns }: Table, name: string): Column {
  return columns.find((column) => column.name === name) as Column;
}

export function makeValue(source: ValueSource, table: Table, { name, domain, type, ddl }: Column): Value {
  const { random, isCareful } = source;
  const isNew = isCareful && random.chance(0.9);
  switch (domain) {
    case 'code':
      if (isNew) return `n${random.int(1, 1_000_000)}`;
      return random.chance(0.1) ? null : random.pick([...'abcdefghijklmnopqrstuvwxyzABC', `c${random.int(1, 99)}`]);
    case 'number':
      return random.chance(isCareful ? 0.03 : 0.15)
        ? random.pick([12, 13, 14, 15, 100])
        : random.pick([null, 1, 2, 3, 4, 5, 6, 7]);
    case 'count':
      return random.chance(0.1) ? null : random.int(0, 20);
    case 'list':
      return random.chance(0.2)
        ? null
        : Array.from({ length: random.int(0, 3) }, () => random.pick(['a', 'b', 'c', null]));
    case 'json':
      return random.pick([null, '{}', '{"a": 1}', '{"a": {"b": 2}, "c": [3]}']);
    case 'note':
      if (random.chance(isCareful ? 0.03 : 0.2)) return random.pick(['skip', 'boom']);
      return random.chance(0.4)
        ? random.pick(['rekey', 'stay', 'orphan', 'hide', 'more'])
        : random.pick([null, 'x', 'y', 'z']);
    case 'flag':
      return random.chance(isCareful ? 0.05 : 0.2);
    case 'reference':
    case 'key': {
      const there = rowsOf(source, table);
      if (domain === 'key' && there.length > 0 && !isNew && random.chance(0.3)) return random.pick(there)[name] ?? null;
      if (domain === 'reference' && (isCareful ? ddl === '' : random.chance(0.4))) return null;
      if (isNew && type === 'int') return random.int(10_000, 1_000_000);
      if (isNew && type === 'text') return `q${random.int(1, 1_000_000)}`;
      if (type === 'int') return random.int(1, 60);
      if (type !== 'uuid') return `p${random.int(1, 40)}`;
      return `00000000-0000-4000-8000-000000${isNew ? random.int(100_000, 999_999) : `0000${random.int(10, 60)}`}`;
    }
  }
}
