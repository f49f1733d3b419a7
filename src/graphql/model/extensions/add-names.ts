/** Names that extensions add: entries of inputs (added-entries.ts) and types (added-types.ts). */
import { mapInSlices, type Sliced } from '../../../shared/slices.ts';
import { quotePath } from '../../catalog/quote-name.ts';
import { connectionArguments } from '../connection-arguments.ts';
import type { EnumTypes } from '../enums.ts';
import type { Model, Routine, Table } from '../model.ts';
import { hasExtension, type ModelContext, noteOmission } from '../model-context.ts';
import { noteMisplaced } from '../routines/function-entries.ts';
import { isInColumns, isJsonResult } from '../tables/columns.ts';
import { addEntries, type Named } from './added-entries.ts';
import { addTypes } from './added-types.ts';
import { addConflictTargets } from './conflict-targets.ts';
import { addListFilters } from './list-filters.ts';
import { noteRanks } from './ranks.ts';
import { addRowWrites } from './row-writes.ts';

/** The tables, which have their keys, with their extension entries and types, the shared types, and the enums, routines and composite types with their names. */
export function* addNames(
  context: ModelContext,
  named: Named & { readonly enums: EnumTypes },
): Sliced<Pick<Model, 'tables' | 'enums' | 'addedTypes' | 'routines' | 'composites'>> {
  const entered = yield* mapInSlices(named.tables.values(), (table) => {
    const targets = table.relationships.map(({ target }) => named.tables.get(target));
    return context.keep.part('entries', table.oid, [table, ...targets], () => addEntries(context, table, named));
  });
  noteMisplaced(context, named.routines);
  for (const table of entered) noteRanks(context, table, named.routines);
  const targeted = yield* mapInSlices(entered, (table) =>
    context.keep.part('targets', table.oid, [table], () => addConflictTargets(context, table)),
  );
  const tables = new Map(targeted.map((table) => [table.oid, table]));
  const added = yield* addTypes(context, { ...named, tables });
  noteArguments(context, added.tables, added.routines);
  const enums = yield* addListFilters(context, added.tables, named);
  return { ...added, enums, tables: yield* addRowWrites(context, added) };
}

function noteArguments(
  context: ModelContext,
  tables: ReadonlyMap<string, Table>,
  routines: ReadonlyMap<string, Routine>,
): void {
  for (const routine of routines.values()) {
    const { result, arguments: given } = routine;
    const table = result.kind === 'set' ? tables.get(result.table) : undefined;
    const ofConnection = connectionArguments.filter(
      ({ type, addition }) =>
        addition !== null &&
        table !== undefined &&
        hasExtension(context, table, 'reads') &&
        (type !== 'columns' || (table.addedTypes.includes('column') && table.columns.some(isInColumns))),
    );
    const takesPath = isJsonResult(result) && hasExtension(context, routine, 'reads');
    const added = [
      ...ofConnection.map(({ name }) => [name, 'the collection'] as const),
      ...(takesPath ? [['at', 'JSON fields'] as const] : []),
    ];
    for (const [name, what] of added) {
      if (given.every(({ fieldName }) => fieldName !== name)) continue;
      const object = quotePath(routine.namespace, routine.name);
      const reason = `Function ${object} has no "${name}" of ${what}: an argument of its own has that name.`;
      noteOmission(context, () => ({ kind: 'name', object, names: [name], reason, fix: null }));
    }
  }
}
