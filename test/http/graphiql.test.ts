/**
 * The page GraphiQL in a real browser on the whole gateway and the example: typing the key, running a query, reading the
 * answer, and what the page says where it cannot go on.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { violations } from '../studio/studio.ts';
import { openBrowser } from '../support/browser.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const examples = ['examples/shop/queries/04-shelves.graphql', 'examples/shop/queries/01-first-products.graphql'].map(
  read,
);
const withVariables = 'examples/shop/queries/07-blog-post.graphql';
const screenshot = fileURLToPath(new URL('docs/graphiql.png', root));

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let browser: Browser;
let shop: TestDatabase;
beforeAll(async () => {
  browser = await openBrowser();
  shop = await createDatabase(read('examples/shop/schema.sql'), read('examples/shop/data.sql'));
});

interface Visit {
  readonly page: Page;
  /** Addresses outside the gateway that the page asked for. */
  readonly foreign: readonly string[];
  /** What the page complained about, beside refused requests. */
  readonly problems: readonly string[];
  /** Addresses that answered 401. */
  readonly refused: readonly string[];
}

async function visit(origin: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const foreign: string[] = [];
  const problems: string[] = [];
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 401) refused.push(response.url());
  });
  page.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(origin)) foreign.push(request.url());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('the server responded with'))
      problems.push(message.text());
  });
  await page.goto(`${origin}/graphql/v1`);
  return { page, foreign, problems, refused };
}

async function useKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Use' }).click();
}

const editorText = async (page: Page) =>
  (await page.locator('.graphiql-query-editor .CodeMirror-line').allInnerTexts()).join('\n');

/** Presses Execute until the answer shows `text`, as a visitor would: a slow machine shows the page before it can act. */
async function run(page: Page, text: string): Promise<void> {
  const answer = page.locator('.result-window').getByText(text).first();
  await expect.poll(() => editorText(page)).not.toBe('');
  await expect
    .poll(
      async () => {
        await page.getByRole('button', { name: 'Execute query' }).click();
        return answer.waitFor({ timeout: 5000 }).then(
          () => true,
          () => false,
        );
      },
      { timeout: 90_000 },
    )
    .toBe(true);
}

const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('name'));

const note = (page: Page) => page.getByRole('status');

test('a visitor types the key, runs the example and sees the answer; nothing is loaded from elsewhere, and another tab does not have the key', async () => {
  const gateway = await testGateway(shop, { exampleOperations: examples });
  const { page, foreign, problems, refused } = await visit(gateway.url);
  await expect
    .poll(() => note(page).textContent(), { timeout: 90_000 })
    .toBe('Type the API key of the project and press Use.');
  // Nobody has to look for the field first.
  await expect.poll(() => focused(page)).toBe('key');
  // Editors get their labels a moment after the note.
  await expect.poll(() => violations(page)).toEqual([]);
  // What would be refused is not sent, and no error stays beside the answers.
  expect(refused).toEqual([]);
  expect(await page.locator('.result-window').textContent()).not.toContain('API key');

  await useKey(page, 'wrong');
  await expect.poll(() => note(page).textContent()).toBe('Invalid API key.');
  await useKey(page, anonKey);
  await run(page, '"nodes"');
  await expect.poll(() => note(page).textContent()).toBe('');
  // The documentation shows what the role may see.
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await page.locator('.graphiql-doc-explorer').getByText('Query', { exact: true }).click();
  await page.locator('.graphiql-doc-explorer').getByText('productCollection', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
  await expect.poll(() => page.getByLabel('API key').inputValue()).toBe(anonKey);
  const other = await page.context().newPage();
  await other.goto(`${gateway.url}/graphql/v1`);
  expect(await other.getByLabel('API key').inputValue()).toBe('');
  await other.close();
  expect({ foreign, problems }).toEqual({ foreign: [], problems: [] });

  // The picture in the README is taken here. It is kept, so that a run changes no file: delete it to take another.
  if (existsSync(screenshot)) return;
  mkdirSync(new URL('docs/', root), { recursive: true });
  await page.getByLabel('API key').evaluate((field) => field.setAttribute('type', 'password'));
  await page.screenshot({ path: screenshot });
});

test('a local project has its key filled in; an example brings its variables along; loaded again after a run the page has the same tabs, and the operation in the editor; a subscription shows each answer, ends on the server when it is stopped, and says what is wrong with it', async () => {
  const gateway = await testGateway(shop, { localProject: true, anonKey, exampleOperations: [read(withVariables)] });
  const { page, problems } = await visit(gateway.url);
  await expect.poll(() => page.getByLabel('API key').inputValue()).toBe(anonKey);
  await expect.poll(() => focused(page)).toBe('token');
  await run(page, '"excerpt"');
  const stored = () => page.evaluate(() => localStorage.getItem('graphiql:tabState'));
  await expect.poll(stored).toContain('postCollection');
  await page.reload();
  await expect.poll(() => editorText(page)).toContain('BlogPost');
  await expect.poll(() => page.getByRole('tab').count()).toBe(1);

  const type = async (operation: string) => {
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(operation);
  };
  const shown = (text: string) => page.locator('.result-window').getByText(text).first().waitFor();
  const subscriptions = () => gateway.graphql.live.state().subscriptions;
  await type('subscription { productCollection(first: 1, orderBy: [{ id: AscNullsLast }]) { nodes { name } } }');
  const [{ name } = { name: '' }] = await shop.query<{ name: string }>('select name from product order by id limit 1');
  const rename = (to: string) =>
    shop.query('update product set name = $1 where id = (select min(id) from product)', [to]);
  await run(page, name);
  expect(subscriptions()).toBe(1);
  await rename('Seen while it changed');
  await shown('Seen while it changed');
  await page.getByRole('button', { name: 'Stop query' }).click();
  // Nothing changes: no answer is there to end with.
  await expect.poll(subscriptions).toBe(0);
  await rename(name);
  await type('subscription { productCollection { nowhere } }');
  await run(page, 'nowhere');
  expect(subscriptions()).toBe(0);
  expect(problems).toEqual([]);
});

test('where introspection is off the page says how to enable it, and operations still run', async () => {
  const plain = await createDatabase(
    'create table note (id int primary key); insert into note values (42); grant select on note to anon',
  );
  const exampleOperations = ['{ noteCollection { nodes { id } } }'];
  const { url } = await testGateway(plain, { localProject: true, anonKey, exampleOperations });
  const { page } = await visit(url);
  await expect
    .poll(() => note(page).textContent())
    .toMatch(/public is off\. Change it with: comment on schema public is '.*@graphql\(\{"introspection":true\}\)';$/);
  await run(page, '42');
});
