/** Short messages about what was just done, at the end of the page, with a way to undo it where there is one. */
import { Toast } from '@base-ui/react/toast';
import { CloseIcon } from './icons.tsx';
import './toasts.css';

const manager = Toast.createToastManager();

/** An action that a message offers. */
interface ToastAction {
  readonly title: string;
  readonly run: () => void;
}

const withActionMs = 12_000;
const withoutMs = 5000;

/** Says something; it goes by itself. */
export function say(title: string, action: ToastAction | null = null): void {
  const id = manager.add({
    title,
    timeout: action === null ? withoutMs : withActionMs,
    ...(action !== null && {
      actionProps: {
        children: action.title,
        onClick: () => {
          manager.close(id);
          action.run();
        },
      },
    }),
  });
}

/** The messages; once in the page. */
export function Toasts() {
  return (
    <Toast.Provider toastManager={manager} limit={3}>
      <Toast.Portal>
        <Toast.Viewport className="toasts" aria-label="Recent actions">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <Toast.Content className="row">
        <Toast.Title />
        {toast.actionProps && <Toast.Action />}
        <Toast.Close className="quiet icon-button" aria-label="Dismiss">
          <CloseIcon />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
