/**
 * The page GraphQL in a real browser, as somebody meets it who has written no GraphQL yet: examples, fields to click on, the
 * statement behind the answer, and how much is loaded for it.
 */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio(
    '# The first query\n{ productCollection(first: 1) { edges { node { name } } } }',
    '# One author by name\n# variables: {"name": "Nobody"}\nquery Named($name: String!) { authorCollection(filter: { name: { eq: $name } }) { edges { node { id } } } }',
  );
});

const editor = (page: Page) => page.locator('.graphiql-query-editor .CodeMirror-line');
const answer = (page: Page) => page.locator('.result-window .CodeMirror-line');
const run = (page: Page) => page.getByRole('button', { name: 'Execute query' }).click();
const tabs = (page: Page) => page.locator('.graphiql-tab');

/** When everything that the page needs is there. */
async function open(look: Parameters<TestStudio['visit']>[1] = {}) {
  const visit = await studio.visit('graphql', look);
  await editor(visit.page).first().waitFor();
  await answer(visit.page).first().waitFor({ state: 'attached' });
  return visit;
}

/** The text of an editor, with single blanks. */
const textOf = async (lines: ReturnType<typeof editor>) =>
  (await lines.allInnerTexts()).join(' ').replace(/\s+/g, ' ').trim();

test('begins with one tab; an example of a table or of the project opens in a tab of its own, and runs; fields are added by clicking on them', async () => {
  const { page, problems, foreign } = await open({ viewport: { width: 1440, height: 900 } });
  await expect.poll(() => tabs(page).count()).toBe(1);
  const examples = page.getByRole('region', { name: 'Examples' });
  await examples.getByRole('combobox', { name: 'Table' }).selectOption('Category');
  await examples.getByRole('button', { name: 'First rows' }).click();
  await expect.poll(() => textOf(editor(page))).toMatch(/^query CategoryRows \{ categoryCollection\(first: 5\)/);
  await expect.poll(() => tabs(page).count()).toBe(2);
  await run(page);
  await expect.poll(() => textOf(answer(page))).toContain('"categoryCollection"');
  await examples.getByRole('button', { name: 'One author by name' }).click();
  await expect.poll(() => tabs(page).count()).toBe(3);
  await run(page);
  await expect.poll(() => textOf(answer(page))).toContain('"edges": []');
  await tabs(page).first().click();
  await expect.poll(() => textOf(editor(page))).toContain('# The first query');
  expect(await violations(page)).toEqual([]);
  // Operations are put together by clicking on fields, too.
  await page.getByRole('button', { name: 'Show GraphiQL Explorer' }).click();
  const explorer = page.locator('.graphiql-explorer-root');
  await explorer.getByText('authorCollection', { exact: true }).click();
  await expect.poll(() => textOf(editor(page))).toContain('authorCollection');
  // What extensions add is among the arguments, as deep as it goes.
  for (const name of ['distinctOn', 'filter', 'posts', 'some', 'comments'])
    await explorer.locator(`[data-arg-name="${name}"]`).first().locator('span').first().click();
  await expect.poll(() => textOf(editor(page))).toMatch(/distinctOn: id filter: \{ ?posts: \{ ?some: \{ ?comments: \{/);
  expect({ problems, foreign }).toEqual({ problems: [], foreign: [] });
});

test('no request is sent before there is an operation', async () => {
  const { page } = await open();
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') asked.push(new URL(request.url()).pathname);
  });
  await page.getByRole('button', { name: 'SQL and plan' }).click();
  await page.getByRole('heading', { name: 'No operation yet' }).waitFor();
  await editor(page).first().click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('# Later');
  await run(page);
  await expect.poll(() => textOf(answer(page))).toContain('Nothing to run yet');
  await page.getByRole('heading', { name: 'No operation yet' }).waitFor();
  expect(asked).toEqual([]);
});

test('the statement stands in lines and colors, in a font that comes with the studio', async () => {
  const { page, foreign } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByRole('radio', { name: 'service_role' }).check();
  await run(page);
  await page.getByRole('button', { name: 'SQL and plan' }).click();
  const statement = page.locator('.explained .source-code');
  await statement.locator('.tok-keyword', { hasText: 'select' }).first().waitFor();
  expect(await page.locator('.explained h3').allTextContents()).toEqual(['Statement', 'Plan']);
  await expect.poll(async () => ((await statement.textContent()) ?? '').split('\n').length).toBeGreaterThan(5);
  // Both editors, too: what is not installed on this machine would be any other font.
  const loaded = () =>
    page.evaluate(() =>
      [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family.replaceAll('"', '')),
    );
  await expect.poll(loaded).toContain('Fira Code');
  for (const lines of [statement, editor(page).first()]) {
    expect(await lines.evaluate((element) => getComputedStyle(element).fontFamily)).toMatch(/^"?Fira Code/);
  }
  expect(foreign).toEqual([]);
});

/** Bytes of the responses as they travel, heads and the answer itself included. */
async function countBytes(page: Page): Promise<() => number> {
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  return () => bytes;
}

test('GraphiQL loads less than 1 MB until the first answer, in the studio and at /graphql/v1', async () => {
  const { page } = await studio.visit('inbox', { isFirst: true });
  const bytes = await countBytes(page);
  for (const path of ['studio/graphql', 'graphql/v1']) {
    const before = bytes();
    await page.goto(`${studio.url}/${path}`);
    await editor(page).first().waitFor();
    await answer(page).first().waitFor({ state: 'attached' });
    await run(page);
    await page.locator('.result-window').getByText('"edges"').first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(bytes() - before, path).toBeGreaterThan(200_000);
    expect(bytes() - before, path).toBeLessThan(1_000_000);
  }
});
