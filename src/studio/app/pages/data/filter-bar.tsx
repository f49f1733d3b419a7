/** The conditions of the view, each of which is changed or dropped by itself. */
import { useState } from 'react';
import { CloseIcon } from '../../components/icons.tsx';
import type { RoleTable } from '../../shared/role-schema.ts';
import { goTo } from '../../shared/router.ts';
import { ConditionForm } from './condition-form.tsx';
import { operatorWords, textOfOperand } from './conditions.ts';
import { type Condition, type DataPlace, placeOf } from './data-place.ts';

interface FilterBarProps {
  readonly table: RoleTable;
  readonly place: DataPlace;
}

/** The bar: one line while nothing is edited. */
export function FilterBar({ table, place }: FilterBarProps) {
  const { filter } = place;
  /** Index of the condition in the form; the number of conditions is a new one. */
  const [editing, setEditing] = useState<number | null>(null);
  const change = (next: readonly Condition[]): void => {
    setEditing(null);
    goTo(placeOf({ ...place, filter: next, row: null }));
  };
  return (
    <section className="filter-bar" aria-label="Filter">
      <ul className="row">
        {filter.map((condition, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two conditions may be equal
          <li key={index} className="chip">
            <button type="button" onClick={() => setEditing(index)} aria-expanded={editing === index}>
              {inWords(condition)}
            </button>
            <button
              type="button"
              aria-label={`Drop ${inWords(condition)}`}
              title="Drop"
              onClick={() => change(filter.filter((_, at) => at !== index))}
            >
              <CloseIcon />
            </button>
          </li>
        ))}
        <li>
          <button
            type="button"
            className="quiet"
            aria-expanded={editing === filter.length}
            onClick={() => setEditing(editing === filter.length ? null : filter.length)}
          >
            {filter.length === 0 ? 'Filter' : 'And …'}
          </button>
        </li>
      </ul>
      {editing !== null && (
        <ConditionForm
          key={editing}
          table={table}
          start={filter[editing] ?? null}
          onDone={(condition) => change(filter.toSpliced(editing, 1, condition))}
          onCancel={() => setEditing(null)}
        />
      )}
    </section>
  );
}

/** `price at least 10`. */
function inWords({ path, operator, value }: Condition): string {
  const name = path.replaceAll('.', ' › ');
  const text = textOfOperand(value);
  if (operator === 'is') return `${name} is ${text === 'NULL' ? 'null' : 'not null'}`;
  return `${name} ${operatorWords[operator] ?? operator} ${text}`;
}
