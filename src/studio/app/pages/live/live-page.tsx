/** The Live page: who subscribes to what now, by operation and role, and whether the runs keep up. It refreshes itself. */
import { useState } from 'react';
import type { LiveOperationState, LiveOverview } from '../../../../server/recent/live-schemas.ts';
import { Breakable } from '../../components/breakable.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Link } from '../../components/link.tsx';
import { Empty, Fault, OperatorPage, Waiting } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { useAgain } from '../../shared/recent.ts';
import { useAnswer } from '../../shared/requests.ts';
import { askProject } from '../../shared/session.ts';
import { readUser } from '../../shared/users.ts';
import './live.css';

/** The page. */
export function LivePage() {
  return (
    <OperatorPage title="Live">
      <Live />
    </OperatorPage>
  );
}

function Live() {
  const [ending, setEnding] = useState<LiveOperationState | null>(null);
  const answer = useAnswer('live', async (signal) => (await askProject<LiveOverview>('live-queries', { signal })).body);
  useAgain(answer, 2000);
  const { value, problem, readAgain } = answer;
  if (value === null) return <Waiting what="live queries" problem={problem} />;
  const { operations } = value;
  return (
    <>
      <Fault>{problem?.message}</Fault>
      <Answered overview={value} />
      {operations.length === 0 ? <Nobody /> : <Operations operations={operations} onEnd={setEnding} />}
      {ending !== null && (
        <EndDialog
          target={ending}
          onEnded={() => {
            setEnding(null);
            readAgain();
          }}
          onClose={() => setEnding(null)}
        />
      )}
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
      <pre className="source">
        {'for await (const { data } of client.iterate({\n  query: "subscription { … }",\n})) show(data);'}
      </pre>
    </Empty>
  );
}

const columns = ['Operation', 'Role', 'Subscribers', 'Users', 'Groups', 'Exact', 'Runs', 'Events', 'Lag', 'Last run'];

interface OperationsProps {
  readonly operations: readonly LiveOperationState[];
  readonly onEnd: (operation: LiveOperationState) => void;
}

function Operations({ operations, onEnd }: OperationsProps) {
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
      <Rows label="Live queries" head={head} columns={columns} hasActions isWide>
        {operations.map((row) => (
          <tr key={`${row.operation} ${row.document} ${row.role}`}>
            <th scope="row">
              <Breakable text={row.operation ?? 'Unnamed'} />
              <code className="small soft">{row.document?.slice(0, 12)}</code>
            </th>
            <td data-title="Role">{row.role}</td>
            <td data-title="Subscribers">{row.subscribers}</td>
            <td data-title="Users">
              <Users ids={row.users} />
            </td>
            <td data-title="Groups">{row.groups}</td>
            <td data-title="Exact">{row.exactGroups}</td>
            <td data-title="Runs">{row.runs}</td>
            <td data-title="Events">{row.events}</td>
            <td data-title="Lag">{row.lagMs} ms</td>
            <td data-title="Last run">{row.lastRunMs} ms</td>
            <td>
              <button type="button" className="danger" onClick={() => onEnd(row)}>
                End … <span className="visually-hidden">{row.operation ?? 'Unnamed'}</span>
              </button>
            </td>
          </tr>
        ))}
      </Rows>
    </div>
  );
}

const shownUsers = 3;

/** The first of them by address, and how many there are beyond. */
function Users({ ids }: { readonly ids: readonly string[] }) {
  return (
    <>
      {ids.slice(0, shownUsers).map((id) => (
        <div key={id}>
          <UserLink id={id} />
        </div>
      ))}
      {ids.length > shownUsers && <span className="soft small">and {ids.length - shownUsers} more</span>}
    </>
  );
}

function UserLink({ id }: { readonly id: string }) {
  const { value: user } = useAnswer(id, () => readUser(id));
  return <Link to={`users/${id}?tab=sessions`}>{user?.email || user?.phone || id.slice(0, 8)}</Link>;
}

interface EndDialogProps {
  readonly target: LiveOperationState;
  readonly onEnded: () => void;
  readonly onClose: () => void;
}

function EndDialog({ target, onEnded, onClose }: EndDialogProps) {
  const { operation, document, role, subscribers } = target;
  const end = async (): Promise<void> => {
    await askProject('live-queries/end', { method: 'POST', body: { operation, document, role } });
    onEnded();
  };
  return (
    <ConfirmDialog
      title={`End ${operation ?? 'the unnamed operation'} of ${role}?`}
      action="End subscriptions"
      onConfirm={end}
      onClose={onClose}
    >
      <p>
        {subscribers === 1 ? 'Its subscription gets' : `Its ${subscribers} subscriptions get`} a last error. Clients
        that subscribe again may do so. To keep one user away, end the sessions of the user.
      </p>
    </ConfirmDialog>
  );
}
