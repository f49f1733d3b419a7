/** The Logs page: the last hour as charts, and the last requests of all processes, found by what they were and how they ended. */
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import type { RecentRequest } from '../../../../server/recent/recent-schemas.ts';
import { Choice } from '../../components/choice.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Link } from '../../components/link.tsx';
import { Moment } from '../../components/moment.tsx';
import { Empty, Fault, OperatorPage, Waiting } from '../../components/problem.tsx';
import { RestedSearch } from '../../components/search-form.tsx';
import { UsageCharts } from '../../components/usage-charts.tsx';
import { type Command, useCommands } from '../../shared/commands.ts';
import { durationText, type FoundRequests, hasFailed, useRequests, useUsage } from '../../shared/recent.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { session } from '../../shared/session.ts';
import { useMedia, useStore } from '../../shared/store.ts';
import { nameOf } from './name-of.ts';
import { OperationsTable } from './operations-table.tsx';
import { RequestDetail } from './request-detail.tsx';
import './logs.css';

/** The page. */
export function LogsPage() {
  return (
    <OperatorPage title="Logs">
      <Logs />
    </OperatorPage>
  );
}

/** What the address of the page chooses, by the names of the management API. */
type Filter = Readonly<Record<'failed' | 'min_ms' | 'role' | 'text', string>>;

/** How it is shown: an open request, `by` operation, in the `order` of the durations. */
type View = Partial<Readonly<Record<'request' | 'by' | 'order', string>>>;

function queryOf(filter: Partial<Filter> & View): string {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== '')).toString();
}

const placeOf = (filter: Partial<Filter> & View) => `logs?${queryOf(filter)}`;

function Logs() {
  const { query } = usePlace();
  const read = (name: string) => query.get(name) ?? '';
  const filter: Filter = { failed: read('failed'), min_ms: read('min_ms'), role: read('role'), text: read('text') };
  const view = { request: read('request'), by: read('by'), order: read('order') };
  const { value: usage, problem: usageProblem } = useUsage();
  const { value, problem } = useRequests(queryOf(filter));
  useFindCommand();
  const answered = value ?? usage;
  return (
    <div className="logs">
      <div className="logs-charts">
        {usage === null ? <p className="visually-hidden">Loading the last hour …</p> : <UsageCharts usage={usage} />}
      </div>
      <div role="status">
        {answered !== null && answered.answered < answered.processes && (
          <p className="notice warning">
            {answered.answered} of {answered.processes} processes answered in time. What the others did is missing here.
          </p>
        )}
      </div>
      <Filters filter={filter} view={view} requests={value?.requests ?? []} />
      <Fault>{value === null ? null : (problem ?? usageProblem)?.message}</Fault>
      {value === null ? (
        <Waiting what="requests" problem={problem} />
      ) : (
        <Found key={value.query} found={value} filter={filter} view={view} />
      )}
    </div>
  );
}

const find: readonly Command[] = [
  {
    id: 'find request',
    title: 'Find a request by id',
    part: 'Gateway',
    words: 'error trace operation path',
    run: () => setTimeout(() => document.querySelector<HTMLInputElement>('.logs input[type="search"]')?.focus()),
  },
];

function useFindCommand(): void {
  useCommands(find);
}

const durations = ['', '100', '500', '1000', '5000'] as const;

interface FiltersProps {
  readonly filter: Filter;
  readonly view: View;
  readonly requests: readonly RecentRequest[];
}

