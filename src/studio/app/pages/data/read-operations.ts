/** The operations that read a table. */
import type { RoleTable } from '../../shared/role-schema.ts';
import type { Operation } from '../../shared/send-operation.ts';
import { conditionsToFilter } from './conditions.ts';
import type { DataPlace, Order } from './data-place.ts';

/** What is shown of a table. */
export type View = Pick<DataPlace, 'order' | 'filter'>;

/** Rows are counted up to here, where the count can be bounded: half of what a request may cost by default. */
export const countLimit = 500_000;

/** Fields of a row as a selection. */
export function selectionOf({ columns, nodeId }: RoleTable): string {
  const names = columns.filter(({ isRead }) => isRead).map(({ name }) => name);
  return [...names, ...(nodeId === null ? [] : [nodeId])].join(' ');
}

/** Nulls stand where indexes have them. */
export function directionOf({ direction }: Order): string {
  return direction === 'ascending' ? 'AscNullsLast' : 'DescNullsFirst';
}

/** Arguments that choose and order the rows, as variables that have a value. */
function argumentsOf(table: RoleTable, view: View, more: Readonly<Record<string, unknown>>) {
  const { order } = view;
  const filter = conditionsToFilter(view.filter);
  const given = {
    ...more,
    ...(filter !== null && { filter }),
    ...(order !== null && { orderBy: [{ [order.column]: directionOf(order) }] }),
  };
  const types: Readonly<Record<string, string>> = {
    first: 'Int',
    after: 'Cursor',
    atMost: 'Int',
    filter: `${table.name}Filter`,
    orderBy: `[${table.name}OrderBy!]`,
  };
  return { given, declare: (names: readonly string[]) => names.map((name) => `$${name}: ${types[name]}`).join(', ') };
}

/** A page of rows. @param page Without it, the first of the size that the table has. */
export function pageOperation(
  table: RoleTable,
  view: View,
  page: Readonly<Record<string, unknown>>,
  kind: 'query' | 'subscription' = 'query',
): Operation {
  const { given, declare } = argumentsOf(table, view, page);
  const names = Object.keys(given);
  const list = names.map((name) => `${name}: $${name}`).join(', ');
  const query = `${kind} ${table.name}Rows${names.length === 0 ? '' : `(${declare(names)})`} {
  ${table.collection}${names.length === 0 ? '' : `(${list})`} {
    edges {
      node {
        ${selectionOf(table).replaceAll(' ', '\n        ')}
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`;
  return { query, variables: given };
}

/** How many rows there are. */
export function countOperation(table: RoleTable, { filter }: View): Operation {
  const { given, declare } = argumentsOf(
    table,
    { order: null, filter },
    table.countAtMost ? { atMost: countLimit } : {},
  );
  const names = Object.keys(given);
  const query = `query ${table.name}Count${names.length === 0 ? '' : `(${declare(names)})`} {
  ${table.collection}${'filter' in given ? '(filter: $filter)' : ''} {
    totalCount${'atMost' in given ? '(atMost: $atMost)' : ''}
  }
}`;
  return { query, variables: given };
}
