/**
 * Somebody has emails sent to an address that is not theirs, in every way there is, to bury another email or to annoy.
 */
import { hash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { open, queryOf, signedUp, signedUpBefore, type TestAuth, testAuth } from '../support/auth-service.ts';
import { hookSecret, startHookServer } from '../support/hook-server.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

/** Requests come from one network, unless they say from which. */
async function serve(values = {}): Promise<TestAuth> {
  const limits = { smtp_max_frequency: 0, rate_limit_email_recipient: 10, ...values };
  const auth = await testAuth(database, limits, { trustedProxies: ['127.0.0.1'] });
  const usual = from(1);
  return {
    ...auth,
    ask: (path, body, options) => auth.ask(path, body, { ...usual, ...options }),
    askAdmin: (path, body, options) => auth.askAdmin(path, body, { ...usual, ...options }),
  };
}

const from = (network: number) => ({ headers: { 'x-forwarded-for': `198.51.${network >> 8}.${network & 255}` } });
const received = async (auth: TestAuth, email: string) => (await auth.messages(email)).length;

test('all kinds of emails to an address except notifications count together, for any requester and in any letter case', async () => {
  const auth = await serve();
  const email = 'all.kinds@x.test';
  const { access_token: token } = await signedUp(auth, email);
  const { length: before } = await auth.messages(email);
  const statuses = [
    await auth.ask('/recover', { email: 'All.Kinds@X.test' }),
    await auth.ask('/otp', { email }),
    await auth.ask('/magiclink', { email: email.toUpperCase() }),
    await auth.ask('/reauthenticate', undefined, { token }),
    await auth.ask('/user', { email: 'elsewhere@x.test' }, { method: 'PUT', token }),
  ].map(({ status }) => status);
  expect(statuses).toEqual(Array(5).fill(200));
  expect(await received(auth, email)).toBe(before + 5);
  for (let left = 10 - before - 5; left > 0; left -= 1) await auth.ask('/recover', { email });
  expect(await received(auth, email)).toBe(10);
  await auth.ask('/otp', { email });
  await auth.ask('/reauthenticate', undefined, { token });
  expect(await received(auth, email)).toBe(10);
  auth.pass(3600);
  await auth.ask('/recover', { email });
  expect(await received(auth, email)).toBe(11);
});

test('the limit also covers many users who change to one address, and admins who invite it', async () => {
  const auth = await serve({ rate_limit_email_recipient: 3, mailer_secure_email_change_enabled: false });
  const email = 'wanted@x.test';
  const users = await Promise.all([1, 2, 3, 4, 5].map((number) => signedUp(auth, `changes${number}@x.test`)));
  for (const { access_token: token } of users) {
    const { status, body } = await auth.ask('/user', { email }, { method: 'PUT', token });
    expect([status, body.new_email]).toEqual([200, email]);
  }
  expect((await auth.askAdmin('/invite', { email })).status).toBe(200);
  expect(await received(auth, email)).toBe(3);
});

test('an email that is not sent has no code, so that one guess cannot try the codes of many users', async () => {
  const auth = await serve({ rate_limit_email_recipient: 1, mailer_secure_email_change_enabled: false });
  const email = 'never.told@x.test';
  for (const number of [1, 2, 3]) {
    const { access_token: token } = await signedUp(auth, `guesses${number}@x.test`);
    await auth.ask('/user', { email }, { method: 'PUT', token });
  }
  const stored = await database.query<{ readonly hash: string }>(
    'select u.email_change_token_new as hash from auth.users u where u.email_change = $1',
    [email],
  );
  const hashes = new Set(stored.map(({ hash }) => hash));
  const guessable: string[] = [];
  for (let number = 0; number < 1_000_000; number += 1) {
    const code = String(number).padStart(6, '0');
    if (hashes.has(hash('sha224', email + code))) guessable.push(code);
  }
  expect([hashes.size, guessable]).toEqual([3, [(await auth.message(email)).code]]);
});

test('two processes count together, and requests at once are counted one by one', async () => {
  const [one, two] = [
    await serve({ rate_limit_email_recipient: 4 }),
    await serve({ rate_limit_email_recipient: 4, mailer_otp_length: 7 }),
  ];
  const email = 'at.once@x.test';
  await signedUp(one, email);
  await database.query(`delete from auth.pgreflect_rate_limits where name like '%email\\_to:%'`);
  const before = await received(one, email);
  const asked = [one, two].flatMap((auth) => Array.from({ length: 6 }, () => auth.ask('/recover', { email })));
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(await received(one, email)).toBe(before + 4);
});

test('the answers do not tell that an address got too many, nor does the log quote it', async () => {
  const auth = await serve({ rate_limit_email_recipient: 1 });
  const plain = (text: string) =>
    text
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replace(/(full|fresh)@x.test/g, 'EMAIL');
  await auth.askAdmin('/invite', { email: 'full@x.test' });
  await database.query(`delete from auth.users where email = 'full@x.test'`);
  for (const path of ['/signup', '/signup', '/recover', '/otp', '/resend']) {
    const [full, fresh] = [
      await auth.ask(path, { email: 'full@x.test', password, type: 'signup' }),
      await auth.ask(path, { email: 'fresh@x.test', password, type: 'signup' }),
    ];
    expect([full.status, plain(full.text)]).toEqual([fresh.status, plain(fresh.text)]);
  }
  expect([await received(auth, 'full@x.test'), await received(auth, 'fresh@x.test')]).toEqual([1, 1]);
  expect(auth.observations).toContainEqual(
    expect.objectContaining({ kind: 'email_given_up', reason: 'rate_limit_email_recipient is used up' }),
  );
  expect(JSON.stringify(auth.observations)).not.toContain('full@x.test');
});

test('the last email that arrived stays valid, whatever is asked for after it', async () => {
  const auth = await serve({ rate_limit_email_recipient: 2 });
  const email = 'still.valid@x.test';
  await auth.ask('/signup', { email, password });
  await open((await auth.message(email)).link);
  await auth.ask('/recover', { email });
  const { link } = await auth.message(email);
  await auth.ask('/recover', { email });
  await auth.ask('/otp', { email });
  expect(await received(auth, email)).toBe(2);
  expect((await open(link)).location).toContain('access_token=');
});

test('one network cannot use the emails up: the owner in another one gets theirs, and it stays the last', async () => {
  const auth = await serve();
  const email = 'not.buried@x.test';
  const [owner, stranger] = [from(60_000), from(60_001)];
  const ask = (challenge: string, options: object) =>
    auth.ask('/otp', { email, code_challenge: challenge, code_challenge_method: 'plain' }, options);
  await signedUp(auth, email);
  const before = await received(auth, email);
  for (let times = 0; times < 20; times += 1) await ask('t'.repeat(43), stranger);
  expect(await received(auth, email)).toBe(before + 10);
  auth.pass(1);
  await ask('o'.repeat(43), owner);
  const { link } = await auth.message(email);
  auth.pass(1);
  for (let times = 0; times < 20; times += 1) await ask('t'.repeat(43), stranger);
  expect(await received(auth, email)).toBe(before + 11);
  const { code } = queryOf((await open(link)).location);
  const exchange = { auth_code: code, code_verifier: 'o'.repeat(43) };
  expect(await auth.ask('/token?grant_type=pkce', exchange)).toMatchObject({ status: 200, body: { user: { email } } });
});

test('networks in which the owner is signed in have emails of their own; those of other accounts have not', async () => {
  const auth = await serve({ mailer_secure_email_change_enabled: false });
  const [email, home] = ['at.home@x.test', from(60_002)];
  await auth.ask('/signup', { email, password });
  const { code } = await auth.message(email);
  expect((await auth.ask('/verify', { type: 'email', email, token: code }, home)).status).toBe(200);
  for (let times = 0; times < 20; times += 1) await auth.ask('/recover', { email });
  expect(await received(auth, email)).toBe(10);
  const { access_token: token } = await signedUp(auth, 'thief.at.home@x.test');
  for (let times = 0; times < 3; times += 1) await auth.ask('/user', { email }, { method: 'PUT', token, ...home });
  expect(await received(auth, email)).toBe(10);
  for (let times = 0; times < 20; times += 1) await auth.ask('/recover', { email }, home);
  // Five that were left to other networks, and ten of its own.
  expect(await received(auth, email)).toBe(25);
});

test('the hook that sends emails is not called for an address that got too many', async () => {
  const server = await startHookServer();
  const auth = await serve({
    rate_limit_email_recipient: 2,
    hook_send_email_enabled: true,
    hook_send_email_uri: server.url,
    hook_send_email_secrets: hookSecret,
    mailer_delivery: 'direct',
  });
  const email = 'hooked@x.test';
  for (let time = 0; time < 4; time += 1) await auth.ask('/signup', { email, password });
  expect(server.requests).toHaveLength(2);
});

test('the hook never gets the token of one address alone, which it would send to the other', async () => {
  const server = await startHookServer();
  const { access_token: token } = await signedUpBefore(database, 'owner@x.test');
  const hook = { hook_send_email_enabled: true, hook_send_email_uri: server.url, hook_send_email_secrets: hookSecret };
  const auth = await serve({ ...hook, rate_limit_email_recipient: 1, mailer_delivery: 'direct' });
  await auth.ask('/signup', { email: 'thief@x.test', password });
  await database.query(`delete from auth.users where email = 'thief@x.test'`);
  await database.query(
    `delete from auth.pgreflect_rate_limits where name like '%' || encode(sha256('owner@x.test'), 'hex')`,
  );
  const { status } = await auth.ask('/user', { email: 'thief@x.test' }, { method: 'PUT', token });
  expect([status, server.requests.length]).toEqual([200, 1]);
});

test('0 is no limit', async () => {
  const auth = await serve({ rate_limit_email_recipient: 0 });
  const email = 'no.limit@x.test';
  for (let time = 0; time < 12; time += 1) await auth.ask('/signup', { email, password });
  expect(await received(auth, email)).toBe(12);
});

test('the code of an email is for who asked for it, although others ask for one with a challenge of their own', async () => {
  const auth = await serve({ rate_limit_email_recipient: 2 });
  const email = 'still.mine@x.test';
  const [own, thief] = ['o'.repeat(43), 't'.repeat(43)];
  const ask = (challenge: string) =>
    auth.ask('/otp', { email, code_challenge: challenge, code_challenge_method: 'plain' });
  await signedUp(auth, email);
  await ask(own);
  const { link } = await auth.message(email);
  // The newest flow would count.
  auth.pass(1);
  expect((await ask(thief)).status).toBe(200);
  expect(await received(auth, email)).toBe(2);
  const { code } = queryOf((await open(link)).location);
  const exchange = { auth_code: code, code_verifier: own };
  expect(await auth.ask('/token?grant_type=pkce', exchange)).toMatchObject({ status: 200, body: { user: { email } } });
});

test('many networks together have half as many emails more than one', async () => {
  const auth = await serve();
  const email = 'many.networks@x.test';
  await signedUp(auth, email);
  for (let network = 2; network < 30; network += 1) await auth.ask('/recover', { email }, from(network));
  expect(await received(auth, email)).toBe(15);
});
