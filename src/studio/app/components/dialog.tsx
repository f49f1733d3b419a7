/** A dialog over the page; Escape and its button close it, a click beside it does not. */
import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useRef } from 'react';
import { CloseIcon } from './icons.tsx';

interface DialogProps {
  readonly title: string;
  /** Null: only what it contains closes it. */
  readonly onClose: (() => void) | null;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

const firstField = 'input:not([type="checkbox"], [readonly], [disabled]), textarea:not([readonly])';

/** Open while it is rendered. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open disablePointerDismissal onOpenChange={(isOpen) => isOpen || onClose?.()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Viewport className="dialog-place">
          <Base.Popup
            ref={popup}
            className={isWide ? 'dialog card wide' : 'dialog card'}
            initialFocus={() => popup.current?.querySelector<HTMLElement>(firstField) ?? true}
          >
            <header>
              <Base.Title>{title}</Base.Title>
              {onClose !== null && (
                <Base.Close className="quiet icon-button" aria-label="Close" title="Close">
                  <CloseIcon />
                </Base.Close>
              )}
            </header>
            {children}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}
