/** The fields of routines, at the root or on a row (docs/functions.md). */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
} from 'graphql';
import { invariant, unreachable } from '../../../shared/invariant.ts';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Routine, RoutineResult, Table } from '../../model/model.ts';
import { isJsonResult } from '../../model/tables/columns.ts';
import { withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { argumentsOfConnection, listArguments } from './connection-types.ts';
import { jsonPathArgument } from './json-filter-types.ts';
import type { RootEntry } from './root-type.ts';
import { routineArguments } from './routine-arguments.ts';
import { scalarTypes } from './scalars.ts';
import { valueType } from './value-type.ts';

/** The field, always nullable; null if the type of its result or of an argument is not in this schema. */
export function buildRoutineField(
  context: SchemaContext,
  routine: Routine,
): GraphQLFieldConfig<unknown, unknown> | null {
  const type = resultType(context, routine.result);
  const own = routineArguments(context, routine);
  if (type === null || own === null) return null;
  const takesPath = isJsonResult(routine.result) && context.hasReads(routine.namespace);
  return {
    type,
    description: routine.description,
    args: {
      ...own,
      ...(routine.result.kind === 'set' && argumentsOfConnection(context, resultTable(context, routine.result), own)),
      ...(routine.result.kind === 'object' && routine.result.maxRows !== null && listArguments),
      ...(takesPath && !own.at && { at: jsonPathArgument }),
    } satisfies GraphQLFieldConfigArgumentMap,
    extensions: withOrigin({ kind: routine.use === 'computed' ? 'computed' : 'routine', routine }),
  };
}

function resultType(context: SchemaContext, result: RoutineResult): GraphQLOutputType | null {
  switch (result.kind) {
    case 'value':
      return valueType(context, result.type);
    case 'void':
    case 'record':
      return scalarTypes.Opaque;
    case 'row':
      return context.types.object(resultTable(context, result).baseName);
    case 'set':
      return context.types.object(tableTypeNames(resultTable(context, result).baseName).connection);
    case 'object': {
      const type = context.types.object(result.typeName);
      return type && result.maxRows !== null ? new GraphQLList(new GraphQLNonNull(type)) : type;
    }
    default:
      return unreachable(result);
  }
}

function resultTable({ model }: SchemaContext, result: RoutineResult): Table {
  const table = result.kind === 'row' || result.kind === 'set' ? model.tables.get(result.table) : undefined;
  invariant(table !== undefined, 'a routine returns rows of a table of the model');
  return table;
}

/**
 * Routines of one root type by field name, lowest oid first: of two with one name, the newer one is later.
 *
 * Null for those that this schema does not show: a routine's own namespace and its result's must be visible.
 *
 * @param isVisible Of the namespaces of routines.
 */
export function rootRoutines(
  context: SchemaContext,
  use: 'query' | 'mutation',
  isVisible = context.isVisible,
): RootEntry[] {
  return [...context.model.routines.values()]
    .filter((routine) => routine.use === use)
    .sort((a, b) => compareOids(a.oid, b.oid))
    .map((routine) => {
      const field = isVisible(routine.namespace) ? buildRoutineField(context, routine) : null;
      return [routine.fieldName, field && (() => field)] as const;
    });
}

/** Orders oids by number. */
export function compareOids(a: string, b: string): number {
  return Number(a) - Number(b);
}
