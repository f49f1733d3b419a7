/**
 * Tells whether an operation may run code that is not PostgreSQL's own: a routine, or what tables run when they are read or
 * written (`Table.readsUserCode`). Such code shares the session with the requests after it.
 */
import type { ConnectionPlan, ObjectPlan, OperationPlan, ValuePlan } from './plan.ts';

/** Whether any part of the operation may. */
export function runsUserCode({ fields }: OperationPlan): boolean {
  return fields.some(({ value }) => valueRuns(value));
}

function valueRuns(value: ValuePlan): boolean {
  switch (value.kind) {
    case 'call':
      return true;
    case 'row':
      return value.source.kind === 'routine' || value.source.table.readsUserCode || objectRuns(value.object);
    case 'connection':
      return connectionRuns(value.connection);
    case 'write':
      return (
        value.write.table.writesUserCode ||
        value.write.table.readsUserCode ||
        value.write.entries.some((entry) => entry.kind === 'records' && objectRuns(entry.object))
      );
    case 'typename':
    case 'introspection':
    case 'column':
    case 'node_id':
      return false;
  }
}

function objectRuns({ entries }: ObjectPlan): boolean {
  return entries.some(({ value }) => valueRuns(value));
}

function connectionRuns({ source, entries }: ConnectionPlan): boolean {
  if (source.kind === 'routine' || source.table.readsUserCode) return true;
  return entries.some(
    (entry) => entry.kind === 'edges' && entry.entries.some((edge) => edge.kind === 'node' && objectRuns(edge.object)),
  );
}
