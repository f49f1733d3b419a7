/**
 * The look at every statement that the product sends (test/support/each-file.ts) sees what it has to see.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createSystemPool } from '../../src/postgres/system/run-system.ts';
import { runProcess } from '../commands/run-command.ts';
import { checkSentStatements } from '../support/check-sent-statements.ts';
import { createDatabase } from '../support/postgres.ts';
import { childFile, noteSent, takeSent } from '../support/sent-statements.ts';

test('a statement is noted with the path that it ran with, and a file that sent an unsafe one fails', async () => {
  const database = await createDatabase('create table public.note (id int)');
  const options = { connectionString: database.url, size: 1, waitMs: 60_000, onError: () => {} };
  const pool = createSystemPool({ ...options, applicationName: 'pgreflect trial' });
  try {
    await pool.query('select pg_catalog.lower($1)', ['A']);
    await pool.transaction((connection) => connection.query('select count(*) from pg_class', []));
    expect(() => checkSentStatements()).toThrow('with the pinned path: relation pg_class in: select count(*)');
    await pool.transaction(async (connection) => {
      await connection.query('reset all', []);
      await connection.query('select lower($1)', ['A']);
    });
    expect(() => checkSentStatements()).toThrow('with a path that is not pinned: function lower in: select lower($1)');
    await pool.query('with gone as (delete from public.note returning id) select id from gone where id = 1', []);
    expect(() => checkSentStatements()).toThrow('Writes without a where:\n\nwith gone as (delete');
    await pool.query('select lower($1)', ['A']);
    expect(() => checkSentStatements()).not.toThrow();
  } finally {
    await pool.stop();
  }
});

test('statements of commands are checked, and those of requests behind the settings of their caller', async () => {
  const database = await createDatabase('create table public.note (id int primary key)');
  takeSent();
  const { code } = await runProcess(['init', '--dry-run'], { env: { DATABASE_URL: database.url } });
  expect(code).toBe(0);
  expect(readFileSync(childFile, 'utf8')).toContain('The statements that are missing in a database for the gateway');
  noteSent({ text: 'select 1 from note', path: 'pinned' });
  expect(() => checkSentStatements()).toThrow(/^Names that others could capture:\n\n[^\n]* relation note/);
});
