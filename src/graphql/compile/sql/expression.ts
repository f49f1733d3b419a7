/** Prints values computed from the current row or a group of rows. */

import { invariant } from '../../../shared/invariant.ts';
import { type AggregateFunction, aggregateRow } from '../../model/codecs.ts';
import { type Column, comparedAs, type SqlType } from '../../model/model.ts';
import type { JsonReading } from '../../schema/origin.ts';
import type { Expression, GroupExpression, JsonPart, OrderExpression } from '../plan/plan.ts';
import { printOperand } from './operator.ts';
import { printJsonText } from './output.ts';
import { printCall } from './printer.ts';
import type { Row } from './row.ts';
import { printSearch } from './search.ts';
import { builtin, ident, param, type Sql, sql, typeName } from './sql.ts';

/** The value of an expression over a row, or over the rows of a group in scope. */
export function printExpression(expression: Expression, row: Row): Sql {
  switch (expression.kind) {
    case 'column':
      return row.column(expression.column);
    case 'count':
    case 'count_values':
    case 'distinct_count':
      return printAggregated(expression, row);
    case 'aggregate': {
      const value = printAggregated(expression, row);
      if (!isSummed(expression.function)) return value;
      // As in answers: the cast of a float drops digits.
      return isFloat(expression.column)
        ? sql`${value}::pg_catalog.text::pg_catalog.numeric`
        : sql`${value}::pg_catalog.numeric`;
    }
    case 'computed':
      return printCall(expression.call, row);
    case 'json_part':
      return printJsonPart(expression, row);
    case 'element':
      invariant(row.element, 'conditions on elements stand in a scan of them');
      return row.element;
    case 'rank': {
      const args = sql`${row.column(expression.column)}, ${printSearch(expression.search)}, ${param(expression.normalization, builtin.int4)}`;
      return expression.coverDensity ? sql`pg_catalog.ts_rank_cd(${args})` : sql`pg_catalog.ts_rank(${args})`;
    }
  }
}

/** The type for comparisons of the value. */
export function typeOf(expression: Expression | OrderExpression): SqlType {
  switch (expression.kind) {
    case 'column':
      return expression.column.cast;
    case 'aggregate':
      return isSummed(expression.function) ? builtin.numeric : expression.column.cast;
    case 'computed':
    case 'element':
      return expression.type.cast;
    case 'json_part':
      return readings[expression.as];
    case 'rank':
      return builtin.float4;
    case 'related':
      return typeOf(expression.expression);
    default:
      return builtin.int8;
  }
}

const readings = {
  text: builtin.text,
  number: builtin.numeric,
  boolean: builtin.bool,
  json: builtin.jsonb,
} satisfies Record<JsonReading, SqlType>;

function printJsonPart({ of, path, as }: JsonPart, row: Row): Sql {
  const [value, keys] = [printExpression(of, row), param(path, builtin.text, { array: true })];
  if (as === 'text') return printJsonText(value, keys);
  const part = sql`(${value} operator(pg_catalog.#>) ${keys})`;
  return as === 'json' ? part : sql`${part}::${typeName(readings[as])}`;
}

/** Results of these have several types, all numeric. */
export function isSummed(name: AggregateFunction): boolean {
  const { results } = aggregateRow(name);
  return results === 'sum' || results === 'avg';
}

/** An aggregate over the rows in scope, in PostgreSQL's own type. */
export function printAggregated(expression: GroupExpression, row: Row): Sql {
  const value = printFunction(expression, row);
  return row.counted ? sql`${value} filter (where ${row.counted})` : value;
}

function printFunction(expression: GroupExpression, row: Row): Sql {
  switch (expression.kind) {
    case 'count':
      return sql`pg_catalog.count(*)`;
    case 'count_values':
      return sql`pg_catalog.count(${row.column(expression.column)})`;
    case 'distinct_count':
      return sql`pg_catalog.count(distinct ${row.column(expression.column)})`;
    case 'aggregate':
      return functions[expression.function](row.column(expression.column), expression.column);
  }
}

const functions = {
  sum: (value) => sql`pg_catalog.sum(${value})`,
  avg: (value) => sql`pg_catalog.avg(${value}::pg_catalog.numeric)`,
  min: (value, column) =>
    isBoolean(column) ? sql`pg_catalog.bool_and(${value})` : printExtreme(sql`min`, value, column),
  max: (value, column) =>
    isBoolean(column) ? sql`pg_catalog.bool_or(${value})` : printExtreme(sql`max`, value, column),
  stddev: (value) => sql`pg_catalog.stddev_samp(${value}::pg_catalog.numeric)`,
  variance: (value) => sql`pg_catalog.var_samp(${value}::pg_catalog.numeric)`,
  boolAnd: (value) => sql`pg_catalog.bool_and(${value})`,
  boolOr: (value) => sql`pg_catalog.bool_or(${value})`,
} satisfies Record<AggregateFunction, (value: Sql, column: Column) => Sql>;

function printExtreme(aggregate: Sql, value: Sql, { cast }: Column): Sql {
  // citext has its own comparison.
  if (cast.own !== null) return sql`${ident(cast.own.type.namespace)}.${aggregate}(${printOperand(cast, value)})`;
  // There is none for "char" or name.
  const isText = ['char', 'name'].includes(comparedAs(cast).name);
  return sql`pg_catalog.${aggregate}(${isText ? sql`${value}::pg_catalog.text` : value})`;
}

function isBoolean(column: Column): boolean {
  return isOfType(column, 'bool');
}

function isFloat(column: Column): boolean {
  return isOfType(column, 'float4') || isOfType(column, 'float8');
}

function isOfType({ cast }: Column, type: string): boolean {
  const { namespace, name } = comparedAs(cast);
  return namespace === 'pg_catalog' && name === type;
}
