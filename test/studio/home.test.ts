/** The page Home in a real browser: the first page, small, with the state of the project, its addresses, and steps that tick off. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { anonKey } from '../support/http.ts';
import { picture, startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
});

/** How much moved after it was shown: the sum of layout shifts. */
const shiftOf = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const add = (sum: number, { value }: { readonly value: number }) => sum + value;
        new PerformanceObserver((list) =>
          resolve((list.getEntries() as unknown as { readonly value: number }[]).reduce(add, 0)),
        ).observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve(0), 1000);
      }),
  );

test('the first page after sign-in loads less than 200 kB and says whether all is well, where things are, and what to do next', async () => {
  const { page, problems, foreign } = await studio.visit('', {
    isFirst: true,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/studio/home');
  const health = page.getByRole('region', { name: 'Health' });
  await health.getByText(/PostgreSQL \d+/).waitFor();
  await health.getByText(/anon sees \d+ tables/).waitFor();
  await health.getByText('kept in the inbox: no mail server is set').waitFor();
  await page.getByRole('figure').getByText('Requests a minute').waitFor();
  const bytes = await page.evaluate(() =>
    (performance.getEntries() as PerformanceResourceTiming[]).reduce(
      (sum, { transferSize = 0 }) => sum + transferSize,
      0,
    ),
  );
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThan(200_000);
  // No font: the page shows no code until a finding is opened.
  const names = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  expect(names.filter((name) => name.includes('woff'))).toEqual([]);
  await page.getByText(/By pgreflect check/).waitFor();
  expect(await shiftOf(page)).toBeLessThan(0.01);
  expect(await violations(page)).toEqual([]);

  const connect = page.getByRole('region', { name: 'Connect' });
  await connect.getByRole('button', { name: 'Copy Anon key' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(anonKey);
  await connect.getByText(`${studio.url}/graphql/v1`, { exact: true }).waitFor();
  const { hostname, port, pathname, password } = new URL(studio.database.urlAs('authenticator', 'test'));
  await connect.getByText(`${hostname}:${port}${pathname}`, { exact: true }).waitFor();
  expect(password).not.toBe('');
  expect(await page.content()).not.toContain('authenticator');

  const steps = page.getByRole('region', { name: 'Next steps' });
  const done = () => steps.getByRole('listitem').filter({ hasText: '(done)' }).allTextContents();
  const first = await done();
  expect(first.some((step) => step.includes('Show a table to a role'))).toBe(true);
  expect(first.some((step) => /request|user|email/.test(step))).toBe(false);
  await page.getByText(/By pgreflect check/).waitFor();
  await picture(page, 'home');
  await fetch(`${studio.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json' },
    body: '{"query":"{ __typename }"}',
  });
  await studio.ask('/signup', { email: 'ana@mail.test', password: 'a good password' });
  await studio.patch({ mailer_subjects_confirmation: 'Welcome' });
  await page.reload();
  await expect.poll(async () => (await done()).length).toBe(first.length + 3);
  await steps.getByRole('button', { name: 'Dismiss' }).click();
  await steps.waitFor({ state: 'detached' });
  await page.reload();
  await health.getByText(/PostgreSQL \d+/).waitFor();
  expect(await steps.count()).toBe(0);
  expect({ problems, foreign }).toEqual({ problems: [], foreign: [] });
});

test('the findings of check stand on the page Home, the worst first, with the SQL to copy; on a phone in the dark it is whole', async () => {
  await studio.database.query(`create table public.open (id int primary key); grant select, insert on public.open to anon;
    create table public.wide_open (id int primary key); grant select, delete on public.wide_open to anon`);
  await studio.database.query('notify pgreflect');
  const { page } = await studio.visit('home', {
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const findings = page.getByRole('region', { name: /^Findings/ });
  const read = async () => {
    await page.reload();
    await findings.getByText(/By pgreflect check/).waitFor();
    const all = findings.getByRole('button', { name: /^Show all/ });
    if (await all.isVisible()) await all.click();
    return (await findings.getByRole('listitem').allTextContents()).filter((text) => text.includes('wide_open')).length;
  };
  await expect.poll(read, { timeout: 60_000 }).toBeGreaterThan(0);
  const count = Number(/\d+/.exec((await findings.getByRole('heading').textContent()) ?? '')?.[0]);
  expect(await findings.getByRole('listitem').count()).toBe(count);
  const weights = (await findings.getByRole('listitem').allTextContents()).map((text) => /^\w+/.exec(text)?.[0] ?? '');
  const order = ['Error', 'Warning', 'Note'];
  expect(weights).toEqual(weights.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)));
  await page.getByRole('region', { name: 'Health' }).getByRole('heading', { name: 'Look at this' }).waitFor();
  await findings.getByText('wide_open').first().click();
  await findings.getByRole('button', { name: /^Copy/ }).and(page.locator(':visible')).first().click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('wide_open');
  expect(await violations(page)).toEqual([]);
  await findings.getByRole('button', { name: 'Show the first 5' }).click();
  expect(await findings.getByRole('listitem').count()).toBe(5);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
});

test('an unknown page leads home, and a page that is first opened while the server is away opens when it is back', async () => {
  const { page } = await studio.visit('nowhere', { isFirst: true });
  await page.getByRole('alert').getByRole('link', { name: 'home' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await page.getByText(/PostgreSQL \d+/).waitFor();
  const start = await studio.stop();
  await page.getByRole('link', { name: 'Live', exact: true }).click();
  await page.getByText('The server is not responding.').waitFor();
  await page.getByText('The page opens as soon as requests can be answered.').waitFor();
  await start();
  await page.getByRole('heading', { name: 'Live' }).waitFor();
  await page.getByText('Nobody subscribes now').waitFor();
});
