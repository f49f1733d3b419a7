/**
 * The answer to a query, worked out the slow and obvious way over raw rows. Everything that refuses a root field is found
 * before a row is looked at: each `prepare…` reads its arguments and returns what to do.
 */
import type { FieldNode } from 'graphql';
import { Num, type Value } from './canonical.ts';
import { type Document, type Field, type Input, listOf } from './document.ts';
import { decodeArray, encodeArray, FieldError } from './encoded.ts';
import { evaluateAggregate } from './evaluate-aggregate.ts';
import { givenTo, prepareFilter, prepareKey, textOf } from './evaluate-filter.ts';
import { prepareGroups } from './evaluate-groups.ts';
import { withSortKeys } from './evaluate-order.ts';
import { cursorValue, cutPage, firstOfEach, type Page, type PageRequest, readPageRequest } from './evaluate-page.ts';
import { rankExpression } from './evaluate-search.ts';
import {
  argumentName,
  type Entity,
  type ExpectedModel,
  lowerFirst,
  type Field as ModelField,
} from './expected-model.ts';
import { callExpression } from './generate-routines.ts';
import type { Oracle } from './oracle.ts';
import { entityOf, outputOf, type Row, relatedRows, type Snapshot } from './reader.ts';
import { rankType, type Type } from './types.ts';
import { type Column, columnOf, literal, type Routine } from './world.ts';

/** What an evaluation needs. */
export interface Evaluation {
  readonly document: Document;
  readonly model: ExpectedModel;
  readonly snapshot: Snapshot;
  readonly oracle: Oracle;
  /** Told of every page, so that later operations can go on from its cursors. */
  readonly onPage: (entity: Entity, request: PageRequest, page: Page) => void;
}

/** One error that is expected; a null message: any. */
interface ExpectedError {
  readonly message: string | null;
  readonly path: string | null;
  /** SQLSTATE of a database error. */
  readonly sqlstate?: string;
  /** What PostgreSQL said, for a report. */
  readonly because?: string;
}

/** What the gateway should answer. */
export interface Expected {
  readonly data: Value;
  readonly errors: readonly ExpectedError[];
}

type Prepared<T> = (input: T) => Promise<Value>;

/** Works out the answer to a query. */
export async function evaluateQuery(evaluation: Evaluation): Promise<Expected> {
  const { document } = evaluation;
  const data = new Map<string, Value>();
  const errors: ExpectedError[] = [];
  for (const field of document.fields([document.operation], ['Query'])) {
    try {
      data.set(field.key, await prepareRoot(evaluation, field)());
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      errors.push({ message: error.expected, path: field.key });
    }
  }
  return { data: errors.length > 0 && data.size === 0 ? null : data, errors };
}

function prepareRoot(evaluation: Evaluation, field: Field): () => Promise<Value> {
  const { document, model, snapshot } = evaluation;
  if (field.name === '__typename') return async () => 'Query';
  if (field.name === 'node') return prepareNode(evaluation, field);
  for (const entity of model.entities.values()) {
    if (field.name === `${lowerFirst(entity.base)}Collection`) {
      const connection = prepareConnection(evaluation, entity, field);
      return async () => connection(await snapshot.rows(entity.relation));
    }
    if (field.name === `${lowerFirst(entity.base)}ByPk`) {
      const values = entity.relation.key.map((name) => argumentOf(document, entity, field, name));
      return prepareLookup(evaluation, entity, field.nodes, values);
    }
  }
  const routine = model.routines.get(field.name);
  if (!routine) throw new Error(`There is no root field ${field.name}.`);
  return prepareCall(evaluation, field, routine);
}

function argumentOf(document: Document, entity: Entity, field: Field, column: string): string | null {
  const [name = ''] = [...entity.columns].find(([, { name: candidate }]) => candidate === column) ?? [];
  return textOf(columnOf(entity.relation, column).type, document.argument(field, name));
}

function prepareNode(evaluation: Evaluation, field: Field): () => Promise<Value> {
  const id = evaluation.document.argument(field, 'nodeId');
  const [schema, name, ...values] = decodeArray(String(id));
  for (const entity of evaluation.model.entities.values()) {
    if (entity.relation.schema.name !== schema || entity.relation.name !== name) continue;
    if (values.length !== entity.relation.key.length) break;
    return prepareLookup(evaluation, entity, field.nodes, values);
  }
  throw new FieldError(null);
}

function prepareLookup(
  evaluation: Evaluation,
  entity: Entity,
  nodes: readonly FieldNode[],
  values: readonly (string | null)[],
): () => Promise<Value> {
  const object = prepareObject(evaluation, entity, nodes);
  const condition = prepareKey(evaluation.oracle, entity, values);
  return async () => {
    const rows = await evaluation.snapshot.rows(entity.relation);
    const matches = await condition(rows);
    const row = rows.find((candidate) => matches(candidate) === true);
    return row ? object(row) : null;
  };
}

