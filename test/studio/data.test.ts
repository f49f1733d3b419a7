/** The page Data in a real browser: rows as a caller sees them, page after page, and what goes wrong. */
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { startStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

const studio = await startStudio();
await studio.database.query(`
  create table measure (id int primary key, at timestamptz not null default now(), note text);
  insert into measure (id, note) select n, 'Note ' || n from generate_series(1, 100000) n;
  grant select on measure to anon, service_role`);

const grid = (page: Page, table: string) => page.getByRole('grid', { name: `Rows of ${table}` });
/** The text of a row's cells, by its number in the table from 1. */
const cellsOf = (page: Page, index: number) =>
  page
    .locator(`[aria-rowindex="${index + 1}"]`)
    .locator('[role=rowheader], [role=gridcell]')
    .allTextContents();

test('a table is found, its rows are ordered by a head and seen as another caller, and the address says it all', async () => {
  const { page, foreign, problems } = await studio.visit('data');
  const tables = page.getByRole('navigation', { name: 'Tables' });
  await tables.getByRole('searchbox').fill('prod');
  expect(await tables.getByRole('link').allTextContents()).toEqual([
    'PostProduct',
    'Product',
    'ProductDimensions',
    'ProductRatingview',
  ]);
  await tables.getByRole('link', { name: 'Product', exact: true }).click();
  const rows = grid(page, 'Product');
  await rows.getByRole('row', { name: /^1 / }).first().waitFor();
  await page.getByText(/^\d+ rows$/).waitFor();
  await rows.getByRole('button', { name: /^price/ }).click();
  await rows.getByRole('button', { name: /^price/ }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('order')).toBe('-price');
  await page.getByRole('radio', { name: 'Service' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('as')).toBe('service');
  await page.getByText('400 rows').waitFor();
  const prices = await studio.database.query('select id from product order by price desc, id limit 1');
  expect((await cellsOf(page, 1))[0]).toBe(String(prices[0]!.id));
  expect(await violations(page)).toEqual([]);
  const address = page.url();
  await page.reload();
  await grid(page, 'Product')
    .getByRole('row', { name: new RegExp(`^${prices[0]!.id} `) })
    .waitFor();
  expect(page.url()).toBe(address);
  expect({ foreign, problems }).toEqual({ foreign: [], problems: [] });
});

test('100,000 rows are scrolled to the end by keys and by the wheel, and only those in sight are in the page', async () => {
  const { page, problems } = await studio.visit('data/Measure?as=service');
  const rows = grid(page, 'Measure');
  await page.getByText('100,000 rows').waitFor();
  await rows.focus();
  const shown = async () => Number(await rows.evaluate((element) => element.querySelectorAll('[role=row]').length));
  // Each press goes to the last row loaded, which loads the next.
  for (let last = 0; last < 1000; ) {
    await page.keyboard.press('Control+End');
    last = await rows.evaluate((element) =>
      Math.max(
        ...[...element.querySelectorAll('[aria-rowindex]')].map((row) => Number(row.getAttribute('aria-rowindex'))),
      ),
    );
  }
  expect(await shown()).toBeLessThan(80);
  expect(await rows.getAttribute('aria-rowcount')).toBe('100001');
  await page.keyboard.press('Control+Home');
  await rows.getByRole('row', { name: /^1 .*Note 1$/ }).waitFor();
  expect(problems).toEqual([]);
});

test('a caller who may see no row or no table reads why, with the way to those who may', async () => {
  const { page, problems } = await studio.visit('data/Message?as=anon');
  await page.getByRole('heading', { name: 'anon does not see Message' }).waitFor();
  await page.getByRole('radio', { name: 'Service' }).click();
  await grid(page, 'Message').waitFor();
  await page.goto(
    `${studio.url}/studio/data/OrderLine?as=service&filter=${encodeURIComponent('[["orderId","eq","BigInt:2"]]')}`,
  );
  const first = grid(page, 'OrderLine').getByRole('row', { name: /^2 / }).first();
  await first.getByRole('link', { name: /^Open Product \d+$/ }).click();
  await expect.poll(() => page.url()).toMatch(/data\/Product\?as=service&row=\d+$/);
  await page.goto(`${studio.url}/studio/data/Measure?as=anon&order=-id`);
  await grid(page, 'Measure')
    .getByRole('row', { name: /^100000 / })
    .waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('link', { name: 'All tables' }).click();
  await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: 'Post', exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  expect(problems).toEqual([]);
});
