/**
 * What a mutation should do and answer: each root field as one plain statement over rows chosen by the evaluator's own filter,
 * in a transaction that is undone afterwards. What its records show below themselves is read before the statement.
 */
import type pg from 'pg';
import { Num, Unordered, type Value } from './canonical.ts';
import { type Document, type Field, type Input, listOf } from './document.ts';
import { FieldError } from './encoded.ts';
import { type Condition, checkLength, prepareFilter, textOf } from './evaluate-filter.ts';
import { type Evaluation, type Expected, prepareObject } from './evaluate-query.ts';
import type { Entity, ExpectedModel } from './expected-model.ts';
import type { Oracle } from './oracle.ts';
import { becomeRole, createSnapshot, keyOf, type Row, readTables, rowReader, type Snapshot } from './reader.ts';
import { type Column, literal, qualified, quote, type Role, type World } from './world.ts';

/** What is expected of a mutation. */
export interface ExpectedMutation {
  readonly answer: Expected;
  /** Rows of all tables afterwards; null: as before. */
  readonly tables: ReadonlyMap<string, readonly string[]> | null;
}

/** The same while it runs. */
interface Running extends MutationSetting {
  /** The most rows that one statement wrote so far: which of several fails first is PostgreSQL's choice. */
  maxRows: number;
}

/** What a mutation is worked out with. */
export interface MutationSetting {
  readonly client: pg.ClientBase;
  readonly world: World;
  readonly role: Role;
  readonly model: ExpectedModel;
  readonly oracle: Oracle;
  readonly claims: object;
}

/** Runs the mutation the obvious way and undoes it. Sequences stand where they stood. */
export async function evaluateMutation(setting: MutationSetting, document: Document): Promise<ExpectedMutation> {
  const { client, world } = setting;
  const sequences = await readSequences(client, world);
  const running: Running = { ...setting, maxRows: 0 };
  try {
    return await runRoots(running, document);
  } catch (error) {
    if (error instanceof FieldError) return failed({ message: error.expected, path: null });
    const { code, message } = error as { code?: string; message: string };
    if (code === undefined) throw error;
    return failed({ message: null, path: null, because: message, ...(running.maxRows < 2 && { sqlstate: code }) });
  } finally {
    await client.query('rollback');
    for (const statement of sequences) await client.query(statement);
  }
}

async function runRoots(setting: Running, document: Document): Promise<ExpectedMutation> {
  const { client, model, oracle, world } = setting;
  await becomeRole(client, setting.role, setting.claims);
  let current: Snapshot | null = null;
  const before = () => current as unknown as Snapshot;
  const snapshot: Snapshot = {
    rows: (relation) => before().rows(relation),
    computedRows: (routine, row) => before().computedRows(routine, row),
    call: () => Promise.reject(new Error('A mutation calls no function.')),
    callValue: () => Promise.reject(new Error('A mutation calls no function.')),
  };
  const evaluation: Evaluation = { document, model, oracle, snapshot, onPage: () => {} };
  const roots = document
    .fields([document.operation], ['Mutation'])
    .map((field) => ({ key: field.key, run: prepareRoot(setting, evaluation, field) }));
  const data = new Map<string, Value>();
  for (const root of roots) {
    current = await readEverything(client, model);
    data.set(root.key, await root.run());
  }
  await client.query('set constraints all immediate');
  await client.query('reset role');
  return { answer: { data, errors: [] }, tables: await readTables(client, world.relations) };
}

function failed(error: Expected['errors'][number]): ExpectedMutation {
  return { answer: { data: null, errors: [error] }, tables: null };
}

