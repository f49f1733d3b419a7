/** What examples/live-todo/README.md tells to try: the start with a schema, the page, and two browsers that see each other's changes. */
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
const example = join(root, 'examples/live-todo');
const readme = readFileSync(join(example, 'README.md'), 'utf8');

let browser: Browser;
beforeAll(async () => {
  installPackages('examples/live-todo');
  browser = await openBrowser();
}, 300_000);

/** What the page names behind a word. */
function named(pattern: RegExp): string {
  const [, word] = pattern.exec(readme) ?? [];
  expect(word, String(pattern)).toBeDefined();
  return word!;
}

/** Starts a project and the page as the README says; returns the page's origin, and how to ask the API as a visitor. */
async function start() {
  const url = `http://localhost:${await findFreePort()}`;
  const schemaFile = join(root, named(/npm start -- --reset --schema-file (\S+)/));
  const options = { directory: temporaryDirectory() };
  const started = startCommand(['start', '--port', new URL(url).port, '--schema-file', schemaFile], options);
  const [, anonKey = ''] = await started.until(/anon key +(eyJ\S+)/);
  const origin = await serveScript(named(/npm run (\S+)/), { API_URL: url, ANON_KEY: anonKey }, example);
  const ask = async (query: string) => {
    const headers = { apikey: anonKey, 'content-type': 'application/json' };
    const response = await fetch(`${url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify({ query }) });
    return response.json();
  };
  return { origin, ask };
}

async function open(origin: string): Promise<Page> {
  const page = await newPage(browser);
  await page.goto(origin);
  await expectStatus(page, 'Live');
  return page;
}

/** Waits until a page has this list, and of it is done what is named. */
async function expectList(page: Page, entries: readonly string[], done: readonly string[] = []): Promise<void> {
  const titles = async (selector: string) => (await page.locator(selector).allInnerTexts()).map((text) => text.trim());
  const read = async () => [await titles('#list li'), await titles('#list li:has(:checked)')];
  await expect.poll(read, { timeout: 60_000 }).toEqual([entries, done]);
}

async function add(page: Page, title: string): Promise<void> {
  await page.getByLabel('New entry').fill(title);
  await page.getByRole('button', { name: 'Add' }).click();
}

test('two browsers that share a list see what the other one adds, ticks and removes', async () => {
  const { origin, ask } = await start();
  const [ana, bo] = [await open(origin), await open(origin)];
  await add(ana, 'Buy bread & <b>milk</b>');
  await expectList(bo, ['Buy bread & <b>milk</b>']);
  await add(bo, 'Water the plants');
  await expectList(ana, ['Buy bread & <b>milk</b>', 'Water the plants']);
  await ana.getByLabel('Water the plants').check();
  await expectList(bo, ['Buy bread & <b>milk</b>', 'Water the plants'], ['Water the plants']);
  await bo.getByRole('button', { name: 'Remove what is done' }).click();
  await expectList(ana, ['Buy bread & <b>milk</b>']);

  // What the page never asks for is not allowed either.
  const unticked = await ask('mutation { deleteFromTodoCollection(atMost: 10) { affectedCount } }');
  expect(unticked).toEqual({ data: { deleteFromTodoCollection: { affectedCount: 0 } } });
  const renamed = await ask('mutation { updateTodoCollection(set: { title: "" }, atMost: 10) { affectedCount } }');
  expect(renamed).toMatchObject({ errors: [{ message: expect.stringContaining('title') }] });
});
