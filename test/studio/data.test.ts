/** The page Data in a real browser: rows as a caller sees them, page after page, and what goes wrong. */
import { readFileSync } from 'node:fs';
import { type OperationDefinitionNode, parse } from 'graphql';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { ref } from '../management/management.ts';
import { serviceKey } from '../support/http.ts';
import { accessToken, picture, startStudio, violations } from './studio.ts';

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
  expect((await cellsOf(page, 1))[1]).toBe(String(prices[0]!.id));
  expect(await violations(page)).toEqual([]);
  const address = page.url();
  await page.reload();
  await grid(page, 'Product')
    .getByRole('row', { name: new RegExp(`^Choose ${prices[0]!.id} `) })
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
  const first = grid(page, 'OrderLine')
    .getByRole('row', { name: /^Choose 2~1 / })
    .first();
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

test('a row is edited, undone, changed by somebody else meanwhile, inserted with its defaults and deleted by keys', async () => {
  await studio.database.query(`
    create table task (id int primary key, title text not null, done boolean not null default false, tags text[] default '{new}', data jsonb);
    grant select, insert, update, delete on task to service_role; insert into task (id, title) values (1, 'First')`);
  const stored = () => studio.database.query('select * from task order by id');
  const { page, problems } = await studio.visit('data/Task?as=service');
  const rows = grid(page, 'Task');
  const panel = page.getByRole('complementary', { name: 'Task 1' });
  await rows.getByRole('row', { name: /1 First/ }).waitFor();
  await rows.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect.poll(() => panel.getByLabel('title').evaluate((field) => field === document.activeElement)).toBe(true);
  await panel.getByLabel('title').fill('Changed');
  await panel.getByLabel('done').selectOption('true');
  await panel.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect(await stored()).toMatchObject([{ title: 'Changed', done: true, tags: ['new'] }]);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  expect(await stored()).toMatchObject([{ title: 'First', done: false }]);
  await expect.poll(() => panel.getByLabel('title').inputValue()).toBe('First');

  await studio.database.query(`update task set title = 'Theirs'`);
  await panel.getByLabel('title').fill('Mine');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByText('now Theirs, yours Mine').waitFor();
  expect(await stored()).toMatchObject([{ title: 'Theirs' }]);
  await panel.getByRole('button', { name: 'Overwrite' }).click();
  await expect.poll(stored).toMatchObject([{ title: 'Mine' }]);
  await panel.getByLabel('data').fill('{"a": ');
  await panel.getByText(/^This is not JSON/).waitFor();
  expect(await panel.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await expect.poll(() => panel.count()).toBe(0);

  await page.keyboard.press('n');
  const fresh = page.getByRole('complementary', { name: 'New Task' });
  await fresh.getByLabel('id').fill('1');
  await fresh.getByLabel('title').fill('Second');
  await fresh.getByRole('button', { name: 'Insert' }).click();
  await fresh
    .getByRole('alert')
    .getByText(/task_pkey|already exists|unique/i)
    .first()
    .waitFor();
  await fresh.getByLabel('id').fill('2');
  await fresh.getByLabel('data').fill('{"a": 1}');
  await fresh.getByRole('button', { name: 'Insert' }).click();
  await page.getByText('Inserted Task 2.').waitFor();
  expect((await stored())[1]).toMatchObject({ title: 'Second', done: false, tags: ['new'], data: { a: 1 } });
  await page.keyboard.press('Escape');
  await rows.focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Delete');
  const asked = page.getByRole('dialog', { name: 'Delete 1 row of Task?' });
  await asked.getByRole('button', { name: 'Delete 1 row' }).click();
  await page.getByText('Deleted 1 row.').waitFor();
  expect(await stored()).toMatchObject([{ id: 1 }]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(stored).toMatchObject([{ id: 1 }, { id: 2, data: { a: 1 } }]);
  expect(problems).toEqual([]);
});

test('what a policy refuses is told as the caller would read it, and nothing has changed', async () => {
  await studio.database.query(`
    create table plan (id int primary key, title text); insert into plan values (1, 'Kept');
    alter table plan enable row level security; create policy seen on plan for select using (true);
    create policy few on plan for insert with check (title = 'good');
    grant select, insert, update, delete on plan to anon`);
  const { page, problems } = await studio.visit('data/Plan?as=anon&row=1');
  const panel = page.getByRole('complementary', { name: 'Plan 1' });
  await panel.getByLabel('title').fill('Changed');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel
    .getByText('Nothing was changed: anon sees the row, but a policy does not let it change the row.')
    .waitFor();
  await panel.getByRole('button', { name: 'Delete' }).click();
  const asked = page.getByRole('dialog', { name: 'Delete 1 row of Plan?' });
  await asked.getByRole('button', { name: 'Delete 1 row' }).click();
  await asked.getByText(/^Nothing was deleted/).waitFor();
  await asked.getByRole('button', { name: 'Cancel' }).click();
  await page.goto(`${studio.url}/studio/data/Plan?as=anon&row=`);
  const fresh = page.getByRole('complementary', { name: 'New Plan' });
  await fresh.getByLabel('id').fill('2');
  await fresh.getByRole('button', { name: 'Insert' }).click();
  await fresh
    .getByRole('alert')
    .getByText(/policy|row-level security/i)
    .first()
    .waitFor();
  expect(await studio.database.query('select * from plan')).toEqual([{ id: 1, title: 'Kept' }]);
  expect(problems).toEqual([]);
});

test('a filter is built of a column and of related rows, shown as chips, and kept in the address', async () => {
  const { page, problems } = await studio.visit('data/Product?as=service');
  const filter = page.getByRole('region', { name: 'Filter' });
  await filter.getByRole('button', { name: 'Filter' }).click();
  await filter.getByLabel('Column', { exact: true }).selectOption('price');
  await filter.getByLabel('Operator').selectOption('at least');
  await filter.getByLabel('Value').fill('100');
  await filter.getByRole('button', { name: 'Apply' }).click();
  await filter.getByRole('button', { name: 'price at least 100', exact: true }).waitFor();
  await filter.getByRole('button', { name: 'And …' }).click();
  await filter.getByLabel('Column', { exact: true }).selectOption('reviews');
  await filter.getByLabel('Column of the related rows').selectOption('rating');
  await filter.getByLabel('Operator').selectOption('is');
  await filter.getByLabel('Value').fill('5');
  await filter.getByRole('button', { name: 'Apply' }).click();
  await filter.getByRole('button', { name: 'reviews › some › rating is 5', exact: true }).waitFor();
  const [{ count }] = (await studio.database.query(`select count(*)::int from product p where price >= 100
    and exists (select from review where product_id = p.id and rating = 5)`)) as [{ count: number }];
  await page.getByText(`${count} ${count === 1 ? 'row' : 'rows'}`, { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.reload();
  await page.getByText(`${count} ${count === 1 ? 'row' : 'rows'}`, { exact: true }).waitFor();
  await filter.getByRole('button', { name: 'Drop reviews › some › rating is 5' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('filter')).toBe('[["price","gte","BigFloat:100"]]');
  await page.goto(`${studio.url}/studio/data/Product?as=service&order=-price&row=7`);
  await page.getByRole('complementary', { name: 'Product 7' }).getByLabel('sku').waitFor();
  await picture(page, 'data');
  expect(problems).toEqual([]);
});

test('an access token that is revoked while a row is edited asks for another, and what was typed is saved with that', async () => {
  const operator = (path: string, method: string, body?: unknown) =>
    fetch(`${studio.url}/v1/projects/${ref}/access-tokens${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const made = await operator('', 'POST', { name: 'short', scopes: ['project:operate'], expiresAt: null });
  const { id, token } = (await made.json()) as { readonly id: string; readonly token: string };
  const { page } = await studio.visit('', { entry: 'stranger' });
  await page.evaluate((value) => sessionStorage.setItem('pgreflect:access-token', value), token);
  await page.goto(`${studio.url}/studio/data/Product?as=service&row=9`);
  const panel = page.getByRole('complementary', { name: 'Product 9' });
  await panel.getByLabel('name').fill('Not lost');
  expect((await operator(`/${id}`, 'DELETE')).status).toBe(200);
  await panel.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('textbox', { name: 'Access token' }).fill(accessToken);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('textbox', { name: 'Access token' }).count()).toBe(0);
  expect(await panel.getByLabel('name').inputValue()).toBe('Not lost');
  await panel.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect(await studio.database.query('select name from product where id = 9')).toEqual([{ name: 'Not lost' }]);
});

test('a view is copied as GraphQL that runs as it stands, and saved as CSV and JSON with all of its rows', async () => {
  const filter = JSON.stringify([
    ['price', 'gte', 'BigFloat:50'],
    ['status', 'eq', 'ProductStatus:active'],
  ]);
  const { page, problems } = await studio.visit(
    `data/Product?as=service&order=-name&filter=${encodeURIComponent(filter)}`,
    { permissions: ['clipboard-read', 'clipboard-write'] },
  );
  const choose = async (title: string | RegExp) => {
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: title }).click();
  };
  await grid(page, 'Product').getByRole('row').nth(1).waitFor();
  await choose('Copy as GraphQL');
  await page.getByText('Copied the view as GraphQL.').waitFor();
  const query = await page.evaluate(() => navigator.clipboard.readText());
  const answer = await fetch(`${studio.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: serviceKey, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = (await answer.json()) as {
    data: { productCollection: { edges: unknown[] } };
    errors?: unknown;
  };
  expect(errors).toBeUndefined();
  expect(data.productCollection.edges.length).toBeGreaterThan(10);
  const [{ count }] = (await studio.database.query(
    `select count(*)::int from product where price >= 50 and status = 'active'`,
  )) as [{ count: number }];
  const saved = async (title: string) => {
    const [file] = await Promise.all([page.waitForEvent('download'), choose(title)]);
    return readFileSync((await file.path())!, 'utf8');
  };
  const rows = JSON.parse(await saved('Save all as JSON')) as Record<string, unknown>[];
  expect(rows).toHaveLength(count);
  expect(rows[0]).toMatchObject({ status: 'active', tags: expect.any(Array) });
  const csv = (await saved('Save all as CSV')).split('\r\n');
  expect(csv).toHaveLength(count + 2);
  expect(csv[0]).toMatch(/^id,categoryId,sku,name/);
  expect(problems).toEqual([]);
});

test('an address that others wrote is copied as values alone', async () => {
  const more = '}}) { edges { node { id } } } others: productCollection(filter: {id: {eq: 1';
  const filter = [
    ['name', 'eq', `Other:"x"${more}`],
    [`name: {eq: "x"${more}`, 'eq', 'String:x'],
    ['name', `eq: "x"${more}`, 'String:x'],
    ['attributes', 'contains', `JSON:${JSON.stringify({ [`a: 1}${more}`]: 1 })}`],
  ];
  const query = new URLSearchParams({
    as: 'service',
    filter: JSON.stringify(filter),
    order: `name: AscNullsLast}])${more}`,
  });
  const { page } = await studio.visit(`data/Product?${query}`, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Copy as GraphQL' }).click();
  await page.getByText('Copied the view as GraphQL.').waitFor();
  const copied = parse(await page.evaluate(() => navigator.clipboard.readText()));
  const [operation, ...others] = copied.definitions as readonly OperationDefinitionNode[];
  expect([operation!.selectionSet.selections.length, others]).toEqual([1, []]);
});

test('a text that a spreadsheet would run as a formula is marked in CSV, and comes back as it was', async () => {
  const texts = [
    '=1+1',
    '+1',
    '-1',
    '-1.5e3',
    "-2+3+cmd|' /C calc'!A0",
    '-a',
    '@sum',
    '\t=1',
    '\n=1',
    '＝1',
    "'=1",
    "'-1",
    "'",
    '1',
    'a,b',
  ];
  await studio.database.query(`create table cell_text (id int primary key, body text); grant all on cell_text to service_role;
    insert into cell_text select row_number() over (), e.value from json_array_elements_text('${JSON.stringify(texts).replaceAll("'", "''")}') e`);
  const { page, problems } = await studio.visit('data/CellText?as=service&order=id');
  const choose = async (title: string) => {
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: title }).click();
  };
  await grid(page, 'CellText').getByRole('row').nth(1).waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), choose('Save all as CSV')]);
  const csv = readFileSync((await file.path())!, 'utf8');
  const bodies = [...csv.matchAll(/^\d+,(?:"((?:[^"]|"")*)"|(.*))\r$/gm)].map(([, quoted, plain]) => quoted ?? plain);
  const marked = texts.map((text) => (['-1', '-1.5e3', "'", '1', 'a,b'].includes(text) ? text : `'${text}`));
  expect(bodies).toEqual(marked);
  await studio.database.query('truncate cell_text');
  await choose('Insert rows of a file …');
  const dialog = page.getByRole('dialog', { name: 'Insert rows of a file into CellText' });
  const given = { name: 'cells.csv', mimeType: 'text/plain', buffer: Buffer.from(csv) };
  await dialog.getByLabel('CSV with a head').setInputFiles(given);
  await dialog.getByRole('button', { name: /^Insert/ }).click();
  await page.getByText(`Inserted ${texts.length} rows.`).waitFor();
  const rows = await studio.database.query('select body from cell_text order by id');
  expect(rows.map(({ body }) => body)).toEqual(texts);
  expect(problems).toEqual([]);
});

test('a live view shows a row that is inserted elsewhere without a reload', async () => {
  await studio.database.query(
    'create table event (id int primary key, note text); grant select on event to service_role',
  );
  const { page, problems } = await studio.visit('data/Event?as=service');
  await page.getByRole('heading', { name: 'No rows yet' }).waitFor();
  await page.getByRole('switch', { name: 'Live' }).check();
  await expect.poll(() => new URL(page.url()).searchParams.get('live')).toBe('1');
  await studio.database.query(`insert into event values (1, 'Came by itself')`);
  await grid(page, 'Event')
    .getByRole('row', { name: /Came by itself/ })
    .waitFor();
  await studio.database.query(`update event set note = 'And changed'`);
  await grid(page, 'Event')
    .getByRole('row', { name: /And changed/ })
    .waitFor();
  expect(problems).toEqual([]);
});

test('a file of rows is looked at, inserted in batches, and what is refused is told by row', async () => {
  await studio.database.query(`create table part (id int primary key, name text, price numeric, tags text[] default '{none}');
    grant select, insert on part to service_role`);
  const { page, problems } = await studio.visit('data/Part?as=service');
  await page.getByRole('heading', { name: 'No rows yet' }).waitFor();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Insert rows of a file …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Insert rows of a file into Part' });
  const give = (name: string, text: string) =>
    dialog.getByLabel('CSV with a head').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await give('wrong.csv', 'id,name\r\nx,One\r\n');
  await dialog.getByText('Row 1: id: Write a number.').waitFor();
  expect(await dialog.getByRole('button', { name: /^Insert/ }).isDisabled()).toBe(true);
  const lines = Array.from({ length: 150 }, (_, index) => `${index + 1},"Part, ""${index}""",1.50,"[""a""]",x`);
  await give('parts.csv', ['id,name,price,tags,other', ...lines, '120,Twice,,,', '151,,,,'].join('\r\n'));
  await dialog.getByText('152 rows with id, name, price, tags. Left out').waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Insert 152 rows' }).click();
  await dialog.getByText(/^Row 151: /).waitFor();
  await expect.poll(() => dialog.getByRole('status').textContent()).toBe('151 rows inserted so far.');
  expect(await studio.database.query('select * from part where id in (1, 151) order by id')).toEqual([
    { id: 1, name: 'Part, "0"', price: '1.50', tags: ['a'] },
    { id: 151, name: null, price: null, tags: ['none'] },
  ]);
  await give('more.json', JSON.stringify([{ id: 200, name: 'Of JSON', tags: ['b', 'c'] }]));
  await dialog.getByRole('button', { name: 'Insert 1 rows' }).click();
  await page.getByText('Inserted 1 rows.').waitFor();
  expect(await studio.database.query('select tags from part where id = 200')).toEqual([{ tags: ['b', 'c'] }]);
  expect(problems).toEqual([]);
});
