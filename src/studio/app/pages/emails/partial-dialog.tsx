/** Starts a partial under a name. */
import { useId } from 'react';
import { FormDialog } from '../../components/form-dialog.tsx';
import { ApiError } from '../../shared/api.ts';
import { goTo } from '../../shared/router.ts';
import { partialsPath, toPartial } from './described.ts';
import { edit, partialsOf, type StoredEmails } from './emails-state.ts';

interface PartialDialogProps {
  readonly stored: StoredEmails;
  readonly onClose: () => void;
}

/** The dialog. The new partial is a draft until it is saved. */
export function PartialDialog({ stored, onClose }: PartialDialogProps) {
  const id = useId();
  const layout = stored.shared.find(({ email }) => email === 'layout');
  const add = ({ name = '' }: Readonly<Record<string, string>>): void => {
    if (!/^[A-Za-z][\w-]{0,63}$/.test(name) || name === 'content')
      throw new ApiError(400, 'bad_name', 'Use letters, digits, _ and -. The name "content" is taken.');
    const isNew = !partialsOf(stored).some(({ partial }) => partial === name);
    if (isNew && layout !== undefined) edit(stored, toPartial(layout, name), { content: `<p>${name}</p>` });
    onClose();
    goTo(`emails/${partialsPath}${name}`);
  };
  return (
    <FormDialog title="Add partial" action="Add" onTake={add} onClose={onClose}>
      <label htmlFor={id}>Name</label>
      <input id={id} name="name" required maxLength={64} placeholder="footer" spellCheck={false} />
      <p className="soft small">A piece that several emails share, such as a footer. They use it by this name.</p>
    </FormDialog>
  );
}
