/**
 * Root functions and computed fields of a role's schema (docs/functions.md), with a reason for each other routine.
 */
import type { CatalogRoutine, CatalogType } from '../catalog/catalog.ts';
import { quoteName, quotePath } from '../catalog/quote-name.ts';
import { routineFix, validName } from './comments/comment-fix.ts';
import { readSettings } from './comments/directives.ts';
import type { EnumTypes } from './enums.ts';
import { argumentForm, isValidName, routineForm } from './inflect.ts';
import type { Routine, RoutineArgument, RoutineResult } from './model.ts';
import {
  type ContextNamespace,
  type ModelContext,
  note,
  type Omission,
  placeOf,
  type Reason,
} from './model-context.ts';
import { baseOf, elementOf, type TypeResolver, type TypeResolvers } from './resolve-type.ts';
import {
  argumentDefaults,
  displayDefault,
  type InputArgument,
  inputArguments,
  rowArgument,
  sharesRow,
} from './routine-arguments.ts';
import { whyUnreadable } from './tables/select-tables.ts';

interface RoutineScope {
  readonly context: ModelContext;
  readonly types: TypeResolvers;
  readonly enums: EnumTypes;
  /** Whether the table with this oid is in the schema. */
  readonly hasTable: (oid: string) => boolean;
  /** Fields of `Query` for tables; likewise for `Mutation`. */
  readonly queryFields: ReadonlySet<string>;
  readonly mutationFields: ReadonlySet<string>;
}

/** Namespaces whose routines never become root fields. */
const closedNamespaces: ReadonlySet<string> = new Set(['graphql', 'graphql_public', 'auth', 'extensions']);

const connectionArguments: ReadonlySet<string> = new Set([
  'first', 'last', 'before', 'after', 'offset', 'filter', 'orderBy',
]); // biome-ignore format: a table of names

const volatilities = { i: 'immutable', s: 'stable', v: 'volatile' } as const;

/** The exposed routines by oid, in order of oid. */
export function buildRoutines(scope: RoutineScope): ReadonlyMap<string, Routine> {
  const { catalog, namespaces } = scope.context;
  const exposed = catalog.routines.filter((row) => namespaces.get(row.pronamespace)?.exposed);
  const isOverload = findOverloads(scope.context, exposed);
  const routines = new Map<string, Routine>();
  const holders = new Map<string, { readonly result: Routine; readonly place: number }>();
  for (const row of exposed) {
    const candidate = new RoutineCandidate(scope, row, isOverload(row));
    const result = candidate.build();
    if ('reason' in result) {
      // Users do not look for those in the API.
      if (!row.ofExtension && !isTrigger(scope.context, row))
        note(scope.context, () => ({ object: candidate.object, names: [candidate.fieldName, row.proname], ...result }));
      continue;
    }
    routines.set(row._id, result);
    if (result.use === 'computed') continue;
    // Of two with one name, the earlier namespace wins; within one namespace, the higher oid.
    const key = `${result.use}|${result.fieldName}`;
    // Extensions' additions never replace a name.
    const place = placeOf(scope.context, row.pronamespace) + (result.added ? namespaces.size : 0);
    const other = holders.get(key);
    const [holder, loser] = other && other.place < place ? [other, result] : [{ result, place }, other?.result];
    if (loser) {
      routines.delete(loser.oid);
      note(scope.context, () =>
        nameTaken(scope.context, loser, quotePath(holder.result.namespace, holder.result.name)),
      );
    }
    holders.set(key, holder);
  }
  return routines;
}

function isTrigger({ catalog }: ModelContext, { prorettype }: CatalogRoutine): boolean {
  return ['trigger', 'event_trigger'].includes(catalog.type(prorettype)?.typname ?? '');
}

/** Whether another routine of the same or an earlier namespace has the name. */
function findOverloads(
  context: ModelContext,
  routines: readonly CatalogRoutine[],
): (routine: CatalogRoutine) => boolean {
  const places = new Map<string, number[]>();
  for (const { proname, pronamespace } of routines) {
    const list = places.get(proname) ?? [];
    places.set(proname, list);
    list.push(placeOf(context, pronamespace));
  }
  return ({ proname, pronamespace }) => {
    const own = placeOf(context, pronamespace);
    return (places.get(proname) ?? []).filter((place) => place <= own).length > 1;
  };
}

function nameTaken(context: ModelContext, routine: Routine, holder: string): Omission {
  const object = quotePath(routine.namespace, routine.name);
  const reason = `Function ${object} would be "${routine.fieldName}" in GraphQL, and ${holder} has that name already.`;
  return { kind: 'name', object, names: [routine.fieldName, routine.name], reason, fix: otherName(context, routine) };
}

/** SQL that renames a routine with its schema as prefix, for a name that is taken. */
export function otherName(context: ModelContext, { oid, namespace, name }: Routine): string | null {
  return routineFix(context, oid, { name: validName(`${namespace}_${name}`) });
}

/** What a routine may be, with the extensions of its namespace or without any. */
interface Rules {
  readonly types: TypeResolver;
  /** The extension `functions`. */
  readonly isExtended: boolean;
}

