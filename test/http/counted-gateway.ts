/** A gateway that has done each thing that metrics count, for what is said of its series. */
import { expect, vi } from 'vitest';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { hookSecret, startHookServer } from '../support/hook-server.ts';
import { anonKey, operation } from '../support/http.ts';
import { overEvents } from '../support/live.ts';
import { startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase } from '../support/postgres.ts';
import { callbackUrl, keycloakValues, signInAs } from '../support/provider-sign-in.ts';
import { startSmtpServer } from '../support/smtp-server.ts';

const schema = `create table note (id int primary key); insert into note values (1); grant select on note to anon;
  create function public.broken() returns int stable language plpgsql as
    $$ begin raise exception 'inside' using errcode = 'XX000'; end $$`;

const knownPhone = '49150100001';
const solved = { gotrue_meta_security: { captcha_token: 'solved' } };

/** Starts it, does each thing. @returns Its metrics, as a collector with this header gets them. */
export async function countedGateway(): Promise<(accept?: string) => Promise<string>> {
  const database = await createAuthDatabase(schema);
  const [hooks, texts, captcha, smtp, provider] = await Promise.all([
    startHookServer(),
    startHookServer(null),
    startHookServer(null),
    startSmtpServer({ tls: 'none' }),
    startOidcProvider([callbackUrl], {}),
  ]);
  texts.answer(({ payload }) => {
    const isKnown = new URLSearchParams(payload).get('to') === knownPhone;
    return { body: { messages: [isKnown ? { status: '0', 'message-id': 'A1' } : { status: '6' }] } };
  });
  captcha.answer(({ payload }) => {
    const success = new URLSearchParams(payload).get('response') === 'solved';
    return { body: success ? { success } : { success, 'error-codes': ['invalid-input-response'] } };
  });
  provider.users.ann = { name: 'Ann', email: 'ann@x.test', email_verified: true };
  const values = {
    ...keycloakValues(provider),
    smtp_host: '127.0.0.1',
    smtp_port: String(smtp.port),
    smtp_admin_email: 'no-reply@app.test',
    smtp_max_frequency: 0,
    hook_before_user_created_enabled: true,
    hook_before_user_created_uri: hooks.url,
    hook_before_user_created_secrets: hookSecret,
    external_phone_enabled: true,
    sms_provider: 'vonage' as const,
    sms_vonage_api_key: 'key',
    sms_vonage_api_secret: 'secret',
    sms_vonage_from: 'shop',
    sms_max_frequency: 0,
    sms_provider_url: texts.url,
    security_captcha_enabled: true,
    security_captcha_provider: 'turnstile' as const,
    security_captcha_secret: 'secret',
    security_captcha_url: captcha.url,
  };
  // It is no replica, and so left out.
  const auth = await testAuth(database, values, { metricsPort: 0, readReplicaUrls: [database.url] });
  await sendOperations(auth.url);
  smtp.behave({ kind: 'refuse', at: 'recipient', code: 550, text: 'no such user', recipients: /gone/ });
  await tryToSignIn(auth);
  await signInAs(auth, 'ann');
  hooks.answer({ status: 500 });
  await auth.ask('/signup', { email: 'late@x.test', password: 'a good password', ...solved });
  await auth.gateway.reload();
  await vi.waitFor(async () => expect(await database.query('select from pgreflect_queue.emails')).toEqual([]), 10_000);
  return async (accept = 'text/plain') => {
    const url = `http://127.0.0.1:${auth.gateway.metricsPort}/metrics`;
    return (await fetch(url, { headers: { accept } })).text();
  };
}

async function sendOperations(url: string): Promise<void> {
  for (const query of ['{ noteCollection { edges { node { id } } } }', '{ mistake }', '{ broken }']) {
    const headers = { apikey: anonKey, 'content-type': 'application/json' };
    await (await fetch(`${url}/graphql/v1`, { method: 'POST', headers, body: operation(query) })).text();
  }
  const heard = overEvents(url, { query: 'subscription { noteCollection { edges { node { id } } } }' });
  await heard.next();
  heard.stop();
}

async function tryToSignIn(auth: TestAuth): Promise<void> {
  const credentials = { email: 'kim@x.test', password: 'a good password', ...solved };
  const user = { ...credentials, email_confirm: true };
  expect((await auth.askAdmin('/admin/users', user)).status).toBe(200);
  const { body } = await auth.ask('/token?grant_type=password', credentials);
  await auth.ask('/token?grant_type=password', { ...credentials, password: 'another' });
  await auth.ask('/token?grant_type=refresh_token', { refresh_token: body.refresh_token });
  await auth.ask('/signup', { ...credentials, email: 'gone@x.test' });
  await auth.ask('/signup', { ...credentials, email: 'new@x.test' });
  await auth.ask('/signup', { ...credentials, gotrue_meta_security: { captcha_token: 'not solved' } });
  for (const phone of [knownPhone, '49150100002']) await auth.ask('/otp', { phone, ...solved });
  await auth.ask('/verify', { type: 'signup', token_hash: 'unknown' });
}
