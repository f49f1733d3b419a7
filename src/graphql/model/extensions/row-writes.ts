/**
 * The root fields that write one row and answer it (extension `writes`, docs/mutations.md). A field never replaces another one, and
 * an argument for a key column never one for the change.
 */
import { mapInSlices, type Sliced } from '../../../shared/slices.ts';
import { tableRootFields } from '../inflect.ts';
import type { Column, Routine, Table, ValueType, WriteCommand } from '../model.ts';
import { hasExtension, type ModelContext } from '../model-context.ts';
import { isJson } from '../tables/columns.ts';
import { mutationFields } from './added-types.ts';
import { noteTakenName } from './taken-names.ts';
import { updateOperators } from './update-operators.ts';

const commands = ['insert', 'update', 'delete'] as const;

/** The root field of each command. */
export function rowWriteField(table: Pick<Table, 'baseName'>, command: WriteCommand): string {
  const { insertOne, updateByPk, deleteByPk } = tableRootFields(table.baseName);
  return { insert: insertOne, update: updateByPk, delete: deleteByPk }[command];
}

/** The tables with their commands for one row. */
export function* addRowWrites(
  context: ModelContext,
  named: { readonly tables: ReadonlyMap<string, Table>; readonly routines: ReadonlyMap<string, Routine> },
): Sliced<ReadonlyMap<string, Table>> {
  const taken = mutationFields(named);
  const tables = yield* mapInSlices(named.tables.values(), (table): Table => {
    if (!hasExtension(context, table, 'writes')) return table;
    const rowWrites = commands.filter((command) => {
      if (!table[command] || !(command === 'insert' || hasKeyArguments(table))) return false;
      const holder = taken(rowWriteField(table, command)) ?? clashingColumn(table, command);
      if (holder !== null) noteTakenName(context, table, { name: rowWriteField(table, command), holder });
      return holder === null;
    });
    return { ...table, rowWrites };
  });
  return new Map(tables.map((table) => [table.oid, table]));
}

/** Whether the key can be given: as one value for each of its columns, which the role can compare. */
function hasKeyArguments(table: Table): boolean {
  const key = keyColumns(table);
  const names = new Set(key.map(({ fieldName }) => fieldName));
  return names.size === table.primaryKey.length && key.every(({ selectable, type }) => selectable && isKeyType(type));
}

function isKeyType(type: ValueType | null): boolean {
  return type?.kind === 'enum' || (type?.kind === 'scalar' && !isJson(type) && type.scalar !== 'Opaque');
}

function keyColumns({ primaryKey, columns }: Table): readonly Column[] {
  return primaryKey.flatMap(
    (number) => columns.find((each) => each.number === number && each.fieldName !== null) ?? [],
  );
}

function clashingColumn(table: Table, command: WriteCommand): string | null {
  const reserved: readonly (string | null)[] = command === 'update' ? ['set', ...updateOperators] : [];
  const column = keyColumns(table).find(({ fieldName }) => reserved.includes(fieldName));
  return column === undefined ? null : `the argument "${column.fieldName}" for its key`;
}
