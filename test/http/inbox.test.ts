/**
 * The inbox over HTTP and in a real browser: what it shows, who may see it, and that an email cannot reach out of its frame.
 */
import type { Browser, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth-config.ts';
import { createInbox } from '../../src/email/inbox.ts';
import { createMailer } from '../../src/email/mailer.ts';
import type { MessageData } from '../../src/email/message.ts';
import { createAuthenticator } from '../../src/http/authenticate.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server.ts';
import { openBrowser } from '../support/browser.ts';
import { sampleMessage } from '../support/email.ts';
import { serviceKey, smallExecutor, testConfig } from '../support/http.ts';
import { mailDatabase } from '../support/mail-database.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

const { database, openPool } = await mailDatabase();
const pool = openPool();
const mailer = createMailer({ database: pool, authUrl: 'http://x/auth/v1', inboxUrl: '', observe: () => {} });
const accessToken = 'sbp_0123456789012345678901234567890123456789';

beforeEach(() => database.query('delete from auth.pgreflect_captured_email'));

async function capture(subject: string, values: AuthValues = {}, data: Partial<MessageData> = {}): Promise<void> {
  const message = sampleMessage({ mailer_subjects_recovery: subject, ...values }, data);
  await mailer.deliver(layerAuthConfig({}), message);
}

async function inboxServer(isCaptured = true): Promise<HttpServer> {
  const config = testConfig();
  const app = await createHttpServer({
    config,
    executor: smallExecutor(),
    authenticate: await createAuthenticator(config),
    ready: async () => null,
    observe: () => {},
    graphiqlApiKey: null,
    inbox: {
      inbox: createInbox(pool),
      isCaptured: () => isCaptured,
      verifyAccessToken: async (token) => token === accessToken,
    },
  });
  onTestFinished(() => app.close());
  return app;
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly remoteAddress?: string;
}

async function ask(url: string, { headers = {}, remoteAddress = '127.0.0.1' }: Asked = {}, isCaptured = true) {
  const app = await inboxServer(isCaptured);
  return app.inject({ url, headers: { host: 'localhost:54321', ...headers }, remoteAddress });
}

describe('the JSON', () => {
  test('is the list of captured emails, newest first, with everything a test may look for', async () => {
    await capture('first');
    await capture('second', {
      mailer_templates_recovery_content: '<a href="{{ .ConfirmationURL }}">go</a> {{ .Token }}',
    });
    const response = await ask('/studio/inbox.json');
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    const emails = response.json();
    expect(emails.map(({ subject }: { subject: string }) => subject)).toEqual(['second', 'first']);
    expect(emails[0]).toEqual({
      id: expect.any(Number),
      capturedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      kind: 'recovery',
      from: 'Shop <shop@mail.test>',
      to: 'to@mail.test',
      subject: 'second',
      html: expect.stringContaining('&amp;type=email'),
      text: expect.stringContaining('&type=email'),
      source: expect.stringContaining('Subject: second'),
    });
  });

  test('can be asked for one recipient', async () => {
    await capture('for Ana');
    await capture('for Bo', {}, { to: 'bo@mail.test' });
    expect((await ask('/studio/inbox.json?to=Bo@mail.test')).json()).toMatchObject([{ subject: 'for Bo' }]);
    expect((await ask('/studio/inbox.json?to=%00')).statusCode).toBe(200);
  });
});

describe('who may read', () => {
  const paths = ['/studio/inbox', '/studio/inbox.json'];

  test.each(paths)('%s: people on this machine, by a name of this machine', async (path) => {
    for (const host of ['localhost:54321', 'localhost', '127.0.0.1:54321', '[::1]:54321', 'app.localhost']) {
      expect((await ask(path, { headers: { host } })).statusCode).toBe(200);
    }
    expect((await ask(path, { remoteAddress: '::1' })).statusCode).toBe(200);
    expect((await ask(path, { remoteAddress: '::ffff:127.0.0.1' })).statusCode).toBe(200);
    expect((await ask(path, { headers: { origin: 'http://localhost:54321' } })).statusCode).toBe(200);
  });

  test.each<[string, Asked]>([
    ['from another machine', { remoteAddress: '192.0.2.1' }],
    ['through a proxy on this machine', { headers: { 'x-forwarded-for': '192.0.2.1' } }],
    ['through a proxy that uses the standard header', { headers: { forwarded: 'for=192.0.2.1' } }],
    ['under a name that somebody pointed here', { headers: { host: 'evil.test:54321' } }],
    ['under a name that only looks local', { headers: { host: 'localhost.evil.test' } }],
    ['by a script of another site', { headers: { origin: 'https://evil.test' } }],
    ['by a page in a sandbox', { headers: { origin: 'null' } }],
    ['embedded in another site', { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' } }],
    ['as a script of another port', { headers: { 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'script' } }],
    ['with a wrong token', { remoteAddress: '192.0.2.1', headers: { authorization: 'Bearer wrong' } }],
    ['with the service key', { remoteAddress: '192.0.2.1', headers: { authorization: `Bearer ${serviceKey}` } }],
  ])('not somebody who asks %s', async (_how, asked) => {
    await capture('secret');
    for (const path of paths) {
      const response = await ask(path, asked);
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toMatch(/^Basic /);
      expect(response.payload).not.toContain('secret');
    }
  });

  test('the holder of an access token, from anywhere: as Bearer, or as the password in a browser', async () => {
    const basic = Buffer.from(`anyone:${accessToken}`).toString('base64');
    for (const authorization of [`Bearer ${accessToken}`, `Basic ${basic}`]) {
      const response = await ask('/studio/inbox', {
        remoteAddress: '192.0.2.1',
        headers: { host: 'db.test', authorization },
      });
      expect(response.statusCode).toBe(200);
    }
  });

  test('no other origin: the headers that open the APIs to pages are missing', async () => {
    const headers = { origin: 'http://localhost:54321' };
    const response = await ask('/studio/inbox.json', { headers });
    const refused = await ask('/studio/inbox.json', { headers: { origin: 'https://evil.test' } });
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
    expect(refused.headers['access-control-allow-origin']).toBeUndefined();
    expect(response.headers).toMatchObject({
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
  });

  test.each(paths)('%s: nobody where a mail server is configured', async (path) => {
    const response = await ask(path, {}, false);
    expect(response.statusCode).toBe(404);
    expect(response.json().errors[0].message).toContain('smtp_host');
  });
});

describe('the page', () => {
  test('says what is not there', async () => {
    expect((await ask('/studio/inbox')).payload).toContain('No email yet.');
    await capture('x');
    for (const id of ['999999', '-1', 'x', '9'.repeat(30)]) {
      const response = await ask(`/studio/inbox?id=${id}`);
      expect(response.statusCode).toBe(200);
      expect(response.payload).toContain('not there any more');
    }
  });

  test('has a policy that lets nothing run but its own script', async () => {
    const { headers, payload } = await ask('/studio/inbox');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; /);
    expect(headers['content-security-policy']).not.toMatch(/script-src[^;]*unsafe/);
    expect(payload.match(/<script/g)).toHaveLength(1);
  });
});

describe('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });

  async function visit(): Promise<{ readonly page: Page; readonly origin: string; readonly problems: string[] }> {
    const app = await inboxServer();
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.goto(`${origin}/studio/inbox`);
    return { page, origin, problems };
  }

  test('a new email appears by itself, can be opened, read as text, and its link be followed', async () => {
    const { page, origin, problems } = await visit();
    await page.getByText('No email yet.').waitFor();

    await capture('Grüße & <b>Küsse</b>', {}, { confirmationUrl: `${origin}/health?token=hash&type=recovery` });
    await page.getByRole('heading', { name: 'Grüße & <b>Küsse</b>' }).waitFor();
    const email = page.frameLocator('iframe[title="The email"]');
    await email.getByRole('heading', { name: 'Reset your password' }).waitFor();
    expect(await page.locator('#text').textContent()).toContain('Or enter this code: 012345');
    await page.getByText('Source, as it would be sent').click();
    expect(await page.locator('#source').textContent()).toContain('Content-Transfer-Encoding: quoted-printable');

    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      email.getByRole('link', { name: 'Reset password' }).click(),
    ]);
    await opened.waitForLoadState();
    expect(opened.url()).toBe(`${origin}/health?token=hash&type=recovery`);
    expect(await opened.evaluate('document.referrer')).toBe('');
    expect(problems).toEqual([]);
  });

  test('an email that comes in does not close the one that is being read', async () => {
    await capture('first');
    const { page } = await visit();
    await page.getByRole('heading', { name: 'first' }).waitFor();
    await capture('second');
    await page.getByRole('link', { name: 'second' }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).textContent()).toBe('first');
    expect(await page.locator('#count').textContent()).toBe('2 emails');

    await page.getByRole('link', { name: 'second' }).click();
    await page.getByRole('heading', { name: 'second' }).waitFor();
    expect(await page.locator('a[aria-current]').textContent()).toContain('second');
  });

  test('an email runs no script, submits no form and moves no frame, whatever its template says', async () => {
    const content = `<body onload="parent.document.title='owned'"><script>parent.document.title='owned'</script>
      <img src="x" onerror="parent.document.title='owned'"><base href="https://evil.test/"><form action="/studio/inbox"><button>Send</button></form>
      <a href="/health" target="_top">Leave</a><p>shown</p></body>`;
    await capture('"><img src=x onerror=alert(1)>', { mailer_templates_recovery_content: content });
    const { page, origin } = await visit();
    const email = page.frameLocator('iframe[title="The email"]');
    await email.getByText('shown').waitFor();
    await email.getByRole('button', { name: 'Send' }).click();
    await email.getByRole('link', { name: 'Leave' }).click();
    await page.waitForTimeout(300);
    expect(await page.title()).toBe('Inbox - pgreflect');
    expect(page.url()).toBe(`${origin}/studio/inbox`);
    expect(await page.getByRole('heading', { level: 2 }).textContent()).toBe('"><img src=x onerror=alert(1)>');
  });
});
