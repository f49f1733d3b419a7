/**
 * The studio in a real browser while its database, or the gateway, is away: every page says why and comes back by itself.
 */
import type { Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { addToken } from '../management/management.ts';
import { startFragileStudio } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: Awaited<ReturnType<typeof startFragileStudio>>;
beforeAll(async () => {
  studio = await startFragileStudio();
});

/** All pages but Home. */
const titles = [
  'Data', 'Access', 'Schema', 'GraphQL', 'API docs', 'Users', 'Emails', 'Deliveries', 'Inbox', 'Logs', 'Live', 'Settings',
]; // biome-ignore format: a list of names

/** Takes the database away. @returns Gives it back. */
function takeDatabase(): () => void {
  const { target } = studio.forwarder;
  studio.forwarder.target = null;
  studio.forwarder.cut();
  const giveBack = () => {
    studio.forwarder.target = target;
  };
  onTestFinished(giveBack);
  return giveBack;
}

const reason = 'The database cannot be reached.';
const notice = (page: Page) => page.locator('#page > [role=status]').getByText(reason);
const focus = (page: Page) => page.evaluate(() => dispatchEvent(new Event('focus')));

test('Home says why the database is away, also to somebody who comes then, and all is well by itself when it is back', async () => {
  // Tokens of the database cannot be verified without it.
  const token = await addToken(studio.database, { scopes: ['project:operate'] });
  const { page } = await studio.visit('');
  const health = page.getByRole('region', { name: 'Health' });
  await health.getByText(/PostgreSQL \d+/).waitFor();
  const giveBack = takeDatabase();
  await focus(page);
  await health.getByRole('heading', { name: 'Requests cannot be answered' }).waitFor();
  await health.getByText(reason).waitFor();
  await notice(page).waitFor();
  await page.getByRole('region', { name: 'Connect' }).getByText(`${studio.url}/graphql/v1`, { exact: true }).waitFor();
  const late = await studio.visit('', { entry: 'stranger', isFirst: true });
  await late.page.evaluate((kept) => sessionStorage.setItem('pgreflect:access-token', kept), token);
  await late.page.reload();
  await notice(late.page).waitFor();
  await late.page.getByText('The page opens as soon as requests can be answered.').waitFor();
  giveBack();
  for (const each of [page, late.page]) {
    await each
      .getByRole('region', { name: 'Health' })
      .getByText(/PostgreSQL \d+/)
      .waitFor();
    await notice(each).waitFor({ state: 'detached' });
  }
});

test('every page that is first opened while the database is away shows what it has when it is back', async () => {
  const { page, problems } = await studio.visit('', { isFirst: true });
  await page.getByText(/PostgreSQL \d+/).waitFor();
  const lacking: string[] = [];
  for (const title of titles) {
    const giveBack = takeDatabase();
    await page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name: title, exact: true }).click();
    // What the page Live shows is not in the database.
    await notice(page)
      .or(page.getByRole('heading', { name: 'Nobody subscribes now' }))
      .first()
      .waitFor();
    giveBack();
    await notice(page).waitFor({ state: 'detached' });
    const isDead = () =>
      page
        .locator('main')
        .getByText(/Loading|cannot be|could not be|failed to load|opens as soon as/)
        .filter({ visible: true })
        .count();
    await expect
      .poll(isDead, { timeout: 15_000 })
      .toBe(0)
      .catch(() => lacking.push(title));
  }
  expect({ lacking, problems }).toEqual({ lacking: [], problems: [] });
});

test('code that could not be loaded is loaded again, also where the server is back before anybody has noticed', async () => {
  const { page } = await studio.visit('home', { isFirst: true });
  await page.getByText(/PostgreSQL \d+/).waitFor();
  await page.route('**/assets/live-page*.js', (route) => route.abort(), { times: 1 });
  await page.getByRole('link', { name: 'Live', exact: true }).click();
  await page.getByText('Nobody subscribes now').waitFor();
  await page.route('**/assets/command-list*.js', (route) => route.abort(), { times: 1 });
  await page.evaluate(() => sessionStorage.removeItem('pgreflect:reloaded'));
  await page.keyboard.press('ControlOrMeta+k');
  await page.waitForEvent('load');
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('dialog', { name: 'Go to or run' }).getByRole('combobox').waitFor();
  // A file that is never there is not asked for again and again.
  await page.keyboard.press('Escape');
  await page.route('**/assets/logs-page*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Logs', exact: true }).click();
  await page.getByRole('heading', { name: 'This page failed to load' }).waitFor();
});
