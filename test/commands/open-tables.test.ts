/** What `start` says of tables without row security. */
import { expect, test } from 'vitest';
import { describeOpenTables } from '../../src/cli/shared/open-tables.ts';
import { createDatabase } from '../support/postgres.ts';

test('names of tables without row security are printed on one line, whatever is in them', async () => {
  const database = await createDatabase(
    'create table "a\n\u001b[2Jb" (id int); grant select on "a\n\u001b[2Jb" to anon',
  );
  const said = await describeOpenTables(database, { schemas: ['public'], roles: ['anon'] });
  expect(said).toContain('Callers reach every row of public."a');
  for (const character of ['\n', '\u001b']) expect(said).not.toContain(character);
});
