/**
 * Raw rows: every relation read as the role with a plain `select`, each value in the forms that answers, cursors and
 * comparisons need. Which row comes before which is PostgreSQL's ranking of one column; nothing is filtered or joined here.
 */
import type pg from 'pg';
import { parseJson, type Value } from './canonical.ts';
import { argumentName, type Entity, type ExpectedModel, type Relationship } from './expected-model.ts';
import type { Type } from './types.ts';
import { type Column, type ForeignKey, qualified, quote, type Relation, type Role, type Routine } from './world.ts';

/** One value of a row. */
export interface Cell {
  readonly text: string | null;
  /** PostgreSQL's jsonb text, as it stands in cursors and node ids. */
  readonly jsonb: string;
  /** What the answer holds. */
  readonly output: Value;
  /** Equal values have equal ranks, greater ones greater; 0 where the type has no order or the value is null. */
  readonly rank: number;
}

/** A row of a relation, with the values of its computed fields. */
export interface Row {
  readonly relation: Relation;
  readonly cells: ReadonlyMap<string, Cell>;
  readonly computed: ReadonlyMap<Routine, Value>;
}

/** Rows of all relations at one moment, as one role sees them. */
export interface Snapshot {
  rows(relation: Relation): Promise<readonly Row[]>;
  /** What a computed field gives for a row of the snapshot. */
  computedRows(routine: Routine, row: Row): Promise<readonly Row[]>;
  /** What a root function gives; a missing argument is left out of the call. */
  call(routine: Routine, given: ReadonlyMap<string, unknown>): Promise<readonly Row[]>;
  /** The value of a root function. */
  callValue(routine: Routine, given: ReadonlyMap<string, unknown>): Promise<Value>;
}

/** Reads as this role within the connection's transaction. */
export function createSnapshot(client: pg.ClientBase, model: ExpectedModel): Snapshot {
  const relations = new Map<Relation, Promise<readonly Row[]>>();
  const computed = new Map<Routine, Promise<ReadonlyMap<string, readonly Row[]>>>();
  const remember = <K, V>(map: Map<K, Promise<V>>, key: K, read: () => Promise<V>): Promise<V> => {
    const known = map.get(key) ?? read();
    map.set(key, known);
    return known;
  };
  const snapshot: Snapshot = {
    rows: (relation) =>
      remember(relations, relation, () => {
        const reader = rowReader(entityOf(model, relation), true);
        return readRows(client, reader, `select ${reader.list} from ${qualified(relation)} as "|row"`);
      }),
    computedRows: async (routine, row) => {
      const all = await remember(computed, routine, () => readComputed(client, model, routine));
      return all.get(keyOf(row)) ?? [];
    },
    call: (routine, given) => {
      if (routine.result.kind === 'value') throw new Error(`${routine.name} gives no rows.`);
      const { sql, values } = callOf(routine, given);
      const reader = rowReader(entityOf(model, routine.result.relation), true);
      return readRows(client, reader, `select ${reader.list} from ${sql} as "|row"`, values);
    },
    callValue: async (routine, given) => {
      if (routine.result.kind !== 'value') throw new Error(`${routine.name} gives rows.`);
      const { sql, values } = callOf(routine, given);
      const text = `select (${outputOf('"|row".v', routine.result.type)})::text from (select ${sql} as v) as "|row"`;
      const { rows } = await client.query<[string | null]>({ text, values, rowMode: 'array' });
      return outputValue(routine.result.type, rows[0]?.[0] ?? null);
    },
  };
  return snapshot;
}

/** Identity of a row among those of its relation. */
export function keyOf(row: Row): string {
  return JSON.stringify(row.relation.key.map((name) => row.cells.get(name)?.jsonb));
}

/** Rows of the other side; equal values of the types that keys are made of have equal texts. */
export async function relatedRows(snapshot: Snapshot, relationship: Relationship, row: Row): Promise<readonly Row[]> {
  const { key, target, far } = relationship;
  const links = far === null ? [] : await snapshot.rows(key.from);
  return relatedAmong(relationship, row, { rows: await snapshot.rows(target), links });
}

/** Those of all rows of the other side that belong to a row. @param all With the rows of the junction table, if there is one. */
export function relatedAmong(
  { key, direction, far }: Relationship,
  row: Row,
  { rows, links }: Readonly<Record<'rows' | 'links', readonly Row[]>>,
): readonly Row[] {
  if (far === null) return rowsBehind(key, direction, row, rows);
  // A row that is linked twice is one row.
  return [...new Set(rowsBehind(key, direction, row, links).flatMap((link) => rowsBehind(far, 'out', link, rows)))];
}

function rowsBehind(
  key: ForeignKey,
  direction: Relationship['direction'],
  row: Row,
  rows: readonly Row[],
): readonly Row[] {
  const [here, there] = direction === 'out' ? [key.columns, key.toColumns] : [key.toColumns, key.columns];
  const values = here.map((name) => row.cells.get(name)?.text ?? null);
  if (values.includes(null)) return [];
  return rows.filter((other) => there.every((name, index) => other.cells.get(name)?.text === values[index]));
}

/** A list of expressions over the row `t`, and what makes rows of their values. */
export interface RowReader {
  readonly list: string;
  read(values: readonly (string | null)[]): Row;
}

