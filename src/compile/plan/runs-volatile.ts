/**
 * Tells where a plan calls volatile routines on each row of a page.
 *
 * PostgreSQL may evaluate other expressions as late or as often as it likes and nobody sees the difference; the effects of a
 * volatile routine are seen, so rows that are read but not shown (the one after the page) must not reach it.
 */
import type { ConnectionPlan, ObjectPlan, ValuePlan } from './plan.ts';

/** Whether making the object calls a volatile routine, at any depth. */
export function runsVolatile(object: ObjectPlan): boolean {
  return object.entries.some(({ value }) => valueRunsVolatile(value));
}

function valueRunsVolatile(value: ValuePlan): boolean {
  switch (value.kind) {
    case 'call':
      return value.call.routine.volatility === 'volatile';
    case 'row':
      return (
        (value.source.kind === 'routine' && value.source.call.routine.volatility === 'volatile') ||
        runsVolatile(value.object)
      );
    case 'connection':
      return connectionRunsVolatile(value.connection);
    default:
      return false;
  }
}

function connectionRunsVolatile({ source, entries }: ConnectionPlan): boolean {
  if (source.kind === 'routine' && source.call.routine.volatility === 'volatile') return true;
  return entries.some(
    (entry) =>
      entry.kind === 'edges' && entry.entries.some((edge) => edge.kind === 'node' && runsVolatile(edge.object)),
  );
}
