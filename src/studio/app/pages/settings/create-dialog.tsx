/** Creates an access token and shows it once. */
import { type FormEvent, useId, useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { useTask } from '../../shared/requests.ts';
import { askProject, useScopes } from '../../shared/session.ts';
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
  const created = (text: string): void => {
    setToken(text);
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
    <Dialog title="Create access token" onClose={onClose}>
      <CreateForm latestEnd={latestEnd} onCreated={created} />
    </Dialog>
  );
}

interface CreateFormProps {
  readonly latestEnd: string | null;
  readonly onCreated: (token: string) => void;
}

function CreateForm({ latestEnd, onCreated }: CreateFormProps) {
  const { problem, isBusy, run } = useTask();
  const own = useScopes();
  const id = useId();
  const [ends] = useState(() => possibleEnds(latestEnd));
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const { expiresAt = null } = ends[Number(fields.get('end'))] ?? {};
    const body = { name: String(fields.get('name')).trim(), scopes: fields.getAll('scope'), expiresAt };
    void run(async () => {
      const answer = await askProject<{ readonly token: string }>('access-tokens', { method: 'POST', body });
      onCreated(answer.body.token);
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <label htmlFor={`${id}-name`}>Name</label>
      <input id={`${id}-name`} name="name" required maxLength={200} autoComplete="off" placeholder="release pipeline" />
      <fieldset className="scopes stack">
        <legend className="label">Scopes</legend>
        {scopes.map(({ name, title }) => (
          <label key={name}>
            <input
              type="checkbox"
              name="scope"
              value={name}
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
      <select id={`${id}-end`} name="end">
        {ends.map(({ title }, index) => (
          <option key={title} value={index}>
            {title}
          </option>
        ))}
      </select>
      <Fault>{problem?.message}</Fault>
      <div className="row end">
        <button type="submit" className="primary" disabled={isBusy}>
          Create token
        </button>
      </div>
    </form>
  );
}
