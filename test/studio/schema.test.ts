/**
 * The page Schema in a real browser: what a role sees, and what would show it more.
 */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { operatorTokenCommand } from '../../src/management/tokens/access-tokens.ts';
import { addToken } from '../management/management.ts';
import { faultsInBothLooks, onDarkPhone, picture, startStudio, type TestStudio, type Visit } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
  await studio.database.query(`create table import_log (line text); grant select on import_log to anon;
    create table "2 much" (id int primary key); grant select on "2 much" to anon`);
});

/** Opens a page as somebody who has this token and these keys in the tab. */
async function visitWith(path: string, kept: Readonly<Record<string, string>>): Promise<Visit> {
  const visit = await studio.visit('', { entry: 'stranger' });
  await visit.page.evaluate((entries) => {
    for (const [name, value] of Object.entries(entries)) sessionStorage.setItem(name, value);
  }, kept);
  await visit.page.goto(`${studio.url}/studio/${path}`);
  return visit;
}

const list = (page: Page) => page.getByRole('navigation', { name: 'Tables' });

describe('the schema', () => {
  const drawing = (page: Page) => page.getByRole('group', { name: 'Tables, with lines' });

  test('the schema says of what a role does not see why, with the statement that changes it; run elsewhere, it shows at once', async () => {
    const { page, problems, foreign } = await studio.visit('schema?view=hidden', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByText('Table public.import_log has no primary key.').waitFor();
    await page.getByText('Table public."2 much" has no valid GraphQL name ("2 Much").').waitFor();
    const grant = 'grant select on public.customer to anon;';
    await page.getByRole('button', { name: `Copy ${grant}` }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(grant);
    expect(await list(page).getByRole('link', { name: 'Customer' }).count()).toBe(0);
    await studio.database.query(copied);
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await list(page).getByRole('link', { name: 'Customer public.customer', exact: true }).waitFor();
    await studio.database.query('alter table customer disable row level security');
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await list(page).getByRole('link', { name: 'Customer no row security public.customer' }).waitFor();
    await studio.database.query('alter table customer enable row level security; revoke select on customer from anon');
    expect({ problems, foreign }).toEqual({ problems: [], foreign: [] });
  });

  test('in a database without tables, has the statements that make the first', async () => {
    const { database } = studio;
    await database.query(
      'alter schema public rename to put_aside; create schema public; grant usage on schema public to anon, authenticated, service_role',
    );
    onTestFinished(async () => {
      await database.query('drop schema public cascade; alter schema put_aside rename to public');
    });
    const { page } = await studio.visit('data', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('link', { name: 'Hidden from service_role: tables, columns, functions 0' }).click();
    await page.getByRole('button', { name: /^Copy create table note/ }).click();
    await database.query(await page.evaluate(() => navigator.clipboard.readText()));
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await list(page).getByRole('link', { name: 'note' }).waitFor();
    await page.getByRole('radio', { name: 'anon' }).check();
    await list(page).getByRole('link', { name: 'note' }).waitFor();
  });

  test('draws tables and what they refer to, reached by keyboard, and says the same in words', async () => {
    const { page } = await studio.visit('schema?role=service_role', { viewport: { width: 1600, height: 840 } });
    const box = drawing(page).getByRole('link', { name: 'Category public.category' });
    await box.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Category', exact: true }).waitFor();
    await expect.poll(() => box.getAttribute('aria-current')).toBe('true');
    const words = 'Product has one Category (field category). Category has many Product (field productCollection).';
    await expect.poll(() => drawing(page).locator('title', { hasText: words }).count()).toBe(1);
    const summary = page.getByText(/^\d+ relationships as text/);
    await summary.click();
    await page.getByRole('listitem').getByText(words).waitFor();
    await summary.click();
    await page.getByRole('row', { name: 'productCollection' }).getByRole('link').click();
    await page.getByRole('heading', { name: 'Product', exact: true }).waitFor();
    await page.getByRole('row', { name: 'categoryId category_id Int!' }).waitFor();
    await page.getByText('no delete').waitFor({ state: 'detached' });
    const added = page.getByRole('region', { name: 'With extensions' });
    await added.scrollIntoViewIfNeeded();
    await picture(page, 'schema');
    for (const [words, names] of [
      ['Filter by related rows', /categorydimensions.*reviews/],
      ['Filter by JSON', /attributes$/],
      ['First of equal rows', /distinctOn$/],
      ['Groups with counts and sums', /groups$/],
      ['Count no further than', /totalCount\(atMost\)$/],
    ] as const) {
      const entry = added.locator('div').filter({ hasText: words });
      expect(await entry.textContent()).toMatch(names);
    }
  });

  test('the schema counts as hidden what the role does not see, and lists apart what it sees and cannot write', async () => {
    const { page } = await studio.visit('schema?view=hidden');
    const apart = page.getByRole('region', { name: 'Visible, with fewer operations' });
    await apart.waitFor();
    const noInsert = 'Table public.product exists; role anon has no INSERT.';
    const textsOf = (reasons: ReturnType<typeof page.locator>) =>
      reasons.locator('.missing-list > li > p').allTextContents();
    const noSelect = 'Table public.message exists; role anon may insert, and has no SELECT.';
    expect(await textsOf(apart)).toEqual(expect.arrayContaining([noInsert, noSelect]));
    // A table may lack several.
    expect(await apart.locator('summary').textContent()).toBe(`Fields left out ${(await textsOf(apart)).length}`);
    const hidden = await textsOf(page.locator('.schema-side .schema-detail > details'));
    expect(hidden).toContain('Table public.customer exists; role anon has no SELECT.');
    for (const reason of [noInsert, noSelect]) expect(hidden).not.toContain(reason);
    const badge = list(page).getByRole('link', { name: 'Hidden objects' }).locator('.badge');
    await expect.poll(() => badge.textContent()).toBe(String(hidden.length));
  });

  test('the schema goes from one role to another at the same table, and finds tables by their fields', async () => {
    const { page } = await studio.visit('schema/Customer?role=service_role');
    await page.getByRole('row', { name: 'fullName full_name String!' }).waitFor();
    await page.getByRole('searchbox').fill('full_n');
    await expect
      .poll(() => list(page).getByRole('link').allTextContents())
      .toEqual([expect.stringContaining('Hidden objects'), expect.stringContaining('Customer')]);
    await page.getByRole('radio', { name: 'anon' }).check();
    await page.getByRole('heading', { name: 'Customer is hidden from anon' }).waitFor();
    await page.getByText('Table public.customer exists; role anon has no SELECT.').waitFor();
  });

  test('the schema is shown to operators alone', async () => {
    const token = await addToken(studio.database);
    const { page } = await visitWith('schema', { 'pgreflect:access-token': token });
    await page.getByRole('alert').getByText(operatorTokenCommand, { exact: true }).waitFor();
  });
});

test('the schema has no fault that axe-core finds, and fits, in the light and on a phone in the dark', async () => {
  const { page } = await studio.visit('schema?view=hidden');
  const check = async () => {
    const high = () => page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
    expect([await faultsInBothLooks(page), await high(), await onDarkPhone(page, high)]).toEqual([[], 0, 0]);
  };
  await page.getByRole('heading', { name: 'Hidden from anon' }).waitFor();
  await check();
  await list(page).getByRole('link', { name: 'Product public.product' }).click();
  await page.getByRole('heading', { name: 'With extensions' }).waitFor();
  await check();
});
