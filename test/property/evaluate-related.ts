/**
 * Filters through relationships over raw rows (docs/filters.md, "Related rows"): true or false, never unknown.
 */
import { type Input, listOf } from './document.ts';
import { FieldError } from './encoded.ts';
import { type Condition, conjunction, type Filtering, prepareColumn, prepareFilter } from './evaluate-filter.ts';
import { computedText } from './evaluate-order.ts';
import type { Computation, Entity, Relationship } from './expected-model.ts';
import type { Oracle } from './oracle.ts';
import { entityOf, type Row, relatedRows } from './reader.ts';
import { computedType } from './types.ts';
import type { Column } from './world.ts';

type Entries = ReadonlyMap<string, Input>;

/** What is asked of the related rows of one row, and of those of them that match. */
type Question = (related: readonly Row[], matching: readonly Row[]) => boolean | Promise<boolean>;

/**
 * Reads the entry of a relationship; null: no condition.
 * @throws FieldError for what the root field is refused for.
 */
export function prepareRelated(setting: Filtering, relationship: Relationship, entries: Entries): Condition | null {
  const entity = entityOf(setting.model, relationship.target);
  const ask = (filter: Condition | null, question: Question) => askRelated(setting, relationship, filter, question);
  if (relationship.kind === 'to-one') {
    const filter = prepareFilter(setting, entity, entries);
    return filter === null ? null : ask(filter, (_, matching) => matching.length > 0);
  }
  const conditions = [...entries].map(([name, input]) => {
    if (input === null || input === undefined) return null;
    if (name === 'aggregate') {
      const aggregate = input as Entries;
      const filter = prepareFilter(setting, entity, aggregate.get('filter'));
      const questions = prepareAggregate(setting.oracle, entity, aggregate, {
        computations: entity.computations,
        most: 1000,
      });
      return conjunction(questions.map((question) => ask(filter, question)));
    }
    const filter = prepareFilter(setting, entity, input);
    if (name === 'some') return ask(filter, (_, matching) => matching.length > 0);
    if (name === 'none') return ask(filter, (_, matching) => matching.length === 0);
    return filter === null ? null : ask(filter, (related, matching) => related.length === matching.length);
  });
  return conjunction(conditions.filter((condition) => condition !== null));
}

function askRelated(
  { snapshot }: Filtering,
  relationship: Relationship,
  filter: Condition | null,
  question: Question,
): Condition {
  return async (rows) => {
    const truthOf = filter === null ? () => true : await filter(await snapshot.rows(relationship.target));
    const answers = new Map<Row, boolean>();
    for (const row of rows) {
      const related = await relatedRows(snapshot, relationship, row);
      const matching = related.filter((other) => truthOf(other) === true);
      answers.set(row, await question(related, matching));
    }
    return (row) => answers.get(row) ?? null;
  };
}

/** What an aggregate asks of the rows that match its filter. @param most The largest number that a count may be compared with. */
export function prepareAggregate(
  oracle: Oracle,
  entity: Entity,
  aggregate: Entries,
  { computations, most }: { readonly computations: Entity['computations']; readonly most: number },
): Question[] {
  return [...aggregate].flatMap(([name, input]): Question[] => {
    if (name === 'filter' || input === null || input === undefined) return [];
    if (name === 'count') {
      const isTrue = prepareNumber(input as Entries, most);
      return isTrue === null ? [] : [(_, matching) => isTrue(matching.length)];
    }
    const columns = computations?.get(name as Computation);
    return [...(input as Entries)].flatMap(([field, operators]): Question[] => {
      if (operators === null || operators === undefined) return [];
      const column = columns?.get(field);
      if (!column) throw new Error(`There is no ${name} of ${field}.`);
      return name === 'distinctCount'
        ? askDistinct(column, operators as Entries)
        : askComputed(oracle, entity, column, name as Exclude<Computation, 'distinctCount'>, operators as Entries);
    });
  });
}

function askDistinct(column: Column, operators: Entries): Question[] {
  const isTrue = prepareNumber(operators, Number.POSITIVE_INFINITY);
  if (isTrue === null) return [];
  const ranksOf = (rows: readonly Row[]) =>
    rows.flatMap(({ cells }) => {
      const cell = cells.get(column.name);
      return cell === undefined || cell.text === null ? [] : [cell.rank];
    });
  return [(_, matching) => isTrue(new Set(ranksOf(matching)).size)];
}

/** A value that is computed is compared like that of a column. */
function askComputed(
  oracle: Oracle,
  { relation }: Entity,
  column: Column,
  name: Exclude<Computation, 'distinctCount'>,
  operators: Entries,
): Question[] {
  const condition = prepareColumn(oracle, { ...column, type: computedType(column.type, name) }, operators);
  if (condition === null) return [];
  return [
    async (_, matching) => {
      const texts = matching.map(({ cells }) => cells.get(column.name)?.text ?? null);
      const text = await computedText(oracle, column, name, texts);
      const cell = { text, jsonb: '', output: null, rank: 0 };
      const row: Row = { relation, cells: new Map([[column.name, cell]]), computed: new Map() };
      return (await condition([row]))(row) === true;
    },
  ];
}

/** Operators over a number; null: there are none. */
function prepareNumber(operators: Entries, most: number): ((value: number) => boolean) | null {
  const given = [...operators].filter(([, input]) => input !== undefined);
  const tests = given.map(([operator, input]) => {
    if (operator === 'is' && input === null) throw new FieldError(null);
    const operands = listOf(input).filter((item) => typeof item === 'string');
    if (operator !== 'is' && operands.some((item) => Number(item) > most)) throw new FieldError(null);
    return (value: number) => (input === null ? false : compareNumber(value, operator, operands));
  });
  return tests.length === 0 ? null : (value) => tests.every((test) => test(value));
}

function compareNumber(value: number, operator: string, operands: readonly string[]): boolean {
  const [operand] = operands.map(Number);
  if (operator === 'is') return operands[0] === 'NOT_NULL';
  if (operator === 'in') return operands.map(Number).includes(value);
  if (operand === undefined) return false;
  switch (operator) {
    case 'eq':
      return value === operand;
    case 'neq':
      return value !== operand;
    case 'lt':
      return value < operand;
    case 'lte':
      return value <= operand;
    case 'gt':
      return value > operand;
    case 'gte':
      return value >= operand;
    default:
      throw new Error(`There is no operator ${operator}.`);
  }
}