/** Everything that can be read, before the next statement changes it. */
async function readEverything(client: pg.ClientBase, model: ExpectedModel): Promise<Snapshot> {
  const snapshot = createSnapshot(client, model);
  for (const { relation, fields } of model.entities.values()) {
    const [row] = await snapshot.rows(relation);
    for (const field of row ? fields.values() : []) {
      if (field.kind !== 'computed' || field.routine.result.kind === 'value') continue;
      await snapshot.computedRows(field.routine, row as Row);
    }
  }
  return snapshot;
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

function prepareRoot(setting: Running, evaluation: Evaluation, field: Field): () => Promise<Value> {
  if (field.name === '__typename') return async () => 'Mutation';
  for (const entity of evaluation.model.entities.values()) {
    const names = {
      [`insertInto${entity.base}Collection`]: 'Insert',
      [`update${entity.base}Collection`]: 'Update',
      [`deleteFrom${entity.base}Collection`]: 'Delete',
    };
    const kind = names[field.name];
    if (kind === 'Insert') return prepareInsert(setting, evaluation, entity, field);
    if (kind !== undefined)
      return prepareChange(setting, evaluation, { entity, kind: kind as 'Update' | 'Delete' }, field);
  }
  throw new Error(`There is no root field ${field.name}.`);
}

function prepareInsert(setting: Running, evaluation: Evaluation, entity: Entity, field: Field): () => Promise<Value> {
  const objects = listOf(evaluation.document.argument(field, 'objects')) as readonly ReadonlyMap<string, Input>[];
  if (objects.length === 0) throw new FieldError('At least one record must be provided to objects');
  const given = objects.map((object) => columnValues(entity.insertable, object));
  const statement = insertStatement(entity, given);
  const answer = preparePayload(evaluation, entity, field, 'Insert');
  return async () => {
    setting.maxRows = Math.max(setting.maxRows, objects.length);
    const rows = await runStatement(setting.client, entity, statement);
    return answer(rows);
  };
}

function prepareChange(
  setting: Running,
  evaluation: Evaluation,
  { entity, kind }: { readonly entity: Entity; readonly kind: 'Update' | 'Delete' },
  field: Field,
): () => Promise<Value> {
  const { document, snapshot } = evaluation;
  const set =
    kind === 'Update'
      ? columnValues(entity.updatable, document.argument(field, 'set') as ReadonlyMap<string, Input>)
      : new Map();
  if (kind === 'Update' && set.size === 0)
    throw new FieldError('At least one mapping must be provided to set argument');
  const condition = prepareFilter(evaluation, entity, document.argument(field, 'filter'));
  const given = document.argument(field, 'atMost');
  const atMost = given === undefined ? 1 : Number(given);
  const answer = preparePayload(evaluation, entity, field, kind);
  return async () => {
    const rows = await chosenRows(condition, await snapshot.rows(entity.relation));
    setting.maxRows = Math.max(setting.maxRows, rows.length);
    const written = await runStatement(setting.client, entity, changeStatement(entity, kind, set, rows));
    if (written.length > atMost) throw new FieldError(`${kind.toLowerCase()} impacts too many records`);
    return answer(written);
  };
}

async function chosenRows(condition: Condition | null, rows: readonly Row[]): Promise<readonly Row[]> {
  if (condition === null) return rows;
  const matches = await condition(rows);
  return rows.filter((row) => matches(row) === true);
}

function preparePayload(
  evaluation: Evaluation,
  entity: Entity,
  field: Field,
  kind: string,
): (rows: readonly Row[]) => Promise<Value> {
  const type = `${entity.base}${kind}Response`;
  const parts = evaluation.document.fields(field.nodes, [type]).map(({ key, name, nodes }) => ({
    key,
    name,
    object: name === 'records' ? prepareObject(evaluation, entity, nodes) : null,
  }));
  return async (rows) => {
    const answer = new Map<string, Value>();
    for (const { key, name, object } of parts) {
      if (object === null) answer.set(key, name === '__typename' ? type : new Num(String(rows.length)));
      else {
        const records: Value[] = [];
        for (const row of rows) records.push(await object(row));
        answer.set(key, kind === 'Insert' ? records : new Unordered(records));
      }
    }
    return answer;
  };
}

/** Values for columns; what is absent is left out. */
function columnValues(columns: ReadonlyMap<string, Column>, object: ReadonlyMap<string, Input>): Map<Column, unknown> {
  const values = new Map<Column, unknown>();
  for (const [name, input] of object) {
    const column = columns.get(name);
    if (!column) throw new Error(`There is no column ${name}.`);
    if (input === undefined) continue;
    const items = column.type.isList ? listOf(input) : [input];
    const texts = input === null ? null : items.map((item) => textOf(column.type, item));
    checkLength(column.type, texts ?? []);
    values.set(column, texts === null ? null : column.type.isList ? texts : texts[0]);
  }
  return values;
}

function insertStatement({ relation, insertable }: Entity, rows: readonly ReadonlyMap<Column, unknown>[]): Statement {
  const used = [...insertable.values()].filter((column) => rows.some((row) => row.has(column)));
  const columns = used.length > 0 ? used : [...insertable.values()].slice(0, 1);
  const values: unknown[] = [];
  const cells = (row: ReadonlyMap<Column, unknown>) =>
    columns.map((column) => (row.has(column) ? castValue(column, values.push(row.get(column))) : 'default')).join(', ');
  const list = rows.map((row) => `(${cells(row)})`).join(', ');
  return {
    text: `insert into ${qualified(relation)} as "|row" (${columns.map(({ name }) => quote(name)).join(', ')}) values ${list}`,
    values,
  };
}

function changeStatement(
  { relation }: Entity,
  kind: 'Update' | 'Delete',
  set: ReadonlyMap<Column, unknown>,
  rows: readonly Row[],
): Statement {
  const values: unknown[] = [];
  const assignments = [...set].map(
    ([column, value]) => `${quote(column.name)} = ${castValue(column, values.push(value))}`,
  );
  const start =
    kind === 'Update'
      ? `update ${qualified(relation)} as "|row" set ${assignments.join(', ')}`
      : `delete from ${qualified(relation)} as "|row"`;
  const key = relation.key.map((name) => `coalesce(to_jsonb("|row".${quote(name)})::text, 'null')`).join(', ');
  const place = values.push(rows.map(keyOf));
  return {
    text: `${start} where to_jsonb(array[${key}]) in (select k::jsonb from unnest($${place}::text[]) as u (k))`,
    values,
  };
}

function castValue({ type }: Column, position: number): string {
  return `$${position}::${type.isList ? 'text[]' : 'text'}::${type.sql}`;
}

async function runStatement(
  client: pg.ClientBase,
  entity: Entity,
  { text, values }: Statement,
): Promise<readonly Row[]> {
  const reader = rowReader(entity, false);
  const { rows } = await client.query<(string | null)[]>({
    text: `${text} returning ${reader.list}`,
    values: [...values],
    rowMode: 'array',
  });
  return rows.map((row) => reader.read(row));
}

/** Statements that set the sequences back; they are not part of a transaction. */
async function readSequences(client: pg.ClientBase, world: World): Promise<string[]> {
  const statements: string[] = [];
  for (const relation of world.relations) {
    for (const { kind, name } of relation.kind === 'table' ? relation.columns : []) {
      if (kind !== 'identity' && kind !== 'serial') continue;
      const { rows } = await client.query<{ sequence: string }>(
        `select pg_get_serial_sequence(${literal(qualified(relation))}, ${literal(name)}) as sequence`,
      );
      const sequence = rows[0]?.sequence ?? '';
      const state = await client.query<{ last_value: string; is_called: boolean }>(
        `select last_value, is_called from ${sequence}`,
      );
      statements.push(`select setval(${literal(sequence)}, ${state.rows[0]?.last_value}, ${state.rows[0]?.is_called})`);
    }
  }
  return statements;
}
