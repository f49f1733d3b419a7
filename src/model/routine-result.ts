/**
 * What a routine gives back as a field (graphql.md 11.3, 11.6).
 */
import type { CatalogRoutine, CatalogType } from '../catalog/catalog.ts';
import type { RoutineResult } from './model.ts';
import type { ModelContext } from './model-context.ts';
import { baseOf, elementOf, type TypeResolver } from './resolve-type.ts';

/** What the result depends on besides the routine. */
export interface ResultScope {
  readonly context: ModelContext;
  readonly types: TypeResolver;
  /** Whether a table, by oid, is part of the schema. */
  readonly hasTable: (oid: string) => boolean;
}

/** The result of the routine, null when it cannot be exposed in this use. */
export function routineResult(
  scope: ResultScope,
  routine: CatalogRoutine,
  use: 'root' | 'computed',
): RoutineResult | null {
  const type = scope.context.catalog.type(routine.prorettype);
  if (type === undefined || !scope.context.access.usesNamespace(type.typnamespace)) return null;
  if (type.typtype === 'p') return pseudoResult(type, routine, use);
  if (type.typtype === 'c') return rowResult(scope, type, routine);
  // A set of values is a field only where it is declared to have one.
  if (routine.proretset && routine.prorows !== 1) return null;
  if (use === 'root' && !isPlainValue(scope.context, type)) return null;
  const value = scope.types.value({ oid: type._id, typmod: -1, text: null });
  return value && { kind: 'value', type: value };
}

function pseudoResult(type: CatalogType, routine: CatalogRoutine, use: 'root' | 'computed'): RoutineResult | null {
  if (routine.proretset) return null;
  if (type.typname === 'void') return { kind: 'void' };
  return type.typname === 'record' && use === 'computed' ? { kind: 'record' } : null;
}

function rowResult(scope: ResultScope, type: CatalogType, routine: CatalogRoutine): RoutineResult | null {
  const table = type.typrelid ?? '0';
  if (!scope.hasTable(table)) return null;
  const isSet = routine.proretset && routine.prorows !== 1;
  return { kind: isSet ? 'set' : 'row', table };
}

/** A plain scalar, a domain over a scalar or composite, or an array of these: what root routines take and give. */
export function isPlainValue({ catalog }: ModelContext, type: CatalogType): boolean {
  const single = elementOf(catalog.type, type) ?? type;
  if (single.typtype !== 'd') return single.typtype !== 'e' && single.typtype !== 'c' && single.typtype !== 'p';
  const base = baseOf(catalog.type, single);
  return base.typtype !== 'e' && elementOf(catalog.type, base) === null;
}
