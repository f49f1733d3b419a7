/**
 * Prints the values that rows are ordered by. Joins related rows, each relationship once.
 *
 * A to-one relationship is an inner join if each row has a related one: PostgreSQL can then start from an index of the
 * related table, with 30 of 1,000,000 rows in 0.3 ms, where a left join takes 120 to 700. A to-many is aggregated per
 * filtered row, by the index of its foreign key.
 */
import type { Relationship } from '../../model/model.ts';
import { invariant } from '../../shared/invariant.ts';
import type { Expression, OrderExpression, OrderTerm, RelatedRows } from '../plan/plan.ts';
import { columnOf } from '../plan/plan-order.ts';
import { printJoin } from '../sql/print-condition.ts';
import { printExpression } from '../sql/print-expression.ts';
import { directRow, list, type Names, type Row, SubqueryRow } from '../sql/print-row.ts';
import { tableName } from '../sql/printer.ts';
import { empty, ident, join, type Sql, sql } from '../sql/sql.ts';

/** The values of an order's terms over a row, and the joins they read, which follow the row in its from clause. */
export function printSortKeys(
  names: Names,
  order: readonly OrderTerm[],
  row: Row,
): { readonly joins: Sql; readonly sortKeys: readonly Sql[] } {
  const joins: (() => Sql)[] = [];
  const from: Step = { row, isThere: null, below: new Map() };
  const sortKeys = order.map(({ expression }) => printSortKey({ names, joins }, expression, from));
  return {
    joins: join(
      joins.map((print) => print()),
      empty,
    ),
    sortKeys,
  };
}

interface Joining {
  readonly names: Names;
  /** In from-clause order; printed after all readers. */
  readonly joins: (() => Sql)[];
}

/** A row in scope, and its joins. */
interface Step {
  readonly row: Row;
  /** Tells whether the row exists; null: always. */
  readonly isThere: (() => Sql) | null;
  readonly below: Map<Relationship, Step | Group>;
}

/** All related rows as one row of aggregates. */
interface Group {
  aggregate(expression: Expression): Sql;
}

function printSortKey(joining: Joining, expression: OrderExpression, from: Step): Sql {
  if (expression.kind !== 'related') return printOf(expression, from);
  const { related, expression: value } = expression;
  const { relationship } = related;
  const join = relationship.cardinality === 'many' ? joinGroup : joinRow;
  const joined = from.below.get(relationship) ?? join(joining, related, from);
  from.below.set(relationship, joined);
  if (!('aggregate' in joined)) return printSortKey(joining, value, joined);
  invariant(value.kind !== 'related', 'an order goes no further than many rows');
  return joined.aggregate(value);
}

// A function may return a value for a missing row.
function printOf(expression: Exclude<OrderExpression, { kind: 'related' }>, { row, isThere }: Step): Sql {
  const value = printExpression(expression, row);
  return expression.kind === 'computed' && isThere !== null ? sql`case when ${isThere()} then ${value} end` : value;
}

function joinRow({ names, joins }: Joining, related: RelatedRows, { row, isThere }: Step): Step {
  const { relationship, from, table } = related;
  const alias = names.next('t');
  const target = directRow(alias, table);
  const condition = printJoin(names, relationship, { table: from, row }, { table, row: target });
  const source = sql`${tableName(table)} as ${ident(alias)}`;
  const isAlways = isThere === null && relationship.required;
  // The join column is not null in any existing row.
  const joinedBy = columnOf(table, relationship.pairs[0]!.foreign);
  const found = (to: Row) => () => sql`${to.column(joinedBy)} is not null`;
  if (relationship.unique) {
    joins.push(() => sql`${isAlways ? sql` join ` : sql` left join `}${source} on ${condition}`);
    return { row: target, isThere: isAlways ? null : found(target), below: new Map() };
  }
  const first = new SubqueryRow(names.next('q'));
  joins.push(() => {
    const select = sql`select ${list(first.selectList(target))} from ${source} where ${condition} limit 1`;
    return sql` left join lateral (${select}) as ${ident(first.alias)} on true`;
  });
  return { row: first, isThere: found(first), below: new Map() };
}

function joinGroup({ names, joins }: Joining, { relationship, from, table }: RelatedRows, { row }: Step): Group {
  const [alias, group] = [names.next('t'), names.next('g')];
  const target = directRow(alias, table);
  const condition = printJoin(names, relationship, { table: from, row }, { table, row: target });
  const columns: Sql[] = [];
  joins.push(() => {
    const select = sql`select ${list(columns)} from ${tableName(table)} as ${ident(alias)} where ${condition}`;
    return sql` left join lateral (${select}) as ${ident(group)} on true`;
  });
  return {
    aggregate(expression) {
      columns.push(sql`${printRelatedAggregate(expression, target)} as ${ident(`a${columns.length + 1}`)}`);
      return ident(group, `a${columns.length}`);
    },
  };
}

// PostgreSQL computes min and max alone by an index of their column, past all unrelated rows. The count prevents that.
function printRelatedAggregate(expression: Expression, row: Row): Sql {
  const value = printExpression(expression, row);
  const isExtreme = expression.kind === 'aggregate' && ['min', 'max'].includes(expression.function);
  return isExtreme
    ? sql`case when ${printExpression({ kind: 'count' }, row)} operator(pg_catalog.>) 0 then ${value} end`
    : value;
}
