/**
 * Our own statements, prepared: only those with values, only where asked for.
 */
import { expect, test } from 'vitest';
import { createSystemPool } from '../../src/database/run-system.ts';
import { createDatabase } from '../support/postgres.ts';

async function preparedTexts(preparedStatements: boolean): Promise<readonly unknown[]> {
  const database = await createDatabase();
  const options = { connectionString: database.url, size: 1, waitMs: 5000, applicationName: 'test', onError: () => {} };
  const pool = createSystemPool({ ...options, preparedStatements });
  try {
    for (const value of [1, 2]) await pool.query('select $1::int as value', [value]);
    await pool.transaction((session) => session.query('select 1; select 2'));
    return await pool.query(`select s.statement from pg_catalog.pg_prepared_statements s where s.name <> ''`);
  } finally {
    await pool.stop();
  }
}

test('a statement with values is prepared once on a connection', async () => {
  expect(await preparedTexts(true)).toEqual([{ statement: 'select $1::int as value' }]);
});

test('behind a pooler nothing is prepared', async () => {
  expect(await preparedTexts(false)).toEqual([]);
});
