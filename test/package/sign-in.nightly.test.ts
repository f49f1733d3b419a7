/**
 * What `docs/auth-flows.md` tells to try, step by step as a newcomer takes it: the start with a schema, the page, the email in the
 * inbox, its link, and a row that its owner alone sees. Everything is a process of its own or a page of a browser.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { startCommand, temporaryDirectory } from '../commands/run-command.ts';
import { openBrowser } from '../support/browser.ts';
import { expectStatus, newPage, serveScript } from '../support/email-links.ts';
import { findFreePort } from '../support/free-port.ts';
import { installPackages } from '../support/install-packages.ts';

// A busy machine takes its time to start a database and a browser.
vi.setConfig({ testTimeout: 240_000 });

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/auth-flows.md'), 'utf8');
const [section = ''] = /^## Try it\n[\s\S]*?(?=^## )/m.exec(page) ?? [];

let browser: Browser;
beforeAll(async () => {
  installPackages('examples/email-links');
  browser = await openBrowser();
}, 300_000);

/** What the page names behind a word. */
function named(pattern: RegExp): string {
  const [, word] = pattern.exec(section) ?? [];
  expect(word, String(pattern)).toBeDefined();
  return word!;
}

/** Signs somebody in: the form of the page, the email in the inbox, its link. Returns the page that the link opens. */
async function signIn(origin: string, inbox: string, email: string): Promise<Page> {
  const page = await newPage(browser);
  await page.goto(origin);
  await expectStatus(page, 'Not signed in');
  await page.fill('[name=email]', email);
  await page.click('#sign-in [type=submit]');
  await expectStatus(page, `An email is on its way to ${email}`);
  await page.goto(inbox);
  const link = page.frameLocator('iframe[title="The email"]').getByRole('link').first();
  const [signedIn] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
  await expectStatus(signedIn, `Signed in as ${email}`);
  return signedIn;
}

async function keepNote(page: Page, body: string): Promise<void> {
  await page.fill('[name=body]', body);
  await page.click('#write [type=submit]');
  await page.locator('#notes', { hasText: body }).waitFor();
}

/** All that the page shows of the table. */
async function expectNotes(page: Page, text: string): Promise<void> {
  await page.locator('#notes', { hasText: text }).waitFor();
  expect(await page.locator('#notes').textContent()).toBe(text);
}

test('a newcomer signs in by the link of an email, and sees the own rows and no others', async () => {
  const port = await findFreePort();
  const schemaFile = join(root, named(/npm start -- --reset --schema-file (\S+)/));
  const options = { directory: temporaryDirectory() };
  const start = startCommand(['start', '--port', String(port), '--reset', '--schema-file', schemaFile], options);
  const [, anonKey = ''] = await start.until(/anon key +(eyJ\S+)/);
  const [, inbox = ''] = await start.until(/Inbox +(\S+)/);
  expect(new URL(inbox).pathname).toBe(new URL(named(/inbox at `(\S+)`/)).pathname);
  const environment = { API_URL: `http://localhost:${port}`, ANON_KEY: anonKey };
  const origin = await serveScript(named(/npm run (\S+)/), environment);

  const ana = await signIn(origin, inbox, 'ana@x.test');
  await keepNote(ana, 'Buy bread & <b>milk</b>');
  await ana.reload();
  await expectNotes(ana, 'Buy bread & <b>milk</b>');

  const bo = await signIn(origin, inbox, 'bo@x.test');
  await keepNote(bo, 'Call Ana');
  await expectNotes(bo, 'Call Ana');
});
