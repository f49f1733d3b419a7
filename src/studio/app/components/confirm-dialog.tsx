/** Asks before something that cannot be undone is done, and says why it was refused. */
import type { ReactNode } from 'react';
import { useTask } from '../shared/requests.ts';
import { Dialog } from './dialog.tsx';
import { Fault } from './problem.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  /** Text of the button. */
  readonly action: string;
  /** Does it; whoever gives it closes the dialog then. @throws ApiError */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  /** What will happen. */
  readonly children: ReactNode;
}

/** The dialog. */
export function ConfirmDialog({ title, action, onConfirm, onClose, children }: ConfirmDialogProps) {
  const { problem, isBusy, run } = useTask();
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Fault>{problem?.message}</Fault>
      <div className="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={() => run(onConfirm)}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