/** Reads every column that the role may select; ranks only where all rows are read at once. */
export function rowReader(entity: Entity, isRanked: boolean): RowReader {
  const columns = entity.readable;
  const values = [...entity.fields.values()].flatMap((field) =>
    field.kind === 'computed' && field.routine.result.kind === 'value' && field.routine.takes === null
      ? [{ routine: field.routine, type: field.routine.result.type }]
      : [],
  );
  const expressions = [
    ...columns.flatMap((column) => cellExpressions(column, isRanked)),
    ...values.map(({ routine, type }) => `(${outputOf(`${qualified(routine)}("|row")`, type)})::text`),
  ];
  return {
    list: expressions.join(', '),
    read: (texts) => ({
      relation: entity.relation,
      cells: new Map(
        columns.map((column, index) => [column.name, cellOf(column.type, texts.slice(index * 4, index * 4 + 4))]),
      ),
      computed: new Map(
        values.map(({ routine, type }, index) => [
          routine,
          outputValue(type, texts[columns.length * 4 + index] ?? null),
        ]),
      ),
    }),
  };
}

/** The entity of a relation that the role sees. */
export function entityOf(model: ExpectedModel, relation: Relation): Entity {
  const entity = model.entities.get(relation);
  if (!entity) throw new Error(`${model.role} does not see ${relation.name}.`);
  return entity;
}

/** Reads all rows of all tables as they are, whoever may see them: for comparing what a mutation did. */
export async function readTables(
  client: pg.ClientBase,
  relations: readonly Relation[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const tables = relations.filter(({ kind }) => kind === 'table');
  const read = new Map<string, readonly string[]>();
  for (const table of tables) {
    const { rows } = await client.query<[string]>({
      text: `select "|row"::text from ${qualified(table)} as "|row"`,
      rowMode: 'array',
    });
    read.set(table.name, rows.map(([text]) => text).sort());
  }
  return read;
}

/** Starts a transaction in which the connection is the role, with the claims that its requests carry. */
export async function becomeRole(client: pg.ClientBase, role: Role, claims: object): Promise<void> {
  await client.query('begin isolation level repeatable read');
  await client.query(`select set_config('request.jwt.claims', $1, true)`, [JSON.stringify({ role, ...claims })]);
  await client.query(`set local role ${role}`);
}

async function readRows(
  client: pg.ClientBase,
  reader: RowReader,
  text: string,
  values: unknown[] = [],
): Promise<readonly Row[]> {
  const { rows } = await client.query<(string | null)[]>({ text, values, rowMode: 'array' });
  return rows.map((row) => reader.read(row));
}

async function readComputed(
  client: pg.ClientBase,
  model: ExpectedModel,
  routine: Routine,
): Promise<ReadonlyMap<string, readonly Row[]>> {
  if (routine.result.kind === 'value' || routine.of === null)
    throw new Error(`${routine.name} gives no rows of a row.`);
  const key = routine.of.key.map((name) => `coalesce(to_jsonb("|of".${quote(name)})::text, 'null')`);
  const reader = rowReader(entityOf(model, routine.result.relation), true);
  const text = `select ${key.join(', ')}, ${reader.list} from ${qualified(routine.of)} as "|of", lateral ${qualified(routine)}("|of") as "|row"`;
  const { rows } = await client.query<(string | null)[]>({ text, rowMode: 'array' });
  const found = Map.groupBy(rows, (row) => JSON.stringify(row.slice(0, key.length)));
  return new Map([...found].map(([of, members]) => [of, members.map((row) => reader.read(row.slice(key.length)))]));
}

function callOf(routine: Routine, given: ReadonlyMap<string, unknown>): { sql: string; values: unknown[] } {
  const used = routine.arguments.filter((argument) => given.has(argumentName(routine, argument.name)));
  const list = used.map(
    ({ name, type }, index) => `${quote(name)} => ($${index + 1}::${type.isList ? 'text[]' : 'text'})::${type.sql}`,
  );
  return {
    sql: `${qualified(routine)}(${list.join(', ')})`,
    values: used.map(({ name }) => given.get(argumentName(routine, name))),
  };
}

function cellExpressions({ name, type }: Column, isRanked: boolean): string[] {
  const column = `"|row".${quote(name)}`;
  const rank =
    isRanked && type.canOrder
      ? `case when ${column} is not null then dense_rank() over (order by ${column}) end::text`
      : 'null';
  return [`${column}::text`, `to_jsonb(${column})::text`, `(${outputOf(column, type)})::text`, rank];
}

/** SQL of what an answer holds of a value. */
export function outputOf(expression: string, type: Type): string {
  switch (type.output) {
    case 'jsonb':
      return `to_jsonb(${expression})`;
    case 'text':
      return `to_jsonb((${expression})::text)`;
    case 'element texts':
      return `to_jsonb((${expression})::text[])`;
    case 'root text':
      return `to_jsonb((${expression}) #>> '{}')`;
  }
}

function cellOf(type: Type, [text = null, jsonb = null, output = null, rank = null]: readonly (string | null)[]): Cell {
  return { text, jsonb: jsonb ?? 'null', output: outputValue(type, output), rank: Number(rank ?? 0) };
}

/** Maps the labels of an enum to their names in the API. */
function outputValue(type: Type, json: string | null): Value {
  const value = json === null ? null : parseJson(json);
  const map = (item: Value): Value => (typeof item === 'string' ? (type.labels?.get(item) ?? item) : item);
  return Array.isArray(value) ? value.map(map) : map(value);
}
