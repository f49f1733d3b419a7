/**
 * Secrets of the configuration, and people who may change it and do not know them.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { authField, authFieldNames } from '../../src/config/auth/auth-fields.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from '../management/management.ts';
import { startHookServer } from '../support/hook-server.ts';
import { anonKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer } from '../support/smtp-server.ts';

let database: TestDatabase;
let managed: ManagedGateway;

const login = { user: 'shop', password: 'only the operator knows it' };

beforeAll(async () => {
  database = await createAuthDatabase();
});

beforeEach(() => database.query('truncate auth.pgreflect_config, auth.pgreflect_config_versions'));

const ours: AuthValues = {
  site_url: 'https://shop.test',
  smtp_host: 'mail.shop.test',
  smtp_user: login.user,
  smtp_pass: login.password,
  external_keycloak_secret: 'our secret there',
  external_keycloak_url: 'https://login.shop.test',
  sms_twilio_auth_token: 'our token there',
  mailer_api_key: 'our key at the mail service',
  security_captcha_secret: 'our secret at the captcha service',
};

async function serve(authValues: AuthValues): Promise<void> {
  managed = await managedGateway(database, await addToken(database), { authValues, allowPrivateNetworks: true });
}

const trial = () =>
  managed.call({
    method: 'POST',
    path: `/v1/projects/${ref}/config/auth/emails/send`,
    body: JSON.stringify({ email: 'recovery', to: 'thief@x.test' }),
  });

test("a change of the mail server's host does not send it the stored password", async () => {
  await serve(ours);
  const thief = await startSmtpServer({ tls: 'none', login });
  const elsewhere = { smtp_host: '127.0.0.1', smtp_port: String(thief.port) };
  const { smtp_pass: digest } = (await managed.get()).body;
  const attempts = [
    elsewhere,
    { ...elsewhere, smtp_pass: digest },
    { ...elsewhere, smtp_pass: null },
    { smtp_host: null, smtp_port: elsewhere.smtp_port },
    { smtp_host: '' },
    elsewhere,
  ];
  for (const attempt of attempts) {
    await managed.patch(attempt);
    await trial();
  }
  expect([thief.logins(), thief.messages]).toEqual([0, []]);
  const guess = await managed.patch({ ...elsewhere, smtp_pass: 'a guess' });
  expect(guess.status).toBe(200);
  await trial();
  expect([thief.logins(), thief.messages]).toEqual([1, []]);
  // To give the guess up would be to send the operator's password instead.
  expect(await managed.patch({ smtp_pass: null })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('smtp_host is where smtp_pass is sent; send the secret itself with it') },
  });
  await trial();
  expect([thief.logins(), thief.messages]).toEqual([2, []]);
  const { body } = await managed.patch({ smtp_host: null, smtp_port: null, smtp_pass: null });
  expect([body.smtp_host, body.smtp_pass]).toEqual(['mail.shop.test', digest]);
});

test('secrets of providers stay where they belong, and an address may be given up', async () => {
  await serve(ours);
  for (const [name, secret] of [
    ['external_keycloak_url', 'external_keycloak_secret'],
    ['sms_provider_url', 'sms_twilio_auth_token'],
    ['mailer_api_url', 'mailer_api_key'],
    ['security_captcha_url', 'security_captcha_secret'],
  ] as const) {
    const refused = await managed.patch({ [name]: 'https://thief.test' });
    expect(refused).toMatchObject({
      status: 400,
      body: { message: `${name} is where ${secret} is sent; send the secret itself with it` },
    });
    expect((await managed.get()).body[name]).not.toBe('https://thief.test');
    const moved = { [name]: 'https://new.shop.test', [secret]: 'the same or another' };
    expect(await managed.patch(moved)).toMatchObject({ status: 200, body: { [name]: 'https://new.shop.test' } });
    expect((await managed.patch({ [secret]: null })).status).toBe(400);
    expect((await managed.patch({ [name]: null })).status).toBe(name === 'external_keycloak_url' ? 400 : 200);
    expect((await managed.patch({ [name]: null, [secret]: null })).status).toBe(200);
  }
});

const secrets = authFieldNames.filter((name) => authField(name).secret);
const addresses = authFieldNames.filter((name) => /_(?:url|uri|host|port)$/.test(name));

test('every secret says where it is sent, and every other address gets none', () => {
  const reached = secrets.flatMap((name) => {
    const { sentTo } = authField(name);
    expect([name, sentTo]).toEqual([name, expect.any(Array)]);
    return sentTo ?? [];
  });
  expect(reached.filter((name) => !addresses.some((address) => address === name))).toEqual([]);
  const others = addresses.filter((name) => !reached.includes(name) && !/^external_\w+_redirect_uri$/.test(name));
  // Pages, a picture, and hooks: their requests are signed with their secret, which is not sent.
  expect(others).toEqual([
    ...['site_url', 'mailer_brand_logo_url', 'sms_webhook_url', 'hook_custom_access_token_uri'],
    ...['hook_before_user_created_uri', 'hook_send_email_uri', 'hook_send_sms_uri'],
  ]);
});

const bound = secrets.flatMap((name) => (authField(name).sentTo ?? []).map((address) => [name, address] as const));

test.each(bound)('%s is not sent to another %s', async (secret, address) => {
  const own = address === 'smtp_host' ? 'mail.shop.test' : address === 'smtp_port' ? '2525' : 'https://own.shop.test';
  const other = address === 'smtp_host' ? 'thief.test' : address === 'smtp_port' ? '2626' : 'https://thief.test';
  await serve({ site_url: 'https://shop.test', smtp_host: 'mail.shop.test', [secret]: 'ours' });
  const digest = (await managed.get()).body[secret];
  for (const attempt of [{}, { [secret]: digest }, { [secret]: null }]) {
    const reply = await managed.patch({ [address]: other, ...attempt });
    expect([reply.status, reply.body.message]).toEqual([
      400,
      expect.stringContaining(`${address} is where ${secret} is sent; send the secret itself with it`),
    ]);
  }
  const moved = await managed.patch({ [address]: own, [secret]: 'ours' });
  expect([moved.status, moved.body[address]]).toEqual([200, own]);
});

test('services for emails and captchas that were configured at run time are called at public addresses only', async () => {
  const inside = await startHookServer(null);
  managed = await managedGateway(database, await addToken(database), { allowPrivateNetworks: false, anonKey });
  const port = new URL(inside.url).port;
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '[::ffff:127.0.0.1]']) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${port}`;
      await managed.patch({ mailer_transport: 'postmark', mailer_api_key: 'a key', mailer_api_url: url });
      await trial();
      const captcha = { security_captcha_enabled: true, security_captcha_secret: 'x', security_captcha_url: url };
      await managed.patch(captcha);
      const body = { email: 'a@x.test', password: 'abcdef', gotrue_meta_security: { captcha_token: 'x' } };
      const headers = { apikey: anonKey };
      await managed.call({ method: 'POST', path: '/auth/v1/signup', body: JSON.stringify(body), headers });
    }
  }
  const { body } = await managed.get();
  expect([body.mailer_transport, body.security_captcha_enabled, inside.requests]).toEqual(['postmark', true, []]);
});
