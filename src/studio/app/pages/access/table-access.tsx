/** What one role may do with one table and why, the policies of the table, and the SQL that changes it. */
import { lazy, Suspense, useEffect, useState } from 'react';
import type { AccessOverview, AccessPolicy, AccessTable } from '../../../../management/access/access-schemas.ts';
import { Choice } from '../../components/choice.tsx';
import type { formatCondition } from '../../components/format-sql.ts';
import { Link } from '../../components/link.tsx';
import { Menu } from '../../components/menu.tsx';
import { Rows } from '../../components/rows.tsx';
import { goTo } from '../../shared/router.ts';
import { useStore } from '../../shared/store.ts';
import {
  type AccessRole,
  type Action,
  actions,
  actionWords,
  explain,
  hasPermissive,
  isUnderPolicies,
  isWhole,
  kindWords,
  printPolicy,
  type Remedy,
  remedyOf,
  tableRemedies,
  warnOf,
} from './access-words.ts';
import { ColumnAccess } from './column-access.tsx';
import { placeOf } from './place-of.ts';
import { type PolicyChange, policyChanges } from './policy-changes.ts';
import { draftPolicy } from './policy-draft.ts';
import { collect, sqlChanges } from './sql-changes.ts';

interface TableAccessProps {
  readonly overview: AccessOverview;
  readonly table: AccessTable;
  readonly role: string;
  readonly query: URLSearchParams;
  /** The role of callers that are not signed in. */
  readonly anon: string;
}

/** The pane. */
export function TableAccess({ overview, table, role: wanted, query, anon }: TableAccessProps) {
  const format = useFormat();
  const role = overview.roles.find(({ name }) => name === wanted) ?? overview.roles[0];
  const rights = table.rights.find((each) => each.role === role?.name);
  const warning = warnOf(table);
  if (role === undefined || rights === undefined) return null;
  const draftOf = (action: Action) => draftPolicy({ overview, table, role, anon, format }, action);
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
          const remedy = remedyOf(table, role, action, right, () => draftOf(action));
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
          {isUnderPolicies(table, role) && (
            <RemedyButton remedy={{ title: 'Draft a policy', sql: draftOf('select') }} what={`for ${role.name}`} />
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
          <Policy key={policy.name} {...{ overview, table, policy, role, format }} />
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

interface PolicyProps {
  readonly overview: AccessOverview;
  readonly table: AccessTable;
  readonly policy: AccessPolicy;
  readonly role: AccessRole;
  readonly format: Format;
}

function Policy({ overview, table, policy, role, format }: PolicyProps) {
  const changes = policyChanges({ overview, table, policy, role, format });
  return (
    <div className="stack">
      <div className="spread">
        <strong>{policy.name}</strong>
        <span className="row">
          {isWhole(policy) && <PolicyButton title="Rewrite" kind="rewrite" {...{ policy, changes }} />}
          <PolicyButton title="Drop" kind="drop" {...{ policy, changes }} />
        </span>
      </div>
      <Suspense fallback={<pre className="source">{printPolicy(table, policy)}</pre>}>
        <PolicyText table={table} policy={policy} />
      </Suspense>
    </div>
  );
}

/** Puts long conditions in lines; undefined until it is loaded. */
type Format = typeof formatCondition | undefined;

function useFormat(): Format {
  const [format, setFormat] = useState<Format>();
  useEffect(() => {
    void import('../../components/format-sql.ts').then((loaded) => setFormat(() => loaded.formatCondition));
  }, []);
  return format;
}

interface PolicyButtonProps {
  readonly title: string;
  readonly kind: 'rewrite' | 'drop';
  readonly policy: AccessPolicy;
  readonly changes: readonly PolicyChange[];
}

/** Says whom the change concerns before it is collected, unless it is the role alone. */
function PolicyButton({ title, kind, policy, changes }: PolicyButtonProps) {
  const collected = useStore(sqlChanges);
  const [first] = changes;
  if (first?.title === null) return <RemedyButton remedy={{ title, sql: first[kind] }} what={policy.name} />;
  const isAdded = changes.some((change) => collected.includes(change[kind]));
  const actions = changes.map((change) => ({
    title: change.title ?? title,
    run: () => collect(change[kind]),
    isDisabled: isAdded,
  }));
  return <Menu label={isAdded ? 'In the changes' : title} what={policy.name} groups={[actions]} />;
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
