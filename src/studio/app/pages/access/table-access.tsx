/** What one role may do with one table and why, the policies of the table, and the SQL that changes it. */
import { lazy, Suspense } from 'react';
import type { AccessOverview, AccessPolicy, AccessTable } from '../../../../management/access/access-schemas.ts';
import { Choice } from '../../components/choice.tsx';
import { Link } from '../../components/link.tsx';
import { Rows } from '../../components/rows.tsx';
import { goTo } from '../../shared/router.ts';
import { useStore } from '../../shared/store.ts';
import {
  actions,
  actionWords,
  dropPolicy,
  explain,
  isWhole,
  kindWords,
  policyDraft,
  printPolicy,
  type Remedy,
  remedyOf,
  tableRemedies,
  warnOf,
} from './access-words.ts';
import { ColumnAccess } from './column-access.tsx';
import { placeOf } from './place-of.ts';
import { collect, sqlChanges } from './sql-changes.ts';

interface TableAccessProps {
  readonly overview: AccessOverview;
  readonly table: AccessTable;
  readonly role: string;
  readonly query: URLSearchParams;
}

/** The pane. */
export function TableAccess({ overview, table, role: wanted, query }: TableAccessProps) {
  const role = overview.roles.find(({ name }) => name === wanted) ?? overview.roles[0];
  const rights = table.rights.find((each) => each.role === role?.name);
  const warning = warnOf(table);
  const draft = role === undefined ? null : policyDraft(table, role);
  if (role === undefined || rights === undefined) return null;
  return (
    <div className="chosen table-access stack">
      <p className="to-list">
        <Link to={placeOf(null, query)}>All tables</Link>
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
        {warning !== null && <p className="notice warning">{warning}</p>}
      </header>
      <Choice
        label="Role"
        options={overview.roles.map(({ name }) => ({ name, title: name }))}
        chosen={role.name}
        onChoose={(name) => goTo(placeOf(table, withRole(query, name)), { replace: true })}
      />
      <Rows label={`What ${role.name} may do`} columns={['May', 'Rows', 'Why']} hasActions>
        {actions.map((action) => {
          const right = rights[action];
          const remedy = remedyOf(table, role, action, right);
          return (
            <tr key={action}>
              <th scope="row">{actionWords[action]}</th>
              <td>
                <span className={`badge right-${right.rows}`}>{right.rows}</span>
              </td>
              <td>{explain(table, role.name, action, right)}</td>
              <td>{remedy !== null && <RemedyButton remedy={remedy} what={`${action} ${role.name}`} />}</td>
            </tr>
          );
        })}
      </Rows>
      <ColumnAccess key={`${table.object} ${role.name}`} {...{ table, role, rights }} />
      <section className="stack" aria-label="Policies">
        <div className="spread">
          <h3>Policies</h3>
          {draft !== null && <RemedyButton remedy={draft} what={`for ${role.name}`} />}
        </div>
        {table.policies.length === 0 && <p className="soft">None.</p>}
        {table.policies.map((policy) => (
          <Policy key={policy.name} table={table} policy={policy} />
        ))}
      </section>
      <div className="row">
        {tableRemedies(table).map((remedy) => (
          <RemedyButton key={remedy.title} remedy={remedy} what="" />
        ))}
      </div>
    </div>
  );
}

// Loaded with the first policy.
const PolicyText = lazy(async () => ({ default: (await import('./policy-text.tsx')).PolicyText }));

function Policy({ table, policy }: { readonly table: AccessTable; readonly policy: AccessPolicy }) {
  const drop = dropPolicy(table, policy);
  return (
    <div className="stack">
      <div className="spread">
        <strong>{policy.name}</strong>
        <span className="row">
          {isWhole(policy) && (
            <RemedyButton
              remedy={{ title: 'Rewrite', sql: `${drop}\n${printPolicy(table, policy)}` }}
              what={policy.name}
            />
          )}
          <RemedyButton remedy={{ title: 'Drop', sql: drop }} what={policy.name} />
        </span>
      </div>
      <Suspense fallback={<pre className="source">{printPolicy(table, policy)}</pre>}>
        <PolicyText table={table} policy={policy} />
      </Suspense>
    </div>
  );
}

function withRole(query: URLSearchParams, role: string): URLSearchParams {
  const next = new URLSearchParams(query);
  next.set('role', role);
  return next;
}

/** Adds the statement to the changes. */
function RemedyButton({ remedy, what }: { readonly remedy: Remedy; readonly what: string }) {
  const isAdded = useStore(sqlChanges).includes(remedy.sql);
  return (
    <button type="button" disabled={isAdded} title={remedy.sql} onClick={() => collect(remedy.sql)}>
      {isAdded ? 'In the changes' : remedy.title} <span className="visually-hidden">{what}</span>
    </button>
  );
}
