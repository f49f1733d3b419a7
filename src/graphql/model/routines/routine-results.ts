/**
 * The result of a routine as a field (docs/functions.md), and the types of values that root routines take and return.
 */
import type { CatalogRoutine, CatalogType } from '../../catalog/catalog.ts';
import { quoteName } from '../../catalog/quote-name.ts';
import { whyHidden } from '../composites.ts';
import { fieldForm, isValidName } from '../inflect.ts';
import type { CompositeAttribute, ResultColumn, RoutineResult, Table } from '../model.ts';
import { type ContextNamespace, type ModelContext, pathIn } from '../model-context.ts';
import { type TypeResolver, unmodified } from '../resolve-type.ts';
import { baseOf, elementOf, typePath } from '../sql-types.ts';

/** What a routine may be, with the extensions of its namespace or without any. */
export interface Rules {
  readonly types: TypeResolver;
  /** The extension `writes`. */
  readonly isExtended: boolean;
  /** The table of the schema with this oid. */
  readonly table: (oid: string) => RoutineTable | undefined;
}

/** What a routine needs to know of a table whose rows it takes or returns. */
export type RoutineTable = Pick<Table, 'baseName' | 'columns' | 'added'>;

interface ResultScope extends Rules {
  readonly context: ModelContext;
}

/** The result as a field as in pg_graphql, null if it cannot be exposed for this use. */
export function routineResult(
  scope: ResultScope,
  routine: CatalogRoutine,
  use: 'root' | 'computed',
): RoutineResult | null {
  const type = scope.context.catalog.type(routine.prorettype);
  if (type === undefined || !scope.context.access.usesNamespace(type.typnamespace)) return null;
  if (type.typtype === 'p') return pseudoResult(type, routine, use);
  if (type.typtype === 'c') return rowResult(scope, type, routine);
  // A set of values is a field only if declared to return one row.
  if (routine.proretset && routine.prorows !== 1) return null;
  if (use === 'root' && !isPlainValue(scope.context, type, scope)) return null;
  const value = scope.types.value(unmodified(type._id));
  return value && { kind: 'value', type: value };
}

function pseudoResult(type: CatalogType, routine: CatalogRoutine, use: 'root' | 'computed'): RoutineResult | null {
  if (routine.proretset) return null;
  if (type.typname === 'void') return { kind: 'void' };
  return type.typname === 'record' && use === 'computed' ? { kind: 'record' } : null;
}

function rowResult(scope: ResultScope, type: CatalogType, routine: CatalogRoutine): RoutineResult | null {
  const table = type.typrelid ?? '0';
  if (scope.table(table) === undefined) return null;
  const isSet = routine.proretset && routine.prorows !== 1;
  return { kind: isSet ? 'set' : 'row', table };
}

/**
 * A simple scalar, a domain over a scalar or composite, or an array of these: the argument and result types of root
 * routines. If domains are encoded as base types, also one over an array. With the extension `writes`, also enums.
 */
export function isPlainValue(context: ModelContext, type: CatalogType, rules: Rules): boolean {
  const { catalog } = context;
  const { base: stand } = rules.types.cast(unmodified(type._id));
  if (stand !== null) return isPlainValue(context, catalog.type(stand.oid)!, rules);
  const single = elementOf(catalog.type, type) ?? type;
  const isOffered = ({ typtype }: CatalogType) => typtype !== 'e' || rules.isExtended;
  if (single.typtype !== 'd') return isOffered(single) && single.typtype !== 'c' && single.typtype !== 'p';
  const base = baseOf(catalog.type, single);
  return isOffered(base) && elementOf(catalog.type, base) === null;
}

/** The object type of results that have columns of their own. */
interface ObjectNaming {
  readonly name: string;
  readonly namespace: ContextNamespace;
}

/**
 * The result as an object, or as a list of objects: a composite type, or what `returns table` or several `out`
 * parameters declare (extension `writes`). Otherwise why not, as the end of a sentence.
 */
