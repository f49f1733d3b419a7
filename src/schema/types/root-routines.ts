/**
 * The routines among the root fields (graphql.md 2.6, 11.2).
 */
import type { GraphQLFieldConfig } from 'graphql';
import type { Routine } from '../../model/model.ts';
import type { SchemaContext } from '../schema-context.ts';
import type { RootEntry } from './root-type.ts';
import { buildRoutineField } from './routine-field.ts';

/**
 * Routines of one root type by field name, lowest object id first: of two with one name the younger is the later.
 *
 * Null for those that this schema does not show: a routine needs its own namespace to be visible and its result's.
 */
export function rootRoutines(context: SchemaContext, use: 'query' | 'mutation'): RootEntry[] {
  return [...context.model.routines.values()]
    .filter((routine) => routine.use === use)
    .sort((a, b) => compareOids(a.oid, b.oid))
    .map((routine) => {
      const field = fieldIfVisible(context, routine);
      return [routine.fieldName, field && (() => field)] as const;
    });
}

/** Orders object ids by their number. */
export function compareOids(a: string, b: string): number {
  return Number(a) - Number(b);
}

function fieldIfVisible(context: SchemaContext, routine: Routine): GraphQLFieldConfig<unknown, unknown> | null {
  return context.isVisible(routine.namespace) ? buildRoutineField(context, routine) : null;
}
