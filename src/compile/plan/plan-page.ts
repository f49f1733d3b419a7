/**
 * Plans the pagination arguments of a connection: direction of the scan, cursor, limit, offset (graphql.md 6.4).
 *
 * Refuses illegal combinations with the contract's messages, in the contract's order.
 */
import type { Table } from '../../model/model.ts';
import { PublicError } from '../../shared/errors.ts';
import type { Input } from './input.ts';
import type { CursorPlan, LimitPlan, PagePlan } from './plan.ts';

/** The five pagination arguments of a field. */
export interface PageArguments {
  readonly first: Input;
  readonly last: Input;
  readonly before: Input;
  readonly after: Input;
  readonly offset: Input;
}

/** Plans one page; `columns` is the number of columns of the effective order. */
export function planPage(table: Table, given: PageArguments, columns: number): PagePlan {
  const present = {
    first: given.first.state() === 'value',
    last: given.last.state() === 'value',
    before: given.before.state() === 'value',
    after: given.after.state() === 'value',
    offset: given.offset.state() === 'value',
  };
  for (const name of ['first', 'last', 'offset'] as const) {
    if (present[name] && given[name].isNegative()) throw refuse(`\`${name}\` must be an unsigned integer`);
  }
  const before = present.before ? planCursor(given.before, columns) : null;
  const after = present.after ? planCursor(given.after, columns) : null;
  if (present.first && present.last) throw refuse('only one of "first" and "last" may be provided');
  if (present.before && present.after) throw refuse('only one of "before" and "after" may be provided');
  if (present.first && present.before) throw refuse('"first" may only be used with "after"');
  if (present.last && present.after) throw refuse('"last" may only be used with "before"');
  if (present.offset && (present.last || present.before)) {
    throw refuse('"offset" may only be used with "first" and "after"');
  }
  const size = present.first ? given.first : present.last ? given.last : null;
  return {
    backward: present.last || present.before,
    cursor: before ?? after,
    limit: size === null ? { kind: 'constant', value: table.maxRows } : planLimit(size, table.maxRows),
    offset: present.offset ? planOffset(given.offset) : null,
  };
}

// A limit written in the document becomes part of the text: a bound limit can keep PostgreSQL from ever reusing a plan.
function planLimit(input: Input, ceiling: number): LimitPlan {
  const path = input.path();
  if (path === null) return { kind: 'constant', value: Math.min(input.known() as number, ceiling) };
  return { kind: 'slot', slot: { kind: 'limit', path, ceiling } };
}

function planOffset(input: Input): LimitPlan {
  if (input.path() === null) return { kind: 'constant', value: input.known() as number };
  return { kind: 'slot', slot: input.slot() };
}

function planCursor(input: Input, columns: number): CursorPlan {
  const pattern = input.cursorPattern(columns);
  if (pattern === 'bad') throw refuse('The cursor cannot be decoded.');
  if (pattern === 'long') throw refuse('orderBy clause incompatible with pagination cursor');
  const elements = [...pattern.slice(1)].map((letter, index) => (letter === 'n' ? null : input.elementSlot(index)));
  return { elements };
}

function refuse(message: string): PublicError {
  return new PublicError('BAD_USER_INPUT', message);
}
