/**
 * The inbox over HTTP: what it says and who may read it. The page that shows it is in test/studio.
 */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import type { MessageData } from '../../src/email/message/message.ts';
import { createInbox } from '../../src/email/transport/inbox.ts';
import { createMailer } from '../../src/email/transport/mailer.ts';
import { addRoutes } from '../../src/routes.ts';
import { createAuthenticator } from '../../src/server/caller/authenticate.ts';
import { createHttpServer, type HttpServer } from '../../src/server/create-http-server.ts';
import { sampleMessage } from '../support/email.ts';
import { emailDatabase } from '../support/email-database.ts';
import { nothingLive, serviceKey, smallExecutor, testConfig } from '../support/http.ts';

const { database, openPool } = await emailDatabase();
const pool = openPool();
const mailer = createMailer({ database: pool, authUrl: 'http://x/auth/v1', inboxUrl: '', observe: () => {} });
const accessToken = 'sbp_0123456789012345678901234567890123456789';

beforeEach(() => database.query('delete from auth.pgreflect_captured_email'));

async function capture(subject: string, values: AuthValues = {}, data: Partial<MessageData> = {}): Promise<void> {
  const message = sampleMessage({ mailer_subjects_recovery: subject, ...values }, data);
  await mailer.deliver(layerAuthConfig({}), message);
}

async function inboxServer(isCaptured = true, isOpen = true): Promise<HttpServer> {
  const config = testConfig();
  const [observe, authenticate] = [() => {}, await createAuthenticator(config)];
  const inbox = {
    inbox: createInbox(pool),
    isCaptured: () => isCaptured,
    verifyAccessToken: async (token: string) => token === accessToken,
    isOpen,
  };
  const parts = {
    config,
    executor: smallExecutor(),
    live: nothingLive,
    authenticate,
    observe,
    graphiqlApiKey: null,
    inbox,
  };
  const app = await createHttpServer({ config, observe, ready: async () => null }, (http) => addRoutes(http, parts));
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
  test('the JSON is the list of captured emails, newest first, with everything a test may look for', async () => {
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

  test('the JSON can be limited to emails newer than an id; an invalid id is ignored', async () => {
    await capture('first');
    const [{ id }] = (await ask('/studio/inbox.json')).json();
    await capture('second');
    expect((await ask(`/studio/inbox.json?after=${id}`)).json()).toMatchObject([{ subject: 'second' }]);
    for (const after of ['-1', 'x', '9'.repeat(30)]) {
      expect((await ask(`/studio/inbox.json?after=${after}`)).json()).toHaveLength(2);
    }
  });

  test('the JSON can be asked for one recipient', async () => {
    await capture('for Ana');
    await capture('for Bo', {}, { to: 'bo@mail.test' });
    expect((await ask('/studio/inbox.json?to=Bo@mail.test')).json()).toMatchObject([{ subject: 'for Bo' }]);
    expect((await ask('/studio/inbox.json?to=%00')).statusCode).toBe(200);
  });
});

describe('who may read', () => {
  const path = '/studio/inbox.json';

  test('people on this machine, by a name of this machine', async () => {
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
    [
      'with the token as the password of a browser, which sends it again whoever asks',
      { remoteAddress: '192.0.2.1', headers: { authorization: `Basic ${btoa(`anyone:${accessToken}`)}` } },
    ],
    ['with a wrong token', { remoteAddress: '192.0.2.1', headers: { authorization: 'Bearer wrong' } }],
    ['with the service key', { remoteAddress: '192.0.2.1', headers: { authorization: `Bearer ${serviceKey}` } }],
  ])('nobody who asks %s', async (_how, asked) => {
    await capture('secret');
    const response = await ask(path, asked);
    expect(response.statusCode).toBe(401);
    // It would put a window of the browser before the sign-in of the studio.
    expect(response.headers['www-authenticate']).toBeUndefined();
    expect(response.payload).not.toContain('secret');
  });

  test('with `pgreflect serve` nobody without an access token, wherever they are', async () => {
    await capture('secret');
    const app = await inboxServer(true, false);
    const asked = (headers: object = {}) =>
      app.inject({ url: path, headers: { host: 'localhost:54321', ...headers }, remoteAddress: '127.0.0.1' });
    const refused = await asked();
    expect([refused.statusCode, refused.payload.includes('secret')]).toEqual([401, false]);
    expect((await asked({ authorization: `Bearer ${accessToken}` })).statusCode).toBe(200);
  });

  test('the holder of an access token, from anywhere', async () => {
    const headers = { host: 'db.test', authorization: `Bearer ${accessToken}` };
    expect((await ask(path, { remoteAddress: '192.0.2.1', headers })).statusCode).toBe(200);
  });

  test('no other origin: the headers that open the APIs to pages are missing', async () => {
    const headers = { origin: 'http://localhost:54321' };
    const response = await ask(path, { headers });
    const refused = await ask(path, { headers: { origin: 'https://evil.test' } });
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
    expect(refused.headers['access-control-allow-origin']).toBeUndefined();
    expect(response.headers).toMatchObject({
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
  });

  test('nobody where a mail server is configured', async () => {
    const response = await ask(path, {}, false);
    expect(response.statusCode).toBe(404);
    expect(response.json().errors[0].message).toContain('smtp_host');
  });
});
