/**
 * The page Access in a real browser: what roles may do, why not, and the SQL that changes it.
 */
import { beforeAll, expect, test, vi } from 'vitest';
import type { AccessOverview } from '../../src/management/access/access-schemas.ts';
import { accessScopes, usualScopes } from '../../src/management/tokens/access-tokens.ts';
import { formatCondition } from '../../src/studio/app/components/format-sql.ts';
import { draftChange } from '../../src/studio/app/pages/access/policy-draft.ts';
import { addToken, ref } from '../management/management.ts';
import {
  accessToken,
  faultsInBothLooks,
  followMenu,
  onDarkPhone,
  picture,
  startStudio,
  type TestStudio,
  violations,
} from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
  await studio.database.query(`
    create table diary (id bigint primary key, user_id uuid, body text);
    alter table diary enable row level security;
    grant select, insert on diary to authenticated;
    create policy "own diary" on diary for select to authenticated using (user_id = auth.uid());
    create table "Odd ""Name" (id int primary key, "limit" int, "Due on" date, note text);
    grant select on "Odd ""Name" to public;
    alter table "Odd ""Name" enable row level security;
    create policy "only ""mine""" on "Odd ""Name" as restrictive for update to authenticated using (
      "limit" > 0 and exists (select from diary d where d.id = "Odd ""Name".id and d.user_id = auth.uid()) and note <> '')
      with check ("limit" < 1000);
    create table rating (id int primary key, user_id int, stars int);
    alter table rating enable row level security;
    grant select on rating to authenticated;
    create table pet (id int primary key, breeder_id uuid, keeper uuid references auth.users (id));
    create table profile (id uuid primary key references auth.users (id), name text);
    create table essay (id int primary key, author_id uuid references profile (id));
    create table chapter (id int primary key, essay int references essay (id));
    grant select on essay to authenticated;
    create table shelf (id int primary key, member uuid);
    create policy members on shelf for insert to authenticated with check ((select auth.uid()) = member);
    create policy "authenticated reads own rows" on shelf for select to authenticated using (id = 1);
    create table box (id int primary key, member uuid);
    create table notice (id int primary key, state int, spam bool);
    alter table notice enable row level security;
    grant select on notice to anon, authenticated;
    create policy drafts on notice for select to authenticated using (state = 1);
    create policy published on notice for select using (state = 2);
    create policy "no spam" on notice as restrictive for select to anon, authenticated using (not spam);
    create table long_policy (id int primary key);
    create policy "very long" on long_policy using (id::text <> '${'x'.repeat(11_000)}');
    create view diary_titles as select id, body from diary;
    grant select on diary_titles to anon;
    create function reset_all() returns void language sql security definer as '';
  `);
});

