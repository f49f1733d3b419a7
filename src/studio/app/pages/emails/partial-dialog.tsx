/** Starts a partial under a name. */
import { useId, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { onSubmit } from '../../shared/requests.ts';
import { goTo } from '../../shared/router.ts';
import { partialsPath, toPartial } from './described.ts';
import { edit, partialsOf, type StoredEmails } from './emails-state.ts';

interface PartialDialogProps {
  readonly stored: StoredEmails;
  readonly onClose: () => void;
}

/** The dialog. The new partial is a draft until it is saved. */
export function PartialDialog({ stored, onClose }: PartialDialogProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  const layout = stored.shared.find(({ email }) => email === 'layout');
  const submit = onSubmit(({ name = '' }) => {
    if (!/^[A-Za-z][\w-]{0,63}$/.test(name) || name === 'content')
      return setProblem('Use letters, digits, _ and -. The name "content" is taken.');
    const isNew = !partialsOf(stored).some(({ partial }) => partial === name);
    if (isNew && layout !== undefined) edit(stored, toPartial(layout, name), { content: `<p>${name}</p>` });
    onClose();
    goTo(`emails/${partialsPath}${name}`);
  });
  return (
    <Dialog title="Add partial" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label htmlFor={id}>Name</label>
        <input id={id} name="name" required maxLength={64} placeholder="footer" spellCheck={false} />
        <p className="soft small">A piece that several emails share, such as a footer. They use it by this name.</p>
        <Fault>{problem}</Fault>
        <div className="row end">
          <button type="submit" className="primary">
            Add
          </button>
        </div>
      </form>
    </Dialog>
  );
}
