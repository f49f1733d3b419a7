/** A dialog that asks for something: its fields, why it was refused, and the button that does it. */
import { type ReactNode, useState } from 'react';
import { onSubmit, useTask } from '../shared/requests.ts';
import { useUnsaved } from '../shared/unsaved.ts';
import { Dialog } from './dialog.tsx';
import { Fault } from './problem.tsx';

interface FormDialogProps {
  readonly title: string;
  /** Text of the button. */
  readonly action: string;
  /** Takes the fields by name; whoever gives it closes the dialog then. @throws ApiError, which is told */
  readonly onTake: (fields: Readonly<Record<string, string>>) => unknown;
  readonly onClose: () => void;
  /** The fields. */
  readonly children: ReactNode;
}

/** The dialog. Leaving the page asks while it has a text. */
export function FormDialog({ title, action, onTake, onClose, children }: FormDialogProps) {
  const { problem, isBusy, run } = useTask();
  const [hasText, setHasText] = useState(false);
  useUnsaved(hasText, null);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onInput={({ currentTarget }) =>
          setHasText(
            [...currentTarget.querySelectorAll('input')].some((one) => one.type !== 'checkbox' && one.value !== ''),
          )
        }
        onSubmit={onSubmit((fields) => void run(async () => onTake(fields)))}
      >
        {children}
        <Fault>{problem?.message}</Fault>
        <div className="row end">
          <button type="submit" className="primary" disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
