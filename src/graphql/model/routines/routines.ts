/** Root functions and computed fields of a role's schema (docs/functions.md), with a reason for each other routine. */
import { type Sliced, sliceIsOver } from '../../../shared/slices.ts';
import type { CatalogRoutine } from '../../catalog/catalog.ts';
import { quotePath } from '../../catalog/quote-name.ts';
import { routineFix, validName } from '../comments/comment-fix.ts';
import { readSettings } from '../comments/directive-settings.ts';
import type { Composites } from '../composites.ts';
import { connectionArguments } from '../connection-arguments.ts';
import type { EnumTypes } from '../enums.ts';
import { argumentForm, isValidName, resultTypeName, routineForm } from '../inflect.ts';
import { missingGrant } from '../missing-grant.ts';
import type { ArgumentType, Routine, RoutineArgument, RoutineResult } from '../model.ts';
import {
  type ContextNamespace,
  type ModelContext,
  noteOmission,
  type Omission,
  type Reason,
  rankOf,
  tablePath,
} from '../model-context.ts';
import { type TypeResolvers, unmodified } from '../resolve-type.ts';
import { typePath } from '../sql-types.ts';
import { whyUnreadable } from '../tables/select-tables.ts';
import { argumentDefaults, displayDefault, rowArgument, sharesRow } from './routine-arguments.ts';
import {
  comesWithTable,
  isPlainValue,
  objectResult,
  type RoutineTable,
  type Rules,
  routineResult,
  whyNoValue,
} from './routine-results.ts';
import { type InputArgument, inputArguments, routineName, signature } from './routine-signature.ts';

interface RoutineScope {
  readonly context: ModelContext;
  readonly composites: Composites;
  readonly types: TypeResolvers;
  readonly enums: EnumTypes;
  /** The tables of the schema, by oid. */
  readonly tables: ReadonlyMap<string, RoutineTable>;
  /** Fields of `Query` and `Mutation` for tables. */
  rootFields(): Readonly<Record<'query' | 'mutation', ReadonlySet<string>>>;
}

/** Namespaces whose routines never become root fields. */
const closedNamespaces: ReadonlySet<string> = new Set(['graphql', 'graphql_public', 'auth', 'extensions']);

function takenArguments(result: RoutineResult): ReadonlySet<string> {
  const isList = result.kind === 'object' && result.maxRows !== null;
  const taken = connectionArguments.filter(
    ({ inLists, addition }) => addition === null && (result.kind === 'set' || (isList && inLists)),
  );
  return new Set(taken.map(({ name }) => name));
}

/** Routines that GraphQL cannot call, and what can stand for them. */
const otherRoutines: Readonly<Record<string, { readonly noun: string; readonly advice: string }>> = {
  p: { noun: 'Procedure', advice: 'Expose a function that calls it.' },
  a: { noun: 'Aggregate', advice: 'Expose a view or function that uses it.' },
  w: { noun: 'Window function', advice: 'Expose a view or function that uses it.' },
};

const nameAnew = 'Create it again with another name for the argument, or expose a function that calls it';

const volatilities = { i: 'immutable', s: 'stable', v: 'volatile' } as const;

