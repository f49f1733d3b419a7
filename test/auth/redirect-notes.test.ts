/** A redirect that is not allowed leads to the site URL. The answer does not tell, so the log does. */
import { expect, test } from 'vitest';
import { testAuth } from '../support/auth-service.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const database = await createAuthDatabase();

/** The origins and hints that the log has for these addresses. */
async function notesOf(list: string, asked: readonly string[]): Promise<readonly (readonly [string, string])[]> {
  const auth = await testAuth(database, { site_url: 'https://app.test', uri_allow_list: list, smtp_max_frequency: 0 });
  for (const redirect of asked) {
    const path = `/otp?redirect_to=${encodeURIComponent(redirect)}`;
    expect((await auth.ask(path, { email: 'a@mail.test' })).status).toBe(200);
  }
  return auth.observations.flatMap((one) => {
    if (one.kind !== 'warning' || !one.message.includes('asked for a redirect')) return [];
    const [, origin = ''] = /redirect to (\S+), which is not allowed: it leads to the site URL/.exec(one.message) ?? [];
    return [[origin, one.hint ?? '']];
  });
}

test('the log names the origin of a redirect that is not allowed once, and how to allow it', async () => {
  const silent = ['https://ok.test/x', 'https://app.test/y', "https://x'y.test/", 'nonsense'];
  const asked = [
    'https://preview.test/welcome?secret=1',
    'https://preview.test/elsewhere',
    'https://ok.test:8443/x',
    'notes://open/page',
    'com.acme.app:open',
    'exp://127.0.0.1:8081/--/cb',
  ];
  const add = (pattern: string) => `If this address is yours, add ${pattern} to --uri-allow-list.`;
  expect(await notesOf('https://ok.test/**', [...asked, ...silent])).toEqual([
    ['https://preview.test', add('https://preview.test/**')],
    ['https://ok.test:8443', add('https://ok.test:8443/**')],
    ['notes://open', add('notes://**')],
    ['com.acme.app:', add('com.acme.app:**')],
    ['exp://127.0.0.1:8081', add('exp://**')],
  ]);
});

test('what the log says to add is allowed then', async () => {
  const list = 'https://preview.test/**, notes://**, com.acme.app:**, exp://**';
  const asked = ['https://preview.test/welcome', 'notes://open', 'com.acme.app:open', 'exp://127.0.0.1:8081/--/cb'];
  expect(await notesOf(list, asked)).toEqual([]);
});

test('a note does not say to list what no list allows', async () => {
  const list = 'exp://**, http://192.168.1.20:3000/**, https://x_y.test/**, https://*.me.test/**, javascript:**';
  const ip = expect.stringContaining('IP addresses other than loopback are never allowed, even if they are listed.');
  const ambiguous = expect.stringContaining('Browsers and servers may read this address differently');
  const asked = [
    'exp://192.168.1.5:8081/--/cb',
    'http://192.168.1.20:3000/cb',
    'https://x_y.test/',
    'https://a:b@x.me.test/',
    'javascript:alert(1)',
  ];
  expect(await notesOf(list, asked)).toEqual([
    ['exp://192.168.1.5:8081', ip],
    ['http://192.168.1.20:3000', ip],
    ['https://x_y.test', ambiguous],
    ['https://x.me.test', ambiguous],
    ['javascript:', expect.stringContaining('they are never allowed')],
  ]);
});