/** One routine, before it is added to the model. */
class RoutineCandidate {
  readonly object: string;
  readonly fieldName: string;
  readonly #scope: RoutineScope;
  readonly #row: CatalogRoutine;
  readonly #isOverloaded: boolean;
  readonly #namespace: ContextNamespace;
  readonly #inputs: readonly InputArgument[];
  readonly #description: string | null;
  /** Its name is from its comment. */
  readonly #isNamed: boolean;

  constructor(scope: RoutineScope, row: CatalogRoutine, isOverloaded: boolean) {
    this.#scope = scope;
    this.#row = row;
    this.#isOverloaded = isOverloaded;
    this.#namespace = scope.context.namespaces.get(row.pronamespace) as ContextNamespace;
    this.#inputs = inputArguments(row);
    const { settings } = readSettings(scope.context.catalog, 'routine', row._id);
    this.fieldName = settings.name ?? routineForm(row.proname, this.#namespace.inflectNames);
    this.#description = settings.description;
    this.#isNamed = settings.name !== null;
    this.object = quotePath(this.#namespace.name, row.proname);
  }

  build(): Routine | Reason {
    const { types } = this.#scope;
    const [own, plain] = [types(this.#namespace), types(null)];
    const isExtended = this.#namespace.extensions.includes('functions');
    const built = this.#build({ types: own, isExtended });
    if ('reason' in built || (own === plain && !isExtended)) return built;
    return { ...built, added: built.added || 'reason' in this.#build({ types: plain, isExtended: false }) };
  }

  #build(rules: Rules): Routine | Reason {
    const problem = this.#kindProblem(rules) ?? this.#privilegeProblem();
    if (problem) return problem;
    const parent = this.#parent();
    return parent === null ? this.#buildRoot(rules) : this.#buildComputed(parent, rules);
  }

  #kindProblem({ isExtended }: Rules): Reason | null {
    if (this.#row.prokind !== 'f') return this.#refuse('is a procedure, an aggregate or a window function');
    if (!isExtended && (this.#row.provariadic ?? '0') !== '0') return this.#refuse('is variadic');
    if (isValidName(this.fieldName)) return null;
    const fix = routineFix(this.#scope.context, this.#row._id, { name: validName(this.fieldName) });
    return { ...this.#refuse(`has no valid GraphQL name ("${this.fieldName}")`), kind: 'name', fix };
  }

  #privilegeProblem(): Reason | null {
    const { access, role } = this.#scope.context;
    if (access.executes(this.#row._id)) return null;
    const fix = `grant execute on routine ${this.object} to ${quoteName(role)};`;
    return { kind: 'privilege', reason: `Function ${this.object} exists; role ${role} has no EXECUTE.`, fix };
  }

  /**
   * Oid of the table of the row argument; null if the routine is no computed field. Without an extension, the row is
   * the only argument.
   */
  #parent(): string | null {
    const { catalog } = this.#scope.context;
    const parent = rowArgument(catalog, this.#inputs);
    return parent === null || this.#inputs.length === 1 || this.#offersArguments(parent) ? parent : null;
  }

  #offersArguments(parent: string): boolean {
    const { catalog, namespaces } = this.#scope.context;
    const ofTable = namespaces.get(catalog.table(parent)?.relnamespace ?? '');
    return [this.#namespace, ofTable].every((each) => each?.extensions.includes('function_filters'));
  }

  #buildComputed(table: string, rules: Rules): Routine | Reason {
    const { context, hasTable } = this.#scope;
    if (context.catalog.table(table) !== undefined && !context.access.hasTable(table, 'select')) {
      return { ...this.#refuse('is a computed field and needs SELECT on the whole table'), kind: 'privilege' };
    }
    if (!hasTable(table)) return this.#refuse('takes the row of a table that is not exposed');
    const result = routineResult({ ...this.#scope, ...rules }, this.#row, 'computed');
    if (result === null) return this.#hiddenRows() ?? this.#refuse('has a result that a computed field cannot have');
    const args = this.#arguments(result, rules, 1);
    if (typeof args === 'string') return this.#refuse(args);
    // With defaults, a call of an overloaded function may be ambiguous to PostgreSQL.
    if (args.length > 0 && sharesRow(context.catalog, this.#row))
      return this.#refuse('shares its name with another function of the same rows');
    return this.#routine('computed', result, args, table);
  }

  #buildRoot(rules: Rules): Routine | Reason {
    const volatility = this.#volatility();
    const use = volatility === 'volatile' ? 'mutation' : 'query';
    if (closedNamespaces.has(this.#namespace.name))
      return this.#refuse('is in a schema whose functions are not exposed');
    if (this.#isOverloaded && !(rules.isExtended && this.#isNamed))
      return this.#refuse(
        `shares its name with another function${rules.isExtended ? ', and has no name of its own in its comment' : ''}`,
      );
    const result = routineResult({ ...this.#scope, ...rules }, this.#row, 'root');
    if (result === null) return this.#hiddenRows() ?? this.#refuse('has a result that has no GraphQL counterpart');
    const args = this.#arguments(result, rules, 0);
    if (typeof args === 'string') return this.#refuse(args);
    const taken = use === 'query' ? this.#scope.queryFields : this.#scope.mutationFields;
    if (taken.has(this.fieldName)) {
      return { ...this.#refuse(`would be "${this.fieldName}", which a table's field has already`), kind: 'name' };
    }
    return this.#routine(use, result, args, null);
  }

  /** The missing grant if it returns rows of a table that the role cannot read, otherwise null. */
  #hiddenRows(): Reason | null {
    const { context } = this.#scope;
    const table = context.catalog.table(context.catalog.type(this.#row.prorettype)?.typrelid ?? '0');
    const missing = table && whyUnreadable(context, table);
    if (!missing) return null;
    return { ...missing, reason: `Function ${this.object} returns rows that the role cannot read. ${missing.reason}` };
  }

  #routine(
    use: Routine['use'],
    result: RoutineResult,
    args: readonly RoutineArgument[],
    table: string | null,
  ): Routine {
    return {
      oid: this.#row._id,
      namespace: this.#namespace.name,
      name: this.#row.proname,
      use,
      fieldName: this.fieldName,
      description: this.#description,
      added: use === 'computed' && args.length > 0,
      volatility: this.#volatility(),
      returnsSet: this.#row.proretset,
      result,
      arguments: args,
      table,
    };
  }

  #volatility(): Routine['volatility'] {
    const letter = this.#row.provolatile;
    return letter === 'i' || letter === 's' ? volatilities[letter] : 'volatile';
  }

  /** The arguments of a field, or why they are not possible. @param first Index of the first one. */
  #arguments(result: RoutineResult, rules: Rules, first: number): readonly RoutineArgument[] | string {
    const { context, enums } = this.#scope;
    // PostgreSQL finds a variadic function only by the names of all its arguments.
    const isVariadic = this.#inputs.some((input) => input.isVariadic);
    const defaults = isVariadic ? [] : argumentDefaults(this.#row, this.#inputs.length);
    const args: RoutineArgument[] = [];
    for (const [index, input] of this.#inputs.entries()) {
      if (index < first) continue;
      if (input.name === '') return 'has an argument without a name';
      const fieldName = argumentForm(input.name, this.#namespace.inflectNames);
      if (!isValidName(fieldName)) return `has an argument without a valid GraphQL name ("${fieldName}")`;
      if (args.some((other) => other.fieldName === fieldName)) return `has two arguments called "${fieldName}"`;
      if (result.kind === 'set' && connectionArguments.has(fieldName)) {
        return `returns rows and has an argument called "${fieldName}", as every collection has`;
      }
      const declared = context.catalog.type(input.type);
      const isPlain = declared !== undefined && isPlainValue(context, declared, rules);
      const type = isPlain ? rules.types.value({ oid: input.type, typmod: -1, text: null }) : null;
      if (type === null) return `has an argument ("${fieldName}") of a type that has no GraphQL counterpart`;
      const expression = defaults[index] ?? null;
      const shown = displayDefault(expression, type, enums);
      args.push({
        name: input.name,
        fieldName,
        type,
        isVariadic: input.isVariadic,
        required: expression === null,
        displayDefault: shown,
      });
    }
    return args;
  }

  #refuse(problem: string): Reason {
    return { kind: 'type', reason: `Function ${this.object} ${problem}.`, fix: null };
  }
}

type ResultScope = Pick<RoutineScope, 'context' | 'hasTable'> & Rules;

/** The result of a routine as a field, null if it cannot be exposed for this use. */
function routineResult(scope: ResultScope, routine: CatalogRoutine, use: 'root' | 'computed'): RoutineResult | null {
  const type = scope.context.catalog.type(routine.prorettype);
  if (type === undefined || !scope.context.access.usesNamespace(type.typnamespace)) return null;
  if (type.typtype === 'p') return pseudoResult(type, routine, use);
  if (type.typtype === 'c') return rowResult(scope, type, routine);
  // A set of values is a field only if declared to return one row.
  if (routine.proretset && routine.prorows !== 1) return null;
  if (use === 'root' && !isPlainValue(scope.context, type, scope)) return null;
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

/**
 * A simple scalar, a domain over a scalar or composite, or an array of these: the argument and result types of root
 * routines. If domains are encoded as base types, also one over an array. With the extension `functions`, also enums.
 */
function isPlainValue(context: ModelContext, type: CatalogType, rules: Rules): boolean {
  const { catalog } = context;
  const { base: stand } = rules.types.cast({ oid: type._id, typmod: -1, text: null });
  if (stand !== null) return isPlainValue(context, catalog.type(stand.oid)!, rules);
  const single = elementOf(catalog.type, type) ?? type;
  const isOffered = ({ typtype }: CatalogType) => typtype !== 'e' || rules.isExtended;
  if (single.typtype !== 'd') return isOffered(single) && single.typtype !== 'c' && single.typtype !== 'p';
  const base = baseOf(catalog.type, single);
  return isOffered(base) && elementOf(catalog.type, base) === null;
}
