import { expect, test } from 'vitest';
import { detectEngines, type EngineFacts } from '../../src/postgres/engine.ts';
import { loadSqlFile } from '../../src/postgres/system/sql-file.ts';
import { usePool } from '../management/management.ts';
import { createDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';

test('check reports nothing of the engine where it is plain PostgreSQL', async () => {
  const database = await createDatabase();
  const [row] = await usePool(database, (pool) => pool.query(loadSqlFile('check/engine.sql')));
  expect(row).toMatchObject({
    version: expect.stringMatching(/^PostgreSQL \d/),
    extensions: ['plpgsql'],
    functions: [],
  });
  // Roles belong to the whole server, on which other tests make those of Supabase.
  expect(detectEngines({ ...(row as unknown as EngineFacts), roles: [] })).toEqual([]);
  const found = await findings(database, '--only', 'engine');
  expect(found.filter(({ message }) => !message.includes('Supabase'))).toEqual([]);
});