function Filters({ filter, view: { by = '', order = '' }, requests }: FiltersProps) {
  const now = useStore(session);
  const id = useId();
  const choose = (change: Partial<Filter> & View) => goTo(placeOf({ ...filter, by, order, ...change }));
  const roles = new Set(now.kind === 'none' ? [] : Object.values(now.project.roles));
  for (const { role } of requests) if (role !== null) roles.add(role);
  if (filter.role !== '') roles.add(filter.role);
  return (
    <div className="logs-filters row">
      <Choice
        label="Show"
        options={[
          { name: '', title: 'Requests' },
          { name: 'operation', title: 'Operations' },
        ]}
        chosen={by}
        onChoose={(name) => choose({ by: name, order: '' })}
      />
      <Choice
        label="Requests"
        options={[
          { name: 'all', title: 'All' },
          { name: 'failed', title: 'Failed' },
        ]}
        chosen={filter.failed === '' ? 'all' : 'failed'}
        onChoose={(name) => choose({ failed: name === 'failed' ? 'true' : '' })}
      />
      <select
        aria-label="Duration"
        id={`${id}-ms`}
        value={filter.min_ms}
        onChange={({ target }) => choose({ min_ms: target.value })}
      >
        {durations.map((ms) => (
          <option key={ms} value={ms}>
            {ms === '' ? 'Any duration' : `At least ${durationText(Number(ms)).replace(/\.0+/, '')}`}
          </option>
        ))}
      </select>
      <select
        aria-label="Role"
        id={`${id}-role`}
        value={filter.role}
        onChange={({ target }) => choose({ role: target.value })}
      >
        <option value="">All roles</option>
        {[...roles].map((role) => (
          <option key={role}>{role}</option>
        ))}
      </select>
      <search>
        <RestedSearch
          label="Operation, path or id"
          value={filter.text}
          onSearch={(text) => goTo(placeOf({ ...filter, by, order, text }), { replace: true })}
        />
      </search>
    </div>
  );
}

interface FoundProps {
  readonly found: FoundRequests;
  readonly filter: Filter;
  readonly view: View;
}

const keyOf = ({ time, worker, id }: RecentRequest) => `${time} ${worker} ${id}`;

/** The table. New requests come in by themselves only where nobody reads: at its top, without pointer, focus or an open request. */
function Found({ found, filter, view: { request: chosen = '', by = '', order = '' } }: FoundProps) {
  const [shown, setShown] = useState(found.requests);
  const [isRead, setRead] = useState(false);
  const isScrolled = useRef(false);
  const first = shown[0];
  const isHeld = (isRead || chosen !== '') && first !== undefined;
  useEffect(() => {
    if (!isHeld && !isScrolled.current) setShown(found.requests);
  }, [found, isHeld]);
  const at = first === undefined ? 0 : found.requests.findIndex((request) => keyOf(request) === keyOf(first));
  const news = at === -1 ? found.requests.length : at;
  const isNarrow = useMedia('(width < 800px)');
  const isBeside = chosen !== '';
  const isSlowestFirst = order === 'slowest';
  const columns = useMemo(
    () => columnsFor({ isNarrow, isBeside, isSlowestFirst }),
    [isNarrow, isBeside, isSlowestFirst],
  );
  const rows = useMemo(
    () => (isSlowestFirst ? shown.toSorted((one, other) => other.ms - one.ms) : shown),
    [shown, isSlowestFirst],
  );
  const open = ({ id }: RecentRequest) => goTo(placeOf({ ...filter, order, request: id }));
  if (shown.length === 0) return <Nothing filter={filter} />;
  if (by !== '') {
    return (
      <div className="logs-body">
        <section className="logs-list" aria-label="Operations">
          <p className="logs-news soft small">
            <Reach {...found} /> by operation
          </p>
          <OperationsTable
            requests={found.requests}
            isNarrow={isNarrow}
            order={order}
            onOrder={(name) => goTo(placeOf({ ...filter, by, order: name }), { replace: true })}
            onOpen={(text) => goTo(placeOf({ ...filter, text, order: 'slowest' }))}
          />
        </section>
      </div>
    );
  }
  return (
    <div className="logs-body" data-open={chosen !== ''}>
      <section
        className="logs-list"
        aria-label="Requests"
        onPointerEnter={() => setRead(true)}
        onPointerLeave={() => setRead(false)}
        onFocus={() => setRead(true)}
        onBlur={() => setRead(false)}
        onScrollCapture={({ target }) => {
          isScrolled.current = (target as HTMLElement).scrollTop > 0;
        }}
      >
        <div className="logs-news small">
          {news > 0 ? (
            <button type="button" className="quiet" onClick={() => setShown(found.requests)}>
              Show {news} new
            </button>
          ) : (
            <span className="soft">
              <Reach requests={shown} since={found.since} />, {isSlowestFirst ? 'slowest' : 'newest'} first
            </span>
          )}
        </div>
        <DataTable
          label="Last requests"
          columns={columns}
          rows={rows}
          keyOf={keyOf}
          chosen={shown.map((request) => (request.id === chosen ? keyOf(request) : null)).find((key) => key) ?? null}
          onOrder={({ name }) =>
            goTo(placeOf({ ...filter, request: chosen, order: name === 'ms' ? 'slowest' : '' }), { replace: true })
          }
          onOpen={open}
          isOpenedByClick
        />
      </section>
      {chosen !== '' && (
        <RequestDetail
          key={chosen}
          id={chosen}
          known={shown.find(({ id }) => id === chosen) ?? null}
          backTo={placeOf({ ...filter, order })}
        />
      )}
    </div>
  );
}