export function objectResult(
  scope: ResultScope,
  routine: CatalogRoutine,
  { name, namespace }: ObjectNaming,
): Extract<RoutineResult, { kind: 'object' }> | string {
  const { context } = scope;
  const type = context.catalog.type(routine.prorettype);
  if (type === undefined || !context.access.usesNamespace(type.typnamespace))
    return `returns the type ${typePath(context.catalog, routine.prorettype)}, ${whyNoValue(context, routine.prorettype)}`;
  const declared = declaredColumns(routine);
  const attributes = type.getAttributes();
  const problem =
    attributes.length > 0 ? compositeProblem(context, type) : columnsProblem(context, routine, type, declared);
  if (problem !== null) return problem;
  const inflects = attributes.length > 0 ? context.namespaces.get(type.typnamespace)! : namespace;
  const columns = resultColumns(
    scope.types,
    inflects.inflectNames,
    attributes.length > 0 ? attributes.map(({ attname, atttypid }) => ({ name: attname, type: atttypid })) : declared,
  );
  if (columns.every(({ fieldName }) => fieldName === null))
    return 'has a result without a column that GraphQL can show. Give it one with a valid name and a type such as text';
  const isList = routine.proretset && routine.prorows !== 1;
  return { kind: 'object', typeName: name, columns, maxRows: isList ? namespace.maxRows : null };
}

function compositeProblem(context: ModelContext, type: CatalogType): string | null {
  const hidden = whyHidden(context, type);
  return hidden && `returns the type ${pathIn(context.catalog, type.typnamespace, type.typname)}, ${hidden}`;
}

function columnsProblem(
  context: ModelContext,
  routine: CatalogRoutine,
  type: CatalogType,
  declared: readonly DeclaredColumn[],
): string | null {
  const { catalog } = context;
  if (type.typtype === 'c') return `returns rows of ${typePath(catalog, type._id)}, ${comesWithTable}`;
  if (type.typname === 'record' && type.typtype === 'p')
    return declared.length > 0 ? null : 'returns records without declared columns. Declare them: returns table (…)';
  if (routine.proretset)
    return declared.length > 0 ? null : 'returns a set of values without a name. Declare one: returns table (…)';
  const element = elementOf(catalog.type, type);
  if (element?.typtype === 'c') {
    const path = typePath(catalog, element._id);
    return `returns an array of the composite type ${path}. Return rows of it: returns setof ${path}`;
  }
  return `returns the type ${typePath(catalog, type._id)}, ${whyNoValue(context, type._id)}`;
}

/** Ends a sentence that names a table that the API lacks. */
export const comesWithTable = 'which is not in the API. The function comes in with that table';

/** Why a value of the type cannot be taken or returned, and what can be done; ends a sentence that names the type. */
export function whyNoValue({ catalog, access }: ModelContext, oid: string): string {
  const namespace = catalog.type(oid)?.typnamespace ?? '';
  if (!access.usesNamespace(namespace)) {
    const schema = quoteName(catalog.namespace(namespace)?.nspname ?? '');
    return `whose schema the role cannot use. Grant usage on schema ${schema} to roles that call the function`;
  }
  return 'which has no GraphQL counterpart. Expose a function with another type, such as text, that calls it';
}

interface DeclaredColumn {
  readonly name: string;
  /** Oid of the type. */
  readonly type: string;
}

/** The columns of `returns table`, or the `out` parameters. */
function declaredColumns({ proallargtypes, proargmodes, proargnames }: CatalogRoutine): readonly DeclaredColumn[] {
  const isOut = (index: number) => 'obt'.includes(proargmodes?.[index] ?? 'i');
  const outs = (proallargtypes ?? []).flatMap((type, index) =>
    isOut(index) ? [{ type, name: proargnames?.[index] ?? '' }] : [],
  );
  // PostgreSQL names a set of single values after the alias that we give it.
  if (outs.length === 1 && outs[0]!.name === '') return [];
  return outs.map(({ type, name }, index) => ({ type, name: name === '' ? `column${index + 1}` : name }));
}

function resultColumns(
  types: TypeResolver,
  inflectNames: boolean,
  declared: readonly DeclaredColumn[],
): readonly ResultColumn[] {
  const taken = new Set<string>();
  return declared.map(({ name, type: oid }, index) => {
    const column = unmodified(oid);
    const type = types.value(column);
    const fieldName = fieldForm(name, inflectNames);
    const isNamed = type !== null && isValidName(fieldName) && !taken.has(fieldName);
    if (isNamed) taken.add(fieldName);
    return { number: index + 1, name, fieldName: isNamed ? fieldName : null, type, cast: types.cast(column) };
  });
}

/** Why a column or attribute is no field, as the end of a sentence; null if it is one. */
export function columnProblem({ fieldName, type }: Pick<CompositeAttribute, 'fieldName' | 'type'>): string | null {
  if (fieldName !== null) return null;
  return type === null ? 'has a type that has no GraphQL counterpart' : 'has no GraphQL name that is valid and free';
}
