/**
 * The pages Schema and Users in a real browser: what a role sees and what would show it more, and what an operator does for
 * a user.
 */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { operatorTokenCommand } from '../../src/management/tokens/access-tokens.ts';
import { addToken } from '../management/management.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { accessToken, followMenu, picture, startStudio, type TestStudio, type Visit, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
  await studio.database.query(`create table import_log (line text); grant select on import_log to anon;
    create table "2 much" (id int primary key); grant select on "2 much" to anon`);
});

beforeEach(() =>
  studio.database.query('truncate auth.pgreflect_captured_email, auth.pgreflect_rate_limits, auth.users cascade'),
);

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
    const { page, problems, foreign } = await studio.visit('schema', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByText('Table public.import_log has no primary key.').waitFor();
    await page.getByText('Table public."2 much" has no valid GraphQL name ("2 Much").').waitFor();
    const grant = 'grant select on public.customer to anon;';
    await page.getByText('Not granted').click();
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
      'alter schema public rename to put_aside; create schema public; grant usage on schema public to anon',
    );
    onTestFinished(async () => {
      await database.query('drop schema public cascade; alter schema put_aside rename to public');
    });
    const { page } = await studio.visit('schema', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: /^Copy create table note/ }).click();
    await database.query(await page.evaluate(() => navigator.clipboard.readText()));
    await page.evaluate(() => dispatchEvent(new Event('focus')));
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
    const { page } = await studio.visit('schema');
    const apart = page.getByRole('region', { name: 'Visible, with fewer operations' });
    await apart.waitFor();
    const noInsert = 'Table public.product exists; role anon has no INSERT.';
    const textsOf = (reasons: ReturnType<typeof page.locator>) =>
      reasons.locator('.missing-list > li > p').allTextContents();
    expect(await textsOf(apart)).toContain(noInsert);
    // A table may lack several.
    expect(await apart.locator('summary').textContent()).toBe(`Fields left out ${(await textsOf(apart)).length}`);
    const hidden = await textsOf(page.locator('#schema-missing > details'));
    expect(hidden).toContain('Table public.customer exists; role anon has no SELECT.');
    expect(hidden).not.toContain(noInsert);
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