/** The exposed routines by oid, in order of oid. */
export function* buildRoutines(scope: RoutineScope): Sliced<ReadonlyMap<string, Routine>> {
  const { catalog, namespaces } = scope.context;
  const exposed = catalog.routines.filter((row) => namespaces.get(row.pronamespace)?.exposed);
  const isOverload = findOverloads(scope.context, exposed);
  const routines = new Map<string, Routine>();
  const holders = new Map<string, { readonly result: Routine; readonly rank: number }>();
  for (const row of exposed) {
    if (sliceIsOver()) yield;
    const candidate = new RoutineCandidate(scope, row, isOverload(row));
    const result = candidate.build();
    if ('reason' in result) {
      // Users do not look for those in the API.
      if (!row.ofExtension && !isTrigger(scope.context, row))
        noteOmission(scope.context, () => ({
          object: candidate.object,
          names: [candidate.fieldName, row.proname],
          ...result,
        }));
      continue;
    }
    routines.set(row._id, result);
    if (result.use === 'computed') continue;
    // Of two with one name, the earlier namespace wins; within one namespace, the higher oid.
    const key = `${result.use}|${result.fieldName}`;
    // Extensions' additions never replace a name.
    const rank = rankOf(scope.context, row.pronamespace) + (result.added ? namespaces.size : 0);
    const other = holders.get(key);
    const [holder, loser] = other && other.rank < rank ? [other, result] : [{ result, rank }, other?.result];
    if (loser) {
      routines.delete(loser.oid);
      noteOmission(scope.context, () =>
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
  const ranks = new Map<string, number[]>();
  for (const { proname, pronamespace } of routines) {
    const list = ranks.get(proname) ?? [];
    ranks.set(proname, list);
    list.push(rankOf(context, pronamespace));
  }
  return ({ proname, pronamespace }) => {
    const own = rankOf(context, pronamespace);
    return (ranks.get(proname) ?? []).filter((rank) => rank <= own).length > 1;
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
    const { extensions } = this.#namespace;
    const built = this.#build(this.#rules(this.#namespace));
    if ('reason' in built || extensions.length === 0) return built;
    return { ...built, added: built.added || 'reason' in this.#build(this.#rules(null)) };
  }

  /** With the extensions of a namespace; null: none. */
  #rules(namespace: ContextNamespace | null): Rules {
    const { types, tables } = this.#scope;
    const table = (oid: string) => {
      const found = tables.get(oid);
      return found?.added && !namespace?.extensions.includes('reads') ? undefined : found;
    };
    return { types: types(namespace), isExtended: namespace?.extensions.includes('writes') === true, table };
  }

  #build(rules: Rules): Routine | Reason {
    const problem = this.#kindProblem(rules);
    if (problem) return problem;
    const parent = this.#parent();
    const missing = this.#privilegeProblem();
    // Only lists of what is left out tell whether the grant would help.
    if (missing !== null && this.#scope.context.omissions === null) return missing;
    const built = parent === null ? this.#buildRoot(rules) : this.#buildComputed(parent, rules);
    if (missing === null) return built;
    // The grant alone would not bring it into the API.
    const isVain = 'reason' in built && built.kind !== 'privilege';
    return isVain ? { kind: missing.kind, reason: missing.reason, fix: null } : missing;
  }

  #kindProblem({ isExtended }: Rules): Reason | null {
    const other = otherRoutines[this.#row.prokind ?? ''];
    if (other) {
      return { kind: 'type', reason: `${other.noun} ${this.#signature} is not exposed. ${other.advice}`, fix: null };
    }
    if (!isExtended && (this.#row.provariadic ?? '0') !== '0')
      return this.#refuse('is variadic. Turn on the extension "writes", or take an array instead');
    if (isValidName(this.fieldName)) return null;
    return this.#rename(`has no valid GraphQL name ("${this.fieldName}")`, validName(this.fieldName));
  }

  #privilegeProblem(): Reason | null {
    const { access, catalog, role } = this.#scope.context;
    if (access.executes(this.#row._id)) return null;
    const name = routineName(catalog, this.#row);
    const grant = { privileges: 'EXECUTE', on: 'routine', name, column: null } as const;
    return missingGrant(this.#scope.context, grant, `Function ${this.object} exists; role ${role} has no EXECUTE.`);
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
    return [this.#namespace, ofTable].every((each) => each?.extensions.includes('reads'));
  }

  #buildComputed(table: string, rules: Rules): Routine | Reason {
    const { context } = this.#scope;
    const row = context.catalog.table(table);
    if (row !== undefined && !context.access.hasTable(table, 'select')) {
      const grant = { privileges: 'SELECT', on: 'table', name: tablePath(context, row), column: null } as const;
      const reason = `Function ${this.object} is a computed field and needs SELECT on the whole table.`;
      return missingGrant(context, grant, reason);
    }
    const of = rules.table(table);
    if (of === undefined)
      return this.#refuse(`takes a row of ${typePath(context.catalog, this.#inputs[0]!.type)}, ${comesWithTable}`);
    const result = this.#result(rules, 'computed', of.baseName);
    if (typeof result === 'string') return this.#hiddenRows() ?? this.#refuse(result);
    const args = this.#arguments(result, rules, 1);
    if (typeof args === 'string') return this.#refuse(args);
    // With defaults, a call of an overloaded function may be ambiguous to PostgreSQL.
    if (args.length > 0 && sharesRow(context.catalog, this.#row))
      return this.#refuse(
        'shares its name with another function of the same rows. Rename one of them by alter routine',
      );
    return this.#routine('computed', result, args, table);
  }

  #buildRoot(rules: Rules): Routine | Reason {
    const volatility = this.#volatility();
    const use = volatility === 'volatile' ? 'mutation' : 'query';
    if (closedNamespaces.has(this.#namespace.name))
      return this.#refuse('is in a schema whose functions are not exposed. Expose one elsewhere that calls it');
    const overload = this.#isOverloaded && !(rules.isExtended && this.#isNamed) ? this.#overload(rules) : null;
    // Only lists of what is left out tell whether a name would help.
    if (overload !== null && this.#scope.context.omissions === null) return overload;
    const result = this.#result(rules, 'root', '');
    if (typeof result === 'string') return this.#hiddenRows() ?? this.#refuse(result);
    const args = this.#arguments(result, rules, 0);
    if (typeof args === 'string') return this.#refuse(args);
    if (overload !== null) return overload;
    if (this.#scope.rootFields()[use].has(this.fieldName)) {
      const problem = `would be "${this.fieldName}", which a table's field has already`;
      return this.#rename(problem, validName(`${this.#namespace.name}_${this.#row.proname}`));
    }
    return this.#routine(use, result, args, null);
  }

  #overload({ isExtended }: Rules): Reason {
    const problem = 'shares its name with another function';
    if (!isExtended) return this.#refuse(`${problem}. Rename one, or turn on the extension "writes"`);
    const types = this.#inputs.map(({ type }) =>
      this.#scope.context.catalog.type(type)?.typname.replace(/^_/, 'list_'),
    );
    const name = validName([this.#row.proname, ...(types.length === 0 ? ['plain'] : types)].join('_'));
    return this.#rename(`${problem}, and has no name of its own in its comment`, name);
  }

  /** The result, or why it is not possible. @param base As for `resultTypeName`. */
  #result(rules: Rules, use: 'root' | 'computed', base: string): RoutineResult | string {
    const scope = { ...rules, context: this.#scope.context };
    const result = routineResult(scope, this.#row, use);
    if (result !== null) return result;
    if (rules.isExtended)
      return objectResult(scope, this.#row, {
        name: resultTypeName(base, this.fieldName),
        namespace: this.#namespace,
      });
    const problem = use === 'root' ? 'has no GraphQL counterpart' : 'a computed field cannot have';
    return `has a result that ${problem}. Return a value or rows that the API has, or turn on the extension "writes"`;
  }

  /** The missing grant if it returns rows of a table that the role cannot read, otherwise null. */
  #hiddenRows(): Reason | null {
    const { context } = this.#scope;
    const table = context.catalog.table(context.catalog.type(this.#row.prorettype)?.typrelid ?? '0');
    const missing = table && whyUnreadable(context, table);
    if (!missing) return null;
    return {
      ...missing,
      reason: `Function ${this.#signature} returns rows that the role cannot read. ${missing.reason}`,
    };
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
      planningWeight: this.#row.planningWeight,
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
    const { enums } = this.#scope;
    // PostgreSQL finds a variadic function only by the names of all its arguments.
    const isVariadic = this.#inputs.some((input) => input.isVariadic);
    const defaults = isVariadic ? [] : argumentDefaults(this.#row, this.#inputs.length, rules);
    const args: RoutineArgument[] = [];
    for (const [index, input] of this.#inputs.entries()) {
      if (index < first) continue;
      if (input.name === '') return 'has an argument without a name. Name all of them with create or replace function';
      const fieldName = argumentForm(input.name, this.#namespace.inflectNames);
      if (!isValidName(fieldName)) return `has an argument without a valid GraphQL name ("${fieldName}"). ${nameAnew}`;
      if (args.some((other) => other.fieldName === fieldName))
        return `has two arguments called "${fieldName}". ${nameAnew}`;
      if (takenArguments(result).has(fieldName)) {
        return `returns rows and has an argument called "${fieldName}", as every ${result.kind === 'set' ? 'collection' : 'list of rows'} has. ${nameAnew}`;
      }
      const type = this.#argumentType(input, rules);
      if (typeof type === 'string') return `has an argument ("${fieldName}") of the type ${type}`;
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

  /** The type, or why it is none, as the end of a sentence. */
  #argumentType({ type: oid }: InputArgument, rules: Rules): ArgumentType | string {
    const { context, composites } = this.#scope;
    const composite = rules.isExtended ? composites.argument(oid) : null;
    if (composite !== null) return composite;
    const declared = context.catalog.type(oid);
    const isPlain = declared !== undefined && isPlainValue(context, declared, rules);
    const type = isPlain ? rules.types.value(unmodified(oid)) : null;
    return type ?? `${typePath(context.catalog, oid)}, ${whyNoValue(context, oid)}`;
  }

  get #signature(): string {
    return signature(this.#scope.context.catalog, this.#row);
  }

  /** @param problem Ends a sentence. What brings it into the API is a second one, unless a statement does. */
  #refuse(problem: string): Reason {
    return { kind: 'type', reason: `Function ${this.#signature} ${problem}.`, fix: null };
  }

  #rename(problem: string, name: string): Reason {
    return { ...this.#refuse(problem), kind: 'name', fix: routineFix(this.#scope.context, this.#row._id, { name }) };
  }
}
