/**
 * Filters over raw rows (docs/filters.md), with the three truth values of SQL.
 */
import { type Input, listOf } from './document.ts';
import { decodeArray, FieldError } from './encoded.ts';
import { prepareJson } from './evaluate-json.ts';
import { prepareRelated } from './evaluate-related.ts';
import { prepareSearch } from './evaluate-search.ts';
import { argumentName, type Entity, type ExpectedModel } from './expected-model.ts';
import { callExpression } from './generate-routines.ts';
import { jsonOf } from './json-input.ts';
import type { Operand, Oracle, Truth } from './oracle.ts';
import type { Row, Snapshot } from './reader.ts';
import { arrayText } from './rows.ts';
import type { Type } from './types.ts';
import { type Column, columnOf, literal, type Routine } from './world.ts';

/** What filters are evaluated with. */
export interface Filtering {
  readonly oracle: Oracle;
  readonly model: ExpectedModel;
  readonly snapshot: Snapshot;
}

/** What a filter says of each of some rows. */
export type Condition = (rows: readonly Row[]) => Promise<(row: Row) => Truth>;

/**
 * Reads a filter; null: no condition.
 * @throws FieldError for what the root field is refused for.
 */
export function prepareFilter(setting: Filtering, entity: Entity, filter: Input): Condition | null {
  if (!(filter instanceof Map)) return null;
  const conditions = [...filter].map(([name, input]) => prepareEntry(setting, entity, name, input));
  return conjunction(conditions.filter((condition) => condition !== null));
}

function prepareEntry(setting: Filtering, entity: Entity, name: string, input: Input): Condition | null {
  if (input === null || input === undefined) return null;
  const { oracle } = setting;
  const column = entity.filters.get(name);
  if (column) return prepareColumn(oracle, column, input as ReadonlyMap<string, Input>);
  const searched = entity.searches.get(name);
  if (searched) return prepareSearch(oracle, searched, input as ReadonlyMap<string, Input>);
  const call = entity.filterCalls.get(name);
  if (call) return prepareCall(oracle, call, input as ReadonlyMap<string, Input>);
  const json = entity.json.get(name);
  if (json) return prepareJson(oracle, json, input as ReadonlyMap<string, Input>);
  if (name === 'nodeId') return prepareNodeId(oracle, entity, (input as ReadonlyMap<string, Input>).get('eq'));
  const relationship = entity.related.get(name);
  if (relationship) return prepareRelated(setting, relationship, input as ReadonlyMap<string, Input>);
  const parts = listOf(input)
    .map((item) => prepareFilter(setting, entity, item))
    .filter((part) => part !== null);
  if (parts.length === 0) return null;
  if (name === 'not') return negation(parts[0] as Condition);
  return name === 'or' ? disjunction(parts) : conjunction(parts);
}

/** Whether the value of a column is above the argument of a function. */
function prepareCall(oracle: Oracle, routine: Routine, given: ReadonlyMap<string, Input>): Condition {
  const column = routine.takes!.column;
  const expression = callExpression(routine, givenTo(routine, given));
  return async (rows) => {
    const texts = rows.map((row) => row.cells.get(column.name)?.text ?? null);
    const made = await oracle.rank(expression, texts);
    return (row) => (made.get(row.cells.get(column.name)?.text ?? null)?.output ?? null) as Truth;
  };
}

/** SQL of the argument behind the row; null: it is left out. */
export function givenTo(routine: Routine, given: ReadonlyMap<string, Input>): string | null {
  const argument = routine.arguments[0]!;
  const input = given.get(argumentName(routine, argument.name));
  if (input === undefined) return null;
  const { type } = argument;
  const text =
    type.isList && input !== null ? arrayText(listOf(input).map((item) => textOf(type, item))) : textOf(type, input);
  return text === null ? 'null' : literal(text);
}

/** A column's value compared by operators; null: by none. */
export function prepareColumn(oracle: Oracle, column: Column, operators: ReadonlyMap<string, Input>): Condition | null {
  const conditions = [...operators]
    .filter(([, operand]) => operand !== undefined)
    .map(([operator, operand]) =>
      operator.endsWith('Element')
        ? prepareElements(oracle, column, operator, operand)
        : prepareOperator(oracle, column, operator, operand as Exclude<Input, undefined>),
    );
  return conjunction(conditions.filter((condition) => condition !== null));
}

