/**
 * Plans the pagination arguments of a connection: scan direction, cursor, limit, offset (docs/pagination.md).
 *
 * Refuses invalid combinations with pg_graphql's messages, in its order.
 */
import { badInput, type PublicError } from '../../../shared/errors.ts';
import { type ConnectionArgument, connectionArguments } from '../../model/connection-arguments.ts';
import type { Table } from '../../model/model.ts';
import type { Input } from '../input/input.ts';
import type { Slot } from '../input/slot.ts';
import type { CursorPlan, LimitPlan, OrderExpression, OrderTerm, PagePlan } from './plan.ts';
import { type Inputs, maybeInputOf } from './planner.ts';

/** Plans one page of rows in the effective order. */
export function planPage(table: Table, inputs: Inputs, order: readonly OrderTerm[]): PagePlan {
  const given = (kind: ConnectionArgument): Input | null => {
    const input = maybeInputOf(inputs, kind);
    return input?.state() === 'value' ? input : null;
  };
  const [first, last, before, after] = [given('first'), given('last'), given('before'), given('after')];
  const offset = given('offset');
  for (const { name, kind, type } of connectionArguments) {
    if (type === 'Int' && given(kind)?.isNegative()) throw pageError(`\`${name}\` must be an unsigned integer`);
  }
  const digest = digestOf(order, given);
  const most = digest === null ? order.length : order.length + 1;
  const cursors = [before, after].map((input) => input && { input, nulls: readNulls(input, most) });
  if (first && last) throw pageError('only one of "first" and "last" may be provided');
  if (before && after) throw pageError('only one of "before" and "after" may be provided');
  if (first && before) throw pageError('"first" may only be used with "after"');
  if (last && after) throw pageError('"last" may only be used with "before"');
  if (offset && (last || before)) throw pageError('"offset" may only be used with "first" and "after"');
  const size = first ?? last;
  const cursor = cursors[0] ?? cursors[1];
  return {
    backward: last !== null || before !== null,
    // pg_graphql orders only by columns.
    exact: table.exactCursors || order.some(({ expression }) => expression.kind !== 'column'),
    cursor: cursor ? planCursor(cursor, order.length, digest) : null,
    digest,
    limit: size === null ? { kind: 'constant', value: table.maxRows } : planLimit(size, table.maxRows),
    offset: offset && planOffset(offset),
  };
}

/** Rows, at most `maxRows`. A number in the document is in the text: PostgreSQL may reuse no plan with a bound one. */
export function planLimit(input: Input, maxRows: number): LimitPlan {
  const path = input.path();
  if (path === null) return { kind: 'constant', value: Math.min(input.known() as number, maxRows) };
  return { kind: 'slot', slot: { kind: 'limit', path, maxRows } };
}

/** A number of rows to skip. */
export function planOffset(input: Input): LimitPlan {
  if (input.path() === null) return { kind: 'constant', value: input.known() as number };
  return { kind: 'slot', slot: input.slot() };
}

/** A cursor, and which of its elements are null, as `Input.ask` tells it. */
interface GivenCursor {
  readonly input: Input;
  readonly nulls: string;
}

function readNulls(input: Input, maxElements: number): string {
  const nulls = input.ask({ kind: 'cursor', maxElements });
  if (nulls === 'bad') throw pageError('The cursor cannot be decoded.');
  return nulls;
}

function planCursor({ input, nulls }: GivenCursor, terms: number, digest: Slot | null): CursorPlan {
  const hasDigest = () => nulls[terms + 1] === 'v' && input.isElement(terms, digest!);
  if (nulls === 'long' || (digest !== null && !hasDigest()))
    throw pageError('orderBy clause incompatible with pagination cursor');
  const elements = [...nulls.slice(1, terms + 1)].map((letter, index) =>
    letter === 'n' ? null : input.elementSlot(index),
  );
  return { elements };
}

function pageError(message: string): PublicError {
  return badInput(message);
}

/**
 * The end of cursors for an order with arguments: a digest of them, and of what else enters cursors; null without. With
 * others, other rows follow a cursor, so it is refused. Otherwise only one with too many values is, as in pg_graphql.
 */
function digestOf(order: readonly OrderTerm[], given: (kind: ConnectionArgument) => Input | null): Slot | null {
  const values = connectionArguments.flatMap(({ kind, entersCursor }) => {
    const input = entersCursor === 'by_value' ? given(kind) : null;
    return input === null ? [] : [kind, input.slot()];
  });
  const of = [...order.flatMap(({ expression }) => argumentsOf(expression)), ...values];
  return of.length === 0 ? null : { kind: 'digest', of };
}

function argumentsOf(expression: OrderExpression): readonly (string | Slot)[] {
  switch (expression.kind) {
    case 'related':
      return argumentsOf(expression.expression);
    case 'rank': {
      const { by, slot, config } = expression.search;
      return [
        by,
        slot,
        ...(config === null ? ['default'] : ['config', config]),
        expression.normalization,
        String(expression.coverDensity),
      ];
    }
    case 'computed': {
      const { routine, arguments: given } = expression.call;
      if (routine.arguments.length === 0) return [];
      const values = given.flatMap(({ argument, slot }) => [argument.fieldName, slot]);
      return [routine.namespace, routine.name, String(given.length), ...values];
    }
    default:
      return [];
  }
}
