/** A statement in lines and colors. */
import { useMemo } from 'react';
import { formatSql, tokensOf } from './format-sql.ts';

/** @param props.statement As the gateway sent it. */
export function SqlText({ statement }: { readonly statement: string }) {
  const tokens = useMemo(() => tokensOf(formatSql(statement)), [statement]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <pre className="source sql-text" tabIndex={0}>
      {tokens.map(({ text, kind }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they stand in their order, and never change alone
        <span key={index} className={kind || undefined}>
          {text}
        </span>
      ))}
    </pre>
  );
}
