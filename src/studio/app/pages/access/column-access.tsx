/** The columns of a table that a role may read, insert and update, and the SQL for others. */
import { useState } from 'react';
import type { AccessTable } from '../../../../management/access/access-schemas.ts';
import { Rows } from '../../components/rows.tsx';
import {
  type AccessRole,
  actionWords,
  type ColumnAction,
  columnActions,
  columnsOf,
  columnsRemedy,
} from './access-words.ts';
import { collect } from './sql-changes.ts';

interface ColumnAccessProps {
  readonly table: AccessTable;
  readonly role: AccessRole;
  readonly rights: AccessTable['rights'][number];
}

type Wanted = Readonly<Partial<Record<ColumnAction, readonly string[]>>>;

/** The section. Ticks are collected together: each changes the statement of those before. */
export function ColumnAccess({ table, role, rights }: ColumnAccessProps) {
  const [wanted, setWanted] = useState<Wanted>({});
  const isPartial = columnActions.some((action) => rights[action].columns !== undefined);
  const shown = (action: ColumnAction) => wanted[action] ?? columnsOf(table, rights[action]);
  const statements = columnActions.flatMap(
    (action) => columnsRemedy(table, role, action, rights[action], shown(action)) ?? [],
  );
  const toggle = (action: ColumnAction, column: string, isOn: boolean): void => {
    const before = shown(action);
    // In the order of the table.
    const next = table.columns.filter((name) => (name === column ? isOn : before.includes(name)));
    setWanted({ ...wanted, [action]: next });
  };
  return (
    <details open={isPartial}>
      <summary>Columns</summary>
      <Rows
        label={`Columns for ${role.name}`}
        columns={['Column', ...columnActions.map((action) => actionWords[action])]}
      >
        {table.columns.map((column) => (
          <tr key={column}>
            <th scope="row">{column}</th>
            {columnActions.map((action) => (
              <td key={action}>
                <input
                  type="checkbox"
                  aria-label={`${actionWords[action]} ${column}`}
                  disabled={rights[action].lacks === 'view'}
                  checked={shown(action).includes(column)}
                  onChange={({ target }) => toggle(action, column, target.checked)}
                />
              </td>
            ))}
          </tr>
        ))}
      </Rows>
      <div className="row end">
        <button
          type="button"
          disabled={statements.length === 0}
          title={statements.join('\n')}
          onClick={() => {
            for (const statement of statements) collect(statement);
            setWanted({});
          }}
        >
          Add to the changes
        </button>
      </div>
    </details>
  );
}
