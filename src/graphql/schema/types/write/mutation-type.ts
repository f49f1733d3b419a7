/**
 * The mutation root: insert, update and delete of every table that allows them, and the routines that may write
 * (docs/mutations.md, docs/functions.md). It exists only if it has a field.
 */
import { type GraphQLFieldConfig, type GraphQLFieldConfigArgumentMap, GraphQLList, GraphQLNonNull } from 'graphql';
import type { Sliced } from '../../../../shared/slices.ts';
import { tableRootFields, tableTypeNames } from '../../../model/inflect.ts';
import type { Table, WriteCommand } from '../../../model/model.ts';
import { describeRoot } from '../../describe-type.ts';
import { typed, withOrigin } from '../../origin.ts';
import type { SchemaContext } from '../../schema-context.ts';
import { RootFields, type TablesByName } from '../root-fields.ts';
import { type RootEntry, RootType } from '../root-type.ts';
import { rootRoutines } from '../routine-fields.ts';
import { scalarTypes } from '../scalars.ts';
import { conflictField } from './conflict-types.ts';
import { rowWriteEntries } from './row-write-fields.ts';
import { batchField, changeArguments } from './update-types.ts';
import { hasWriteInput } from './write-types.ts';

const commands = ['insert', 'update', 'delete'] as const;

/** `Mutation`, null without fields. Fields of tables take precedence over routines. */
export function* buildMutationType(context: SchemaContext, byName: TablesByName): Sliced<RootType | null> {
  const fields = new RootFields({
    routines: rootRoutines(context, 'mutation'),
    byName,
    compare: (one, other) => one.place - other.place,
    entriesOf: (table) => tableEntries(context, table),
    others: [],
  });
  const mutation = new RootType('Mutation', fields, describeRoot(context, 'Mutation'));
  return (yield* mutation.hasFields()) ? mutation : null;
}

function isVisible(context: SchemaContext, table: Table, command: WriteCommand): boolean {
  return context.isVisible(table.namespace) && (command === 'delete' || hasWriteInput(context, table, command));
}

function tableEntries(context: SchemaContext, table: Table): RootEntry[] {
  const { baseName } = table;
  const names = tableRootFields(baseName);
  const entries = commands
    .filter((command) => table[command])
    .map((command): RootEntry => {
      const make = () => writeField(context, table, command);
      return [names[command], isVisible(context, table, command) ? make : null];
    });
  const batch = batchField(context, table);
  const added = batch === null ? [] : [[names.updateMany, batch] as const];
  return [...entries, ...added, ...rowWriteEntries(context, table, (command) => isVisible(context, table, command))];
}

function writeField(context: SchemaContext, table: Table, command: WriteCommand): GraphQLFieldConfig<unknown, unknown> {
  const { types } = context;
  const names = tableTypeNames(table.baseName);
  const response = types.object(names[`${command}Response`])!;
  const extensions = withOrigin({ kind: command, table });
  if (command === 'insert') {
    const input = new GraphQLNonNull(types.input(names.insertInput)!);
    const objects = typed(new GraphQLNonNull(new GraphQLList(input)), { kind: 'objects' });
    return { type: response, args: { objects, ...conflictField(context, table) }, extensions };
  }
  /** The affected rows, and their limit. */
  const guards: GraphQLFieldConfigArgumentMap = {
    filter: typed(types.input(names.filter)!, { kind: 'filter' }),
    atMost: { ...typed(new GraphQLNonNull(scalarTypes.Int), { kind: 'at_most' }), default: { value: 1 } },
  };
  const args = command === 'update' ? updateArguments(context, table, guards) : guards;
  return { type: new GraphQLNonNull(response), args, extensions };
}

function updateArguments(
  context: SchemaContext,
  table: Table,
  guards: GraphQLFieldConfigArgumentMap,
): GraphQLFieldConfigArgumentMap {
  const { set, operators } = changeArguments(context, table);
  // Required as in pg_graphql, whose updates have nothing beside it.
  return { set: { ...set, type: new GraphQLNonNull(set.type) }, ...guards, ...operators };
}
