/**
 * The page Settings in a real browser: access tokens that are made, shown once and ended.
 */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { accessScopes, operatorTokenCommand } from '../../src/management/tokens/access-tokens.ts';
import { addToken, ref } from '../management/management.ts';
import { startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
});

beforeEach(() => studio.database.query('truncate auth.pgreflect_access_tokens'));

const path = 'settings/access-tokens';

/** Opens the page as the holder of a token. */
async function visitWith(token: string): Promise<Page> {
  const { page } = await studio.visit('', { entry: 'stranger' });
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Settings' }).click();
  return page;
}

async function readConfig(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${studio.url}/v1/projects/${ref}/config/auth`, { headers })).status;
}

test('a token is made with name, scopes and expiry, works, is shown once, and works no more when it was revoked', async () => {
  const { page, problems, foreign } = await studio.visit('settings');
  await page.getByText('No access tokens yet').waitFor();
  expect(page.url()).toBe(`${studio.url}/studio/${path}`);
  await page.getByRole('button', { name: 'Create access token' }).click();
  await page.getByLabel('Name').fill('release pipeline');
  await page.getByRole('checkbox', { name: 'Change the auth configuration' }).check();
  await page.getByLabel('Expires').selectOption({ label: '90 days' });
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your new access token' });
  const token = (await dialog.locator('code').textContent()) ?? '';
  expect(token).toMatch(/^sbp_[0-9a-f]{40}$/);
  expect(await readConfig(token)).toBe(200);
  const [row] = await studio.database.query<{ name: string; scopes: string[]; days: number }>(
    `select name, scopes, round(extract(epoch from expires_at - created_at) / 86400)::int as days
      from auth.pgreflect_access_tokens`,
  );
  expect(row).toEqual({ name: 'release pipeline', scopes: ['auth_config:read', 'auth_config:write'], days: 90 });
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: 'release pipeline' }).waitFor();
  await page.reload();
  await page.getByRole('row', { name: 'release pipeline' }).waitFor();
  expect(await page.content()).not.toContain(token);

  await page.getByRole('button', { name: 'Revoke … release pipeline' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await readConfig(token)).toBe(200);
  await page.getByRole('button', { name: 'Revoke … release pipeline' }).click();
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await page.getByRole('status').getByText('The access token “release pipeline” was revoked.').waitFor();
  await page.getByText('No access tokens yet').waitFor();
  expect(await readConfig(token)).toBe(401);
  expect({ problems, foreign }).toEqual({ problems: [], foreign: [] });
});

test('a name is text, whatever it looks like', async () => {
  const { page, problems } = await studio.visit(path);
  await page.getByRole('button', { name: 'Create access token' }).click();
  await page.getByLabel('Name').fill('<img src=x onerror=alert(1)>');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: '<img src=x onerror=alert(1)>' }).waitFor();
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  expect(problems).toEqual([]);
});

test('offers no scope and no end that the token in use lacks, and asks for another one when that is revoked', async () => {
  const expiresAt = new Date(Date.now() + 45 * 86_400_000);
  const own = await addToken(studio.database, {
    scopes: ['auth_config:read', 'project:operate'],
    expiresAt,
    projectRef: ref,
  });
  const page = await visitWith(own);
  await page.getByRole('row', { name: 'in use here' }).waitFor();
  await page.getByRole('button', { name: 'Create access token' }).click();
  await expect
    .poll(() => page.getByRole('checkbox', { name: 'Change the auth configuration' }).isDisabled())
    .toBe(true);
  const ends = await page.getByLabel('Expires').getByRole('option').allTextContents();
  expect(ends).toEqual(['30 days', expect.stringMatching(/^With your own token: /)]);
  await page.getByLabel('Name').fill('as long as mine');
  await page.getByLabel('Expires').selectOption({ index: 1 });
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke … test' }).click();
  await page.getByText('You are signed in with this token.').waitFor();
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await page.getByRole('heading', { name: 'Your access token is no longer valid' }).waitFor();
});

test('the page shows those who may see no tokens the command that creates a token for them', async () => {
  const page = await visitWith(await addToken(studio.database));
  await page.getByRole('alert').getByText(operatorTokenCommand, { exact: true }).waitFor();
});

test.each([
  { colorScheme: 'light', viewport: { width: 1600, height: 1000 } },
  { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
] as const)('the page has no fault that axe-core finds, and fits: $colorScheme, $viewport.width', async (look) => {
  await addToken(studio.database, { scopes: accessScopes, expiresAt: new Date(Date.now() + 86_400_000) });
  const { page } = await studio.visit(path, look);
  const excess = () =>
    page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      return [scrollWidth - innerWidth, scrollHeight - innerHeight].filter((pixels) => pixels > 0);
    });
  await page.getByRole('row', { name: 'test' }).waitFor();
  expect([...(await violations(page)), ...(await excess())]).toEqual([]);
  await page.getByRole('button', { name: 'Create access token' }).click();
  await page.getByLabel('Name').fill('a name');
  expect([...(await violations(page)), ...(await excess())]).toEqual([]);
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('heading', { name: 'Your new access token' }).waitFor();
  expect([...(await violations(page)), ...(await excess())]).toEqual([]);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke … test' }).click();
  await page.getByRole('heading', { name: 'Revoke “test”?' }).waitFor();
  expect([...(await violations(page)), ...(await excess())]).toEqual([]);
});
