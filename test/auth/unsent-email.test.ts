/**
 * An email that is not sent because one was sent a moment ago: the answer is as if it was, and only the log of a local project says so.
 */
import { expect, test } from 'vitest';
import { testAuth } from '../support/auth-service.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const database = await createAuthDatabase();

test.each([
  [true, 1],
  [false, 0],
])(
  'with a local project (%s) the log has %i lines that say why no email came, without the address',
  async (localProject, lines) => {
    const auth = await testAuth(database, { smtp_max_frequency: 60 }, { localProject });
    const email = `who-${lines}@mail.test`;
    for (const _time of ['sent', 'not sent']) expect((await auth.ask('/otp', { email })).status).toBe(200);
    const messages = auth.observations.flatMap((one) => (one.kind === 'warning' ? [one.message] : []));
    const unsent = messages.filter((message) => message.startsWith('An email was not sent, because'));
    expect(unsent).toHaveLength(lines);
    expect(unsent.join()).not.toContain('mail.test');
  },
);
