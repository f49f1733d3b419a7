/**
 * Random rows: nulls, duplicates, unusual texts and extremes; references mostly lead to rows that exist.
 */
import type { Random } from './random.ts';
import type { Type } from './types.ts';
import { type Column, type ForeignKey, literal, qualified, quote, type Relation, type World } from './world.ts';

/** One statement for each row, tables in the order of their references. Rows that break a unique rule are left out. */
export function rowStatements(world: World, random: Random): string[] {
  const known = new Map<Relation, Map<string, string | null>[]>();
  return world.relations
    .filter(({ kind }) => kind === 'table')
    .flatMap((table) => {
      const keys = world.foreignKeys.filter(({ kind, from }) => kind === 'constraint' && from === table);
      const made: Map<string, string | null>[] = [];
      known.set(table, made);
      const count = random.pick([0, 8, 14, 22]);
      // Few parents have many rows each, and some are linked twice.
      const targets = keys.map((key) => {
        const all = known.get(key.to) ?? [];
        return isUnique(key) || (table.links === null && random.chance(0.4)) ? all : all.slice(0, 4);
      });
      return Array.from({ length: count }, (_, index) => {
        const row = randomRow(random, table, index);
        for (const [position, key] of keys.entries()) refer(random, key, targets[position]!, row);
        if (isNew(table, made, row)) made.push(row);
        else return [];
        return [insertRow(table, row)];
      }).flat();
    });
}

/** The text of a random value; an array's in PostgreSQL's notation. */
function randomText(random: Random, type: Type): string {
  if (!type.isList) return random.pick(type.values);
  const elements = Array.from({ length: random.int(0, 3) }, () =>
    random.chance(0.1) ? null : random.pick(type.values),
  );
  return arrayText(elements);
}

/** PostgreSQL's notation of a one-dimensional array. */
export function arrayText(elements: readonly (string | null)[]): string {
  const quoted = elements.map((element) => (element === null ? 'NULL' : `"${element.replaceAll(/["\\]/g, '\\$&')}"`));
  return `{${quoted.join(',')}}`;
}

function randomRow(random: Random, table: Relation, index: number): Map<string, string | null> {
  const free = table.columns.filter(({ kind }) => kind !== 'generated');
  return new Map(
    free.map((column): [string, string | null] => {
      if (column.kind !== 'free') return [column.name, String(index + 1)];
      const isNull = !column.notNull && random.chance(0.25);
      return [column.name, isNull ? null : randomText(random, column.type)];
    }),
  );
}

/** Whether a row has at most one that refers to it. */
function isUnique({ from, columns }: ForeignKey): boolean {
  return [from.key, ...from.uniques].some((unique) => unique.every((name) => columns.includes(name)));
}

function refer(
  random: Random,
  key: ForeignKey,
  targets: readonly Map<string, string | null>[],
  row: Map<string, string | null>,
): void {
  const optional = key.columns.every((name) =>
    key.from.columns.some((column) => column.name === name && !column.notNull),
  );
  const target = targets.length > 0 && !(optional && random.chance(0.2)) ? random.pick(targets) : null;
  for (const [position, name] of key.columns.entries())
    row.set(name, target?.get(key.toColumns[position] as string) ?? null);
}

/** Equal texts are equal values, but for texts that PostgreSQL rounds or cuts; those are caught by `on conflict`. */
function isNew(table: Relation, rows: readonly Map<string, string | null>[], row: Map<string, string | null>): boolean {
  const complete = table.columns.every(
    (column: Column) => !column.notNull || column.kind === 'generated' || row.get(column.name) !== null,
  );
  const differs = (columns: readonly string[]) =>
    rows.every((other) => columns.some((name) => row.get(name) === null || !isSame(row.get(name), other.get(name))));
  return complete && [table.key, ...table.uniques].every(differs);
}

function isSame(one: string | null | undefined, other: string | null | undefined): boolean {
  const plain = (text: string | null | undefined) => text?.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return one === other || (plain(one) !== '' && plain(one) === plain(other));
}

function insertRow(table: Relation, row: ReadonlyMap<string, string | null>): string {
  const columns = [...row.keys()].map(quote).join(', ');
  const values = [...row.values()].map((text) => (text === null ? 'null' : literal(text))).join(', ');
  return `insert into ${qualified(table)} (${columns}) overriding system value values (${values})`;
}
