/** Reads of `pgreflect check` that are made as a role: they change nothing, and cost a limited time. */
import { quoteAlways } from '../graphql/catalog/quote-name.ts';
import { DatabaseError } from '../postgres/database-error.ts';
import type { Queryable } from '../postgres/system/queryable.ts';

/** Time limit of a statement, in milliseconds. */
const maxMs = 2000;

/** What is not known because reading takes too long. */
export const tooLong = { unknown: 'it takes too long' };

/** What a role reads, in limited time. `denied`: what PostgreSQL says that the role may not do. */
export async function tryRead(
  tx: Queryable,
  role: string,
  statement: string,
): Promise<
  | { readonly rows: Awaited<ReturnType<Queryable['query']>> }
  | { readonly denied: string; readonly isRaised: boolean }
  | { readonly unknown: string }
> {
  await tx.query('savepoint measured');
  try {
    await tx.query(`set local statement_timeout = ${maxMs}; set local role ${quoteAlways(role)}`);
    return { rows: await tx.query(statement) };
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.kind === 'unavailable') throw error;
    if (error.sqlstate === '42501') return { denied: error.primary, isRaised: error.raised };
    return error.kind === 'timeout' || error.sqlstate === '57014' ? tooLong : { unknown: error.primary };
  } finally {
    await tx.query('rollback to savepoint measured').catch(() => {});
  }
}
