/** The page API docs in a real browser: the programs that it shows are run as they stand. */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { quoteForShell } from '../../src/shared/quote-for-shell.ts';
import { serviceKey } from '../support/http.ts';
import { faultsInBothLooks, picture, startStudio, type TestStudio } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
});

/** The text of a program on the page. */
async function programOf(page: Page, title: string): Promise<string> {
  const text = await page.getByRole('region', { name: title, exact: true }).locator('pre').textContent();
  return text ?? '';
}

async function runShell(text: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  return (await run('sh', ['-c', text], { env: { ...process.env, ...env } })).stdout;
}

/** Runs a module that may import what the tests have installed. */
async function runModule(text: string): Promise<string> {
  const path = join(import.meta.dirname, '../node_modules', `.api-docs-${process.pid}.mjs`);
  try {
    writeFileSync(path, text);
    return (await run(process.execPath, [path])).stdout;
  } finally {
    rmSync(path, { force: true });
  }
}

test('the programs of a table run as they stand, for the chosen client and role', async () => {
  const { page } = await studio.visit('api-docs');
  await page.getByRole('link', { name: 'Product', exact: true }).click();
  await page.getByRole('heading', { name: 'Product' }).waitFor();
  await page.getByRole('row', { name: /^sku String!/ }).waitFor();
  const answer = JSON.parse(await runShell(await programOf(page, 'First rows')));
  expect(answer.data.productCollection.edges).toHaveLength(5);
  const one = JSON.parse(await runShell(await programOf(page, 'Row by key')));
  expect(one).toEqual({ data: { productByPk: null } });

  await page.getByLabel('Client').selectOption('supabase-js');
  await page.getByText('npm install @supabase/supabase-js').waitFor();
  const printed = await runModule(await programOf(page, 'First rows'));
  expect(printed).toContain('productCollection');
  expect(printed).toContain('errors: undefined');

  await page.getByLabel('Client').selectOption('curl');
  await page.getByRole('radio', { name: 'service_role' }).click();
  const write = await programOf(page, 'Change a row');
  expect(write).not.toContain(serviceKey);
  expect(JSON.parse(await runShell(write, { SERVICE_KEY: serviceKey })).data).toEqual({
    updateProductCollection: { affectedCount: 0, records: [] },
  });
  await page.reload();
  expect(await programOf(page, 'Change a row')).toBe(write);
});

test('functions are called with their own arguments, and a user is made by the programs of the ways to sign in', async () => {
  const { page } = await studio.visit('api-docs/function/searchProducts?client=curl');
  await page.getByRole('heading', { name: 'searchProducts' }).waitFor();
  expect(JSON.parse(await runShell(await programOf(page, 'Call it'))).data.searchProducts.edges).toBeInstanceOf(Array);

  await page.getByRole('link', { name: 'Email and password' }).click();
  const user = JSON.parse(await runShell(await programOf(page, 'Sign up')));
  expect(user.email).toBe('ada@example.com');
  await studio.database.query('update auth.users set email_confirmed_at = now() where id = $1', [user.id]);
  const session = JSON.parse(await runShell(await programOf(page, 'Sign in')));
  await page.getByRole('link', { name: 'Session' }).click();
  const env = { ACCESS_TOKEN: session.access_token, REFRESH_TOKEN: session.refresh_token };
  expect(JSON.parse(await runShell(await programOf(page, 'Read the user'), env)).id).toBe(user.id);
  expect(JSON.parse(await runShell(await programOf(page, 'Renew the access token'), env)).user.id).toBe(user.id);
  expect(await runShell(await programOf(page, 'Sign out'), env)).toBe('');

  await page.getByLabel('Client').selectOption('apollo');
  await page.getByText('To sign in, use supabase-js beside it').waitFor();
});

test('what is not there for the role is said, and the search finds the rest', async () => {
  const { page } = await studio.visit('api-docs/table/Order?role=anon');
  await page.getByRole('heading', { name: 'Order is not there' }).waitFor();
  await page.getByRole('searchbox', { name: 'Find a table or function' }).fill('rat');
  await page.getByRole('link', { name: 'ProductRating' }).waitFor();
  expect(await page.getByRole('navigation', { name: 'API' }).getByRole('link').count()).toBe(1);
});

test('the page has no fault that axe-core finds, and fits, in the light and on a phone in the dark', async () => {
  const { page } = await studio.visit('api-docs/table/Product?client=urql');
  await page.getByRole('heading', { name: 'First rows' }).waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
  await picture(page, 'api-docs');
});

test.each(["it's", '$HOME `id` "x" \\ \\\\', "''\n'"])('a shell reads a text as it is: %j', async (text) => {
  expect(await runShell(`printf %s ${quoteForShell(text)}`)).toBe(text);
});
