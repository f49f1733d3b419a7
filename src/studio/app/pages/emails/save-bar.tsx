/** The bar below an email, always in reach: what came of the last action, discard, save. */
import { useEffect } from 'react';
import { useMayWrite } from '../../shared/session.ts';

/** The result of an action. */
export interface Outcome {
  readonly kind: 'good' | 'warning' | 'fault';
  readonly text: string;
  readonly details?: readonly string[];
  /** A button for the next step. */
  readonly way?: { readonly title: string; readonly go: () => void };
}

interface SaveBarProps {
  readonly outcome: Outcome | null;
  readonly isChanged: boolean;
  /** A text with a fault is not saved. */
  readonly isFaulty: boolean;
  readonly onDiscard: () => void;
  readonly onSave: () => void;
}

/** The bar. */
export function SaveBar({ outcome, isChanged, isFaulty, onDiscard, onSave }: SaveBarProps) {
  const mayWrite = useMayWrite();
  const isReady = isChanged && !isFaulty;
  useSaveKey(isReady ? onSave : null);
  return (
    <footer className="save-bar">
      <div role="status">
        {outcome === null ? isChanged && <p className="soft small">Unsaved changes</p> : <Told outcome={outcome} />}
      </div>
      <div className="row">
        <button type="button" disabled={!isChanged} onClick={onDiscard}>
          Discard changes
        </button>
        <button
          type="button"
          className="primary"
          disabled={!isReady || !mayWrite}
          onClick={onSave}
          title={mayWrite ? undefined : 'Your access token is read-only.'}
        >
          Save
        </button>
      </div>
    </footer>
  );
}

function Told({ outcome: { kind, text, details = [], way } }: { readonly outcome: Outcome }) {
  return (
    <div className={`notice ${kind} spread`}>
      <div>
        <p>{text}</p>
        {details.length > 0 && (
          <ul>
            {details.map((detail) => (
              <li key={detail}>{detail}</li>
            ))}
          </ul>
        )}
      </div>
      {way !== undefined && (
        <button type="button" onClick={way.go}>
          {way.title}
        </button>
      )}
    </div>
  );
}

/** Ctrl-S, or Command-S. @param onSave Null: there is nothing to save. */
function useSaveKey(onSave: (() => void) | null): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      onSave?.();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  });
}