/** What holds of the elements of an array: of one of them, or of each, where unknown is not enough. */
function prepareElements(oracle: Oracle, column: Column, quantifier: string, filter: Input): Condition | null {
  const { elements } = column.type;
  if (!(filter instanceof Map) || elements === null) return null;
  const element = { ...column, type: elements };
  const condition = prepareColumn(oracle, element, filter as ReadonlyMap<string, Input>);
  const isEvery = quantifier === 'everyElement';
  if (isEvery && condition === null) return null;
  return async (rows) => {
    const lists = new Map(rows.map((row) => [row, elementRows(column, row)]));
    const truthOf =
      condition === null ? () => true : await condition([...lists.values()].flatMap((list) => list ?? []));
    return (row) => {
      const truths = lists.get(row)?.map((each) => truthOf(each) === true) ?? null;
      return truths && (isEvery ? !truths.includes(false) : truths.includes(true));
    };
  };
}

/** A row for each element, with it in place of the array; null: there is no array. */
function elementRows({ name }: Column, row: Row): readonly Row[] | null {
  const { text } = row.cells.get(name)!;
  if (text === null) return null;
  return [...text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/g)].map(([all, quoted]) => {
    const element = quoted === undefined ? (all === 'NULL' ? null : all) : quoted.replaceAll(/\\(.)/gs, '$1');
    return { ...row, cells: new Map([[name, { text: element, jsonb: 'null', output: null, rank: 0 }]]) };
  });
}

function prepareOperator(
  oracle: Oracle,
  column: Column,
  operator: string,
  input: Exclude<Input, undefined>,
): Condition {
  if (operator === 'is') {
    if (input === null) throw new FieldError(null);
    return async () => (row) => (row.cells.get(column.name)?.text === null) === (input === 'NULL');
  }
  if (input === null) return async () => () => null;
  const isList = operator === 'in' || column.type.isList;
  const texts = listOf(input).map((item) => textOf(column.type, item));
  if (!['startsWith', 'like', 'ilike', 'regex', 'iregex'].includes(operator)) checkLength(column.type, texts);
  return compareColumn(oracle, column, operator, isList ? texts : (texts[0] ?? null));
}

/** The rows' values of a column compared with an operand. */
export function compareColumn(oracle: Oracle, column: Column, operator: string, operand: Operand): Condition {
  return async (rows) => {
    const texts = rows.map((row) => row.cells.get(column.name)?.text ?? null);
    const truths = await oracle.compare(column.type, operator, texts, operand);
    return (row) => truths.get(row.cells.get(column.name)?.text ?? null) ?? null;
  };
}

/** The SQL text of an input for a column; labels of enums have other names in the API. */
export function textOf(type: Type, input: Input): string | null {
  if (type.input === 'json') return input === null || input === undefined ? null : jsonOf(input);
  if (typeof input !== 'string') return null;
  const label = [...(type.labels ?? [])].find(([, name]) => name === input);
  return label?.[0] ?? input;
}

/** @throws FieldError where a text is longer than the column allows. */
export function checkLength({ maxLength }: Type, texts: readonly (string | null)[]): void {
  if (maxLength !== null && texts.some((text) => text !== null && [...text].length > maxLength)) {
    throw new FieldError(`Invalid input for String type. Maximum character length ${maxLength}`);
  }
}

/** Rows with these values in the key's columns. */
export function prepareKey(oracle: Oracle, entity: Entity, values: readonly (string | null)[]): Condition {
  const columns = entity.relation.key.map((name) => columnOf(entity.relation, name));
  return conjunction(
    columns.map((column, index) => compareColumn(oracle, column, 'eq', values[index] ?? null)),
  ) as Condition;
}

function prepareNodeId(oracle: Oracle, entity: Entity, input: Input): Condition | null {
  if (input === undefined) return null;
  if (typeof input !== 'string') throw new FieldError(null);
  const [schema, name, ...values] = decodeArray(input);
  if (schema !== entity.relation.schema.name || name !== entity.relation.name) {
    throw new FieldError('nodeId belongs to a different collection');
  }
  if (values.length !== entity.relation.key.length) throw new FieldError(null);
  return prepareKey(oracle, entity, values);
}

/** All of the conditions; null without any. */
export function conjunction(conditions: readonly Condition[]): Condition | null {
  if (conditions.length === 0) return null;
  return combine(conditions, (truths) => (truths.includes(false) ? false : truths.includes(null) ? null : true));
}

function disjunction(conditions: readonly Condition[]): Condition {
  return combine(conditions, (truths) => (truths.includes(true) ? true : truths.includes(null) ? null : false));
}

function negation(condition: Condition): Condition {
  return combine([condition], ([truth]) => (truth === null || truth === undefined ? null : !truth));
}

function combine(conditions: readonly Condition[], decide: (truths: readonly Truth[]) => Truth): Condition {
  return async (rows) => {
    const truths: ((row: Row) => Truth)[] = [];
    for (const condition of conditions) truths.push(await condition(rows));
    return (row) => decide(truths.map((truth) => truth(row)));
  };
}
