/** The access tokens of the project: list, create, revoke. */
import { useState } from 'react';
import type { ListedToken } from '../../../../management/tokens/token-requests.ts';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Moment } from '../../components/moment.tsx';
import { Empty, Fault, Waiting } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { say } from '../../components/toasts.tsx';
import { useAnswer } from '../../shared/requests.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { askProject } from '../../shared/session.ts';
import { CreateDialog } from './create-dialog.tsx';
import { newTokenPath } from './place-of.ts';
import { describeEnd } from './token.ts';

/** The section. */
export function AccessTokens() {
  const { value, problem, readAgain } = useAnswer('access-tokens', async (signal) => {
    const { body } = await askProject<readonly ListedToken[]>('access-tokens', { signal });
    return body;
  });
  const isCreating = usePlace().segments[2] === 'new';
  const [ending, setEnding] = useState<ListedToken | null>(null);
  if (value === null) return <Waiting what="access tokens" problem={problem} />;
  const tokens = value.filter(({ revokedAt }) => revokedAt === null);
  return (
    <div className="tokens stack">
      <div className="spread">
        <p className="soft">
          Access tokens are for the management API, the commands and this studio. The token of the option{' '}
          <code>--access-token</code> is not in the list.
        </p>
        <button type="button" className="primary" onClick={() => goTo(newTokenPath)}>
          Create access token
        </button>
      </div>
      <Fault>{problem?.message}</Fault>
      {tokens.length === 0 ? (
        <Empty title="No access tokens yet">
          <p>Create one for a pipeline or for another operator.</p>
        </Empty>
      ) : (
        <TokenTable tokens={tokens} onRevoke={setEnding} />
      )}
      {isCreating && (
        <CreateDialog
          latestEnd={value.find(({ isCurrent }) => isCurrent)?.expiresAt ?? null}
          onCreated={readAgain}
          onClose={() => goTo('settings/access-tokens', { replace: true })}
        />
      )}
      {ending !== null && (
        <RevokeDialog
          token={ending}
          onRevoked={() => {
            say(`The access token “${ending.name}” was revoked.`);
            setEnding(null);
            readAgain();
          }}
          onClose={() => setEnding(null)}
        />
      )}
    </div>
  );
}

interface TokenTableProps {
  readonly tokens: readonly ListedToken[];
  readonly onRevoke: (token: ListedToken) => void;
}

function TokenTable({ tokens, onRevoke }: TokenTableProps) {
  return (
    <Rows label="Access tokens" columns={['Name', 'Scopes', 'Created', 'Created with', 'Expires']} hasActions isWide>
      {tokens.map((token) => (
        <tr key={token.id}>
          <th scope="row">
            {token.name} {token.isCurrent && <span className="badge on">in use here</span>}
          </th>
          <td>
            {token.scopes.map((scope) => (
              <code key={scope}>{scope}</code>
            ))}
          </td>
          <td data-title="Created">
            <Moment at={token.createdAt} isDay />
          </td>
          <td data-title="Created with">{describeMaker(token, tokens)}</td>
          <td data-title="Expires">{describeEnd(token)}</td>
          <td>
            <button type="button" className="danger" onClick={() => onRevoke(token)}>
              Revoke … <span className="visually-hidden">{token.name}</span>
            </button>
          </td>
        </tr>
      ))}
    </Rows>
  );
}

function describeMaker({ createdBy }: ListedToken, tokens: readonly ListedToken[]): string {
  if (createdBy === null) return 'pgreflect tokens';
  if (createdBy === 'fixed') return '--access-token';
  return tokens.find(({ id }) => id === createdBy)?.name ?? createdBy;
}

interface RevokeDialogProps {
  readonly token: ListedToken;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

function RevokeDialog({ token, onRevoked, onClose }: RevokeDialogProps) {
  const revoke = () => askProject(`access-tokens/${token.id}`, { method: 'DELETE' }).then(onRevoked);
  return (
    <ConfirmDialog title={`Revoke “${token.name}”?`} action="Revoke token" onConfirm={revoke} onClose={onClose}>
      <p>
        Whatever uses this token stops working at once, and so do all tokens that were created with it. This cannot be
        undone.
      </p>
      {token.isCurrent && (
        <p className="notice warning">You are signed in with this token. You will need another one to go on.</p>
      )}
    </ConfirmDialog>
  );
}
