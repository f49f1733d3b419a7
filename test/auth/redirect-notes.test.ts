/** A redirect that is not allowed leads to the site URL. The answer does not tell, so the log does. */
import { expect, test } from 'vitest';
import { testAuth } from '../support/auth-service.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const database = await createAuthDatabase();

test('the log names the origin of a redirect that is not allowed once, and how to allow it', async () => {
  const auth = await testAuth(database, { site_url: 'https://app.test', uri_allow_list: 'https://ok.test/**' });
  const askFor = async (redirect: string, address: string) => {
    const path = `/otp?redirect_to=${encodeURIComponent(redirect)}`;
    expect((await auth.ask(path, { email: address })).status).toBe(200);
  };
  await askFor('https://preview.test/welcome?secret=1', 'a@mail.test');
  await askFor('https://preview.test/elsewhere', 'b@mail.test');
  await askFor('notes://open', 'c@mail.test');
  for (const silent of ['https://ok.test/x', 'https://app.test/y', "https://x'y.test/", 'nonsense'])
    await askFor(silent, 'd@mail.test');
  const noted = auth.observations.flatMap((one) =>
    one.kind === 'warning' && one.message.includes('asked for a redirect') ? [one] : [],
  );
  expect(noted).toEqual([
    {
      kind: 'warning',
      message:
        'A request asked for a redirect to https://preview.test, which is not allowed: it leads to the site URL instead.',
      hint: 'If this address is yours, add https://preview.test/** to --uri-allow-list.',
    },
    expect.objectContaining({ hint: 'If this address is yours, add notes://** to --uri-allow-list.' }),
  ]);
});
