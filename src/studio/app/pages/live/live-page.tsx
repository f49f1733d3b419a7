/** The Live page: who subscribes to what now, by operation and role, and whether the runs keep up. It refreshes itself. */
import { useEffect } from 'react';
import type { LiveOperationState, LiveOverview } from '../../../../graphql/live/live-operations.ts';
import { Empty, Fault, OperatorsOnly, Waiting } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { useAnswer } from '../../shared/requests.ts';
import { askAsOperator, useMayOperate } from '../../shared/session.ts';
import './live.css';

/** The pause between two looks, in milliseconds. */
const lookAgainMs = 2000;

/** The page. */
export function LivePage() {
  const mayOperate = useMayOperate();
  return (
    <>
      <header className="page-head">
        <h1>Live</h1>
      </header>
      {mayOperate ? <Live /> : <OperatorsOnly />}
    </>
  );
}

function Live() {
  const { value, problem, readAgain } = useAnswer(
    'live',
    async (signal) => (await askAsOperator<LiveOverview>('/studio/live-queries', { signal })).body,
  );
  useEffect(() => {
    if (value === null && problem === null) return;
    // After each answer or failure. In a tab that nobody sees it ends, and the return to the window begins it again.
    const timer = setTimeout(() => !document.hidden && readAgain(), lookAgainMs);
    return () => clearTimeout(timer);
  }, [value, problem, readAgain]);
  if (value === null) return <Waiting what="live queries" problem={problem} />;
  const { operations } = value;
  return (
    <>
      <Fault>{problem?.message}</Fault>
      <Answered overview={value} />
      {operations.length === 0 ? <Nobody /> : <Operations operations={operations} />}
    </>
  );
}

/** Says so where processes are missing. */
function Answered({ overview: { processes, answered } }: { readonly overview: LiveOverview }) {
  return (
    <div role="status">
      {answered < processes && (
        <p className="notice warning">
          {answered} of {processes} processes answered in time. The subscriptions of the others are missing here.
        </p>
      )}
    </div>
  );
}

function Nobody() {
  return (
    <Empty title="Nobody subscribes now">
      <p>
        Write <code>subscription</code> in place of <code>query</code>, here on the page GraphQL or in a client:
      </p>
      <pre>
        <code>{'for await (const { data } of client.iterate({\n  query: "subscription { … }",\n})) show(data);'}</code>
      </pre>
    </Empty>
  );
}

const columns = ['Operation', 'Role', 'Subscribers', 'Groups', 'Exact', 'Runs', 'Events', 'Lag', 'Last run'];

function Operations({ operations }: { readonly operations: readonly LiveOperationState[] }) {
  const total = operations.reduce((sum, { subscribers }) => sum + subscribers, 0);
  const head = (
    <p className="soft small">
      {total} {total === 1 ? 'subscription' : 'subscriptions'} on this gateway. A group has the same variables and
      caller, and shares its runs. Exact groups run only when a table that they read has changed. Lag is the age of the
      oldest change that no run has seen.
    </p>
  );
  return (
    <div className="live">
      <Rows label="Live queries" head={head} columns={columns}>
        {operations.map((row) => (
          <tr key={`${row.operation} ${row.document} ${row.role}`}>
            <th scope="row">
              {row.operation ?? 'Unnamed'}
              <code className="small soft">{row.document?.slice(0, 12)}</code>
            </th>
            <td>{row.role}</td>
            <td>{row.subscribers}</td>
            <td>{row.groups}</td>
            <td>{row.exactGroups}</td>
            <td>{row.runs}</td>
            <td>{row.events}</td>
            <td>{row.lagMs} ms</td>
            <td>{row.lastRunMs} ms</td>
          </tr>
        ))}
      </Rows>
    </div>
  );
}