function prepareCall(evaluation: Evaluation, field: Field, routine: Routine): () => Promise<Value> {
  const { document, snapshot } = evaluation;
  const given = new Map<string, unknown>();
  for (const { name, type } of routine.arguments) {
    const key = argumentName(routine, name);
    const input: Input = document.argument(field, key);
    if (input === undefined) continue;
    if (type.isList && input !== null)
      given.set(
        key,
        listOf(input).map((item) => textOf(type, item)),
      );
    else given.set(key, textOf(type, input));
  }
  if (routine.result.kind === 'value') return () => snapshot.callValue(routine, given);
  const entity = entityOf(evaluation.model, routine.result.relation);
  if (routine.result.kind === 'row') {
    const object = prepareObject(evaluation, entity, field.nodes);
    return async () => singleRow(object, await snapshot.call(routine, given));
  }
  const connection = prepareConnection(evaluation, entity, field);
  return async () => connection(await snapshot.call(routine, given));
}

/** A row-returning function gives no object where it gives no row, or a row of nulls. */
async function singleRow(object: Prepared<Row>, [row]: readonly Row[]): Promise<Value> {
  const isNull = row === undefined || [...row.cells.values()].every(({ text }) => text === null);
  return isNull ? null : object(row);
}

/** Answers the selection of a connection over the rows that belong to it. */
function prepareConnection(evaluation: Evaluation, entity: Entity, field: Field): Prepared<readonly Row[]> {
  const { document, oracle } = evaluation;
  const request = readPageRequest(evaluation, entity, field);
  const condition = prepareFilter(evaluation, entity, document.argument(field, 'filter'));
  const parts = document.fields(field.nodes, [`${entity.base}Connection`]).map((part) => ({
    key: part.key,
    answer: prepareConnectionField(evaluation, entity, part, request),
  }));
  return async (all) => {
    const matches = condition === null ? null : await condition(all);
    const matching = matches === null ? all : all.filter((row) => matches(row) === true);
    const rows = await withSortKeys(evaluation, request.order, matching);
    const counted = firstOfEach(request, rows);
    const page = await cutPage(oracle, request, counted);
    evaluation.onPage(entity, request, page);
    const answer = new Map<string, Value>();
    for (const part of parts) answer.set(part.key, await part.answer({ rows, counted, page }));
    return answer;
  };
}

type ConnectionPart = Prepared<{
  readonly rows: readonly Row[];
  readonly counted: readonly Row[];
  readonly page: Page;
}>;

function prepareConnectionField(
  evaluation: Evaluation,
  entity: Entity,
  field: Field,
  request: PageRequest,
): ConnectionPart {
  const { document } = evaluation;
  switch (field.name) {
    case '__typename':
      return async () => `${entity.base}Connection`;
    case 'totalCount':
      return prepareTotal(document.argument(field, 'atMost'));
    case 'aggregate': {
      const type = `${entity.base}Aggregate`;
      const fields = document.fields(field.nodes, [type]);
      return ({ rows }) => evaluateAggregate(evaluation, entity, fields, { rows, type });
    }
    case 'groups': {
      const groups = prepareGroups(evaluation, entity, field);
      return ({ rows }) => groups(rows);
    }
    case 'pageInfo':
      return async ({ page }) => {
        const cursors = page.rows.map((row) => cursorValue(request.order, row));
        const info: Record<string, Value> = {
          __typename: 'PageInfo',
          hasNextPage: page.hasNextPage,
          hasPreviousPage: page.hasPreviousPage,
          startCursor: cursors[0] ?? null,
          endCursor: cursors.at(-1) ?? null,
        };
        return new Map(document.fields(field.nodes, ['PageInfo']).map(({ key, name }) => [key, info[name] as Value]));
      };
    case 'nodes': {
      const object = prepareObject(evaluation, entity, field.nodes);
      return async ({ page }) => {
        const nodes: Value[] = [];
        for (const row of edgeRows(entity, page)) nodes.push(await object(row));
        return nodes;
      };
    }
    default:
      return prepareEdges(evaluation, entity, field, request);
  }
}

/** @throws FieldError for a negative number. */
function prepareTotal(atMost: Input): ConnectionPart {
  const most = typeof atMost === 'string' ? Number(atMost) : Number.POSITIVE_INFINITY;
  if (most < 0) throw new FieldError('`atMost` must be an unsigned integer');
  return async ({ counted }) => new Num(String(Math.min(most, counted.length)));
}

function prepareEdges(evaluation: Evaluation, entity: Entity, field: Field, request: PageRequest): ConnectionPart {
  const parts = evaluation.document.fields(field.nodes, [`${entity.base}Edge`]).map(({ key, name, nodes }) => {
    const object = name === 'node' ? prepareObject(evaluation, entity, nodes) : null;
    const answer: Prepared<Row> = async (row) => {
      if (object) return object(row);
      return name === 'cursor' ? cursorValue(request.order, row) : `${entity.base}Edge`;
    };
    return { key, answer };
  });
  return async ({ page }) => {
    const edges: Value[] = [];
    for (const row of edgeRows(entity, page)) {
      const edge = new Map<string, Value>();
      for (const part of parts) edge.set(part.key, await part.answer(row));
      edges.push(edge);
    }
    return edges;
  };
}

