/**
 * What a person does first on the page Access, in a real browser: grant single columns, and let users reach their own rows.
 */
import type { Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type AccessScope, accessScopes, usualScopes } from '../../src/management/tokens/access-tokens.ts';
import { addToken } from '../management/management.ts';
import { accessToken, faultsInBothLooks, startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

const ada = '00000000-0000-4000-8000-00000000000a';

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
  await studio.database.query(`
    create table memo (id int primary key, user_id uuid, title text);
    insert into memo values (1, '${ada}', 'hers'), (20, null, 'of nobody');
    alter table memo enable row level security;
    create policy everyone_reads on memo for select using (true);
    create policy recent on memo for select to authenticated using (id > 10);
    create table note (like memo);
    insert into note select * from memo;
    alter table note enable row level security;
    create policy open on note for all using (true);
    create table todo (like memo);
    insert into todo select * from memo;
    create table aisle (id int primary key);
    alter table aisle enable row level security;
    grant select on memo to anon, authenticated;
    grant select, insert on note, todo to anon, authenticated;
    grant select on shop_order to anon;
    grant select on customer to anon;`);
});

/** Signs in with a token that may run SQL. */
async function enter(path: string): Promise<Page> {
  const { page } = await studio.visit('', { entry: 'stranger' });
  await page.getByLabel('Access token').fill(await addToken(studio.database, { scopes: accessScopes }));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').waitFor();
  await page.goto(`${studio.url}/studio/${path}`);
  return page;
}

/** The ids that a role reads. */
async function seen(table: string, role: string, sub?: string): Promise<readonly number[]> {
  const claims = JSON.stringify({ role, ...(sub !== undefined && { sub }) });
  await studio.database.query(`begin; set local role ${role}; set local request.jwt.claims = '${claims}'`);
  const rows = await studio.database.query(`select id from ${table} order by id`);
  await studio.database.query('rollback');
  return (rows as unknown as readonly { readonly id: number }[]).map(({ id }) => id);
}

const statementsOf = (page: Page) =>
  page
    .getByRole('textbox', { name: /^Statement/ })
    .evaluateAll((all) => all.map((each) => (each as HTMLTextAreaElement).value));

test('one column is granted by a tick, which stays marked until it is applied, and no grant of all columns stands beside it', async () => {
  const page = await enter('access/public/message?role=authenticated');
  await page.getByRole('button', { name: 'Grant all columns select authenticated' }).click();
  const row = page.getByRole('row', { name: /^read/ });
  await row.getByText('pending all columns').waitFor();
  await page.getByRole('button', { name: 'Choose columns … select authenticated' }).click();
  const all = page.getByRole('checkbox', { name: 'read all columns' });
  expect(await all.isChecked()).toBe(true);
  await all.uncheck();
  const box = page.getByRole('checkbox', { name: 'read sent_at' });
  await page.locator('.table-access').evaluate((pane) => pane.scrollTo(0, 0));
  const heightOf = async () => Math.round((await box.boundingBox())!.y);
  const before = await heightOf();
  await box.check();
  // Rows are ordered by the key.
  await row.getByText('pending the columns id, sent_at').waitFor();
  // What it adds above does not move the boxes away from the pointer.
  expect(Math.abs((await heightOf()) - before)).toBeLessThanOrEqual(1);
  await page
    .getByRole('row', { name: /^sent_at/ })
    .getByText('pending')
    .waitFor();
  // Row security would hide every row of what is granted.
  await page.getByRole('button', { name: 'Draft a policy select authenticated' }).waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
  await page.reload();
  await page
    .getByRole('row', { name: /^sent_at/ })
    .getByText('pending')
    .waitFor();
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  expect(await statementsOf(page)).toEqual(['grant select (id, sent_at) on public.message to authenticated;']);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page
    .getByText(/^Applied: /)
    .first()
    .waitFor();
  await page.getByText('Only the columns id, sent_at.').waitFor();
  expect([
    await page.getByText('pending').count(),
    await page.getByRole('button', { name: /^Review/ }).count(),
  ]).toEqual([0, 0]);
});

