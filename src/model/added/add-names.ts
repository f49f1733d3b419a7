/**
 * Names that extensions add: entries of inputs (added-entries.ts) and types (added-types.ts).
 */
import { quotePath } from '../../catalog/quote-name.ts';
import type { Model, Routine, Table } from '../model.ts';
import { type ModelContext, note } from '../model-context.ts';
import { isJsonResult } from '../tables/columns.ts';
import { addEntries, has, type Named } from './added-entries.ts';
import { addTypes } from './added-types.ts';
import { noteMisplaced } from './function-entries.ts';

/** The tables with their extension entries and types, and the shared types. */
export function addNames(context: ModelContext, named: Named): Pick<Model, 'tables' | 'addedTypes'> {
  const withEntries = addEntries(context, named);
  noteMisplaced(context, named.routines);
  const added = addTypes(context, withEntries, named.claims);
  noteArguments(context, added.tables, named.routines);
  return added;
}

function noteArguments(
  context: ModelContext,
  tables: ReadonlyMap<string, Table>,
  routines: ReadonlyMap<string, Routine>,
): void {
  for (const { namespace, name: routine, result, arguments: given } of routines.values()) {
    const table = result.kind === 'set' ? tables.get(result.table) : undefined;
    const isDistinct = table?.addedTypes.includes('column') && has(context, table, 'distinct');
    const takesPath = isJsonResult(result) && offersJson(context, namespace);
    for (const [name, what] of [...(isDistinct ? [distinctOn] : []), ...(takesPath ? [at] : [])]) {
      if (given.every(({ fieldName }) => fieldName !== name)) continue;
      const object = quotePath(namespace, routine);
      const reason = `Function ${object} has no "${name}" of ${what}: an argument of its own has that name.`;
      note(context, () => ({ kind: 'name', object, names: [name], reason, fix: null }));
    }
  }
}

const [distinctOn, at] = [['distinctOn', 'the collection'] as const, ['at', 'JSON fields'] as const];

function offersJson({ namespaces }: ModelContext, namespace: string): boolean {
  return [...namespaces.values()].find(({ name }) => name === namespace)?.extensions.includes('json_filters') === true;
}
