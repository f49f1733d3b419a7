/** Where a user is signed in. */
import { Moment } from '../../components/moment.tsx';
import { Waiting } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { useAnswer } from '../../shared/requests.ts';
import { askAuth, type UserSession, userPath } from '../../shared/users.ts';
import { nameOf } from './describe-user.ts';
import type { UserTabProps } from './user-tab.ts';

/** The tab. @param props.done Grows with every change. */
export function SessionsTab({ user, onAct, isBusy, done }: UserTabProps & { readonly done: number }) {
  const path = userPath(user.id, 'sessions');
  const { value, problem } = useAnswer(
    `${path} ${done}`,
    async () => (await askAuth<readonly UserSession[]>(path)).body,
  );
  if (value === null) return <Waiting what="sessions" problem={problem} />;
  if (value.length === 0) return <p className="soft">Not signed in anywhere.</p>;
  const end = (of: string, sentence: string) => onAct(() => askAuth(of, { method: 'DELETE' }), sentence);
  return (
    <>
      <Rows label="Sessions" columns={['Client', 'Address', 'Last used', 'Since', 'Level']} hasActions isWide>
        {value.map(({ id, created_at: createdAt, refreshed_at: refreshedAt, user_agent: agent, ip, aal, methods }) => (
          <tr key={id}>
            <th scope="row">{agent ?? 'Unknown client'}</th>
            <td>{ip}</td>
            <td data-title="Last used">
              <Moment at={refreshedAt ?? createdAt} />
            </td>
            <td data-title="Since">
              <Moment at={createdAt} />
            </td>
            <td data-title="Level" title={methods.join(', ')}>
              {aal}
            </td>
            <td>
              <button
                type="button"
                disabled={isBusy}
                onClick={() => end(userPath(user.id, 'sessions', id), 'The session was ended.')}
              >
                End
              </button>
            </td>
          </tr>
        ))}
      </Rows>
      <div className="row end">
        <button
          type="button"
          className="danger"
          disabled={isBusy}
          onClick={() => end(path, `${nameOf(user)} was signed out everywhere.`)}
        >
          End all sessions
        </button>
      </div>
    </>
  );
}
