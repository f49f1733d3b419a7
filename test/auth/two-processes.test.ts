/**
 * Two gateways of a deployment on one database are one service: what a client or an administrator does at one of them is in
 * force for the next request at the other.
 */
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPasswordHasher } from '../../src/auth/secrets/passwords.ts';
import { startGateway } from '../../src/gateway.ts';
import { addToken, ref } from '../management/management.ts';
import { type AuthReply, type AuthRequestOptions, send } from '../support/auth-service.ts';
import { serviceKey, testConfig } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';

const password = 'a good password';

interface Process {
  ask(path: string, body?: unknown, options?: AuthRequestOptions): Promise<AuthReply>;
  /** Changes the configuration at this process. */
  patch(changes: object): Promise<AuthReply>;
}

/** The key that signs is another one at each process: in the middle of a rotation, with both keys known to both. */
async function rotatedKeys(): Promise<readonly [string, string]> {
  const pairs = await Promise.all(
    ['old', 'new'].map(async (kid) => {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
      const named = { kid, alg: 'ES256' };
      return {
        signing: { ...(await exportJWK(privateKey)), ...named, key_ops: ['sign', 'verify'] },
        verifying: { ...(await exportJWK(publicKey)), ...named, key_ops: ['verify'] },
      };
    }),
  );
  const [before, after] = pairs as [(typeof pairs)[0], (typeof pairs)[0]];
  return [JSON.stringify([before.signing, after.verifying]), JSON.stringify([before.verifying, after.signing])];
}

async function startProcess(jwtKeys: string): Promise<Process> {
  const mail = { smtp_host: '127.0.0.1', smtp_port: String(smtp.port), smtp_admin_email: 'no-reply@app.test' };
  const limits = { smtp_max_frequency: 0, rate_limit_email_sent: 1000 };
  const config = testConfig({
    databaseUrl: database.urlAs('authenticator', 'test'),
    adminDatabaseUrl: database.url,
    schemas: ['public'],
    port: 0,
    jwtKeys: JSON.parse(jwtKeys),
    projectRef: ref,
    managementApiEnabled: true,
    authValues: { ...mail, ...limits, site_url: 'https://app.test', mailer_delivery: 'direct' },
  });
  const { url, stop } = await startGateway(config, {
    observe: () => {},
    hasher: createPasswordHasher(1, 4),
    minRefusalMs: 0,
  });
  whenOver(stop);
  const ask: Process['ask'] = (path, body, options = {}) => send(url, path, body, options);
  return {
    ask,
    async patch(changes) {
      const headers = { 'content-type': 'application/json' };
      const path = `/../../v1/projects/${ref}/config/auth`;
      const reply = await ask(path, changes, { method: 'PATCH', token: accessToken, headers });
      expect(reply.status).toBe(200);
      return reply;
    },
  };
}

// What is registered inside a hook would not run after the file.
const ends: (() => Promise<void>)[] = [];
const whenOver = (end: () => Promise<void>) => void ends.push(end);
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

let database: TestDatabase;
let accessToken: string;
let smtp: TestSmtpServer;
let first: Process;
let second: Process;
beforeAll(async () => {
  database = await createAuthDatabase();
  accessToken = await addToken(database);
  smtp = await startSmtpServer({ tls: 'none' }, whenOver);
  const [oldKeys, newKeys] = await rotatedKeys();
  [first, second] = await Promise.all([startProcess(oldKeys), startProcess(newKeys)]);
});

const lastEmail = () => smtp.messages.at(-1);
const codeOf = () => />(\d{6})</.exec(lastEmail()?.parsed.html ?? '')?.[1];

/** Signs a user up at one process and confirms at the other. */
async function signedUp(email: string): Promise<AuthReply['body']> {
  expect((await first.ask('/signup', { email, password })).status).toBe(200);
  const { status, body } = await second.ask('/verify', { type: 'email', email, token: codeOf() });
  expect(status).toBe(200);
  return body;
}

test('a template that is changed at one is in the very next email of the other', async () => {
  for (const number of [1, 2]) {
    const [changing, sending] = number % 2 ? [first, second] : [second, first];
    const subject = `Welcome, number ${number}`;
    await changing.patch({
      mailer_subjects_confirmation: subject,
      mailer_templates_confirmation_content: `<p>${subject}: {{ .Token }}</p>`,
    });
    const email = `template-${number}@x.test`;
    expect((await sending.ask('/signup', { email, password })).status).toBe(200);
    expect(lastEmail()?.parsed).toMatchObject({
      subject,
      html: expect.stringMatching(`<p>${subject}: \\d{6}</p>`),
    });
  }
  await first.patch({ mailer_subjects_confirmation: null, mailer_templates_confirmation_content: null });
});

