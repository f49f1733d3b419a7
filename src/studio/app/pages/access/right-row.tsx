/** What a role may do with a table in one way and why, what was collected about it, and the changes that one may want. */
import type { AccessRight } from '../../../../management/access/access-schemas.ts';
import { Choice } from '../../components/choice.tsx';
import { useStore } from '../../shared/store.ts';
import {
  type Action,
  actionWords,
  explain,
  isGranted,
  isUnderPolicies,
  list,
  reachesRows,
  sayUnreadKey,
} from './access-words.ts';
import { ChangeButton, PendingOf } from './change-button.tsx';
import { showColumns } from './column-access.tsx';
import { ownRowsOnly, policyKey } from './policy-changes.ts';
import { type DraftOf, draftChange, draftKey, hasPolicyFor } from './policy-draft.ts';
import { addKey, columnActions, privilegeChange, privilegeKey, usageChange } from './privilege-changes.ts';
import { collect, type SqlChange, sqlChanges, turned, undo, useChange } from './sql-changes.ts';

interface RightRowProps {
  readonly of: DraftOf;
  readonly action: Action;
  readonly right: AccessRight;
}

/** The row. */
export function RightRow({ of, action, right }: RightRowProps) {
  const { table, role } = of;
  const what = `${action} ${role.name}`;
  const policies = table.policies.filter(
    ({ name, command, roles }) =>
      ['all', action].includes(command) &&
      isUnderPolicies(table, role) &&
      (right.policies?.includes(name) || roles.includes('public') || roles.includes(role.name)),
  );
  const pending = of.changes.find(({ key }) => key === privilegeKey(table, role, action));
  const isGranting = pending !== undefined;
  // Without the grant, no policy decides.
  const isRevoking = pending?.columns?.length === 0 && pending.isEdited !== true;
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
    <>
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
          {[privilegeKey(table, role, action), draftKey(table, role, action)].map((key) => (
            <PendingOf key={key} changeKey={key} role={role.name} />
          ))}
          {policies.map(({ name }) => (
            <PendingPolicy key={name} changeKey={policyKey(table, name)} role={role.name} isRevoking={isRevoking} />
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
                Choose columns … <span className="visually-hidden">{what}</span>
              </button>
            )}
          </div>
        </td>
      </tr>
      {policies
        // Of a policy for every action, once.
        .filter(({ command }) => command === action || action === 'select')
        .map(({ name }) => (
          <OthersChoice key={name} changeKey={policyKey(table, name)} role={role.name} />
        ))}
    </>
  );
}

interface PendingPolicyProps {
  readonly changeKey: string;
  readonly role: string;
}

/** What a collected change of a policy does for the role. @param props.isRevoking The role will have no grant. */
function PendingPolicy({ changeKey, role, isRevoking }: PendingPolicyProps & { readonly isRevoking: boolean }) {
  const shared = useShared(changeKey, role)?.shared;
  if (!isRevoking) return <PendingOf changeKey={changeKey} role={role} />;
  // It waits for the next grant.
  if (shared === undefined || !shared.isKept || shared.role === role) return null;
  return (
    <span className="pending small">
      “{shared.policy}” stays: the next grant opens {shared.rows} again.
    </span>
  );
}

/** The choice whether others keep the policy, in a row of its own. */
function OthersChoice({ changeKey, role }: PendingPolicyProps) {
  const change = useShared(changeKey, role);
  if (change === null) return null;
  const { shared } = change;
  const verbs = shared.others.length === 1 ? ['keeps', 'loses'] : ['keep', 'lose'];
  const names = list.format(shared.others);
  return (
    <tr>
      <td colSpan={4}>
        <Choice
          label={`“${shared.policy}” for ${names}`}
          options={[
            { name: 'kept', title: `${names} ${verbs[0]} ${shared.rows}` },
            { name: 'lost', title: `${names} ${verbs[1]} them` },
          ]}
          chosen={shared.isKept ? 'kept' : 'lost'}
          onChoose={(way) => (way === 'kept') !== shared.isKept && collect(turned(change))}
        />
      </td>
    </tr>
  );
}

/** The collected change of a permissive policy that the role shares with others; null: there is none. */
function useShared(changeKey: string, role: string): (SqlChange & Required<Pick<SqlChange, 'shared'>>) | null {
  const change = useChange(changeKey);
  const shared = change?.shared;
  if (change === undefined || change.isEdited === true || !shared || shared.rows === null) return null;
  return [shared.role, ...shared.others].includes(role) ? { ...change, shared } : null;
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
  const isThere = changes.every(
    ({ key, isOptional }) => isOptional === true || collected.some((each) => each.key === key),
  );
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
