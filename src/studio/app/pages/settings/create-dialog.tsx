/** Creates an access token and shows it once. */
import { useId, useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { ProjectCommand } from '../../components/project-command.tsx';
import { askProject, useScopes } from '../../shared/session.ts';
import { sqlTokenCommand } from '../../shared/token-commands.ts';
import { possibleEnds, scopes } from './token.ts';

interface CreateDialogProps {
  /** Latest possible expiry; null: no limit. */
  readonly latestEnd: string | null;
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

/** The dialog: a form, then the token. */
export function CreateDialog({ latestEnd, onCreated, onClose }: CreateDialogProps) {
  const [token, setToken] = useState<string | null>(null);
  const own = useScopes();
  const id = useId();
  const [ends] = useState(() => possibleEnds(latestEnd));
  const [end, setEnd] = useState(0);
  const create = async (fields: Readonly<Record<string, string>>) => {
    const { expiresAt = null } = ends[end] ?? {};
    const chosen = scopes.map(({ name }) => name).filter((name) => fields[name] === 'on');
    const body = { name: fields.name, scopes: chosen, expiresAt };
    const answer = await askProject<{ readonly token: string }>('access-tokens', { method: 'POST', body });
    setToken(answer.body.token);
    onCreated();
  };
  if (token !== null) {
    return (
      <Dialog title="Your new access token" onClose={onClose}>
        <p>Copy it now. It is not shown again: the database stores only its hash.</p>
        <div className="row">
          <code className="new-token">{token}</code> <CopyButton text={token} what="the token" />
        </div>
        <div className="row end">
          <button type="button" className="primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog title="Create access token" action="Create token" onTake={create} onClose={onClose}>
      <label htmlFor={`${id}-name`}>Name</label>
      <input id={`${id}-name`} name="name" required maxLength={200} autoComplete="off" placeholder="release pipeline" />
      <fieldset className="scopes stack">
        <legend className="label">Scopes</legend>
        {scopes.map(({ name, title }) => (
          <label key={name}>
            <input
              type="checkbox"
              name={name}
              disabled={!own.includes(name)}
              defaultChecked={name === 'auth_config:read' && own.includes(name)}
            />
            <span>
              {title} <code>{name}</code>
              {!own.includes(name) && ' (your token lacks it)'}
            </span>
          </label>
        ))}
      </fieldset>
      <label htmlFor={`${id}-end`}>Expires</label>
      <select id={`${id}-end`} value={end} onChange={({ target }) => setEnd(Number(target.value))}>
        {ends.map(({ title }, index) => (
          <option key={title} value={index}>
            {title}
          </option>
        ))}
      </select>
      {scopes.some(({ name }) => !own.includes(name)) && (
        <details>
          <summary>Scopes that your token lacks</summary>
          <ProjectCommand text={sqlTokenCommand(ends[end]?.expires ?? null)} />
        </details>
      )}
    </FormDialog>
  );
}
