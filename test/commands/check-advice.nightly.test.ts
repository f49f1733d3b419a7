/** What check-advice.test.ts proves of `pgreflect check`, with each fix alone, and on a database of hundreds of tables. */
import { expect, test } from 'vitest';
import { createDatabase, fixture } from '../support/postgres.ts';
import { expectCheckedWhole, expectFixesEnd } from './check-proofs.ts';
import { runCommand } from './run-command.ts';

test.each(['check-trading.sql', 'check-warehouse.sql'])(
  'each fix for %s alone ends its finding and makes no other',
  { timeout: 300_000 },
  (name) => expectFixesEnd(name, 'alone'),
);

test('300 tables with 4 policies and 3 keys each, and 200 functions that these call, are checked whole', () =>
  expectCheckedWhole(300, 200));

test('a database of 173 relations is at most two screens', async () => {
  const database = await createDatabase(fixture('check-warehouse.sql'));
  const { out } = await runCommand(['check'], { env: { DATABASE_URL: database.urlAs('authenticator', 'test') } });
  expect(out.trimEnd().split('\n').length).toBeLessThanOrEqual(100);
});
