/** Plans which rows an update or delete changes: its filter, and the limit of their number. */
import type { Table } from '../../../model/model.ts';
import type { Input } from '../../input/input.ts';
import type { Slot } from '../../input/slot.ts';
import type { UpdateChange } from '../plan.ts';
import { planFilter } from '../plan-filter.ts';
import type { Planner } from '../planner.ts';

/** Plans the rows. An absent filter means all of them. @param level `depth`: number of tables above the filter. */
export function planChangedRows(
  { planner, table, depth }: { readonly planner: Planner; readonly table: Table; readonly depth: number },
  given: { readonly filter: Input | undefined; readonly atMost: Input | undefined },
): Pick<UpdateChange, 'filter' | 'atMost'> {
  const atMost = planAtMost(given.atMost);
  const nesting = { pages: [{ kind: 'slot', slot: atMost }], depth } as const;
  return { filter: given.filter === undefined ? null : planFilter(planner, nesting, table, given.filter), atMost };
}

// With an absent variable, the schema's default applies; `state` refuses null.
function planAtMost(input: Input | undefined): Slot {
  if (!input?.isGiven()) return { kind: 'constant', value: '1' };
  input.requireValue();
  return input.slot();
}
