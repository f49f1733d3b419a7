/** Plans a node id: its table among the given ones, and one slot per primary key column. */
import { badInput, type PublicError } from '../../../shared/errors.ts';
import type { Table } from '../../model/model.ts';
import type { Input } from '../input/input.ts';
import type { Slot } from '../input/slot.ts';

/** The message of `node` for any invalid id. */
export const invalidNodeId = 'Invalid nodeId.';

/**
 * The table and key of a node id. Refuses an invalid one, and one of a table not in `tables`.
 *
 * @param otherMessage The message for the latter, the same for hidden tables and others.
 */
export function planNodeId(
  input: Input,
  tables: readonly Table[],
  otherMessage: string,
): { readonly table: Table; readonly slots: readonly Slot[] } {
  if (input.state() !== 'value') throw nodeIdError('A nodeId must not be null.');
  const find = (namespace: string, name: string, keys: number) =>
    tables.find((each) => each.namespace === namespace && each.name === name && each.primaryKey.length === keys);
  const named = input.ask({ kind: 'node', known: (...names) => find(...names) !== undefined });
  if (named === 'bad') throw nodeIdError(invalidNodeId);
  const [namespace = '', name = '', keys] = named.split('\0');
  const table = find(namespace, name, Number(keys));
  if (table === undefined) throw nodeIdError(otherMessage);
  return { table, slots: table.primaryKey.map((_, index) => input.elementSlot(index + 2)) };
}

function nodeIdError(message: string): PublicError {
  return badInput(message);
}
