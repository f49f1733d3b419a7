/**
 * Plans a node id: which of the given tables it names, and one slot for each primary key column (graphql.md 7.6, 8.2).
 */
import type { Table } from '../../model/model.ts';
import { PublicError } from '../../shared/errors.ts';
import { readNodeId } from './cursor.ts';
import type { Input } from './input.ts';
import type { Slot } from './slot.ts';

/**
 * The table a node id names, with its key. Refused when it is undecodable or names none of `tables`.
 *
 * @param otherMessage Says the latter: the id of a hidden table and of another one read alike.
 */
export function planNodeId(
  input: Input,
  tables: readonly Table[],
  otherMessage: string,
): { readonly table: Table; readonly slots: readonly Slot[] } {
  if (input.state() !== 'value') throw new PublicError('BAD_USER_INPUT', 'A nodeId must not be null.');
  const named = input.ask('node', (namespace, name, keys) => find(tables, namespace, name, keys) !== undefined);
  const path = input.path();
  if (path !== null) {
    if (named === 'bad') throw undecodable();
    const [namespace, name, keys] = (named ?? '').split('\0');
    const table = name === undefined ? undefined : find(tables, namespace!, name, Number(keys));
    if (table === undefined) throw new PublicError('BAD_USER_INPUT', otherMessage);
    return { table, slots: table.primaryKey.map((_, index) => input.elementSlot(index + 2)) };
  }
  const id = readNodeId(input.elements());
  if (id === null) throw undecodable();
  const table = find(tables, id.namespace, id.table, id.keys);
  if (table === undefined) throw new PublicError('BAD_USER_INPUT', otherMessage);
  return { table, slots: table.primaryKey.map((_, index) => input.elementSlot(index + 2)) };
}

function find(tables: readonly Table[], namespace: string, name: string, keys: number): Table | undefined {
  return tables.find(
    (table) => table.namespace === namespace && table.name === name && table.primaryKey.length === keys,
  );
}

/** What `node` says of an id that leads nowhere, whatever is wrong with it. */
export const invalidNodeId = 'Invalid nodeId.';

function undecodable(): PublicError {
  return new PublicError('BAD_USER_INPUT', invalidNodeId);
}