test('columns without the key are said to fail, where they are chosen, granted and applied, with the way to add it', async () => {
  await studio.database.query(`
    create table place (country text, id int primary key, note text);
    grant select (country) on place to authenticated`);
  const page = await enter('access/public/place?role=authenticated');
  const grid = page.getByRole('grid', { name: 'Tables and roles' });
  await grid.getByRole('link', { name: /^authenticated: read none \(lacks the key\)/ }).waitFor();
  const reason = 'The API orders rows by the key: without id, every read fails.';
  const row = page.getByRole('row', { name: /^read/ });
  await row.getByText(`${reason} Only the column country.`).waitFor();
  await row.getByRole('button', { name: 'Add id select authenticated' }).click();
  await row.getByText('pending the columns country, id').waitFor();
  await row.getByRole('button', { name: 'Undo select authenticated' }).click();
  await page.getByRole('row', { name: /^id key/ }).waitFor();
  await page.getByRole('radio', { name: 'anon' }).click();
  await page.getByRole('button', { name: 'Choose columns … select anon' }).click();
  await page.getByRole('checkbox', { name: 'read country' }).check();
  expect(await page.getByRole('checkbox', { name: 'read id' }).isChecked()).toBe(true);
  await page.getByRole('checkbox', { name: 'read id' }).uncheck();
  await page.getByText(reason).waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add id to the columns' }).click();
  await page.getByText(reason).waitFor({ state: 'detached' });
  await page.getByRole('checkbox', { name: 'read id' }).uncheck();
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(reason).waitFor();
  await dialog.getByRole('button', { name: 'Add id' }).click();
  await dialog.getByText(reason).waitFor({ state: 'detached' });
  expect(await statementsOf(page)).toEqual(['grant select (country, id) on public.place to anon;']);
});

test('a table without a key says that the API leaves it out', async () => {
  const { page } = await studio.visit('access/public/todo?role=anon');
  await page.getByText('The API leaves this table out, because it has no key.').waitFor();
});

test('a grant to a role that may not use the schema comes with that, in the same review', async () => {
  await studio.database.query(`
    create table page (like memo); grant select on page to authenticated; revoke usage on schema public from public, authenticated`);
  onTestFinished(async () => {
    await studio.database.query('drop table page; grant usage on schema public to public, authenticated');
  });
  const page = await enter('access/public/page?role=authenticated');
  const mayNot = 'authenticated may not use the schema public, so none of its tables.';
  await page.getByRole('row', { name: /^read/ }).getByText(mayNot).waitFor();
  await page.getByText(`${mayNot} No grant lets it delete, either.`).waitFor();
  expect(await page.getByRole('button', { name: /^Grant usage/ }).allTextContents()).toEqual([
    'Grant usage select authenticated',
  ]);
  await page.getByRole('button', { name: 'Choose columns … insert authenticated' }).click();
  await page.getByRole('checkbox', { name: 'insert title' }).check();
  await page.getByText('pending the column title, with usage of public').waitFor();
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  expect(await statementsOf(page)).toEqual([
    'grant usage on schema public to authenticated;\ngrant insert (title) on public.page to authenticated;',
  ]);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page
    .getByText(/^Applied: /)
    .first()
    .waitFor();
  await page.getByText('Only the column title.').waitFor();
  expect(await page.getByText(mayNot).count()).toBe(0);
});

