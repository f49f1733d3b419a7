/**
 * The types that routines need of their own (extension `functions`): objects for results with columns. A routine whose
 * type gets no name is left out and recorded, as is a column that is no field.
 */
import { quoteName, quotePath } from '../../catalog/quote-name.ts';
import { routineFix, validName } from '../comments/comment-fix.ts';
import type { Routine, Table } from '../model.ts';
import { type ModelContext, type NameClaims, note } from '../model-context.ts';
import { columnProblem } from '../routine-results.ts';

type Routines = ReadonlyMap<string, Routine>;

/** The routines whose types get their names. */
export function claimRoutineTypes(context: ModelContext, routines: Routines, claims: NameClaims): Routines {
  return new Map([...routines].filter(([, routine]) => claimResult(context, routine, claims)));
}

function claimResult(context: ModelContext, { oid, namespace, name, result }: Routine, claims: NameClaims): boolean {
  if (result.kind !== 'object') return true;
  const object = quotePath(namespace, name);
  const holder = claims.claim([result.typeName], `function ${object}`);
  if (holder !== null) {
    const reason = `Function ${object} would have the type "${result.typeName}", and ${holder} has that name already.`;
    const fix = () => routineFix(context, oid, { name: validName(`${namespace}_${name}`) });
    note(context, () => ({ kind: 'name', object, names: [result.typeName, name], reason, fix: fix() }));
    return false;
  }
  for (const column of result.columns) {
    const problem = columnProblem(column);
    if (problem === null) continue;
    const reason = `The result of function ${object} is shown without its column ${quoteName(column.name)}, which ${problem}.`;
    note(context, () => ({ kind: 'type', object, names: [column.name], reason, fix: null }));
  }
  return true;
}

/** The table without the routines that are left out. */
export function keepRoutines(table: Table, routines: Routines): Table {
  const isKept = ({ routine }: { readonly routine: string }) => routines.has(routine);
  return {
    ...table,
    computedFields: table.computedFields.filter((oid) => routines.has(oid)),
    filterFunctions: table.filterFunctions.filter(isKept),
    orderFunctions: table.orderFunctions.filter(isKept),
  };
}