describe('users', () => {
  const add = (user: Readonly<Record<string, unknown>>) => studio.ask('/admin/users', user, serviceKey);
  const notice = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();
  const emails = async () =>
    await studio.database.query('select recipient, kind from auth.pgreflect_captured_email order by id');

  test('users are invited, get an email to set a new password, and are signed out everywhere', async () => {
    const { page, problems } = await studio.visit('users');
    await page.getByText('No users yet').waitFor();
    await page.getByRole('button', { name: 'Invite user' }).click();
    await page.getByLabel('Email address').fill('ada@mail.test');
    await page.keyboard.press('Enter');
    await notice(page, 'Invitation sent to ada@mail.test.');
    await page.getByRole('button', { name: 'Resend invitation' }).click();
    await notice(page, 'Invitation sent again');

    await add({ email: 'bo@mail.test', password: 'correct horse', email_confirm: true });
    const session = (await studio.ask('/token?grant_type=password', {
      email: 'bo@mail.test',
      password: 'correct horse',
    })) as { readonly refresh_token: string };
    await page.reload();
    await page.getByRole('link', { name: 'bo@mail.test' }).click();
    await page.getByText('Last sign-in').waitFor();
    await page.getByRole('button', { name: 'Send password reset' }).click();
    await notice(page, 'Password reset email sent to bo@mail.test.');
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await notice(page, 'bo@mail.test was signed out everywhere.');
    const headers = { apikey: anonKey };
    const body = JSON.stringify({ refresh_token: session.refresh_token });
    const refused = await fetch(`${studio.url}/auth/v1/token?grant_type=refresh_token`, {
      method: 'POST',
      headers,
      body,
    });
    expect(refused.status).toBe(400);
    expect(await emails()).toEqual([
      { recipient: 'ada@mail.test', kind: 'invite' },
      { recipient: 'ada@mail.test', kind: 'invite' },
      { recipient: 'bo@mail.test', kind: 'recovery' },
    ]);
    expect(problems).toEqual([]);
  });

  test('users are deleted when that was confirmed', async () => {
    await add({ email: 'ada@mail.test' });
    const { page } = await studio.visit('users');
    await page.getByRole('link', { name: 'ada@mail.test' }).click();
    const remove = page.getByRole('button', { name: 'Delete …' });
    await remove.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const count = async () => (await studio.database.query('select count(*)::int from auth.users'))[0]?.count;
    expect(await count()).toBe(1);
    await remove.click();
    await page.getByRole('button', { name: 'Delete user' }).click();
    await notice(page, 'ada@mail.test was deleted.');
    await page.getByText('0 users').waitFor();
    expect(await count()).toBe(0);
  });

  test('users are found by address and by name, and shown in pages', async () => {
    // Each would get a password of its own through the API, whose hash takes its time.
    await studio.database.query(`insert into auth.users (instance_id, id, aud, email, raw_user_meta_data, created_at)
      select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', format('user%s@mail.test', number),
        jsonb_build_object('full_name', format('Person %s', number)), now() from generate_series(1, 52) number`);
    const { page } = await studio.visit('users');
    const entries = page.getByRole('region', { name: 'Users' }).getByRole('link');
    await page.getByText('Page 1 of 2').waitFor();
    await expect.poll(() => entries.count()).toBe(50);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => entries.count()).toBe(2);
    for (const wanted of ['USER17@', 'person 17']) {
      await page.getByRole('searchbox').fill(wanted);
      await page.keyboard.press('Enter');
      await page.getByText('1 user', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'user17@mail.test' }).click();
      await page.getByRole('heading', { name: 'user17@mail.test' }).waitFor();
      await page.goto(`${studio.url}/studio/users`);
    }
    await page.goto(`${studio.url}/studio/users/${crypto.randomUUID()}`);
    await page.getByRole('heading', { name: 'User not found' }).waitFor();
    await page.goto(`${studio.url}/studio/users?filter=nobody`);
    await page.getByRole('heading', { name: 'No user matches “nobody”' }).waitFor();
    await page.getByRole('link', { name: 'Show all users' }).click();
    await page.getByText('52 users').waitFor();
  });

  test.each([
    ['one with a wrong signature', `${serviceKey}x`],
    ['the anon key', anonKey],
  ])(
    'users are read with the service key; %s is refused and forgotten, and a better one is asked for',
    async (_which, wrong) => {
      // The project tells its keys to nobody who may only read.
      const reader = await addToken(studio.database, { scopes: ['auth_config:read'] });
      const { page } = await visitWith('graphql', { 'pgreflect:access-token': reader });
      await page.getByText('No keys are needed with an access token that has the scope project:operate.').waitFor();
      await page.getByText(operatorTokenCommand, { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Users' }).click();
      const refused = page.getByRole('alert').getByText('The service key was refused');
      await page.getByLabel('Anon key').fill(anonKey);
      await page.getByLabel('Service key').fill(wrong);
      await page.getByRole('button', { name: 'Use these keys' }).click();
      await refused.waitFor();
      await page.reload();
      await refused.waitFor();
      await expect.poll(() => page.getByLabel('Anon key').inputValue()).toBe(anonKey);
      await expect.poll(() => page.getByLabel('Service key').inputValue()).toBe('');
      await page.getByLabel('Service key').fill(serviceKey);
      await page.getByRole('button', { name: 'Use these keys' }).click();
      await page.getByText('No users yet').waitFor();
      expect(await refused.count()).toBe(0);
    },
  );

  test('users are read with the key that the project tells after one was refused that somebody gave', async () => {
    const wrong = JSON.stringify({ anon: anonKey, service: anonKey });
    const { page } = await visitWith('users', { 'pgreflect:access-token': accessToken, 'pgreflect:keys': wrong });
    await page.getByRole('alert').getByText('The service key was refused').waitFor();
    await page.reload();
    await page.getByText('No users yet').waitFor();
  });
});

describe('both', () => {
  const looks = [
    { colorScheme: 'light', viewport: { width: 1600, height: 1000 } },
    { colorScheme: 'dark', viewport: { width: 320, height: 740 } },
  ] as const;

  test.each(looks)('both have no fault that axe-core finds, and fit: $colorScheme, $viewport.width', async (look) => {
    await studio.ask('/invite', { email: 'ada@mail.test' }, serviceKey);
    const { page } = await studio.visit('schema', look);
    const found: Record<string, readonly unknown[]> = {};
    const check = async (name: string): Promise<void> => {
      const excess = await page.evaluate(() => {
        const { scrollWidth, scrollHeight } = document.documentElement;
        return [scrollWidth - innerWidth, scrollHeight - innerHeight].filter((pixels) => pixels > 0);
      });
      found[name] = [...(await violations(page)), ...excess];
    };
    await page.getByRole('heading', { name: 'Hidden from anon' }).waitFor();
    await check('schema');
    await list(page).getByRole('link', { name: 'Product public.product' }).click();
    await page.getByRole('heading', { name: 'With extensions' }).waitFor();
    await check('table');
    await followMenu(page, 'Users');
    await page.getByRole('link', { name: 'ada@mail.test' }).click();
    await page.getByRole('button', { name: 'Delete …' }).waitFor();
    await check('user');
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('dialog').waitFor();
    await check('delete');
    expect(found).toEqual({ schema: [], table: [], user: [], delete: [] });
  });
});
