/**
 * Members from sign-up to the day after, in a browser: they fill in the forms of an application with the published clients, read
 * the email that a mail server got, follow its link, and come back the next day in a browser that remembers nothing.
 */
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { temporaryDirectory } from '../commands/run-command.ts';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { openBrowser } from '../support/browser.ts';
import { serveScript } from '../support/email-links.ts';
import { findFreePort } from '../support/free-port.ts';
import { anonKey } from '../support/http.ts';
import { memberSql, serveMemberApp, submit, told } from '../support/member-app.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';
import { atEnd } from '../support/when-over.ts';

let database: TestDatabase;
let browser: Browser;
let smtp: TestSmtpServer;
let port: number;
let gatewayUrl: string;
let appUrl: string;

beforeAll(async () => {
  database = await createAuthDatabase(memberSql);
  smtp = await startSmtpServer({ tls: 'none' }, atEnd);
  port = await findFreePort();
  gatewayUrl = `http://localhost:${port}`;
  appUrl = await serveMemberApp(gatewayUrl);
  browser = await openBrowser();
});

type Flow = 'implicit' | 'pkce';

const password = 'a good password';
const name = 'Ana';
const day = 86_400;

const serve = (values: AuthValues = {}): Promise<TestAuth> => {
  const mailServer = { smtp_host: '127.0.0.1', smtp_port: String(smtp.port), smtp_admin_email: 'no-reply@app.test' };
  const given = { host: 'localhost', port, externalUrl: gatewayUrl, localProject: true };
  return testAuth(database, { ...mailServer, site_url: appUrl, smtp_max_frequency: 0, ...values }, given);
};

/** A browser that remembers nothing, with the time of the gateway. */
async function newPage(auth: TestAuth): Promise<Page> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  await context.clock.setFixedTime(auth.now());
  return context.newPage();
}

async function openApp(auth: TestAuth, flow: Flow): Promise<Page> {
  const page = await newPage(auth);
  await page.goto(`${appUrl}/${flow}`);
  expect(await told(page)).toEqual(nobody);
  return page;
}

const nobody = { status: 'done', user: 'nobody' };
const signedIn = (email: string) => ({ status: 'done', user: `${email}, ${name}, profile of ${name}` });

/** The email to an address with this number, once the mail server has it. */
const emailTo = (address: string, number = 1) =>
  vi.waitFor(
    () => {
      const emails = smtp.messages.filter(({ recipients }) => recipients.includes(address));
      expect(emails, address).toHaveLength(number);
      return emails[number - 1]!.parsed;
    },
    { timeout: 30_000, interval: 10 },
  );

const codeIn = async (address: string, number?: number) =>
  /\b\d{6}\b/.exec((await emailTo(address, number)).text!.replace(/https?:\S+/g, ''))![0];

/** Reads an email in the browser, as a mail program there does. */
async function openEmail(page: Page, address: string, number?: number): Promise<void> {
  const { html = '' } = await emailTo(address, number);
  await page.goto('about:blank');
  await page.setContent(html);
}

/** Follows the link of an email to the application. */
async function followLink(page: Page, address: string, number?: number) {
  await openEmail(page, address, number);
  await page.locator('a').first().click();
  return told(page);
}

/** The next day: a browser that remembers nothing, and the password. */
async function comeBack(auth: TestAuth, email: string, given = password): Promise<Page> {
  auth.pass(day);
  const page = await openApp(auth, 'implicit');
  expect(await submit(page, 'sign-in', { email, password: given })).toEqual(signedIn(email));
  return page;
}

/** Address and password that were replaced open nothing, for a member who is signed in with the new ones. */
async function expectReplaced(page: Page, old: Readonly<Record<string, string>>): Promise<void> {
  await submit(page, 'sign-out');
  expect(await submit(page, 'sign-in', old)).toEqual({ status: 'Invalid login credentials', user: 'nobody' });
}

test('a member who opens the link in another browser signs in with the password the next day', async () => {
  const auth = await serve();
  const email = 'another@x.test';
  const page = await openApp(auth, 'pkce');
  expect(await submit(page, 'sign-up', { email, password, name })).toEqual(nobody);
  // The code is worth something only beside the secret of the browser that asked for it.
  expect(await followLink(await newPage(auth), email)).toEqual(nobody);
  await comeBack(auth, email);
});

test('a scanner that opens the link first spoils nothing', async () => {
  const auth = await serve({ mailer_link_confirmation: 'page' });
  const email = 'scanned@x.test';
  const page = await openApp(auth, 'pkce');
  await submit(page, 'sign-up', { email, password, name });
  await openEmail(page, email);
  const link = await page.locator('a').first().getAttribute('href');
  for (const method of ['GET', 'HEAD', 'GET']) expect((await fetch(link!, { method })).status).toBe(200);
  await page.locator('a').first().click();
  await page.getByRole('button').click();
  expect(await told(page)).toEqual(signedIn(email));
});

test('a member who types the code is signed in', async () => {
  const auth = await serve();
  const [email, type] = ['code@x.test', 'email'];
  const page = await openApp(auth, 'pkce');
  await submit(page, 'sign-up', { email, password, name });
  const token = await codeIn(email);
  const wrong = token === '000000' ? '000001' : '000000';
  const refused = { status: 'Token has expired or is invalid', user: 'nobody' };
  expect(await submit(page, 'enter-code', { email, token: wrong, type })).toEqual(refused);
  expect(await submit(page, 'enter-code', { email, token, type })).toEqual(signedIn(email));
});

