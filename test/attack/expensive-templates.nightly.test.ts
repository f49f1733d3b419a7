/** As expensive-templates.test.ts: a layout, with which all emails in force are checked again. */
import { expect, test } from 'vitest';
import { addToken, managedGateway } from '../management/management.ts';
import { createAuthDatabase } from '../support/postgres.ts';

test('a change of a layout around every email that takes long to check is refused as a whole at the time limit', async () => {
  const database = await createAuthDatabase();
  const { patch } = await managedGateway(database, await addToken(database));
  const { status, body } = await patch({
    mailer_layout_content: `${'{{.Email}}'.repeat(90_000)}{{template "content" .}}`,
  });
  // A busy machine may need the time of a single template before.
  const message = expect.stringMatching(/take longer than 3000 ms to check|takes longer than 250 ms/);
  expect([status, body.message]).toEqual([400, message]);
  expect(await database.query('select from auth.pgreflect_config')).toEqual([]);
});
