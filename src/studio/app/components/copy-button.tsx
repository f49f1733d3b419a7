/** Copies a text to the clipboard and says so. */
import { useState } from 'react';
import { copyText } from '../shared/take-along.ts';
import { CloseIcon, CopyIcon, TickIcon } from './icons.tsx';

const saidForMs = 2000;

interface CopyButtonProps {
  readonly text: string;
  /** The copied thing, for screen readers. */
  readonly what: string;
  /** Beside the text, where the word would only repeat itself. */
  readonly isIcon?: boolean;
}

/** The button. */
export function CopyButton({ text, what, isIcon = false }: CopyButtonProps) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    setSaid((await copyText(text)) ? 'Copied' : 'Not allowed');
    setTimeout(() => setSaid(null), saidForMs);
  };
  return (
    <button
      type="button"
      className={isIcon ? 'copy-button quiet' : 'copy-button'}
      title={isIcon ? (said ?? 'Copy') : undefined}
      onClick={copy}
      aria-live="polite"
    >
      {said === null ? <CopyIcon /> : said === 'Copied' ? <TickIcon /> : <CloseIcon />}
      <span className={isIcon ? 'visually-hidden' : undefined}>{said ?? 'Copy'}</span>{' '}
      <span className="visually-hidden">{what}</span>
    </button>
  );
}