test('a member of a local project may ask for the email again', async () => {
  const flow = 'pkce';
  const auth = await serve();
  const email = `${flow}.again@x.test`;
  const page = await openApp(auth, flow);
  await submit(page, 'sign-up', { email, password, name });
  auth.pass(1);
  expect(await submit(page, 'resend', { email })).toEqual(nobody);
  expect(await followLink(page, email, 2)).toEqual(signedIn(email));
});

/** A member with a session in the page. */
async function signUp(page: Page, email: string): Promise<void> {
  await submit(page, 'sign-up', { email, password, name });
  expect(await followLink(page, email)).toEqual(signedIn(email));
  expect(page.url()).not.toMatch(/access_token|code=/);
}

test('a member signs in by a link the next day, and the client refreshes the session the day after', async () => {
  const flow = 'implicit';
  const auth = await serve();
  const email = `${flow}.magic@x.test`;
  const page = await openApp(auth, flow);
  await signUp(page, email);
  await submit(page, 'sign-out');
  auth.pass(day);
  const next = await openApp(auth, flow);
  expect(await submit(next, 'send-link', { email })).toEqual(nobody);
  expect(await followLink(next, email, 2)).toEqual(signedIn(email));
  auth.pass(day);
  await next.context().clock.setFixedTime(auth.now());
  await next.goto(`${appUrl}/${flow}`);
  expect(await told(next)).toEqual(signedIn(email));
  expect(await next.locator('#events').textContent()).toContain('TOKEN_REFRESHED');
});

test('a forgotten password is replaced for good', async () => {
  const flow = 'pkce';
  const auth = await serve();
  const email = `${flow}.forgetful@x.test`;
  const page = await openApp(auth, flow);
  await signUp(page, email);
  auth.pass(day);
  const next = await openApp(auth, flow);
  expect(await submit(next, 'forgot-password', { email })).toEqual(nobody);
  expect(await followLink(next, email, 2)).toEqual(signedIn(email));
  await next.locator('#events', { hasText: 'PASSWORD_RECOVERY' }).waitFor();
  expect(await submit(next, 'new-password', { password: 'another password' })).toEqual(signedIn(email));
  await expectReplaced(await comeBack(auth, email, 'another password'), { email, password });
});

test('an address is changed by both links', async () => {
  const flow = 'implicit';
  const auth = await serve();
  const [email, newEmail] = [`${flow}.old@x.test`, `${flow}.new@x.test`];
  const page = await openApp(auth, flow);
  await signUp(page, email);
  expect(await submit(page, 'new-email', { email: newEmail })).toEqual(signedIn(email));
  expect(await followLink(page, newEmail)).toEqual(signedIn(email));
  expect(await followLink(page, email, 2)).toEqual(signedIn(newEmail));
  await submit(page, 'sign-out');
  await expectReplaced(await comeBack(auth, newEmail), { email, password });
});

const example = join(import.meta.dirname, '../../examples/email-links');
const template = (kind: string) => readFileSync(join(example, 'server/templates', `${kind}.html`), 'utf8');

/** The site of the example, which runs `days` later than this process, with the packages of the tests. */
const serveSite = (days: number) => {
  const later = encodeURIComponent(`const { now } = Date; Date.now = () => now() + ${days * day * 1000};`);
  const settings = { API_URL: gatewayUrl, ANON_KEY: anonKey };
  const copy = temporaryDirectory();
  cpSync(example, copy, { recursive: true, filter: (path) => !path.includes('node_modules') });
  symlinkSync(join(dirname(findPackageJSON('@supabase/ssr', import.meta.url)!), '../..'), join(copy, 'node_modules'));
  const own = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    NODE_OPTIONS: `--import=data:text/javascript,${later}`,
  };
  return serveScript('server', { ...settings, ...own }, copy);
};

/** Fills in a form of the site and sends it. */
async function send(page: Page, form: string, fields: Readonly<Record<string, string>>): Promise<string | null> {
  for (const [field, value] of Object.entries(fields)) await page.fill(`#${form} [name=${field}]`, value);
  await page.click(`#${form} [type=submit]`);
  return page.locator('#status').textContent();
}

test('@supabase/ssr: the hash of the link becomes a session in cookies, refreshed the next day', async () => {
  const [site, later] = await Promise.all([serveSite(0), serveSite(1)]);
  const auth = await serve({ site_url: site, mailer_templates_confirmation_content: template('confirmation') });
  const email = 'server@x.test';
  const page = await newPage(auth);
  await page.goto(site);
  expect(await send(page, 'sign-up', { email, password, name })).toBe(`An email is on its way to ${email}`);
  const reader = await newPage(auth);
  await openEmail(reader, email);
  await reader.locator('a').click();
  const member = async () => Promise.all(['#status', '#name'].map((id) => reader.locator(id).textContent()));
  expect(await member()).toEqual([`Signed in as ${email}`, name]);
  const before = await reader.context().cookies();
  auth.pass(day);
  await reader.goto(later);
  expect(await member()).toEqual([`Signed in as ${email}`, name]);
  expect(await reader.context().cookies()).not.toEqual(before);
  // What was refreshed is what the browser has: it goes on.
  await reader.reload();
  expect(await member()).toEqual([`Signed in as ${email}`, name]);
  await page.goto(later);
  expect(await send(page, 'sign-in', { email, password })).toBe(`Signed in as ${email}`);
});
