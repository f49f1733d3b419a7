/** A text in a language, in colours, to be read and copied. */
import { useMemo } from 'react';
import './source-code.css';
import { type LanguageParser, tokensOf } from './tokens.ts';

interface SourceCodeProps {
  readonly text: string;
  /** Null: without colours. */
  readonly parser: LanguageParser | null;
}

/** The text. */
export function SourceCode({ text, parser }: SourceCodeProps) {
  const tokens = useMemo(() => (parser === null ? [{ text, kind: '' }] : tokensOf(text, parser)), [text, parser]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <pre className="source source-code" tabIndex={0}>
      {tokens.map(({ text: part, kind }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they stand in their order, and never change alone
        <span key={index} className={kind || undefined}>
          {part}
        </span>
      ))}
    </pre>
  );
}
