/** The page Data in a real browser: rows as a caller sees them, page after page, and what goes wrong. */
import { readFileSync } from 'node:fs';
import { type OperationDefinitionNode, parse } from 'graphql';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { ref } from '../management/management.ts';
import { serviceKey } from '../support/http.ts';
import { accessToken, followMenu, picture, startStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

const studio = await startStudio();
await studio.database.query(`
  create table measure (id int primary key, at timestamptz not null default now(), note text);
  insert into measure (id, note) select n, 'Note ' || n from generate_series(1, 5000) n;
  comment on table measure is '@graphql({"max_rows": 500, "totalCount": {"enabled": true}})';
  grant select on measure to anon, service_role`);

const grid = (page: Page, table: string) => page.getByRole('grid', { name: `Rows of ${table}` });
/** The text of a row's cells, by its number in the table from 1. */
const cellsOf = (page: Page, index: number) =>
  page
    .locator(`[aria-rowindex="${index + 1}"]`)
    .locator('[role=rowheader], [role=gridcell]')
    .allTextContents();

test('a table is found, its rows are ordered by a head and seen as another caller, and the address says it all', async () => {
  const { page, foreign, problems } = await studio.visit('data?as=anon');
  const tables = page.getByRole('navigation', { name: 'Tables' });
  await tables.getByRole('searchbox').fill('prod');
  expect(await tables.getByRole('listitem').allTextContents()).toEqual([
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
  await expect.poll(() => page.url()).toBe(address);
  expect({ foreign, problems }).toEqual({ foreign: [], problems: [] });
});

test('begins as the first role that sees something, and then as the one that was chosen, but never as one that may do more; GraphQL is not concerned', async () => {
  await studio.database.query(`
    create table leaflet (id int primary key); insert into leaflet values (1); grant select on leaflet to anon, authenticated;
    create table sealed (id int primary key); grant select on sealed to service_role`);
  const { page, problems } = await studio.visit('data');
  const seenAs = () => expect.poll(() => new URL(page.url()).searchParams.get('as'));
  const isChosen = (role: string) => page.getByRole('radio', { name: role, exact: true }).isChecked();
  await page.getByRole('link', { name: 'Sealed', exact: true }).waitFor();
  await seenAs().toBe('service');
  await followMenu(page, 'GraphQL');
  await page.locator('.graphiql-container').waitFor();
  expect([await isChosen('anon'), await isChosen('service_role')]).toEqual([true, false]);
  await followMenu(page, 'Data');
  await seenAs().toBe('service');
  await page.goto(`${studio.url}/studio/data/Leaflet`);
  await grid(page, 'Leaflet').getByRole('row', { name: /^1/ }).waitFor();
  await seenAs().toBe('authenticated');
  // What was found is not what somebody chose.
  await page.goto(`${studio.url}/studio/data`);
  await seenAs().toBe('service');
  await page.getByRole('radio', { name: 'anon' }).click();
  await page.getByRole('link', { name: 'Sealed', exact: true }).waitFor({ state: 'detached' });
  await page.goto(`${studio.url}/studio/data/Sealed`);
  await page.getByRole('heading', { name: 'anon does not see Sealed' }).waitFor();
  await page.goto(`${studio.url}/studio/data/Sealed?as=service`);
  await page.getByRole('heading', { name: 'No rows yet' }).waitFor();
  await page.goto(`${studio.url}/studio/data`);
  await seenAs().toBe('anon');
  // A project whose requests have no service role.
  await page.evaluate(() => localStorage.clear());
  await page.route('**/studio/project', async (route) => {
    const answer = await route.fetch();
    const project = await answer.json();
    await route.fulfill({
      response: answer,
      json: { ...project, roles: { ...project.roles, service: 'no_such_role' } },
    });
  });
  await page.goto(`${studio.url}/studio/data`);
  await seenAs().toBe('authenticated');
  expect(problems).toEqual([]);
});

test('rows are scrolled through by keys, each page after the cursor of the last, and the last ones in the other order; only rows in sight are in the page', async () => {
  const { page, problems } = await studio.visit('data/Measure?as=service');
  const rows = grid(page, 'Measure');
  await page.getByText('5,000 rows').waitFor();
  const asked: { readonly query: string; readonly variables: { readonly after?: string } }[] = [];
  page.on('request', (request) => {
    if (/graphql/.test(request.url()) && request.method() === 'POST') asked.push(request.postDataJSON());
  });
  const shown = () =>
    rows.evaluate((element) =>
      [...element.querySelectorAll('[role=row][aria-rowindex]')]
        .slice(1)
        .map((row) => [Number(row.getAttribute('aria-rowindex')), row.querySelector('[role=rowheader]')?.textContent]),
    );
  await rows.focus();
  // Each press goes to the last row that is loaded, which loads the next ones.
  const through = async (deep: number, idOf: (index: number) => number) => {
    for (let last = 0; last < deep; ) {
      await page.keyboard.press('Control+End');
      const inSight = await shown();
      expect(inSight.length).toBeLessThan(80);
      for (const [index, id] of inSight) expect(Number(id)).toBe(idOf((index as number) - 1));
      last = Number(inSight.at(-1)?.[0] ?? 0);
    }
  };
  await through(4000, (index) => index);
  const after = asked.map(({ variables }) => variables.after);
  expect(after.length).toBeGreaterThan(10);
  expect(new Set(after).size).toBe(after.length);
  expect(after).not.toContain(undefined);
  await page.keyboard.press('Control+Home');
  await rows.getByRole('row', { name: /^1 .*Note 1$/ }).waitFor();
  await page.mouse.move(900, 500);
  for (let turns = 0; turns < 20; turns += 1) await page.mouse.wheel(0, 5000);
  await expect.poll(async () => Number((await shown())[0]?.[0])).toBeGreaterThan(2500);
  await page.goto(`${studio.url}/studio/data/Measure?as=service&order=-id`);
  await rows.getByRole('row', { name: /^5000 .*Note 5000$/ }).waitFor();
  await rows.focus();
  await through(1000, (index) => 5001 - index);
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
    .getByRole('row', { name: /^5000 / })
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
  page.once('dialog', (dialog) => dialog.accept());
  await page.keyboard.press('Escape');
  await expect.poll(() => panel.count()).toBe(0);

  await page.keyboard.press('Shift+Enter');
  const fresh = page.getByRole('complementary', { name: 'New Task' });
  await fresh.getByText('As service_role').waitFor();
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
  await asked.getByText('As service_role').waitFor();
  await asked.getByRole('button', { name: 'Delete 1 row' }).click();
  await page.getByText('Deleted 1 row.').waitFor();
  expect(await stored()).toMatchObject([{ id: 1 }]);
  // That of an earlier change may be there still.
  await page.locator('.toast', { hasText: 'Deleted 1 row.' }).getByRole('button', { name: 'Undo' }).click();
  await expect.poll(stored).toMatchObject([{ id: 1 }, { id: 2, data: { a: 1 } }]);
  expect(problems).toEqual([]);
});

test('the row that a foreign key refers to is found by the texts that the caller reads of it, and by its key', async () => {
  const { page } = await studio.visit('data/Product?as=service&row=');
  const [category] = await studio.database.query<{ id: number; name: string }>(
    'select id, name from category order by id desc limit 1',
  );
  const panel = page.getByRole('complementary', { name: 'New Product' });
  const finder = panel.getByRole('combobox', { name: 'Find category' });
  await finder.fill(category!.name.slice(1).toUpperCase());
  await page.getByRole('option', { name: new RegExp(`^${category!.id} · ${category!.name} · [a-z-]+$`) }).click();
  await expect.poll(() => panel.getByLabel('categoryId', { exact: true }).inputValue()).toBe(String(category!.id));
  expect(await finder.inputValue()).toContain(category!.name);
  await panel.getByLabel('categoryId', { exact: true }).fill('1');
  await expect.poll(() => finder.inputValue()).toBe('');
  await finder.fill('2');
  await page.getByRole('option', { name: /^2 · / }).click();
  await expect.poll(() => panel.getByLabel('categoryId', { exact: true }).inputValue()).toBe('2');
  await finder.fill('50%');
  await page.getByText('No Category found.').waitFor();
  // Escape closes the list, not the form.
  const asked: string[] = [];
  page.on('dialog', (dialog) => dialog.dismiss().then(() => asked.push(dialog.message())));
  await page.keyboard.press('Escape');
  await page.getByText('No Category found.').waitFor({ state: 'detached' });
  expect([asked, await panel.isVisible()]).toEqual([[], true]);
});

test('a row is inserted with related rows at any depth, and what is refused of one of them is told at that row', async () => {
  await studio.database.query(`
    create table maker (id int generated always as identity primary key, name text not null unique);
    create table gadget (id int generated always as identity primary key, maker_id int not null references maker, name text not null);
    create table piece (gadget_id int references gadget, line int, amount int not null check (amount > 0), primary key (gadget_id, line));
    grant select, insert, update, delete on maker, gadget, piece to service_role`);
  const { page, problems } = await studio.visit('data/Gadget?as=service&row=');
  const form = page.getByRole('complementary', { name: 'New Gadget' });
  await form.getByLabel('makerId').waitFor();
  await form.getByRole('button', { name: 'New related Maker' }).click();
  const maker = form.getByRole('group', { name: 'New Maker' });
  await expect.poll(() => maker.getByLabel('name').evaluate((field) => field === document.activeElement)).toBe(true);
  await page.keyboard.type('Acme');
  // The related row gives the key: the column is no field any more, and nor is the way back.
  expect(await form.getByLabel('makerId').count()).toBe(0);
  expect(await maker.getByRole('button', { name: 'Add a related Gadget' }).count()).toBe(0);
  await form.getByLabel('name').first().fill('Whistle');
  const pieces = form.getByRole('group', { name: 'New Piece' });
  for (const [index, amount] of ['3', '0'].entries()) {
    await form.getByRole('button', { name: 'related Piece' }).click();
    await pieces
      .nth(index)
      .getByLabel('line')
      .fill(String(index + 1));
    await pieces.nth(index).getByLabel('amount').fill(amount);
  }
  expect(await pieces.first().getByLabel('gadgetId').count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  await form.getByRole('button', { name: 'Insert' }).click();
  // With two rows, PostgreSQL does not tell which: the list is named.
  await form
    .getByRole('alert')
    .getByText(/piece_amount_check/)
    .waitFor();
  await form.getByText('Nothing was saved: see above.').waitFor();
  await pieces.first().getByRole('button', { name: 'Remove' }).click();
  await form.getByRole('button', { name: 'Insert' }).click();
  await pieces
    .getByRole('alert')
    .getByText(/piece_amount_check/)
    .waitFor();
  expect(await studio.database.query('select * from maker, gadget')).toEqual([]);
  await pieces.getByLabel('amount').fill('5');
  await page.keyboard.press('Control+Enter');
  await page.getByText(/^Inserted Gadget \d+ with 2 related rows\.$/).waitFor();
  expect(
    await studio.database.query(
      'select m.name as maker, g.name, line, amount from piece join gadget g on g.id = gadget_id join maker m on m.id = maker_id',
    ),
  ).toEqual([{ maker: 'Acme', name: 'Whistle', line: 2, amount: 5 }]);
  expect(problems).toEqual([]);
});

test('what a new row and its related rows lack is told in the names of the form before anything is sent, as are two of the same key; the page itself does not scroll', async () => {
  await studio.database.query(`
    create table bill (id int generated always as identity primary key, sent_to text not null, note text, made_at timestamptz not null default now());
    create table bill_line (bill_id int references bill, line_no int, amount int not null, unit text not null, primary key (bill_id, line_no));
    create function give_unit() returns trigger language plpgsql as $$ begin new.unit := coalesce(new.unit, 'piece'); return new; end $$;
    create trigger give_unit before insert on bill_line for each row execute function give_unit();
    grant select, insert on bill, bill_line to service_role`);
  const stored = () =>
    studio.database.query('select sent_to, line_no, amount, unit from bill_line join bill on bill_id = id order by 2');
  const { page, problems } = await studio.visit('data/Bill?as=service&row=', {
    viewport: { width: 1280, height: 700 },
  });
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.postData()?.includes('BillWrite')) sent.push(request.url());
  });
  const form = page.getByRole('complementary', { name: 'New Bill' });
  await form.locator('[data-column="sentTo"]').getByText('required', { exact: true }).waitFor();
  expect(await form.locator('[data-column="madeAt"]').getByText('required', { exact: true }).count()).toBe(0);
  const lines = form.getByRole('group', { name: 'New BillLine' });
  for (const [index, amount] of ['3', '5'].entries()) {
    await form.getByRole('button', { name: 'related BillLine' }).click();
    await lines.nth(index).getByLabel('lineNo').fill('1');
    await lines.nth(index).getByLabel('amount').fill(amount);
  }
  // The button is where the next row comes.
  const [last, adder] = [
    await lines.last().boundingBox(),
    await form.getByRole('button', { name: 'Add another' }).boundingBox(),
  ];
  expect(adder!.y).toBeGreaterThan(last!.y + last!.height - 1);
  await form.getByRole('button', { name: 'Insert' }).click();
  await form
    .getByText(
      'Nothing was sent: sentTo is required; New BillLine 1: unit is required; New BillLine 2: unit is required, the same lineNo as New BillLine 1.',
    )
    .waitFor();
  await lines.nth(1).getByText('The same lineNo as New BillLine 1.').waitFor();
  // The database must refuse two equal keys, so nothing offers to send them.
  expect(await form.getByRole('button', { name: 'Insert anyway' }).count()).toBe(0);
  await form.getByRole('button', { name: 'Insert', exact: true }).click();
  await expect
    .poll(() => form.getByLabel('sentTo').evaluate((field) => [field === document.activeElement, field.ariaInvalid]))
    .toEqual([true, 'true']);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.type('Ada');
  await lines.nth(1).getByLabel('lineNo').fill('2');
  // The trigger gives the units.
  await form.getByRole('button', { name: 'Insert', exact: true }).click();
  await form.getByText(/If a trigger fills it in/).waitFor();
  expect(sent).toEqual([]);
  await form.getByRole('button', { name: 'Insert anyway' }).click();
  await page.getByText(/^Inserted Bill \d+ with 2 related rows\.$/).waitFor();
  expect(await stored()).toEqual([
    { sent_to: 'Ada', line_no: 1, amount: 3, unit: 'piece' },
    { sent_to: 'Ada', line_no: 2, amount: 5, unit: 'piece' },
  ]);

  await page.goto(`${studio.url}/studio/data/Bill?as=service&row=`);
  await form.getByLabel('sentTo').fill('Grace');
  for (const index of [0, 1, 2]) {
    await form.getByRole('button', { name: 'related BillLine' }).click();
    await lines.nth(index).getByLabel('lineNo').fill(String(index));
    await lines.nth(index).getByLabel('amount').fill('99999999999');
    await lines.nth(index).getByLabel('unit').fill('box');
  }
  await form.getByRole('button', { name: 'Insert' }).click();
  await form.getByRole('alert').filter({ hasText: /./ }).first().waitFor();
  expect(
    await page.locator('#page').evaluate((main) => [main.scrollTop, main.scrollHeight - main.clientHeight]),
  ).toEqual([0, 0]);
  expect(problems).toEqual([]);
});

test('the lines of a new row are numbered, a row chosen by its key rules out a new one, and the panel shows what was inserted', async () => {
  await studio.database.query(`
    create table buyer (id int primary key, name text); insert into buyer values (7, 'Ada');
    create table sale (id int generated always as identity primary key, buyer_id int not null references buyer);
    create table sale_line (sale_id int references sale, line_no int, item text, primary key (sale_id, line_no));
    create table sale_year (sale_id int references sale, year int, note text, primary key (sale_id, year));
    create table sale_no (sale_id int references sale, buyer_no int references buyer, primary key (sale_id, buyer_no));
    grant select, insert on buyer, sale, sale_line, sale_year, sale_no to service_role`);
  const { page, problems } = await studio.visit('data/Sale?as=service&row=');
  const form = page.getByRole('complementary', { name: 'New Sale' });
  const adder = form.getByRole('button', { name: 'New related Buyer in buyer' });
  await adder.waitFor();
  await form.getByRole('combobox', { name: 'Find buyer' }).fill('ada');
  await page.getByRole('option', { name: '7 · Ada' }).click();
  await form.getByText('buyerId 7 is chosen').waitFor();
  expect(await adder.count()).toBe(0);
  await form.getByRole('button', { name: 'Leave out of buyerId' }).click();
  await adder.click();
  await form.getByRole('group', { name: 'New Buyer' }).waitFor();
  // The other way round: a new buyer leaves no key to choose.
  expect(await form.getByLabel('buyerId', { exact: true }).count()).toBe(0);
  await form.getByRole('button', { name: 'Remove' }).click();
  await form.getByLabel('buyerId', { exact: true }).fill('7');
  const lines = form.getByRole('group', { name: 'New SaleLine' });
  const number = (index: number) => lines.nth(index).getByLabel('lineNo');
  const add = form.getByRole('button', { name: 'related SaleLine' });
  await add.click();
  // What is given already needs no keyboard.
  await expect
    .poll(() =>
      lines.getByLabel('item').evaluateAll((fields) => fields.map((field) => field === document.activeElement)),
    )
    .toEqual([true]);
  expect(await number(0).inputValue()).toBe('1');
  await number(0).fill('4');
  await add.click();
  expect(await number(1).inputValue()).toBe('5');
  await page.keyboard.type('Tent');
  await number(1).fill('');
  await add.click();
  expect(await number(2).inputValue()).toBe('');
  await lines.nth(2).getByRole('button', { name: 'Remove' }).click();
  await number(1).fill('6');
  // No related row would bring it.
  expect(await lines.nth(1).getByRole('button', { name: 'Leave out of lineNo' }).count()).toBe(0);
  // Neither a year nor a key of another table counts lines.
  for (const [table, field] of [
    ['SaleYear', 'year'],
    ['SaleNo', 'buyerNo'],
  ] as const) {
    await form.getByRole('button', { name: `related ${table} ` }).click();
    const row = form.getByRole('group', { name: `New ${table}` });
    expect(await row.getByLabel(field, { exact: true }).inputValue()).toBe('');
    // Nobody knows keys by heart: where rows can be found, the keyboard is there.
    const isFocused = (fields: readonly Element[]) => fields.map((each) => each === document.activeElement);
    await expect.poll(() => row.getByRole('combobox').evaluateAll(isFocused)).toEqual(table === 'SaleNo' ? [true] : []);
    await row.getByRole('button', { name: 'Remove' }).click();
  }
  expect(await violations(page)).toEqual([]);
  await form.getByRole('button', { name: 'Insert', exact: true }).click();
  await page.getByText(/^Inserted Sale \d+ with 2 related rows\.$/).waitFor();
  const panel = page.getByRole('complementary', { name: /^Sale \d+$/ });
  await panel.getByRole('link', { name: 'lineNo 4', exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await panel.getByRole('link', { name: 'lineNo 6 · Tent' }).click();
  await page.getByRole('complementary', { name: /^SaleLine \d+~6$/ }).waitFor();
  expect(
    await studio.database.query('select buyer_id, line_no, item from sale_line join sale on id = sale_id'),
  ).toEqual([
    { buyer_id: 7, line_no: 4, item: null },
    { buyer_id: 7, line_no: 6, item: 'Tent' },
  ]);
  expect(problems).toEqual([]);
});

test('related rows are inserted, changed and deleted with their row, and one that somebody else has changed meanwhile stays and is named', async () => {
  await studio.database.query(`
    create table box (id int primary key, name text);
    create table thing (id int primary key, box_id int references box, name text, count int not null);
    insert into box values (1, 'Box'); insert into thing select n, 1, 'Thing ' || n, n from generate_series(1, 4) n;
    grant select, insert, update, delete on box, thing to service_role`);
  const stored = () => studio.database.query('select id, box_id, name, count from thing order by id');
  const { page, problems } = await studio.visit('data/Box?as=service&row=1');
  const panel = page.getByRole('complementary', { name: 'Box 1' });
  await panel.getByRole('button', { name: 'Edit thingCollection' }).click();
  await panel.getByRole('button', { name: 'Delete 1', exact: true }).click();
  await panel.getByRole('button', { name: 'Keep 1', exact: true }).click();
  await panel.getByRole('button', { name: 'Delete 2', exact: true }).click();
  await panel.getByRole('button', { name: 'Edit 3', exact: true }).click();
  await panel.getByRole('group', { name: 'Thing 3' }).getByLabel('name').fill('Third');
  await panel.getByRole('button', { name: 'Edit 4', exact: true }).click();
  await panel.getByRole('group', { name: 'Thing 4' }).getByLabel('count').fill('40');
  await panel.getByRole('button', { name: 'Add a related Thing' }).click();
  const fresh = panel.getByRole('group', { name: 'New Thing' });
  await fresh.getByLabel('id').fill('5');
  await fresh.getByLabel('count').fill('5');
  await studio.database.query('update thing set count = 44 where id = 4');
  await panel.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^Saved, but not Thing 4: changed meanwhile/).waitFor();
  expect(await stored()).toEqual([
    { id: 1, box_id: 1, name: 'Thing 1', count: 1 },
    { id: 3, box_id: 1, name: 'Third', count: 3 },
    { id: 4, box_id: 1, name: 'Thing 4', count: 44 },
    { id: 5, box_id: 1, name: null, count: 5 },
  ]);
  // What was typed of it is still there.
  expect(await panel.getByRole('group', { name: 'Thing 4' }).getByLabel('count').inputValue()).toBe('40');
  expect(problems).toEqual([]);
});

test('typing on a cell edits it, Enter saves it, Escape leaves it as it was, and JSON has its faults marked as one types', async () => {
  await studio.database.query(`
    create table setting (id int primary key, name text, size int, kind jsonb);
    insert into setting values (1, 'First', 10, '{"a": 1}'), (2, 'Second', 20, null);
    grant select, insert, update, delete on setting to service_role`);
  const stored = () => studio.database.query('select * from setting order by id');
  const { page, problems } = await studio.visit('data/Setting?as=service');
  const rows = grid(page, 'Setting');
  await rows.getByRole('row', { name: /1 First/ }).waitFor();
  // The table has no count of the API, but no more rows are to come.
  await page.getByText('2 rows', { exact: true }).waitFor();
  await rows.focus();
  for (const key of ['ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  await page.keyboard.type('Nancy');
  const panel = page.getByRole('complementary', { name: 'Setting 1' });
  expect(await panel.getByLabel('name').inputValue()).toBe('Nancy');
  await page.keyboard.press('Enter');
  await page.getByText('Saved.').waitFor();
  expect(await stored()).toMatchObject([{ name: 'Nancy' }, { name: 'Second' }]);
  await expect.poll(() => rows.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('77');
  await expect.poll(() => panel.getByLabel('size').inputValue()).toBe('77');
  await page.keyboard.press('Escape');
  await expect.poll(() => panel.count()).toBe(0);
  expect(await stored()).toMatchObject([{ name: 'Nancy', size: 10 }, {}]);
  // That of the name would be clicked in place of the next.
  await page.getByLabel('Dismiss').click();
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
  await rows.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('F2');
  const json = panel.getByRole('textbox', { name: 'kind' });
  await expect.poll(() => json.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{"a": 1,}');
  await panel.getByText(/^This is not JSON/).waitFor();
  await panel.locator('.cm-lintRange-error').waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await panel.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{"a": [1, 2]}');
  await page.keyboard.press('Control+Enter');
  await expect.poll(stored).toMatchObject([{ kind: { a: [1, 2] } }, {}]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(stored).toMatchObject([{ kind: { a: 1 } }, {}]);
  expect(problems).toEqual([]);
});

test('whoever leaves a row with unsaved changes is asked first: by the menu, another row, Escape, the way back and a closed tab', async () => {
  await studio.database.query(`
    create table draft (id int primary key, name text); insert into draft values (1, 'One'), (2, 'Two');
    grant select, update on draft to service_role`);
  const { page, problems } = await studio.visit('data/Draft?as=service');
  const asked: string[] = [];
  let isAgreed = false;
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    return isAgreed ? dialog.accept() : dialog.dismiss();
  });
  const panel = page.getByRole('complementary', { name: 'Draft 1' });
  await grid(page, 'Draft').getByText('One').dblclick();
  await panel.getByLabel('name').fill('Typed');
  const stays = async (leave: () => Promise<unknown>, count: number) => {
    await leave();
    await expect.poll(() => asked.length).toBe(count);
    expect(await panel.getByLabel('name').inputValue()).toBe('Typed');
    await expect.poll(() => page.url()).toContain('/data/Draft?as=service&row=1');
  };
  await stays(() => followMenu(page, 'Users'), 1);
  await stays(() => grid(page, 'Draft').getByText('Two').dblclick(), 2);
  await stays(async () => {
    await panel.getByLabel('name').focus();
    await page.keyboard.press('Escape');
  }, 3);
  await stays(() => page.evaluate(() => history.back()), 4);
  await stays(() => page.getByRole('radio', { name: 'anon' }).click(), 5);
  // Another order of the rows loses nothing.
  await page.getByRole('button', { name: /^name/ }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('order')).toBe('name');
  expect(asked).toHaveLength(5);
  expect(await panel.getByLabel('name').inputValue()).toBe('Typed');
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => asked.at(-1)).toBe('beforeunload');
  isAgreed = true;
  await followMenu(page, 'Users');
  await expect.poll(() => page.url()).toContain('/studio/users');
  await followMenu(page, 'Data');
  expect(asked).toHaveLength(7);
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
  // Nothing else may be under way that would be refused first.
  await page.getByText('400 rows').waitFor();
  await page.waitForLoadState('networkidle');
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
  const rows = JSON.parse(await saved('Save as JSON (all that match)')) as Record<string, unknown>[];
  expect(rows).toHaveLength(count);
  expect(rows[0]).toMatchObject({ status: 'active', tags: expect.any(Array) });
  const csv = (await saved('Save as CSV (all that match)')).split('\r\n');
  expect(csv).toHaveLength(count + 2);
  expect(csv[0]).toMatch(/^id,categoryId,sku,name/);
  await grid(page, 'Product').getByRole('checkbox').first().check();
  expect((await saved('Save as CSV (1 chosen)')).split('\r\n')).toHaveLength(3);
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
  const [file] = await Promise.all([page.waitForEvent('download'), choose('Save as CSV (all rows)')]);
  const csv = readFileSync((await file.path())!, 'utf8');
  const bodies = [...csv.matchAll(/^\d+,(?:"((?:[^"]|"")*)"|(.*))\r$/gm)].map(([, quoted, plain]) => quoted ?? plain);
  const marked = texts.map((text) => (['-1', '-1.5e3', "'", '1', 'a,b'].includes(text) ? text : `'${text}`));
  expect(bodies).toEqual(marked);
  await studio.database.query('truncate cell_text');
  await choose('Import CSV or JSON …');
  const dialog = page.getByRole('dialog', { name: 'Import rows into CellText' });
  const given = { name: 'cells.csv', mimeType: 'text/plain', buffer: Buffer.from(csv) };
  await dialog.getByLabel('CSV with a header row').setInputFiles(given);
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
  await studio.database.query(`create table part (id int primary key, name text, price numeric, tags text[] default '{none}', unit_name text);
    grant select, insert on part to service_role`);
  const { page, problems } = await studio.visit('data/Part?as=service');
  await page.getByRole('heading', { name: 'No rows yet' }).waitFor();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Import CSV or JSON …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import rows into Part' });
  const give = (name: string, text: string) =>
    dialog
      .getByLabel('CSV with a header row')
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await give('wrong.csv', 'id,name\r\nx,One\r\n');
  await dialog.getByText('Line 2: id is “x”. Write a number.').waitFor();
  expect(await dialog.getByRole('button', { name: /^Insert/ }).isDisabled()).toBe(true);
  const lines = Array.from({ length: 150 }, (_, index) => `${index + 1},"Part, ""${index}""",1.50,"[""a""]",x`);
  await give('parts.csv', ['id,name,price,tags,other', ...lines, '120,Twice,,,', '151,,,,'].join('\r\n'));
  await dialog.getByText('152 rows with id, name, price, tags. Left out').waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Insert 152 rows' }).click();
  await dialog.getByText(/^Line 152: /).waitFor();
  await expect.poll(() => dialog.getByRole('status').textContent()).toBe('151 rows inserted.');
  const [left] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Save what is left (1 row)' }).click(),
  ]);
  expect(readFileSync((await left.path())!, 'utf8')).toBe('id,name,price,tags,unitName\r\n120,Twice,,,\r\n');
  await give('lines.csv', 'id,name\r\n300,"Over\r\ntwo lines"\r\n\r\n301,a,b\r\nx,c\r\n');
  await dialog.getByText('Line 5: 3 cells, but the header row has 2.').waitFor();
  await dialog.getByText('Line 6: id is “x”. Write a number.').waitFor();
  expect(
    await studio.database.query('select id, name, price, tags from part where id in (1, 151) order by id'),
  ).toEqual([
    { id: 1, name: 'Part, "0"', price: '1.50', tags: ['a'] },
    { id: 151, name: null, price: null, tags: ['none'] },
  ]);
  await give('dump.csv', 'id,unit_name\n400,pair\n');
  await dialog.getByRole('columnheader', { name: 'unitName' }).waitFor();
  await give('more.json', JSON.stringify([{ id: 200, name: 'Of JSON', tags: ['b', 'c'] }]));
  await dialog.getByRole('button', { name: 'Insert 1 row' }).click();
  await page.getByText('Inserted 1 row.').waitFor();
  expect(await studio.database.query('select tags from part where id = 200')).toEqual([{ tags: ['b', 'c'] }]);
  expect(problems).toEqual([]);
});

test('what the caller does not see or change is said, and leads to the reasons', async () => {
  const { page, problems } = await studio.visit('data/Product?as=anon');
  await page.getByRole('link', { name: 'anon only reads' }).click();
  await page.getByRole('heading', { name: 'public.product', exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: /^Hidden from anon: tables, columns, functions \d+$/ }).click();
  await page.getByRole('heading', { name: 'Hidden from anon' }).waitFor();
  await page
    .getByText(/shop_order/)
    .first()
    .waitFor();
  await page.goBack();
  await page.getByRole('radio', { name: 'service_role' }).click();
  await page.getByRole('button', { name: 'Insert row' }).waitFor();
  expect(await page.getByText('only reads').count()).toBe(0);
  expect(problems).toEqual([]);
});
