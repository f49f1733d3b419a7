/** The root fields that write one row and answer it, or null where none is written (extension `writes`, docs/mutations.md). */
import { type GraphQLFieldConfigArgumentMap, GraphQLNonNull } from 'graphql';
import { rowWriteField } from '../../../model/extensions/row-writes.ts';
import { tableTypeNames } from '../../../model/inflect.ts';
import type { Table, WriteCommand } from '../../../model/model.ts';
import { typed, withOrigin } from '../../origin.ts';
import type { SchemaContext } from '../../schema-context.ts';
import { hasKeyArguments, keyArguments } from '../key-arguments.ts';
import type { RootEntry } from '../root-type.ts';
import { conflictField } from './conflict-types.ts';
import { changeArguments } from './update-types.ts';

/** The fields of a table; null for a field that this schema does not show. @param isShown Whether it shows the command. */
export function rowWriteEntries(
  context: SchemaContext,
  table: Table,
  isShown: (command: WriteCommand) => boolean,
): readonly RootEntry[] {
  return table.rowWrites.map((command): RootEntry => {
    const name = rowWriteField(table, command);
    const hasKey = command === 'insert' || hasKeyArguments(context, table);
    if (!hasKey || !isShown(command)) return [name, null];
    const make = () => ({
      type: context.types.object(table.baseName)!,
      args: argumentsOf(context, table, command),
      extensions: withOrigin({ kind: 'row_write', command, table }),
    });
    return [name, make];
  });
}

function argumentsOf(context: SchemaContext, table: Table, command: WriteCommand): GraphQLFieldConfigArgumentMap {
  if (command === 'insert') {
    const object = context.types.input(tableTypeNames(table.baseName).insertInput)!;
    return { object: typed(new GraphQLNonNull(object), { kind: 'object' }), ...conflictField(context, table) };
  }
  const key = keyArguments(context, table)!;
  if (command === 'delete') return key;
  const { set, operators } = changeArguments(context, table);
  return { ...key, set, ...operators };
}
