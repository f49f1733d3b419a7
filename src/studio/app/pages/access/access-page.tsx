/** The Access page: tables and roles, what each may do and why not, and the SQL that changes it. */
import { useMemo, useState } from 'react';
import type { AccessOverview, AccessTable } from '../../../../management/access/access-schemas.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Link } from '../../components/link.tsx';
import { Empty, Fault, OperatorPage, Waiting } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { say } from '../../components/toasts.tsx';
import type { ApiError } from '../../shared/api.ts';
import { useCommands } from '../../shared/commands.ts';
import { placeInAccess } from '../../shared/places.ts';
import { useAnswer } from '../../shared/requests.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { askProject, session } from '../../shared/session.ts';
import { useMedia, useStore } from '../../shared/store.ts';
import { actions, actionWords, sayRight, warnOf } from './access-words.ts';
import { ChangesDialog } from './changes-dialog.tsx';
import { sqlChanges } from './sql-changes.ts';
import { TableAccess } from './table-access.tsx';
import { TryAs } from './try-as.tsx';
import { withMember } from './with-member.ts';
import './access.css';

type View = 'tables' | 'functions' | 'try';

const views: readonly Tab<View>[] = [
  { name: 'tables', title: 'Tables' },
  { name: 'functions', title: 'Functions' },
  { name: 'try', title: 'Try as' },
];

