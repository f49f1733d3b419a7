/** The check of `pgreflect check` for servers that are not plain PostgreSQL. */
import { detectEngines, type EngineFacts } from '../postgres/engine.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import type { Check } from './finding.ts';

/** What differs on this server. */
export const describeEngine: Check = async ({ tx }) => {
  const [row] = await tx.query(loadSqlFile('check/engine.sql'));
  return detectEngines(row as unknown as EngineFacts).map(({ name, kind, remark }) => ({
    check: 'engine',
    severity: kind === 'differs' ? 'warning' : 'note',
    object: null,
    message: `The server shows signs of ${name}. ${remark ?? 'Nothing is known that differs.'}`,
    fix: null,
  }));
};
