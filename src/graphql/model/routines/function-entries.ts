/**
 * Functions of a row as entries of filters and orders, if the function's comment requests it (extension
 * `reads`, docs/functions.md). They never replace a name; requests without effect are recorded.
 */
import { quotePath } from '../../catalog/quote-name.ts';
import { routineFix, validName } from '../comments/comment-fix.ts';
import { readSettings } from '../comments/directive-settings.ts';
import { functionInputName } from '../inflect.ts';
import type { FunctionEntry, Routine, Table } from '../model.ts';
import {
  describeTable,
  hasExtension,
  type ModelContext,
  noteOmission,
  type Omission,
  takenBy,
} from '../model-context.ts';
import type { NameClaims } from '../name-claims.ts';
import { isFilterable, isFilteredByExtension, isOrdered } from '../tables/columns.ts';
import { sharesRow } from './routine-arguments.ts';

/** The inputs with such entries. */
type EntryInput = 'filter' | 'order';

const verbs = { filter: 'filtered', order: 'ordered' } as const;

interface Making {
  readonly routines: ReadonlyMap<string, Routine>;
  /** Names of the other entries. */
  readonly taken: Readonly<Record<EntryInput, ReadonlySet<string>>>;
}

/** The table with the functions that filter and order its rows. */
export function addFunctionEntries(context: ModelContext, table: Table, making: Making): Table {
  // Of two fields with one name, the later one is shown.
  const fields = table.computedFields.flatMap((oid) => making.routines.get(oid) ?? []);
  const shown = [...new Map(fields.map((routine) => [routine.fieldName, routine])).values()];
  const entries = (input: EntryInput) =>
    shown.flatMap((routine) =>
      isAsked(context, routine, input) ? buildEntry(context, { ...making, table }, routine, input) : [],
    );
  return { ...table, filterFunctions: entries('filter'), orderFunctions: entries('order') };
}

function isAsked(context: ModelContext, routine: Routine, input: EntryInput): boolean {
  const isOn = hasExtension(context, routine, 'reads');
  return isOn && readSettings(context.catalog, 'routine', routine.oid).settings[input];
}

function buildEntry(
  context: ModelContext,
  making: Making & { readonly table: Table },
  routine: Routine,
  input: EntryInput,
): readonly FunctionEntry[] {
  const { fieldName: name, oid, result } = routine;
  const problem = findProblem(context, routine, input);
  if (problem !== null || result.kind !== 'value') {
    const reason = `Rows are not ${verbs[input]} by the function ${pathOf(routine)}: it ${problem}.`;
    noteRoutine(context, routine, { kind: 'type', reason });
    return [];
  }
  if (making.taken[input].has(name)) {
    const reason = `Rows are not ${verbs[input]} by the function ${pathOf(routine)}, "${name}" in GraphQL: the ${input} has another entry of that name.`;
    noteRoutine(context, routine, { kind: 'name', reason });
    return [];
  }
  const own = routine.arguments.length === 0 ? null : functionInputName(making.table.baseName, name, input);
  return [{ name, routine: oid, type: result.type, input: own }];
}

/** Why rows cannot be filtered or ordered by the function, as the end of a sentence. */
function findProblem({ catalog }: ModelContext, routine: Routine, input: EntryInput): string | null {
  const { fieldName, result, volatility, returnsSet, arguments: given, oid } = routine;
  if (fieldName === 'nodeId') return 'has the name of the global id';
  if (volatility === 'volatile') return 'is volatile. Declare it stable or immutable, if it is';
  if (returnsSet || result.kind === 'set') return 'returns a set';
  if (result.kind !== 'value') return 'returns no single value';
  // With defaults, a call of an overloaded function may be ambiguous to PostgreSQL.
  if (sharesRow(catalog, catalog.routine(oid)!)) return 'shares its name with another function of the same rows';
  const { type } = result;
  if (input === 'order') {
    if (given.some(({ fieldName }) => fieldName === 'direction'))
      return 'has an argument called "direction", as every order has';
    if (type.cast.lacks !== null) return 'returns a type without an order';
    return isOrdered(type) ? null : 'returns lists or JSON, which have no order';
  }
  if (given.length > 0) {
    const isBoolean = type.kind === 'scalar' && type.scalar === 'Boolean';
    return isBoolean ? null : 'takes further arguments, with which it has to return boolean';
  }
  return isFilterable(type) || isFilteredByExtension(type) ? null : 'returns a type that has no filter';
}

/** Records functions whose directives request something that only functions of a row can do. */
export function noteMisplaced(context: ModelContext, routines: ReadonlyMap<string, Routine>): void {
  if (context.omissions === null) return;
  for (const routine of routines.values()) {
    const asked = (['filter', 'order'] as const).filter((input) => isAsked(context, routine, input));
    if (routine.use === 'computed' || asked.length === 0) continue;
    const reason = `Rows are not ${asked.map((input) => verbs[input]).join(' or ')} by the function ${pathOf(routine)}: its first argument is no row.`;
    noteRoutine(context, routine, { kind: 'type', reason });
  }
}

/** The entries of the table whose inputs get their names. */
export function claimFunctionInputs(
  context: ModelContext,
  table: Table,
  { claims, routines }: { readonly claims: NameClaims; readonly routines: ReadonlyMap<string, Routine> },
): Pick<Table, 'filterFunctions' | 'orderFunctions'> {
  const isNamed = ({ input, routine: oid }: FunctionEntry): boolean => {
    const row = context.catalog.table(table.oid)!;
    const holder = input === null ? null : claims.claim([input], `table ${quotePath(table.namespace, table.name)}`);
    if (holder === null) return true;
    const reason = takenBy(holder, describeTable(context, row), `the type "${input}"`);
    noteRoutine(context, routines.get(oid)!, { kind: 'name', reason, names: [input!] });
    return false;
  };
  return {
    filterFunctions: table.filterFunctions.filter(isNamed),
    orderFunctions: table.orderFunctions.filter(isNamed),
  };
}

function pathOf({ namespace, name }: Routine): string {
  return quotePath(namespace, name);
}

/** Why an entry of a function is left out. */
interface LeftOut {
  readonly kind: Omission['kind'];
  readonly reason: string;
  /** Names to search for; those of the function if absent. */
  readonly names?: readonly string[];
}

function noteRoutine(context: ModelContext, routine: Routine, { kind, reason, names }: LeftOut): void {
  noteOmission(context, () => {
    const name = validName(`${routine.namespace}_${routine.name}`);
    const fix = kind === 'name' ? routineFix(context, routine.oid, { name }) : null;
    return { kind, object: pathOf(routine), names: names ?? [routine.fieldName, routine.name], reason, fix };
  });
}
