/** What one role may do with one table and why, the policies of the table, and the SQL that changes it. */
import { useEffect, useState } from 'react';
import type { AccessOverview, AccessTable } from '../../../../management/access/access-schemas.ts';
import { Choice } from '../../components/choice.tsx';
import { Link } from '../../components/link.tsx';
import { Rows } from '../../components/rows.tsx';
import { placeInAccess } from '../../shared/places.ts';
import { goTo } from '../../shared/router.ts';
import { useStore } from '../../shared/store.ts';
import { actions, hasPermissive, isUnderPolicies, kindWords, warnOf } from './access-words.ts';
import { ChangeButton, PendingOf } from './change-button.tsx';
import { ColumnAccess } from './column-access.tsx';
import { Policy } from './policy.tsx';
import { type DraftOf, draftChange } from './policy-draft.ts';
import { tableChange } from './privilege-changes.ts';
import { ReviewBar } from './review-bar.tsx';
import { RightRow } from './right-row.tsx';
import { sqlChanges } from './sql-changes.ts';
import { withMember } from './with-member.ts';

interface TableAccessProps {
  readonly overview: AccessOverview;
  readonly table: AccessTable;
  readonly role: string;
  readonly query: URLSearchParams;
  /** The role of callers that are not signed in. */
  readonly anon: string;
  readonly onReview: () => void;
}

/** The pane. */
export function TableAccess({ overview, table, role: wanted, query, anon, onReview }: TableAccessProps) {
  const format = useFormat();
  const changes = useStore(sqlChanges);
  const role = overview.roles.find(({ name }) => name === wanted) ?? overview.roles[0];
  const rights = table.rights.find((each) => each.role === role?.name);
  const warning = warnOf(table);
  if (role === undefined || rights === undefined) return null;
  const of: DraftOf = { overview, table, role, anon, format, changes };
  const ofTable = tableChange(table);
  return (
    <div className="chosen table-access stack">
      <p className="to-list">
        <Link to={placeInAccess(null, query)}>All tables</Link>
      </p>
      <header className="stack">
        <h2>{table.object}</h2>
        <p className="row small">
          <span className="soft">
            {kindWords[table.kind]}, owned by {table.owner}
          </span>
          {table.runsAs === null && (
            <span className={table.rowSecurity ? 'badge on' : 'badge changed'}>
              row security {table.rowSecurity ? 'on' : 'off'}
              {table.isForced && ', also for the owner'}
            </span>
          )}
          {table.runsAs !== null && (
            <span className={table.runsAs === 'caller' ? 'badge on' : 'badge changed'}>
              reads with the {table.runsAs}'s rights
            </span>
          )}
        </p>
        {table.key === null && (
          <p className="notice">
            The API leaves this {kindWords[table.kind].toLowerCase()} out, because it has no key.{' '}
            <Link to="schema?view=hidden">Schema</Link> shows how to give it one.
          </p>
        )}
        {warning !== null && <p className="notice warning">{warning}</p>}
      </header>
      <Choice
        label="Role"
        options={overview.roles.map(({ name }) => ({ name, title: name }))}
        chosen={role.name}
        onChoose={(name) => goTo(placeInAccess(table, withMember(query, 'role', name)), { replace: true })}
      />
      <Rows label={`What ${role.name} may do`} columns={['May', 'Rows', 'Why']} hasActions>
        {actions.map((action) => (
          <RightRow key={action} of={of} action={action} right={rights[action]} />
        ))}
      </Rows>
      <ColumnAccess key={`${table.object} ${role.name}`} {...{ table, role, rights }} />
      <section className="stack" aria-label="Policies">
        <div className="spread">
          <h3>Policies</h3>
          {isUnderPolicies(table, role) && (
            <ChangeButton title="Draft a policy" change={draftChange(of, 'select')} what={`for ${role.name}`} />
          )}
        </div>
        {isUnderPolicies(table, role) && hasPermissive(table, role) && (
          <p className="soft small">
            A row is reached if any permissive policy lets it pass: another policy adds rows. To let fewer pass, rewrite
            the one that lets them.
          </p>
        )}
        {table.policies.length === 0 && <p className="soft">None.</p>}
        {table.policies.map((policy) => (
          <Policy key={policy.name} of={of} policy={policy} />
        ))}
      </section>
      {ofTable !== null && (
        <div className="row">
          <ChangeButton title={ofTable.title} change={ofTable} what="" />
          <PendingOf changeKey={ofTable.key} />
        </div>
      )}
      <ReviewBar onReview={onReview} />
    </div>
  );
}

/** Puts long conditions in lines; undefined until it is loaded. */
type Format = DraftOf['format'];

function useFormat(): Format {
  const [format, setFormat] = useState<Format>(undefined);
  useEffect(() => {
    void import('../../components/format-sql.ts').then((loaded) => setFormat(() => loaded.formatCondition));
  }, []);
  return format;
}
