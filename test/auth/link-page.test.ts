/**
 * The page that asks before an emailed link is used: opening a link does nothing and tells nothing, its button does what
 * opening did before.
 */
import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { fragmentOf, open, queryOf, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const pkce = {
  code_challenge: createHash('sha256').update('v'.repeat(64)).digest('base64url'),
  code_challenge_method: 's256',
};

const serve = (values: AuthValues = {}) =>
  testAuth(database, { mailer_link_confirmation: 'page', smtp_max_frequency: 0, ...values });

async function signUpLink(auth: TestAuth, email: string, query = '', more: object = {}) {
  await auth.ask(`/signup${query}`, { email, password, ...more });
  return (await auth.message(email)).link;
}

async function look(link: string, init: RequestInit = {}) {
  const reply = await fetch(link, { redirect: 'manual', ...init });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

/** Fields of the form in a page. */
function fieldsOf(page: string): URLSearchParams {
  const fields = [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
  const decode = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
  return new URLSearchParams(fields.map(([, name = '', value = '']) => [name, decode(value)]));
}

/** Presses the button of a page, as a browser does. */
async function press(auth: TestAuth, fields: URLSearchParams | Record<string, string>) {
  const headers = { accept: 'text/html,*/*;q=0.8' };
  const body = new URLSearchParams(fields);
  const reply = await look(`${auth.url}/auth/v1/verify?`, { method: 'POST', headers, body });
  return { ...reply, location: reply.headers.get('location') ?? '' };
}

const openAndPress = async (auth: TestAuth, link: string) => press(auth, fieldsOf((await look(link)).text));

test('opening a link shows a page and uses up nothing; its button verifies, once', async () => {
  const auth = await serve();
  const link = await signUpLink(auth, 'ana@x.test');
  for (const method of ['GET', 'HEAD', 'GET']) expect((await look(link, { method })).status).toBe(200);
  const { text } = await look(link);
  expect(text).toContain('<h1>Confirm your email address</h1>');
  expect(text).toContain('continue to https://app.test. The link was sent to a***@x.test.');
  expect([...fieldsOf(text).keys()]).toEqual(['token', 'type', 'redirect_to']);
  const pressed = await openAndPress(auth, link);
  expect([pressed.status, pressed.headers.get('cache-control'), pressed.headers.get('referrer-policy')]).toEqual([
    ...[303, 'no-store', 'no-referrer'],
  ]);
  expect(fragmentOf(pressed.location)).toMatchObject({ access_token: expect.any(String), type: 'signup' });
  const again = await openAndPress(auth, link);
  expect(again.location).toMatch(/^https:\/\/app\.test#error=access_denied&error_code=otp_expired&/);
});

test('links that are used, expired or made up get the same page as a valid one', async () => {
  const auth = await serve();
  const link = await signUpLink(auth, 'equal@x.test');
  const good = await look(link);
  expect((await openAndPress(auth, link)).location).toContain('access_token=');
  const used = await look(link);
  auth.pass(100_000);
  const expired = await look(link);
  for (const page of [used, expired]) expect(page.text).toBe(good.text);
  const madeUp = await look(`${auth.url}/auth/v1/verify?token=${'0'.repeat(56)}&type=email`);
  expect(madeUp.status).toBe(200);
  const pressed = await press(auth, fieldsOf(madeUp.text));
  expect(fragmentOf(pressed.location).error_code).toBe('otp_expired');
});

test('HEAD has the head of the page, and no body', async () => {
  const auth = await serve();
  const link = await signUpLink(auth, 'head@x.test');
  const names = ['content-type', 'cache-control', 'referrer-policy', 'x-robots-tag', 'x-frame-options'];
  const of = ({ headers, status }: Awaited<ReturnType<typeof look>>) => [
    status,
    ...[...names, 'content-security-policy'].map((name) => headers.get(name)),
  ];
  const head = await look(link, { method: 'HEAD' });
  expect(of(head)).toEqual([
    ...[200, 'text/html; charset=utf-8', 'no-store', 'no-referrer', 'noindex', 'DENY'],
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self' https:; frame-ancestors 'none'",
  ]);
  expect(of(await look(link))).toEqual(of(head));
  expect(head.text).toBe('');
});

test.each([
  ['https://app.test/cb?b=2&a=1#old', {}],
  ['https://app.test/#/route', {}],
  ['myapp://cb', {}],
  ['https://app.test/cb?b=2', pkce],
  ['https://elsewhere.test/', {}],
])('the button leads where opening a link to %s did (%j)', async (target, more) => {
  const values = { uri_allow_list: 'myapp://**' };
  const query = `?redirect_to=${encodeURIComponent(target)}`;
  const seen = async (auth: TestAuth, follow: (link: string) => Promise<{ location: string }>, email: string) => {
    const link = await signUpLink(auth, email, query, more);
    const places = [(await follow(link)).location, (await follow(link)).location];
    return places.map((place) => place.replace(/(access_token|refresh_token|expires_at|code)=[^&#]*/g, '$1=…'));
  };
  const name = createHash('sha1').update(target).digest('hex');
  const direct = await testAuth(database, { ...values, smtp_max_frequency: 0 });
  const opened = await seen(direct, open, `direct.${name}@x.test`);
  const paged = await serve(values);
  expect(await seen(paged, (link) => openAndPress(paged, link), `page.${name}@x.test`)).toEqual(opened);
});

test('of two presses at once, one gets a session and the other otp_expired', async () => {
  const auth = await serve();
  const email = 'twice@x.test';
  const fields = fieldsOf((await look(await signUpLink(auth, email))).text);
  const presses = await Promise.all([press(auth, fields), press(auth, fields)]);
  const outcomes = presses.map(({ location }) => fragmentOf(location).error_code ?? 'a session');
  expect(outcomes.sort()).toEqual(['a session', 'otp_expired']);
  const sessions = 'select 1 from auth.sessions s join auth.users u on u.id = s.user_id where u.email = $1';
  expect(await database.query(sessions, [email])).toHaveLength(1);
});

test('a first link of two for a change of the address says so behind the button', async () => {
  const auth = await serve();
  const { access_token: token } = await signedUp(auth, 'old@x.test');
  await auth.ask('/user', { email: 'new@x.test' }, { method: 'PUT', token });
  const links = [(await auth.message('old@x.test')).link, (await auth.message('new@x.test')).link];
  const pages = await Promise.all(links.map((link) => look(link)));
  expect(pages.map(({ text }) => /sent to ([^ ]*)\./.exec(text)?.[1])).toEqual(['o***@x.test', 'n***@x.test']);
  const [first, second] = [await openAndPress(auth, links[0]!), await openAndPress(auth, links[1]!)];
  expect(first.location).toMatch(/^https:\/\/app\.test#message=Confirmation\+link\+accepted/);
  expect(fragmentOf(second.location)).toMatchObject({ type: 'email_change', access_token: expect.any(String) });
});

test('a program verifies with JSON and a key as before, whatever content type it says', async () => {
  const auth = await serve();
  const fields = fieldsOf((await look(await signUpLink(auth, 'json@x.test'))).text);
  const body = { type: 'email', token_hash: fields.get('token') };
  const asForm = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  expect((await auth.ask('/verify', body, { ...asForm, key: null })).status).toBe(401);
  expect((await auth.ask('/verify', body, { key: null })).status).toBe(401);
  expect((await auth.ask('/verify', body, asForm)).body).toHaveProperty('access_token');
});

test('a button that was shown before the page was switched off still verifies', async () => {
  const auth = await serve();
  const fields = fieldsOf((await look(await signUpLink(auth, 'late@x.test'))).text);
  const direct = await testAuth(database, { smtp_max_frequency: 0 });
  expect((await press(direct, fields)).location).toContain('access_token=');
});

test('pages are not counted by the limit on verifications, presses are', async () => {
  const auth = await serve({ rate_limit_verify: 2 });
  const link = await signUpLink(auth, 'limited@x.test');
  const many = Array.from({ length: 31 });
  const pages = await Promise.all(many.map(() => look(link)));
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
  const presses = await Promise.all(many.map(() => press(auth, { token: 'x', type: 'email' })));
  const [refused, ...more] = presses.filter(({ status }) => status !== 303);
  expect([refused?.status, refused?.text.includes('Too many attempts'), more]).toEqual([429, true, []]);
});

test('a link or form without its parameters is answered directly', async () => {
  const auth = await serve();
  for (const path of ['/verify', '/verify?type=email', '/verify?token=x'])
    expect((await look(`${auth.url}/auth/v1${path}`)).status).toBe(400);
  const pressed = await press(auth, { type: 'email' });
  expect([pressed.status, pressed.text.includes('This link is incomplete')]).toEqual([400, true]);
});

test('nothing of the link is markup on the page, and no address that is not allowed is on it', async () => {
  const auth = await serve();
  const evil = `"'><script>alert(1)</script>\r\n{{ .Button }}`;
  const parameters = { token: evil, type: evil, redirect_to: `javascript:${evil}`, address: evil };
  const headers = { 'x-forwarded-host': 'evil.test', referer: 'https://evil.test/' };
  const {
    status,
    text,
    headers: given,
  } = await look(`${auth.url}/auth/v1/verify?${new URLSearchParams(parameters)}`, {
    headers,
  });
  expect([status, text.match(/<script|evil|javascript/g)]).toEqual([200, null]);
  expect(text).toContain('<h1>Continue</h1>');
  expect(Object.fromEntries(fieldsOf(text))).toEqual({ token: evil, type: evil, redirect_to: 'https://app.test' });
  expect(given.get('content-security-policy')).toContain("form-action 'self' https:;");
  const elsewhere = { token: 'x', type: 'email', redirect_to: 'https://evil.test/' };
  expect((await press(auth, elsewhere)).location).toMatch(/^https:\/\/app\.test#error=/);
});

test('the page names no other address than the one that the link was sent to', async () => {
  const auth = await serve();
  const [mine, other] = [await signUpLink(auth, 'mine@x.test'), await signUpLink(auth, 'victim@x.test')];
  const { address: stamped = '' } = queryOf(other);
  const forged = new URL(mine);
  for (const address of [stamped, 'v***@x.test', 'v***@x.test.', '']) {
    forged.searchParams.set('address', address);
    expect((await look(forged.href)).text).not.toContain('***');
  }
});

test.each([
  ['<p>no button</p>', 'it must use {{ .Button }} exactly once, and uses it 0 times'],
  ['{{ .Button }}{{ .Button }}', 'it must use {{ .Button }} exactly once, and uses it 2 times'],
  ['{{ if .Email }}{{ .Button }}{{ end }}', 'it must use {{ .Button }} exactly once, and uses it 0 times'],
  ['<p title="{{ .Button }}">x</p>', 'it must use {{ .Button }} as text between tags'],
  ['<title>{{ .Button }}</title>', 'it must use {{ .Button }} as text between tags'],
  ['<form>{{ .Button }}</form>', 'it must not have a <form> of its own: {{ .Button }} is one'],
])(
  'the template %s makes no page with a button: people see the built-in one, and the log says why',
  async (text, why) => {
    const auth = await serve({ mailer_templates_link_page_content: text });
    const pressed = await openAndPress(auth, `${auth.url}/auth/v1/verify?token=x&type=recovery`);
    expect(fragmentOf(pressed.location).error_code).toBe('otp_expired');
    expect(auth.observations).toContainEqual(
      expect.objectContaining({ kind: 'template_refused', email: 'link_page', problem: `I${why.slice(1)}.` }),
    );
  },
);

test('a template of your own is the page, with what it is about', async () => {
  const text = `{{ .Locale }} {{ .Action }} <b>{{ .Email }}</b> {{ .SiteURL }} {{ .Button }} after`;
  const auth = await serve({ mailer_templates_link_page_content: text });
  const page = (await look(await signUpLink(auth, 'own@x.test'))).text;
  expect(page).toMatch(/^ confirmation <b>o\*\*\*@x\.test<\/b> https:\/\/app\.test <form method="post" action="\?">/);
  expect(page).toMatch(/<button type="submit">Confirm email address<\/button><\/form> after$/);
});