/** Rows without a first key value count for the page, but are not shown. */
function edgeRows({ relation }: Entity, { rows }: Page): readonly Row[] {
  const [firstKey = ''] = relation.key;
  return rows.filter(({ cells }) => cells.get(firstKey)?.text !== null);
}

/** Answers the selection of an object. */
export function prepareObject(evaluation: Evaluation, entity: Entity, nodes: readonly FieldNode[]): Prepared<Row> {
  const parts = evaluation.document.fields(nodes, [entity.base, 'Node']).map((field) => {
    if (field.name === '__typename') return { key: field.key, answer: async () => entity.base as Value };
    const described = entity.fields.get(field.name);
    if (!described) throw new Error(`${entity.base} has no field ${field.name}.`);
    return { key: field.key, answer: prepareField(evaluation, field, described) };
  });
  return async (row) => {
    const answer = new Map<string, Value>();
    for (const part of parts) answer.set(part.key, await part.answer(row));
    return answer;
  };
}

function prepareField(evaluation: Evaluation, field: Field, described: ModelField): Prepared<Row> {
  const { snapshot } = evaluation;
  switch (described.kind) {
    case 'nodeId':
      return async ({ relation, cells }) => {
        const names = [relation.schema.name, relation.name].map((name) => JSON.stringify(name));
        return encodeArray([...names, ...relation.key.map((name) => cells.get(name)?.jsonb ?? 'null')]);
      };
    case 'column':
      return prepareColumnField(evaluation, described.column, evaluation.document.argument(field, 'at'));
    case 'rank':
      return prepareRank(evaluation, field, described.column);
    case 'computed':
      return prepareComputed(evaluation, field, described.routine);
    case 'to-one': {
      const object = prepareObject(evaluation, entityOf(evaluation.model, described.target), field.nodes);
      return async (row) => {
        const [related] = await relatedRows(snapshot, described, row);
        return related ? object(related) : null;
      };
    }
    case 'to-many': {
      const connection = prepareConnection(evaluation, entityOf(evaluation.model, described.target), field);
      return async (row) => connection(await relatedRows(snapshot, described, row));
    }
  }
}

/** @param at Path of the part of a JSON value that is answered. */
function prepareColumnField({ oracle }: Evaluation, { name, type }: Column, at: Input): Prepared<Row> {
  if (at === null || at === undefined) return async (row) => row.cells.get(name)?.output ?? null;
  const path = listOf(at).map((key) => literal(key as string));
  const value = `v::${type.comparedAs ?? type.sql}`;
  const keys = `array[${path.join(', ')}]::text[]`;
  const part = type.input === 'json' ? `(${value} #> ${keys})::jsonb` : `${value} #>> ${keys}`;
  return async (row) => {
    const text = row.cells.get(name)?.text ?? null;
    return (await oracle.rank(part, [text])).get(text)?.output ?? null;
  };
}

/** @throws FieldError unless there is one search. */
function prepareRank({ document, oracle }: Evaluation, field: Field, column: Column): Prepared<Row> {
  const names = ['websearch', 'plain', 'phrase', 'query', 'config', 'normalization', 'coverDensity'];
  const given = new Map(names.map((name) => [name, document.argument(field, name)]));
  const expression = outputOf(rankExpression(given), rankType);
  return async (row) => {
    const text = row.cells.get(column.name)?.text ?? null;
    return (await oracle.rank(expression, [text])).get(text)?.output ?? null;
  };
}

function prepareCalled(
  { document, oracle }: Evaluation,
  field: Field,
  routine: Routine,
  column: Column,
): Prepared<Row> {
  const names = routine.arguments.map(({ name }) => argumentName(routine, name));
  const given = new Map(names.map((name) => [name, document.argument(field, name)]));
  const { type } = routine.result as { readonly type: Type };
  const expression = outputOf(callExpression(routine, givenTo(routine, given)), type);
  return async (row) => {
    const text = row.cells.get(column.name)?.text ?? null;
    return (await oracle.rank(expression, [text])).get(text)?.output ?? null;
  };
}

function prepareComputed(evaluation: Evaluation, field: Field, routine: Routine): Prepared<Row> {
  const { model, snapshot } = evaluation;
  if (routine.takes !== null) return prepareCalled(evaluation, field, routine, routine.takes.column);
  const at = evaluation.document.argument(field, 'at');
  if (routine.entry !== null && at !== null && at !== undefined)
    return prepareColumnField(evaluation, routine.entry, at);
  if (routine.result.kind === 'value') return async (row) => row.computed.get(routine) ?? null;
  const entity = entityOf(model, routine.result.relation);
  if (routine.result.kind === 'row') {
    const object = prepareObject(evaluation, entity, field.nodes);
    return async (row) => singleRow(object, await snapshot.computedRows(routine, row));
  }
  const connection = prepareConnection(evaluation, entity, field);
  return async (row) => connection(await snapshot.computedRows(routine, row));
}
