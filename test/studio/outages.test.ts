/**
 * The studio in a real browser while its database, or the gateway, is away: every page says why and comes back by itself.
 */
import type { Page } from 'playwright-core';
import { beforeAll, test, vi } from 'vitest';
import { addToken } from '../management/management.ts';
import { expectPagesBack, notice, reason, takeDatabase } from './outages.ts';
import { type FragileStudio, startFragileStudio } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: FragileStudio;
beforeAll(async () => {
  studio = await startFragileStudio();
});

const focus = (page: Page) => page.evaluate(() => dispatchEvent(new Event('focus')));

test('Home says why the database is away, also to somebody who comes then, and all is well by itself when it is back', async () => {
  // Tokens of the database cannot be verified without it.
  const token = await addToken(studio.database, { scopes: ['project:operate'] });
  const { page } = await studio.visit('');
  const health = page.getByRole('region', { name: 'Health' });
  await health.getByText(/PostgreSQL \d+/).waitFor();
  const giveBack = takeDatabase(studio);
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

test('a page that is first opened while the database is away shows what it has when it is back', async () => {
  // outages.nightly.test.ts opens all of them.
  await expectPagesBack(studio, ['Data', 'GraphQL', 'Emails', 'Live']);
});

test('a page that fails before /ready has noticed that the database is away says so, and reads again when it is back', async () => {
  const { page } = await studio.visit('emails');
  await page.getByRole('heading', { name: 'Emails' }).waitFor();
  // Each failure asks first while the gateway still has its answer of before.
  let [failures, early] = [0, 0];
  page.on('response', (response) => {
    if (response.status() >= 500 && !response.url().endsWith('/ready')) failures += 1;
  });
  await page.route('**/ready', async (route) => {
    if (early >= failures) return route.continue();
    early += 1;
    return route.fulfill({ json: { status: 'ready' } });
  });
  const giveBack = takeDatabase(studio);
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await notice(page).waitFor();
  giveBack();
  await page.getByText('No email yet').waitFor();
  await notice(page).waitFor({ state: 'detached' });
});

test('code that could not be loaded is loaded again, also where the server is back before anybody has noticed', async () => {
  const { page } = await studio.visit('home', { isFirst: true });
  await page.getByText(/PostgreSQL \d+/).waitFor();
  await page.route('**/assets/live-page*.js', (route) => route.abort(), { times: 1 });
  await page.getByRole('link', { name: 'Live', exact: true }).click();
  await page.getByText('Nobody subscribes now').waitFor();
  await page.route('**/assets/command-list*.js', (route) => route.abort(), { times: 1 });
  await page.evaluate(() => sessionStorage.removeItem('pgreflect:reloaded'));
  const loaded = page.waitForEvent('load');
  await page.keyboard.press('ControlOrMeta+k');
  await loaded;
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('dialog', { name: 'Go to or run' }).getByRole('combobox').waitFor();
  // A file that is never there is not asked for again and again.
  await page.keyboard.press('Escape');
  await page.route('**/assets/logs-page*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Logs', exact: true }).click();
  await page.getByRole('heading', { name: 'This page failed to load' }).waitFor();
});