test('what somebody has written in the place of a tick stays, until it is removed', async () => {
  const { page } = await studio.visit('access/public/message?role=anon');
  await page.getByRole('button', { name: 'Choose columns … select anon' }).click();
  await page.getByRole('checkbox', { name: 'read body' }).check();
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  await page.getByRole('textbox', { name: 'Statement 1' }).fill('select 1;');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByText('pending your own SQL').waitFor();
  expect(await page.getByRole('checkbox', { name: 'read email' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Undo select anon' }).click();
  expect(await page.getByRole('checkbox', { name: 'read email' }).isDisabled()).toBe(false);
});

test('own rows take the place of what other policies let a role read, and other roles keep it', async () => {
  const page = await enter('access/public/memo?role=authenticated');
  await page.getByRole('button', { name: 'Own rows only select authenticated' }).click();
  const row = page.getByRole('row', { name: /^read/ });
  await row.getByText('pending own rows, by user_id').waitFor();
  await row.getByText('pending “recent” dropped').waitFor();
  const policies = page.getByRole('region', { name: 'Policies' });
  await policies.getByText('pending authenticated: own rows, by user_id; anon: all rows, as before').waitFor();
  await page.getByRole('radio', { name: 'anon', exact: true }).click();
  await row.getByText('pending all rows, as before').waitFor();
  // A policy that stays for a role without a grant waits for the next one.
  await page.getByRole('button', { name: 'Revoke select anon' }).click();
  await row.getByText('“everyone_reads” stays: the next grant opens all rows again.').waitFor();
  expect(await row.getByText('as before').count()).toBe(0);
  await row.getByText('pending none').waitFor();
  await page.getByRole('button', { name: 'Undo select anon' }).click();
  await page.getByRole('radio', { name: 'service_role', exact: true }).click();
  expect(await row.getByText('pending').count()).toBe(0);
  await page.getByRole('button', { name: 'Review 3 changes' }).click();
  const [, , index] = await statementsOf(page);
  expect(index).toBe('create index on public.memo (user_id);');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page
    .getByText(/^Applied: /)
    .first()
    .waitFor();
  expect([await seen('memo', 'authenticated', ada), await seen('memo', 'anon')]).toEqual([[1], [1, 20]]);
  await page.getByRole('radio', { name: 'authenticated', exact: true }).click();
  await page.getByText('The rows that “authenticated reads own rows” lets pass.').waitFor();
});

test('attack: a role whose name has two lines adds no statement to what an operator applies', async () => {
  await studio.database.query(`
    create role "access\ndrop table parcel; --";
    create table parcel (like memo); alter table parcel enable row level security;
    create index on parcel (user_id);
    grant select on parcel to anon, authenticated, "access\ndrop table parcel; --";
    create policy everyone_reads on parcel for select using (true)`);
  onTestFinished(async () => {
    await studio.database.query('drop table parcel; drop role "access\ndrop table parcel; --"');
  });
  const page = await enter('access/public/parcel?role=authenticated');
  await page.getByRole('button', { name: 'Own rows only select authenticated' }).click();
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  const [statement = ''] = await statementsOf(page);
  expect(statement.split('\n').filter((line) => line.startsWith('drop'))).toEqual([]);
  expect(statement.split('\n')[0]).toMatch(/^-- Also granted on the table: "access\\u000adrop table parcel; --"\. /);
});

test('who narrows a policy to own rows chooses what happens to the others, and hears of roles that have it, too', async () => {
  await studio.database.query(`
    create role access_reporting;
    create table letter (like memo); insert into letter select * from memo; alter table letter enable row level security;
    create index on letter (user_id);
    grant select on letter to anon, authenticated, access_reporting;
    create policy everyone_reads on letter for select using (true)`);
  onTestFinished(async () => {
    await studio.database.query('drop table letter; drop role access_reporting');
  });
  const page = await enter('access/public/letter?role=authenticated');
  await page.getByRole('button', { name: 'Own rows only select authenticated' }).click();
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  expect(await statementsOf(page)).toEqual([
    [
      '-- Also granted on the table: access_reporting. Add those that need the policy.',
      'alter policy everyone_reads on public.letter to anon;',
      'create policy "authenticated reads own rows" on public.letter',
      '  for select to authenticated',
      '  using (user_id = (select auth.uid()));',
    ].join('\n'),
  ]);
  await page.getByRole('button', { name: 'Close' }).click();
  const choice = page.getByRole('radiogroup', { name: '“everyone_reads” for anon' });
  expect(await choice.getByRole('radio').allTextContents()).toEqual(['anon keeps all rows', 'anon loses them']);
  // In one line.
  expect(await choice.evaluate(({ clientHeight }) => clientHeight)).toBeLessThan(48);
  await choice.getByRole('radio', { name: 'anon loses them' }).click();
  await page.getByText('pending authenticated: own rows, by user_id; anon: “everyone_reads” dropped').waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page
    .getByText(/^Applied: /)
    .first()
    .waitFor();
  expect([await seen('letter', 'authenticated', ada), await seen('letter', 'anon')]).toEqual([[1], []]);
  expect(await studio.database.query(`select polname from pg_policy where polrelid = 'letter'::regclass`)).toEqual([
    { polname: 'authenticated reads own rows' },
  ]);
});

test('a rewritten policy gets a name that says what it does, and no two of them the same', async () => {
  await studio.database.query(`
    create table leaf (like memo); insert into leaf select * from memo; alter table leaf enable row level security; grant select, insert on leaf to authenticated;
    create policy everyone_reads on leaf for select using (true);
    create policy signed_in on leaf for all to authenticated using (id > 0)`);
  const page = await enter('access/public/leaf?role=authenticated');
  const rewrite = async (name: string, way: string) => {
    await page.getByRole('button', { name: `Rewrite ${name}` }).click();
    await page.getByRole('menuitem', { name: way, exact: true }).click();
  };
  await page.getByRole('button', { name: 'Draft a policy for authenticated' }).click();
  await rewrite('everyone_reads', 'Own rows only, for every role, also anon');
  await rewrite('signed_in', 'Own rows only');
  await page.getByRole('button', { name: 'Undo everyone_reads' }).click();
  await rewrite('everyone_reads', 'Own rows only, for authenticated alone');
  await page.getByRole('button', { name: 'Review 3 changes' }).click();
  expect((await statementsOf(page)).map((text) => /create policy .* on/.exec(text)?.[0])).toEqual([
    'create policy "authenticated reads own rows" on',
    'create policy "authenticated reads and writes own rows" on',
    'create policy "authenticated reads own rows 2" on',
  ]);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page
    .getByText(/^Applied: /)
    .first()
    .waitFor();
  expect(await seen('leaf', 'authenticated', ada)).toEqual([1]);
});

test('a new policy beside one that lets all rows pass is told to change nothing, before it is applied, with the way out', async () => {
  const page = await enter('access/public/note?role=authenticated');
  const policies = page.getByRole('region', { name: 'Policies' });
  await policies.getByRole('button', { name: 'Rewrite open' }).click();
  const menu = page.getByRole('menuitem');
  await menu.first().waitFor();
  expect(await menu.allTextContents()).toEqual([
    'Own rows only, for authenticated alone',
    'Own rows only, for every role, also anon',
    'Same rows, to edit, for authenticated alone',
    'Same rows, to edit, for every role, also anon',
  ]);
  await page.keyboard.press('Escape');
  await policies.getByRole('button', { name: 'Draft a policy for authenticated' }).click();
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  const notice = page.getByText(
    'This changes nothing: “open” lets authenticated read all rows already. It decides for every action.',
  );
  await notice.waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
  await page.getByRole('button', { name: 'Drop “open” for authenticated alone' }).click();
  await notice.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Apply' }).click();
  await page
    .getByText(/^Applied: /)
    .first()
    .waitFor();
  expect([await seen('note', 'authenticated', ada), await seen('note', 'anon')]).toEqual([[1], [1, 20]]);
});

test('own rows of a table without row security switch it on, and say who loses all rows', async () => {
  const page = await enter('access/public/todo?role=authenticated');
  await page.getByRole('button', { name: 'Own rows only select authenticated' }).click();
  await page.getByRole('button', { name: 'Own rows only insert authenticated' }).click();
  await page.getByRole('button', { name: 'Undo own rows of insert authenticated' }).click();
  await page.getByRole('button', { name: 'Review 3 changes' }).click();
  await page
    .getByText(/^Without a policy, no rows are left to anon \(.*read.*\) and authenticated \(.*insert.*\)\.$/)
    .waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page
    .getByText(/^Applied: /)
    .first()
    .waitFor();
  expect([await seen('todo', 'authenticated', ada), await seen('todo', 'anon')]).toEqual([[1], []]);
});

test('a draft that is right because of another table says so', async () => {
  const { page } = await studio.visit('access/public/review?role=authenticated');
  await page.getByRole('button', { name: 'Own rows only select authenticated' }).click();
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  await page
    .getByText('Own rows, because the row security of public.customer decides what the condition finds there.')
    .waitFor();
});

test('visitors are told to reach no row where policies ask for a signed-in user', async () => {
  const { page } = await studio.visit('access/public/customer?role=anon');
  await page.getByText('“own_row” asks for a signed-in user, which anon is not.').waitFor();
  await page
    .getByRole('grid', { name: 'Tables and roles' })
    .getByRole('link', { name: /^anon: read none/ })
    .first()
    .waitFor();
  await page.goto(`${studio.url}/studio/access/public/shop_order?role=anon`);
  await page.getByText('“own_orders” asks for a signed-in user, which anon is not.').waitFor();
});

test('whose token lacks the scope learns in the dialog how to get one, and applies with it what was collected', async () => {
  const { page, problems } = await studio.visit('access/public/memo?role=anon');
  await page.getByRole('button', { name: 'Grant delete anon' }).click();
  await page.getByRole('button', { name: 'Changes 1' }).click();
  const dialog = page.getByRole('dialog', { name: 'Changes as SQL' });
  expect(await dialog.getByRole('button', { name: 'Apply', exact: true }).count()).toBe(0);
  await dialog.getByText(/^pgreflect tokens create .*,database:write --name studio --expires 12h$/).waitFor();
  expect(await violations(page)).toEqual([]);
  const enterToken = async (token: string) => {
    await dialog.getByLabel('Access token').fill(token);
    await dialog.getByRole('button', { name: 'Use this token' }).click();
  };
  const enter = async (scopes: readonly AccessScope[]) => enterToken(await addToken(studio.database, { scopes }));
  // The one that the session has.
  await enterToken(accessToken);
  await dialog.getByText('This access token lacks the scope, too.').waitFor();
  await enter(usualScopes);
  await dialog.getByText('This access token lacks the scope, too.').waitFor();
  await enter(accessScopes);
  await dialog.getByText('You may change the database now').waitFor();
  const apply = dialog.getByRole('button', { name: 'Apply', exact: true });
  // The next step is one key away.
  await expect.poll(() => apply.evaluate((button) => button === document.activeElement)).toBe(true);
  await page.keyboard.press('Enter');
  await page.getByText('Applied: delete on public.memo for anon.').first().waitFor();
  expect(problems).toEqual([]);
});

test('row security stays in sight beside an open table, which gets the room that is left', async () => {
  const { page } = await studio.visit('access/public/review?role=anon', { viewport: { width: 1600, height: 1000 } });
  await page.getByRole('heading', { name: 'public.review', exact: true }).waitFor();
  const hidden = () =>
    page
      .getByRole('grid', { name: 'Tables and roles' })
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  const widthOf = (part: string) => page.locator(part).evaluate(({ clientWidth }) => clientWidth);
  expect(await hidden()).toBe(0);
  expect(await widthOf('.table-access')).toBeGreaterThan(1.2 * (await widthOf('.access-list')));
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(await hidden()).toBe(0);
  // Row security without a policy, where there is no room for a number.
  await page
    .getByRole('row', { name: /^aisle/ })
    .getByText('no policy')
    .waitFor();
  const letters = page.getByRole('link', { name: /^service_role: read all/ }).first();
  expect(await letters.evaluate((link) => link.scrollWidth > link.parentElement!.clientWidth)).toBe(false);
});
