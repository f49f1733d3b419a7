/** What a role may do with a table in one way and why, what was collected about it, and the changes that one may want. */
import type { AccessRight } from '../../../../management/access/access-schemas.ts';
import { useStore } from '../../shared/store.ts';
import {
  type Action,
  actionWords,
  explain,
  isGranted,
  isUnderPolicies,
  reachesRows,
  sayUnreadKey,
} from './access-words.ts';
import { ChangeButton, PendingOf } from './change-button.tsx';
import { showColumns } from './column-access.tsx';
import { ownRowsOnly, policyKey } from './policy-changes.ts';
import { type DraftOf, draftChange, draftKey, hasPolicyFor } from './policy-draft.ts';
import { addKey, columnActions, privilegeChange, privilegeKey, usageChange } from './privilege-changes.ts';
import { collect, type SqlChange, sqlChanges, undo } from './sql-changes.ts';

interface RightRowProps {
  readonly of: DraftOf;
  readonly action: Action;
  readonly right: AccessRight;
}

/** The row. */
export function RightRow({ of, action, right }: RightRowProps) {
  const { table, role } = of;
  const what = `${action} ${role.name}`;
  const policies = table.policies.filter(({ command }) => command === 'all' || command === action);
  const keys = [
    privilegeKey(table, role, action),
    draftKey(table, role, action),
    ...policies
      .filter(
        ({ name, roles }) => right.policies?.includes(name) || roles.includes('public') || roles.includes(role.name),
      )
      .map(({ name }) => policyKey(table, name)),
  ];
  const isGranting = of.changes.some(({ key }) => key === keys[0]);
  const grants = !isGranted(right);
  const grant =
    right.lacks === 'view' ? null : privilegeChange(table, role, action, right, grants ? table.columns : []);
  const columnAction = columnActions.find((each) => each === action);
  // A grant alone would show nothing.
  const lacksPolicy =
    right.lacks === 'policy' ||
    (grants &&
      isGranting &&
      table.rowSecurity &&
      isUnderPolicies(table, role) &&
      !hasPolicyFor(table, role.name, action));
  const missing = right.lacks === 'key' ? addKey(table, role, right, right.columns ?? []) : null;
  const own = reachesRows(right) ? ownRowsOnly(of, action) : null;
  return (
    <tr>
      <th scope="row">{actionWords[action]}</th>
      <td>
        <span className={`badge right-${right.rows}`}>{right.rows}</span>
      </td>
      <td>
        {explain(table, role.name, action, right)}
        {grants &&
          lacksPolicy &&
          ` Row security is on, and no policy lets ${role.name} ${actionWords[action]} rows, either.`}
        {keys.map((key) => (
          <PendingOf key={key} changeKey={key} />
        ))}
      </td>
      <td>
        <div className="row end">
          {right.lacks === 'usage' && !grants && (
            <ChangeButton title="Grant usage" change={usageChange(table, role)} what={what} />
          )}
          {missing !== null && !isGranting && (
            <ChangeButton title={`Add ${sayUnreadKey(table, right.columns ?? [])}`} change={missing} what={what} />
          )}
          {lacksPolicy || right.lacks === 'user' ? (
            <ChangeButton title="Draft a policy" change={draftChange(of, action)} what={what} />
          ) : null}
          {own !== null && <OwnRowsButton changes={own} draft={draftKey(table, role, action)} what={what} />}
          {grant !== null && right.lacks !== 'policy' && (
            <ChangeButton
              title={grants ? (columnAction === undefined ? 'Grant' : 'Grant all columns') : 'Revoke'}
              change={grant}
              what={what}
            />
          )}
          {grants && columnAction !== undefined && (
            <button type="button" onClick={() => showColumns(columnAction)}>
              Choose columns… <span className="visually-hidden">{what}</span>
            </button>
          )}
        </div>
      </td>
    </tr>
  );
}

interface OwnRowsButtonProps {
  readonly changes: ReturnType<typeof ownRowsOnly> & {};
  /** What a new policy for the same is collected under. */
  readonly draft: string;
  readonly what: string;
}

/** Rewrites and drops what lets other rows pass, together. */
function OwnRowsButton({ changes, draft, what }: OwnRowsButtonProps) {
  const collected = useStore(sqlChanges);
  const isThere = changes.every(({ key }) => collected.some((each) => each.key === key));
  const run = (): void => {
    if (isThere) takeBack(changes);
    else {
      // A rewritten policy takes its place.
      undo(draft);
      for (const change of changes) collect(change);
    }
  };
  return (
    <button type="button" title={changes.map(({ sql }) => sql).join('\n')} onClick={run}>
      {isThere ? 'Undo' : 'Own rows only'}{' '}
      <span className="visually-hidden">{isThere ? `own rows of ${what}` : what}</span>
    </button>
  );
}

/** Row security is still switched on for other new policies of the table. */
function takeBack(changes: readonly SqlChange[]): void {
  for (const { key, adds } of changes) if (adds !== undefined) undo(key);
  const [object] = changes.flatMap(({ adds }) => adds?.object ?? []);
  if (sqlChanges.get().some(({ adds }) => adds !== undefined && adds.object === object)) return;
  for (const { key } of changes) undo(key);
}
