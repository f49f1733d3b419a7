/** A policy with its conditions, and the changes of it. */
import { lazy, Suspense } from 'react';
import type { AccessPolicy } from '../../../../management/access/access-schemas.ts';
import { isWhole } from '../../../../management/access/conditions.ts';
import { Menu } from '../../components/menu.tsx';
import { printPolicy } from './access-words.ts';
import { ChangeButton, PendingOf } from './change-button.tsx';
import { type PolicyChange, policyChanges, policyKey } from './policy-changes.ts';
import type { DraftOf } from './policy-draft.ts';
import { collect, type SqlChange, undo, useChange } from './sql-changes.ts';

// Loaded with the first policy.
const PolicyText = lazy(async () => ({ default: (await import('./policy-text.tsx')).PolicyText }));

interface PolicyProps {
  readonly of: DraftOf;
  readonly policy: AccessPolicy;
}

/** The policy. */
export function Policy({ of, policy }: PolicyProps) {
  const changes = policyChanges(of, policy);
  const key = policyKey(of.table, policy.name);
  const pending = useChange(key);
  return (
    <div className="stack">
      <div className="spread">
        <span className="row">
          <strong>{policy.name}</strong>
          <PendingOf changeKey={key} />
        </span>
        {pending === undefined ? (
          <span className="row">
            {isWhole(policy) && <RewriteButton {...{ policy, changes }} />}
            <WaysButton title="Drop" policy={policy} groups={[waysOf(changes, ({ drop }) => drop, 'Drop')]} />
          </span>
        ) : (
          <button type="button" onClick={() => undo(key)}>
            Undo <span className="visually-hidden">{policy.name}</span>
          </button>
        )}
      </div>
      <Suspense fallback={<pre className="source">{printPolicy(of.table, policy)}</pre>}>
        <PolicyText table={of.table} policy={policy} />
      </Suspense>
    </div>
  );
}

/** A change and for whom it is. */
interface Way {
  readonly title: string;
  readonly change: SqlChange;
  readonly concernsOneRole: boolean;
}

function waysOf(
  changes: readonly PolicyChange[],
  pick: (change: PolicyChange) => SqlChange | null,
  usual: string,
  prefix = '',
): readonly Way[] {
  return changes.flatMap((each) => {
    const change = pick(each);
    if (change === null) return [];
    const title = each.title ?? usual;
    const words = prefix === '' || each.title === null ? title : `${prefix}${title[0]!.toLowerCase()}${title.slice(1)}`;
    return [{ title: words, change, concernsOneRole: each.title === null }];
  });
}

interface RewriteButtonProps {
  readonly policy: AccessPolicy;
  readonly changes: readonly PolicyChange[];
}

/** To own rows, or as it is, to be edited. */
function RewriteButton({ policy, changes }: RewriteButtonProps) {
  const own = waysOf(changes, (change) => change.own, 'Own rows only', 'Own rows only, ');
  const asItIs = waysOf(
    changes,
    (change) => change.rewrite,
    own.length === 0 ? 'Rewrite' : 'Same rows, to edit',
    own.length === 0 ? '' : 'Same rows, to edit, ',
  );
  return <WaysButton title="Rewrite" policy={policy} groups={own.length === 0 ? [asItIs] : [own, asItIs]} />;
}

interface WaysButtonProps {
  readonly title: string;
  readonly policy: AccessPolicy;
  readonly groups: readonly (readonly Way[])[];
}

/** Says whom the change concerns before it is collected, unless there is one way and it concerns the role alone. */
function WaysButton({ title, policy, groups }: WaysButtonProps) {
  const [first, ...others] = groups.flat();
  if (first === undefined) return null;
  if (others.length === 0 && first.concernsOneRole)
    return <ChangeButton title={title} change={first.change} what={policy.name} />;
  const actions = groups.map((ways) => ways.map((way) => ({ title: way.title, run: () => collect(way.change) })));
  return <Menu label={title} what={policy.name} groups={actions} />;
}
