/** Copies a text to the clipboard and says so. */
import { useState } from 'react';

const saidForMs = 2000;

/** @param props.what The copied thing, for screen readers. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    // Browsers provide it only for https:// and localhost.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    const isCopied = await clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(isCopied ? 'Copied' : 'Not allowed');
    setTimeout(() => setSaid(null), saidForMs);
  };
  return (
    <button type="button" onClick={copy} aria-live="polite">
      {said ?? 'Copy'} <span className="visually-hidden">{what}</span>
    </button>
  );
}