/** The page. */
export function AccessPage() {
  const { segments, query } = usePlace();
  const place = segments.join('/');
  const [isOpen, setOpen] = useState(false);
  const [warned, setWarned] = useState<Warned | null>(null);
  const [applied, setApplied] = useState(0);
  const count = useStore(sqlChanges).length;
  const now = useStore(session);
  const roles = now.kind === 'none' ? null : now.project.roles;
  const { value: overview, problem } = useAnswer(
    `access ${applied}`,
    async (signal) => (await askProject<AccessOverview>('access', { signal })).body,
  );
  // It goes with what it is about.
  if (warned !== null && (count > 0 || warned.place !== place)) setWarned(null);
  const wanted = query.get('q') ?? '';
  const find = (text: string): void => {
    goTo(placeInAccess(null, withMember(query, 'q', text || null)), { replace: true });
  };
  return (
    <OperatorPage
      title="Access"
      head={
        <div className="row">
          <SearchForm label="Find a table" value={wanted} onType={find} />
          <button type="button" className="changes-button" onClick={() => setOpen(true)}>
            Changes {count > 0 && <span className="badge changed">{count}</span>}
          </button>
        </div>
      }
    >
      <div role="status">
        {warned !== null && <p className="notice warning">PostgreSQL warns: {warned.warnings.join('; ')}</p>}
      </div>
      <Access overview={overview} problem={problem} wanted={wanted.toLowerCase()} onReview={() => setOpen(true)} />
      {isOpen && (
        <ChangesDialog
          overview={overview}
          anon={roles?.anon ?? ''}
          onApplied={(changes, warnings) => {
            setOpen(false);
            say(`Applied: ${changes.map(({ key }) => key).join(', ')}.`);
            setWarned(warnings.length === 0 ? null : { place, warnings });
            setApplied(applied + 1);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </OperatorPage>
  );
}

/** What PostgreSQL said of applied statements, and where one was. */
interface Warned {
  readonly place: string;
  readonly warnings: readonly string[];
}

interface AccessProps {
  readonly overview: AccessOverview | null;
  readonly problem: ApiError | null;
  readonly wanted: string;
  readonly onReview: () => void;
}

function Access({ overview, problem, wanted, onReview }: AccessProps) {
  const { segments, query } = usePlace();
  const now = useStore(session);
  useTableCommands(overview);
  if (now.kind === 'none') return null;
  if (overview === null) return <Waiting what="access rights" problem={problem} />;
  const view = views.find(({ name }) => name === query.get('view'))?.name ?? 'tables';
  const chosen = overview.tables.find(({ schema, name }) => schema === segments[1] && name === segments[2]);
  const found = overview.tables.filter(({ object }) => object.toLowerCase().includes(wanted));
  return (
    <div className="access">
      <Fault>{problem?.message}</Fault>
      <Tabs
        label="Views"
        tabs={views}
        chosen={view}
        // What is chosen stays so: a view begins with it.
        onChoose={(name) =>
          goTo(placeInAccess(chosen ?? null, withMember(query, 'view', name === 'tables' ? null : name)))
        }
        end={view === 'tables' ? <Legend /> : undefined}
      >
        {view === 'try' && (
          <TryAs
            key={chosen?.object}
            roles={now.project.roles}
            object={chosen?.object ?? null}
            role={query.get('role')}
          />
        )}
        {view === 'functions' && <Functions overview={overview} wanted={wanted} />}
        {view === 'tables' && overview.tables.length === 0 && (
          <Empty title="No tables yet">
            <p>
              The schemas of the API have none. The option <code>--schemas</code> names them;{' '}
              <Link to="schema?view=hidden">Schema</Link> shows how to make a first table.
            </p>
          </Empty>
        )}
        {view === 'tables' && overview.tables.length > 0 && (
          <div className="split access-split" data-open={chosen !== undefined}>
            <div className="link-list access-list">
              <Matrix overview={overview} tables={found} chosen={chosen ?? null} query={query} />
            </div>
            {chosen === undefined ? (
              <p className="unchosen soft">Choose a table to see why a role may do what it may.</p>
            ) : (
              <TableAccess
                overview={overview}
                table={chosen}
                role={query.get('role') ?? ''}
                query={query}
                anon={now.project.roles.anon}
                onReview={onReview}
              />
            )}
          </div>
        )}
      </Tabs>
    </div>
  );
}

function useTableCommands(overview: AccessOverview | null): void {
  const commands = useMemo(
    () =>
      (overview?.tables ?? []).map((table) => ({
        id: `access ${table.object}`,
        title: table.object,
        part: 'Access',
        run: () => goTo(placeInAccess(table, new URLSearchParams())),
      })),
    [overview],
  );
  useCommands(commands);
}

interface MatrixProps {
  readonly overview: AccessOverview;
  readonly tables: readonly AccessTable[];
  readonly chosen: AccessTable | null;
  readonly query: URLSearchParams;
}

const keyOf = ({ schema, name }: AccessTable): string => `${schema}.${name}`;

function Matrix({ overview, tables, chosen, query }: MatrixProps) {
  const isNarrow = useMedia('(width < 800px)');
  // The table beside it gets the room, and every column stays in sight.
  const isTight = chosen !== null;
  const isOneSchema = new Set(overview.tables.map(({ schema }) => schema)).size === 1;
  const columns: readonly Column<AccessTable>[] = [
    {
      name: 'table',
      title: 'Table',
      width: isTight ? 150 : isNarrow ? 180 : 260,
      isRowHeader: true,
      cell: (table) => (
        <Link to={placeInAccess(table, query)} className="cell-link" title={table.object}>
          {isOneSchema ? table.name : table.object}
        </Link>
      ),
    },
    ...overview.roles.map(
      ({ name }): Column<AccessTable> => ({
        name: `role ${name}`,
        title: name,
        width: isTight ? 106 : 124,
        cell: (table) => <Rights table={table} role={name} query={query} />,
      }),
    ),
    {
      name: 'row security',
      title: 'Row security',
      width: isTight ? 104 : 124,
      cell: (table) => <RowSecurity table={table} isTight={isTight} />,
    },
  ];
  return (
    <DataTable
      label="Tables and roles"
      columns={columns}
      rows={tables}
      keyOf={keyOf}
      chosen={chosen === null ? null : keyOf(chosen)}
      isOpenedByClick
      onOpen={(table, { name }) => {
        const [, role] = /^role (.+)$/s.exec(name) ?? [];
        goTo(placeInAccess(table, role === undefined ? query : withMember(query, 'role', role)));
      }}
    />
  );
}

function RowSecurity({ table, isTight }: { readonly table: AccessTable; readonly isTight: boolean }) {
  const { rowSecurity, runsAs, policies } = table;
  const warning = warnOf(table);
  // Where there is no room for the number, too.
  const isOn = isTight && policies.length === 0 ? 'no policy' : 'on';
  const word = runsAs === null ? (rowSecurity ? isOn : 'off') : isTight ? runsAs : `${runsAs}'s rights`;
  const count = policies.length === 1 ? '1 policy' : `${policies.length} policies`;
  return (
    <span title={warning ?? count}>
      <span className={warning === null ? 'badge' : 'badge changed'}>{word}</span>{' '}
      {rowSecurity && !isTight && <span className="soft small">{count}</span>}
    </span>
  );
}

const letters = { select: 'R', insert: 'I', update: 'U', delete: 'D' } as const;

function Rights({
  table,
  role,
  query,
}: {
  readonly table: AccessTable;
  readonly role: string;
  readonly query: URLSearchParams;
}) {
  const rights = table.rights.find((each) => each.role === role);
  if (rights === undefined) return null;
  const said = actions.map((action) => sayRight(action, rights[action])).join(', ');
  return (
    <Link to={placeInAccess(table, withMember(query, 'role', role))} className="rights" title={`${role}: ${said}`}>
      <span className="visually-hidden">
        {role}: {said}
      </span>
      {actions.map((action) => {
        const { rows, columns } = rights[action];
        const kind = rows === 'all' && columns !== undefined ? 'some' : rows;
        return (
          <span key={action} className={`right-${kind}`} aria-hidden="true">
            {rows === 'none' ? '–' : letters[action]}
          </span>
        );
      })}
    </Link>
  );
}

function Legend() {
  return (
    <p className="rights small soft">
      {(['all', 'some', 'none'] as const).map((rows) => (
        <span key={rows} className="row">
          <span className={`right-${rows}`} aria-hidden="true">
            {rows === 'none' ? '–' : letters.select}
          </span>
          {rows === 'all' ? 'all rows' : rows === 'some' ? 'some rows or columns' : 'nothing'}
        </span>
      ))}
      <span>{actions.map((action) => `${letters[action]} ${actionWords[action]}`).join(', ')}</span>
    </p>
  );
}

function Functions({ overview, wanted }: { readonly overview: AccessOverview; readonly wanted: string }) {
  const found = overview.functions.filter(({ object }) => object.toLowerCase().includes(wanted));
  if (found.length === 0) return <p className="soft pad">No functions.</p>;
  return (
    <div className="pad">
      <Rows label="Functions" columns={['Function', 'Runs with the rights of', 'May be called by']}>
        {found.map(({ object, owner, runsAs, roles }) => (
          <tr key={object}>
            <th scope="row">
              <code>{object}</code>
            </th>
            <td>{runsAs === 'owner' ? <span className="badge changed">{owner}, its owner</span> : 'its caller'}</td>
            <td>{roles.length === 0 ? <span className="soft">none of these roles</span> : roles.join(', ')}</td>
          </tr>
        ))}
      </Rows>
    </div>
  );
}
