/** How a user signs in: identities and second factors. */
import { Moment } from '../../components/moment.tsx';
import { Rows } from '../../components/rows.tsx';
import { askAuth, type UserFactor, type UserIdentity, userPath } from '../../shared/users.ts';
import type { UserTabProps } from './user-tab.ts';

/** The tab. */
export function SignInTab({ user, onAct, isBusy }: UserTabProps) {
  const { identities, factors = [] } = user;
  const remove = (path: readonly string[], sentence: string) =>
    onAct(() => askAuth(userPath(user.id, ...path), { method: 'DELETE' }), sentence);
  return (
    <>
      <section className="stack">
        <h3>Identities</h3>
        <Rows label="Identities" columns={['Provider', 'Account', 'Last sign-in']} hasActions isWide>
          {identities.map((identity) => (
            <tr key={identity.identity_id}>
              <th scope="row">{identity.provider}</th>
              <td>{accountOf(identity)}</td>
              <td data-title="Last sign-in">
                {identity.last_sign_in_at === null ? 'never' : <Moment at={identity.last_sign_in_at} />}
              </td>
              <td>
                <button
                  type="button"
                  disabled={isBusy || identities.length < 2}
                  title={identities.length < 2 ? 'One identity must remain.' : undefined}
                  onClick={() =>
                    remove(
                      ['identities', identity.identity_id],
                      `${identity.provider} was unlinked; all sessions ended.`,
                    )
                  }
                >
                  Unlink <span className="visually-hidden">{identity.provider}</span>
                </button>
              </td>
            </tr>
          ))}
        </Rows>
      </section>
      <section className="stack">
        <h3>Second factors</h3>
        {factors.length === 0 ? (
          <p className="soft">None.</p>
        ) : (
          <Rows label="Second factors" columns={['Factor', 'State', 'Created']} hasActions isWide>
            {factors.map((factor) => (
              <tr key={factor.id}>
                <th scope="row">{factorName(factor)}</th>
                <td>
                  <span className={factor.status === 'verified' ? 'badge on' : 'badge changed'}>{factor.status}</span>
                </td>
                <td data-title="Created">
                  <Moment at={factor.created_at} />
                </td>
                <td>
                  <button
                    type="button"
                    className="danger"
                    disabled={isBusy}
                    onClick={() => remove(['factors', factor.id], 'The second factor was removed.')}
                  >
                    Remove <span className="visually-hidden">{factorName(factor)}</span>
                  </button>
                </td>
              </tr>
            ))}
          </Rows>
        )}
      </section>
    </>
  );
}

function accountOf({ email, identity_data: data }: UserIdentity): string {
  return email ?? String(data.phone ?? data.user_name ?? data.sub ?? '');
}

function factorName({ factor_type: type, friendly_name: name, phone }: UserFactor): string {
  return [type, name ?? phone].filter((word) => word).join(' ');
}
