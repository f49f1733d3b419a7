/** The inputs that filter by rows of a to-many relationship, one by one or together (docs/filters.md). */
import { type GraphQLInputFieldConfig, type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Column, Table } from '../../model/model.ts';
import { isGroupable } from '../../model/tables/columns.ts';
import { fieldMap } from '../field-map.ts';
import { type InputFieldOrigin, typed } from '../origin.ts';
import { addedInput, type SchemaContext } from '../schema-context.ts';
import { takingFunctions } from './aggregate-types.ts';
import { scalarFilterName } from './operator-filters.ts';

/** Registers the types that the table has. */
export function defineRelatedFilterTypes(
  context: SchemaContext,
  table: Table,
  defineType: (name: string, make: () => GraphQLInputObjectType) => void,
): void {
  const names = tableTypeNames(table.baseName);
  const define = (type: (typeof table.addedTypes)[number], fields: () => GraphQLInputFieldConfigMap) => {
    if (!table.addedTypes.includes(type)) return;
    const name = names[type];
    defineType(name, () => new GraphQLInputObjectType({ name, fields }));
  };
  const filter = () => context.types.input(names.filter);
  const added = (type: (typeof table.addedTypes)[number]) => addedInput(context, table, type);
  define('collectionFilter', () =>
    present([
      ...(['some', 'every', 'none'] as const).map((kind) => [kind, filter(), { kind }] as const),
      ['aggregate', added('aggregateFilter'), { kind: 'aggregate_filter' }],
    ]),
  );
  define('aggregateFilter', () =>
    present([
      ['filter', filter(), { kind: 'related_filter' }],
      ['count', context.types.input(scalarFilterName('Int')), { kind: 'count' }],
      ['distinctCount', added('distinctCountFilter'), { kind: 'distinct_counts' }],
      ...takingFunctions(context, table).map(
        (fn) => [fn, added('aggregateColumnFilter'), { kind: 'aggregate_function', function: fn }] as const,
      ),
    ]),
  );
  define('distinctCountFilter', () =>
    ofColumns(table.columns.filter(isGroupable), (column) => [
      column,
      context.types.input(scalarFilterName('Int')),
      { kind: 'distinct_count', column },
    ]),
  );
  // One for all functions: the scalar of a sum takes what an average and an extreme are compared with.
  define('aggregateColumnFilter', () =>
    ofColumns(table.columns, (column) => {
      const scalar = column.sum ?? column.min;
      const type = scalar === null ? null : context.types.input(scalarFilterName(scalar));
      return [column, type, { kind: 'aggregate_column', column }];
    }),
  );
}

type Member<Key> = readonly [key: Key, type: GraphQLInputObjectType | null, origin: InputFieldOrigin];

function present(members: readonly Member<string>[]): GraphQLInputFieldConfigMap {
  return fieldMap(
    members.flatMap(([name, type, origin]): [string, GraphQLInputFieldConfig][] =>
      type === null ? [] : [[name, typed(type, origin)]],
    ),
  );
}

function ofColumns(
  columns: readonly Column[],
  describe: (column: Column) => Member<Column>,
): GraphQLInputFieldConfigMap {
  return present(
    columns.flatMap((column): Member<string>[] => {
      const [{ fieldName }, type, origin] = describe(column);
      return fieldName === null ? [] : [[fieldName, type, origin]];
    }),
  );
}
