/** The Deliveries page: the delivery status of every email, the last day as a chart, and the addresses that get no emails. */
import { emailKinds } from '../../../../config/auth/email-kinds.ts';
import type { Delivery } from '../../../../management/deliveries/deliveries.ts';
import { DeliveryTable } from '../../components/delivery-table.tsx';
import { Link } from '../../components/link.tsx';
import { Empty, Fault, OperatorPage, Waiting } from '../../components/problem.tsx';
import { UserSelect } from '../../components/user-select.tsx';
import { deliveryStates, listDeliveries } from '../../shared/deliveries.ts';
import { useAnswer } from '../../shared/requests.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { DayChart } from './day-chart.tsx';
import { SuppressedList } from './suppressed-list.tsx';
import './deliveries.css';

/** Emails on a page of the list. */
const pageSize = 50;

const emailOptions = Object.entries(emailKinds).map(([name, { title }]) => [name, title] as const);

const stateOptions = deliveryStates.map(
  (state) => [state, `${state.charAt(0).toUpperCase()}${state.slice(1)}`] as const,
);

/** The page. */
export function DeliveriesPage() {
  return (
    <OperatorPage title="Deliveries">
      <Deliveries />
    </OperatorPage>
  );
}

/** What the address of the page chooses. */
type Filter = Readonly<Record<'state' | 'kind' | 'user' | 'before', string>>;

function readFilter(query: URLSearchParams): Filter {
  const read = (name: string) => query.get(name) ?? '';
  return { state: read('state'), kind: read('kind'), user: read('user'), before: read('before') };
}

function queryOf(filter: Partial<Filter>): string {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== '')).toString();
}

const show = (filter: Partial<Filter>) => goTo(`deliveries?${queryOf(filter)}`);

function Deliveries() {
  const filter = readFilter(usePlace().query);
  const query = queryOf(filter);
  const { value, problem } = useAnswer(`deliveries ${query}`, async (signal) => ({
    query,
    deliveries: await listDeliveries(`${query}&limit=${pageSize}`, signal),
  }));
  if (value === null) return <Waiting what="deliveries" problem={problem} />;
  return (
    <div className="deliveries stack">
      <DayChart />
      <Filters filter={filter} />
      <Fault>{problem?.message}</Fault>
      <List deliveries={value.deliveries} filter={filter} />
      <SuppressedList />
    </div>
  );
}

function Filters({ filter }: { readonly filter: Filter }) {
  const choose = (change: Partial<Filter>) => show({ ...filter, before: '', ...change });
  return (
    <search className="row">
      <Select label="State" value={filter.state} options={stateOptions} onChoose={(state) => choose({ state })} />
      <Select label="Email" value={filter.kind} options={emailOptions} onChoose={(kind) => choose({ kind })} />
      <div className="row">
        <span className="label" aria-hidden="true">
          To
        </span>
        <UserSelect label="To" chosen={filter.user || null} onChoose={({ id }) => choose({ user: id })} />
      </div>
      {filter.user !== '' && (
        <button type="button" className="quiet" onClick={() => choose({ user: '' })}>
          Show all users
        </button>
      )}
    </search>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChoose: (value: string) => void;
}

function Select({ label, value, options, onChoose }: SelectProps) {
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChoose(target.value)}>
      <option value="">All {label.toLowerCase()}s</option>
      {options.map(([name, title]) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </select>
  );
}

function List({ deliveries, filter }: { readonly deliveries: readonly Delivery[]; readonly filter: Filter }) {
  const last = deliveries.at(-1);
  const hasOlder = deliveries.length === pageSize;
  if (last === undefined) {
    const isFiltered = queryOf(filter) !== '';
    return (
      <Empty title={isFiltered ? 'No email matches' : 'No email yet'}>
        {isFiltered ? (
          <Link className="button" to="deliveries">
            Show all emails
          </Link>
        ) : (
          <p>Every email appears here as soon as it is decided.</p>
        )}
      </Empty>
    );
  }
  return (
    <>
      <DeliveryTable deliveries={deliveries} label="Emails" />
      {(filter.before !== '' || hasOlder) && (
        <nav className="spread" aria-label="Pagination">
          <button type="button" disabled={filter.before === ''} onClick={() => show({ ...filter, before: '' })}>
            Newest
          </button>
          <button type="button" disabled={!hasOlder} onClick={() => show({ ...filter, before: last.id })}>
            Older
          </button>
        </nav>
      )}
    </>
  );
}
