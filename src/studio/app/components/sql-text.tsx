/** A statement in lines and colours. */
import { PostgreSQL } from '@codemirror/lang-sql';
import { useMemo } from 'react';
import { formatSql } from './format-sql.ts';
import { SourceCode } from './source-code.tsx';

/** @param props.statement As the gateway sent it. */
export function SqlText({ statement }: { readonly statement: string }) {
  const text = useMemo(() => formatSql(statement), [statement]);
  return <SourceCode text={text} parser={PostgreSQL.language.parser} />;
}
