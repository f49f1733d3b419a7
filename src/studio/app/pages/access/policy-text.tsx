/** A policy as the statement that makes it, its long conditions in lines. */
import { PostgreSQL } from '@codemirror/lang-sql';
import { useMemo } from 'react';
import type { AccessPolicy, AccessTable } from '../../../../management/access/access-schemas.ts';
import { formatCondition } from '../../components/format-sql.ts';
import { SourceCode } from '../../components/source-code.tsx';
import { printPolicy } from './access-words.ts';

interface PolicyTextProps {
  readonly table: AccessTable;
  readonly policy: AccessPolicy;
}

/** The text. */
export function PolicyText({ table, policy }: PolicyTextProps) {
  const text = useMemo(() => printPolicy(table, policy, formatCondition), [table, policy]);
  return <SourceCode text={text} parser={PostgreSQL.language.parser} />;
}
