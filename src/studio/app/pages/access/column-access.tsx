/** The columns of a table that a role may read, insert and update. A tick is collected at once, and can be taken back. */
import { useState } from 'react';
import { flushSync } from 'react-dom';
import type { AccessTable } from '../../../../management/access/access-schemas.ts';
import { Rows } from '../../components/rows.tsx';
import { useStore } from '../../shared/store.ts';
import { type AccessRole, actionWords, explainKey, sayUnreadKey } from './access-words.ts';
import {
  type ColumnAction,
  columnActions,
  columnsOf,
  privilegeChange,
  privilegeKey,
  withKey,
} from './privilege-changes.ts';
import { collect, sqlChanges, undo } from './sql-changes.ts';

interface ColumnAccessProps {
  readonly table: AccessTable;
  readonly role: AccessRole;
  readonly rights: AccessTable['rights'][number];
}

const boxOf = (action: ColumnAction): string => `first-column-${action}`;

/** Opens the section where columns are chosen for an action. */
export function showColumns(action: ColumnAction): void {
  const box = document.getElementById(boxOf(action));
  const section = box?.closest('details');
  if (!box || !section) return;
  section.open = true;
  section.scrollIntoView({ block: 'start' });
  box.focus({ preventScroll: true });
}

/** What a tick adds above leaves its box under the pointer. A browser does so by itself, but not for a pane at its top. */
function keepPlace(box: Element, change: () => void): void {
  const { top } = box.getBoundingClientRect();
  flushSync(change);
  box.closest('.table-access')?.scrollBy(0, box.getBoundingClientRect().top - top);
}

/** The section. */
export function ColumnAccess({ table, role, rights }: ColumnAccessProps) {
  const changes = useStore(sqlChanges);
  const sides = columnActions.map((action) => {
    const right = rights[action];
    const change = changes.find(({ key }) => key === privilegeKey(table, role, action));
    const has = columnsOf(table, right);
    return {
      action,
      has,
      isPartial: right.columns !== undefined,
      shown: change?.columns ?? has,
      // Its own SQL may do anything.
      isFixed: change?.isEdited === true || right.lacks === 'view',
      choose(columns: readonly string[]) {
        const next = privilegeChange(table, role, action, right, columns);
        if (next === null) undo(privilegeKey(table, role, action));
        else collect(next);
      },
    };
  });
  const read = sides.find(({ action }) => action === 'select');
  const unread = sayUnreadKey(table, read?.shown ?? []);
  const [isOpen, setOpen] = useState(sides.some(({ isPartial, shown, has }) => isPartial || shown !== has));
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Columns</summary>
      {unread !== null && read !== undefined && (
        <div className="notice warning spread">
          <span>{explainKey(unread)}</span>
          {!read.isFixed && (
            <button type="button" onClick={() => read.choose(withKey(table, read.shown))}>
              Add {unread} <span className="visually-hidden">to the columns</span>
            </button>
          )}
        </div>
      )}
      {unread === null && table.key !== null && (
        <p className="soft small">The API orders rows by the key, so whoever reads a column needs that, too.</p>
      )}
      <Rows
        label={`Columns for ${role.name}`}
        columns={['Column', ...columnActions.map((action) => actionWords[action])]}
      >
        <tr>
          <th scope="row">
            All columns <span className="column-note soft small">also later ones</span>
          </th>
          {sides.map(({ action, shown, isFixed, choose }) => (
            <td key={action}>
              <input
                type="checkbox"
                aria-label={`${actionWords[action]} all columns`}
                disabled={isFixed}
                checked={shown.length === table.columns.length}
                ref={(box) => {
                  if (box) box.indeterminate = shown.length > 0 && shown.length < table.columns.length;
                }}
                onChange={({ target }) => keepPlace(target, () => choose(target.checked ? table.columns : []))}
              />
            </td>
          ))}
        </tr>
        {table.columns.map((column, index) => (
          <tr key={column}>
            <th scope="row">
              {column} {table.key?.includes(column) && <span className="soft small">key</span>}
            </th>
            {sides.map(({ action, shown, has, isFixed, choose }) => (
              <td key={action}>
                <span className="column-box">
                  <input
                    type="checkbox"
                    id={index === 0 ? boxOf(action) : undefined}
                    aria-label={`${actionWords[action]} ${column}`}
                    disabled={isFixed}
                    checked={shown.includes(column)}
                    // In the order of the table.
                    onChange={({ target }) => {
                      const next = table.columns.filter((name) =>
                        name === column ? target.checked : shown.includes(name),
                      );
                      const columns = action === 'select' && shown.length === 0 ? withKey(table, next) : next;
                      keepPlace(target, () => choose(columns));
                    }}
                  />
                  {shown.includes(column) !== has.includes(column) && <span className="badge changed">pending</span>}
                </span>
              </td>
            ))}
          </tr>
        ))}
      </Rows>
    </details>
  );
}