test('a table shows what each role may do and why not, and collects the SQL that changes it, which works', async () => {
  const { page, problems, foreign } = await studio.visit('access');
  await page.getByLabel('Find a table').fill('diary');
  const grid = page.getByRole('grid', { name: 'Tables and roles' });
  await grid.getByRole('link', { name: 'authenticated: read some, insert none, update none, delete none' }).click();
  await page.getByRole('heading', { name: 'public.diary', exact: true }).waitFor();
  await page.goBack();
  await page.getByText('Choose a table to see why').waitFor();
  await page.goForward();
  await page.getByText('The rows that “own diary” lets pass.').waitFor();
  await page.getByText('Row security is on, and no policy lets authenticated insert rows.').waitFor();
  await page.getByText('No grant lets authenticated delete.').waitFor();
  await picture(page, 'access');
  await page.getByRole('button', { name: 'Draft a policy insert authenticated' }).click();
  await page.getByRole('button', { name: 'Grant delete authenticated' }).click();
  await page.getByRole('button', { name: 'Revoke select authenticated' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Changes 3' }).click();
  const statements = await page
    .getByRole('textbox', { name: /^Statement/ })
    .evaluateAll((all) => all.map((each) => (each as HTMLTextAreaElement).value));
  expect(statements).toEqual([
    'create policy "authenticated inserts own rows" on public.diary\n  for insert to authenticated\n  with check (user_id = (select auth.uid()));',
    'grant delete on public.diary to authenticated;',
    'revoke select on public.diary from authenticated;',
  ]);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download migration' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^\d{14}_access\.sql$/);
  await page.getByRole('button', { name: 'Close' }).click();
  for (const statement of statements) await studio.database.query(statement);
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await grid.getByRole('link', { name: 'authenticated: read none, insert some, update none, delete none' }).waitFor();
  expect({ problems, foreign }).toEqual({ problems: [], foreign: [] });
});

test('columns are granted and taken by ticks, and every statement works whatever the search path of who runs it', async () => {
  const { page } = await studio.visit(`access/public/${encodeURIComponent('Odd "Name')}?role=anon`);
  await page.getByText('Granted to public.').waitFor();
  await page.getByText('Columns', { exact: true }).click();
  await page.getByRole('checkbox', { name: 'read limit' }).uncheck();
  await page.getByRole('checkbox', { name: 'insert Due on' }).check();
  await page.getByRole('checkbox', { name: 'insert note' }).check();
  await page.getByRole('radio', { name: 'authenticated' }).click();
  await page.getByText('using (').getByText('\n    "limit" > 0\n').waitFor();
  const rewrite = page.getByRole('button', { name: 'Rewrite only "mine"' });
  // In the lines in which one reads it.
  await expect.poll(() => rewrite.getAttribute('title')).toContain('\n    "limit" > 0\n');
  await rewrite.click();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Changes 3' }).click();
  const statements = await page
    .getByRole('textbox', { name: /^Statement/ })
    .evaluateAll((all) => all.map((each) => (each as HTMLTextAreaElement).value));
  expect(statements).toEqual([
    'revoke select on public."Odd ""Name" from public;\ngrant select (id, "Due on", note) on public."Odd ""Name" to anon;',
    'grant insert ("Due on", note) on public."Odd ""Name" to anon;',
    expect.stringMatching(
      /^drop policy "only ""mine""" on public\."Odd ""Name";\ncreate policy "only ""mine""" on .*public\.diary d/s,
    ),
  ]);
  await studio.database.query(`begin; set local search_path to ''; ${statements.join('\n')} commit`);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await page.getByRole('radio', { name: 'anon' }).click();
  await page.getByText('Only the columns id, Due on, note.').waitFor();
});

test('whoever has the scope applies the collected SQL, all or none, and sees its effect', async () => {
  const scopes = [...usualScopes, 'database:write'] as const;
  const { page } = await studio.visit('', { entry: 'stranger' });
  await page.getByLabel('Access token').fill(await addToken(studio.database, { scopes }));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await followMenu(page, 'Access');
  await page.getByLabel('Find a table').fill('odd');
  const grid = page.getByRole('grid', { name: 'Tables and roles' });
  await grid.getByRole('link', { name: /^anon: .*delete none/ }).click();
  await page.getByRole('button', { name: 'Grant delete anon' }).click();
  await page.getByRole('button', { name: 'Changes 1' }).click();
  const statement = page.getByRole('textbox', { name: 'Statement 1' });
  const right = await statement.inputValue();
  await statement.fill(`${right} select 1 / 0;`);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('division by zero (22012)').waitFor();
  await statement.fill(right);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Applied: delete on public."Odd ""Name" for anon.').first().waitFor();
  await page.getByRole('button', { name: 'Draft a policy delete anon' }).waitFor();
});

test('what a draft leaves open is asked for before it can be applied', async () => {
  const { page } = await studio.visit('', { entry: 'stranger' });
  await page.getByLabel('Access token').fill(await addToken(studio.database, { scopes: accessScopes }));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').waitFor();
  await page.goto(`${studio.url}/studio/access/public/rating?role=authenticated`);
  await page.getByRole('button', { name: 'Draft a policy select authenticated' }).click();
  await page.getByRole('button', { name: 'Changes 1' }).click();
  await page.getByText('Statement 1, line 3 lets no row pass yet.').waitFor();
  const apply = page.getByRole('button', { name: 'Apply' });
  expect([await apply.isDisabled(), await violations(page)]).toEqual([true, []]);
  const statement = page.getByRole('textbox', { name: 'Statement 1' });
  const hidden = () => statement.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
  expect(await onDarkPhone(page, hidden)).toBe(0);
  await page.getByRole('button', { name: 'Write it' }).click();
  await page.keyboard.type('stars > 3');
  expect(await statement.inputValue()).toBe(
    'create policy "authenticated reads some rows" on public.rating\n  for select to authenticated\n  using (stars > 3);',
  );
  await apply.click();
  await page.getByText('The rows that “authenticated reads some rows” lets pass.').waitFor();
});

test('a draft lets the rows of the caller pass where policies, columns or foreign keys say whose they are', async () => {
  const response = await fetch(`${studio.url}/v1/projects/${ref}/access`, {
    headers: { authorization: `Bearer ${accessToken}` },
  });
  const overview = (await response.json()) as AccessOverview;
  const role = overview.roles.find(({ name }) => name === 'authenticated')!;
  const draft = (name: string, action: 'select' | 'insert' | 'update', anon = 'anon') =>
    draftChange(
      {
        overview,
        table: overview.tables.find((table) => table.name === name)!,
        role,
        anon,
        format: formatCondition,
        changes: [],
      },
      action,
    ).sql;
  const drafts = {
    keeper: draft('pet', 'select'),
    profile: draft('essay', 'update'),
    'foreign keys': draft('chapter', 'select'),
    'as other tables': draft('box', 'insert'),
    'as other commands': draft('diary', 'update'),
    'as the shop': draft('review', 'select'),
    'as the policy of another table': draft('shop_order', 'insert'),
    'nothing new': draft('diary', 'select'),
    'nothing new by another table': draft('order_line', 'select'),
    'not by a number': draft('rating', 'insert'),
    'no id of a visitor': draft('pet', 'select', 'authenticated'),
    'a name that is there': draft('shelf', 'select'),
  };
  expect(drafts).toMatchInlineSnapshot(`
    {
      "a name that is there": "create policy "authenticated reads own rows 2" on public.shelf
      for select to authenticated
      using ((( SELECT auth.uid() AS uid)) = member);",
      "as other commands": "create policy "authenticated updates own rows" on public.diary
      for update to authenticated
      using (user_id = (( SELECT auth.uid() AS uid)));",
      "as other tables": "create policy "authenticated inserts own rows" on public.box
      for insert to authenticated
      with check (member = (select auth.uid()));",
      "as the policy of another table": "create policy "authenticated inserts own rows" on public.shop_order
      for insert to authenticated
      with check (
        customer_id in (select c.id from public.customer c)
      );",
      "as the shop": "create policy "authenticated reads own rows" on public.review
      for select to authenticated
      using (
        customer_id in (select c.id from public.customer c)
      );",
      "foreign keys": "create policy "authenticated reads own rows" on public.chapter
      for select to authenticated
      using (
        essay in (
          select
            id
          from
            public.essay
          where
            author_id = (select auth.uid())
        )
      );",
      "keeper": "create policy "authenticated reads own rows" on public.pet
      for select to authenticated
      using (keeper = (select auth.uid()));",
      "no id of a visitor": "create policy "authenticated reads some rows" on public.pet
      for select to authenticated
      using (false /* which rows? by id, breeder_id, keeper */);",
      "not by a number": "create policy "authenticated inserts some rows" on public.rating
      for insert to authenticated
      with check (false /* which rows? by id, user_id, stars */);",
      "nothing new": "create policy "authenticated reads some rows" on public.diary
      for select to authenticated
      using (false /* which rows? by id, user_id, body */);",
      "nothing new by another table": "create policy "authenticated reads some rows" on public.order_line
      for select to authenticated
      using (false /* which rows? by order_id, line_no, product_id, quantity, unit_price, line_total */);",
      "profile": "create policy "authenticated updates own rows" on public.essay
      for update to authenticated
      using (author_id = (select auth.uid()));",
    }
  `);
  for (const sql of Object.values(drafts)) await studio.database.query(`begin; ${sql} rollback`);
});

test('a policy is drafted for a role that policies concern, beside those that are there', async () => {
  const { page } = await studio.visit('access/public/diary?role=service_role');
  const policies = page.getByRole('region', { name: 'Policies' });
  // As the catalog has it, without the parentheses that it puts around.
  await expect.poll(() => policies.textContent()).toContain('using (user_id = auth.uid());');
  expect(await policies.getByRole('button', { name: 'Draft a policy' }).count()).toBe(0);
  await page.getByRole('radio', { name: 'authenticated' }).click();
  await policies.getByRole('button', { name: 'Draft a policy for authenticated' }).click();
  await page.getByRole('button', { name: 'Changes 1' }).click();
  expect(await page.getByRole('textbox', { name: 'Statement 1' }).inputValue()).toBe(
    'create policy "authenticated reads some rows" on public.diary\n  for select to authenticated\n  using (false /* which rows? by id, user_id, body */);',
  );
});

test('who narrows what is read learns that policies add up, and whom a rewrite concerns', async () => {
  const { page } = await studio.visit('access/public/notice?role=authenticated');
  await page.getByText('The rows that “drafts” or “published” lets pass, if they pass “no spam”, too.').waitFor();
  await page.getByText('To let fewer pass, rewrite the one that lets them.').waitFor();
  expect(await page.getByRole('button', { name: 'Rewrite drafts' }).getAttribute('aria-haspopup')).toBe(null);
  await page.getByRole('button', { name: 'Rewrite published' }).click();
  await page.getByRole('menuitem', { name: 'For every role, also anon' }).waitFor();
  await page.getByRole('menuitem', { name: 'For authenticated alone' }).click();
  await page.getByRole('button', { name: 'Drop no spam' }).click();
  await page.getByRole('menuitem', { name: 'For anon and authenticated' }).click();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Changes 2' }).click();
  const statements = await page
    .getByRole('textbox', { name: /^Statement/ })
    .evaluateAll((all) => all.map((each) => (each as HTMLTextAreaElement).value));
  expect(statements).toEqual([
    [
      'alter policy published on public.notice to anon;',
      'create policy "authenticated reads some rows" on public.notice',
      '  for select to authenticated',
      '  using (state = 2);',
    ].join('\n'),
    'drop policy "no spam" on public.notice;',
  ]);
  await studio.database.query(statements.join('\n'));
});

test('a view that reads past row security is marked, and functions say whose rights they have', async () => {
  const { page } = await studio.visit('access/public/diary_titles?role=anon');
  await page.getByText(/^This view reads with the rights of \w+, past the row security/).waitFor();
  const long = await studio.visit('access/public/long_policy');
  await long.page.getByRole('button', { name: 'Drop very long' }).waitFor();
  expect(await long.page.getByRole('button', { name: 'Rewrite very long' }).count()).toBe(0);
  await page.getByRole('button', { name: "Read with the caller's rights" }).click();
  await page.getByRole('button', { name: 'Changes 1' }).click();
  expect(await page.getByRole('textbox', { name: 'Statement 1' }).inputValue()).toBe(
    'alter view public.diary_titles set (security_invoker = on);',
  );
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('tab', { name: 'Functions' }).click();
  await page.getByRole('row', { name: 'public.reset_all()' }).getByText('its owner').waitFor();
});

test('the same query runs as two callers side by side', async () => {
  const { page } = await studio.visit('access?view=try');
  // It begins with a table that both of them read.
  await expect.poll(() => page.getByLabel('Query').inputValue()).toMatch(/^\{\n {2}\w+Collection\(first: 5\) \{\n/);
  expect(await page.getByLabel('Query').evaluate(({ clientHeight, scrollHeight }) => scrollHeight - clientHeight)).toBe(
    0,
  );
  await page.getByRole('button', { name: 'Run as both' }).click();
  for (const side of ['First caller', 'Second caller'])
    await page.getByRole('region', { name: side }).getByText('"edges"').waitFor();
  await page.getByLabel('Query').fill('{ customerCollection(first: 1) { edges { cursor } } }');
  await page.getByRole('button', { name: 'Run as both' }).click();
  await page.getByRole('region', { name: 'Second caller' }).getByText('"cursor"').waitFor();
  await page.getByText('The answers differ.').waitFor();
  await page.getByRole('region', { name: 'First caller' }).getByText('Cannot query field').waitFor();
});

test('what one came from is compared, also without any user', async () => {
  const { page } = await studio.visit('access/public/customer?role=authenticated');
  await page.getByRole('tab', { name: 'Try as' }).click();
  await expect.poll(() => page.getByLabel('Query').inputValue()).toMatch(/^\{\n {2}customerCollection\(first: 5\)/);
  const first = page.getByRole('region', { name: 'First caller' });
  expect(await first.getByRole('radio', { name: 'authenticated' }).isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Run as both' }).click();
  await first.getByText('"edges": []').waitFor();
  await page.getByText('The answers differ.').waitFor();
  await first.getByRole('radio', { name: 'User' }).click();
  expect([await first.getByText('"edges"').count(), await page.getByText('The answers differ.').count()]).toEqual([
    0, 0,
  ]);
  await first.getByText('No users yet').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Tables' }).click();
  await page.getByRole('heading', { name: 'public.customer', exact: true }).waitFor();
});

test('a token without project:operate sees how to create one', async () => {
  const { page } = await studio.visit('', { entry: 'stranger' });
  await page.getByLabel('Access token').fill(await addToken(studio.database));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Access', exact: true }).click();
  await page.getByRole('alert').getByText('project:operate').first().waitFor();
});

test('the page Access has no fault that axe-core finds, and fits, in the light and on a phone in the dark', async () => {
  const { page } = await studio.visit('access');
  await page.getByRole('tab', { name: 'Tables' }).waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Functions' }).click();
  await page.getByRole('row', { name: 'public.reset_all()' }).waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Try as' }).click();
  await page.getByRole('button', { name: 'Run as both' }).waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
  await page.goto(`${studio.url}/studio/access/public/diary?role=authenticated`);
  await page.getByRole('heading', { name: 'public.diary', exact: true }).waitFor();
  const excess = () => page.locator('.table-access').evaluate((part) => part.scrollWidth - part.clientWidth);
  expect([await faultsInBothLooks(page), await excess(), await onDarkPhone(page, excess)]).toEqual([[], 0, 0]);
});