/** How many there are, and since when none is missing. */
function Reach({ requests, since }: Pick<FoundRequests, 'requests' | 'since'>) {
  return (
    <>
      {requests.length.toLocaleString()} {requests.length === 1 ? 'request' : 'requests'}
      {since !== null && (
        <>
          {' '}
          since <Moment at={since} isTime />
        </>
      )}
    </>
  );
}

function Nothing({ filter }: { readonly filter: Filter }) {
  if (queryOf(filter) === '') {
    return (
      <Empty title="No request yet">
        <p>Each request appears here when it has ended. What the studio itself asks is left out.</p>
        <Link className="button" to="graphql">
          Send one
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="No request matches">
      <p>Each process keeps its last 500 requests.</p>
      <Link className="button" to="logs">
        Show all requests
      </Link>
    </Empty>
  );
}

/** @param props.isBeside A request is open beside the table. */
function columnsFor({
  isNarrow,
  isBeside,
  isSlowestFirst,
}: Readonly<Record<'isNarrow' | 'isBeside' | 'isSlowestFirst', boolean>>): readonly Column<RecentRequest>[] {
  const all: readonly Column<RecentRequest>[] = [
    {
      name: 'time',
      title: 'Time',
      width: 112,
      cell: ({ time }) => <Moment at={time} isTime />,
      order: isSlowestFirst ? null : 'descending',
    },
    {
      name: 'operation',
      title: 'Request',
      width: isNarrow ? 140 : isBeside ? 200 : 300,
      isWide: true,
      isRowHeader: true,
      cell: nameCell,
    },
    {
      name: 'ms',
      title: 'Took',
      width: isNarrow ? 84 : 96,
      isRight: true,
      cell: ({ ms }) => durationText(ms),
      order: isSlowestFirst ? 'descending' : null,
    },
    { name: 'role', title: 'Role', width: 130, cell: ({ role }) => role ?? <span className="soft">none</span> },
    { name: 'status', title: 'Status', width: isNarrow ? 220 : 280, cell: statusCell },
  ];
  return isNarrow || isBeside ? all.filter(({ name }) => name !== 'role') : all;
}

function nameCell(request: RecentRequest) {
  return (
    <>
      {nameOf(request)} <span className="soft small">{request.operationType}</span>
    </>
  );
}

function statusCell(request: RecentRequest) {
  const { status, codes, aborted } = request;
  if (!hasFailed(request)) return status;
  const isServer = status >= 500 || codes.includes('INTERNAL');
  return (
    <>
      {status}{' '}
      <span className={isServer ? 'badge failed' : 'badge changed'}>
        {aborted ? 'client left' : (codes[0] ?? 'error')}
      </span>
    </>
  );
}
