/**
 * How much a browser loads for GraphiQL until the first answer: in the studio, and at `/graphql/v1`.
 */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { startStudio, type TestStudio } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

const maxBytes = 1_000_000;

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
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

test.each(['studio/graphql', 'graphql/v1'])('%s loads less than 1 MB until the first answer', async (path) => {
  const { page } = await studio.visit('inbox');
  const bytes = await countBytes(page);
  await page.goto(`${studio.url}/${path}`);
  await page.locator('.graphiql-query-editor .CodeMirror-line').first().waitFor();
  await page.locator('.result-window .CodeMirror-line').first().waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.locator('.result-window').getByText('"edges"').first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(bytes()).toBeGreaterThan(200_000);
  expect(bytes()).toBeLessThan(maxBytes);
});