test('sign-ups that are switched off at one are refused by the other', async () => {
  await first.patch({ disable_signup: true });
  const refused = await second.ask('/signup', { email: 'off@x.test', password });
  expect(refused).toMatchObject({ status: 422, body: { code: 'signup_disabled' } });
  await second.patch({ disable_signup: false });
  expect((await first.ask('/signup', { email: 'off@x.test', password })).status).toBe(200);
});

test('a limit is counted at both together, and a new one is in force at both', async () => {
  await signedUp('limited@x.test');
  await database.query('truncate auth.pgreflect_rate_limits');
  await first.patch({ rate_limit_email_sent: 2 });
  const recover = async (process: Process) => (await process.ask('/recover', { email: 'limited@x.test' })).status;
  expect([await recover(first), await recover(second)]).toEqual([200, 200]);
  expect([await recover(first), await recover(second)]).toEqual([429, 429]);
  await second.patch({ rate_limit_email_sent: 3 });
  expect([await recover(first), await recover(second)]).toEqual([200, 429]);
  await first.patch({ rate_limit_email_sent: null });
});

test('a limit on requests that is taken away at one holds up no request of the other', async () => {
  await first.patch({ external_anonymous_users_enabled: true, rate_limit_anonymous_users: 1 });
  expect(await second.ask('/signup', {})).toMatchObject({ status: 200 });
  expect(await second.ask('/signup', {})).toMatchObject({ status: 429, body: { code: 'over_request_rate_limit' } });
  await first.patch({ rate_limit_anonymous_users: 0 });
  expect(await second.ask('/signup', {})).toMatchObject({ status: 200 });
  await first.patch({ rate_limit_anonymous_users: 1 });
  expect(await second.ask('/signup', {})).toMatchObject({ status: 429 });
  await first.patch({ external_anonymous_users_enabled: null, rate_limit_anonymous_users: null });
});

test('a refresh token of one is accepted by the other, once, and its reuse ends the family at both', async () => {
  await first.patch({ security_refresh_token_reuse_interval: 0 });
  const refresh = (process: Process, token: string) =>
    process.ask('/token?grant_type=refresh_token', { refresh_token: token });
  const { refresh_token: oldest } = await signedUp('refresh@x.test');
  const { refresh_token: older } = (await refresh(first, oldest)).body;
  const { refresh_token: active } = (await refresh(second, older)).body;
  expect(new Set([oldest, older, active]).size).toBe(3);
  // Its answer may have been lost, so the last one used gives the active one again, wherever it was used.
  expect((await refresh(first, older)).body.refresh_token).toBe(active);
  expect(await refresh(first, oldest)).toMatchObject({ status: 400, body: { code: 'refresh_token_already_used' } });
  expect(await refresh(second, active)).toMatchObject({ status: 400, body: { code: 'refresh_token_already_used' } });
  await second.patch({ security_refresh_token_reuse_interval: null });
});

test('the same token at both at once gives one next token', async () => {
  const { refresh_token } = await signedUp('parallel@x.test');
  const replies = await Promise.all(
    [first, second, first, second].map((process) => process.ask('/token?grant_type=refresh_token', { refresh_token })),
  );
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(replies.map(({ body }) => body.refresh_token)).size).toBe(1);
});

test('a user who signs out at one, or is banned there, is refused by the other', async () => {
  const { access_token: token, user } = await signedUp('gone@x.test');
  expect((await first.ask('/user', undefined, { token })).status).toBe(200);
  expect((await second.ask('/logout', {}, { token })).status).toBe(204);
  expect(await first.ask('/user', undefined, { token })).toMatchObject({ body: { code: 'session_not_found' } });
  const admin = { method: 'PUT', key: serviceKey, token: serviceKey };
  expect((await first.ask(`/admin/users/${user.id}`, { ban_duration: '1h' }, admin)).status).toBe(200);
  const body = { email: 'gone@x.test', password };
  expect(await second.ask('/token?grant_type=password', body)).toMatchObject({ body: { code: 'user_banned' } });
});

test('while the signing key is rotated each accepts what the other signs', async () => {
  const { user } = await signedUp('rotation@x.test');
  const body = { email: 'rotation@x.test', password };
  const keyOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
  for (const [process, other, kid] of [
    [first, second, 'old'],
    [second, first, 'new'],
  ] as const) {
    const { access_token: token } = (await process.ask('/token?grant_type=password', body)).body;
    expect(keyOf(token)).toBe(kid);
    expect((await other.ask('/user', undefined, { token })).body.id).toBe(user.id);
    const { body: published } = await other.ask('/.well-known/jwks.json', undefined, { key: null });
    expect(published.keys.map((key: { kid: string }) => key.kid).sort()).toEqual(['new', 'old']);
  }
});
