/** The values for the preview: the sample's, a user's, or others. */
import { type FormEvent, useId, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { UserSelect } from '../../components/user-select.tsx';
import { useMayOperate } from '../../shared/session.ts';
import type { StudioUser } from '../../shared/users.ts';
import type { DescribedEmail } from './described.ts';

type Data = Readonly<Record<string, unknown>>;

interface DataDialogProps {
  readonly email: DescribedEmail;
  readonly data: Data | null;
  /** Null: the sample. */
  readonly onChoose: (data: Data | null) => void;
  readonly onClose: () => void;
}

/** The dialog. */
export function DataDialog({ email, data, onChoose, onClose }: DataDialogProps) {
  const [text, setText] = useState(() => JSON.stringify(data ?? email.sample, null, 2));
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new Error('The value must be an object.');
      onChoose(value as Data);
    } catch (error) {
      setProblem(`Not a JSON object. ${(error as Error).message}`);
    }
  };
  return (
    <Dialog title="Preview data" onClose={onClose}>
      <UserChoice
        onChoose={(user) => setText(JSON.stringify({ ...email.sample, ...valuesOf(user, email) }, null, 2))}
      />
      <form className="stack" onSubmit={submit}>
        <label htmlFor={id}>Variables, as JSON</label>
        <textarea id={id} rows={14} value={text} onChange={({ target }) => setText(target.value)} spellCheck={false} />
        <Fault>{problem}</Fault>
        <div className="row end">
          <button type="button" onClick={() => onChoose(null)}>
            Use sample data
          </button>
          <button type="submit" className="primary">
            Apply
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function valuesOf(user: StudioUser, { variables }: DescribedEmail): Data {
  const values: Data = { Email: user.email, Data: user.user_metadata, Phone: user.phone };
  return Object.fromEntries(Object.entries(values).filter(([name]) => variables.includes(name)));
}

function UserChoice({ onChoose }: { readonly onChoose: (user: StudioUser) => void }) {
  const mayOperate = useMayOperate();
  const [chosen, setChosen] = useState<string | null>(null);
  const choose = (user: StudioUser): void => {
    setChosen(user.id);
    onChoose(user);
  };
  if (!mayOperate) return null;
  return <UserSelect label="Fill in from a user" chosen={chosen} onChoose={choose} />;
}
