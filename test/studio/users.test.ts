/**
 * The page Users in a real browser: finding one among many, and what an operator does for a user, with the access token alone.
 */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { addToken } from '../management/management.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import {
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
});

beforeEach(() =>
  studio.database.query(
    'truncate auth.pgreflect_config, auth.pgreflect_captured_email, auth.pgreflect_rate_limits, auth.users, auth.audit_log_entries cascade',
  ),
);

const notice = (page: Page, text: string) => page.locator('.toast').getByText(text).waitFor();
const add = (user: Readonly<Record<string, unknown>>) =>
  studio.ask('/admin/users', user, serviceKey) as Promise<{ readonly id: string }>;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true }).click();
const userRow = (page: Page, address: string) => page.getByRole('row').filter({ hasText: address });
const open = (page: Page, address: string) => userRow(page, address).click();
const reads = async (id: string) =>
  (await studio.database.query('select * from auth.users where id = $1', [id]))[0] as Record<string, unknown>;

/** Each would get a password of its own through the API, whose hash takes its time. */
const addMany = (count: number) =>
  studio.database.query(
    `insert into auth.users (instance_id, id, aud, role, email, raw_user_meta_data, created_at, email_confirmed_at, last_sign_in_at)
    select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', 'authenticated', 'user' || n || '@mail.test',
      jsonb_build_object('full_name', 'Person ' || n), t, case when n % 10 <> 0 then t end, case when n % 2 = 0 then t end
    from generate_series(1, $1::int) n, lateral (select timestamptz '2026-01-01' + n * interval '1 hour') m (t)`,
    [count],
  );

test('users are found among many while one types, by state and in an order, and each of it is in the address', async () => {
  await addMany(250);
  await studio.database.query('update auth.users set email = $1 where email = $2', [
    'somebody.whose.address.is.far.longer@than.a.column.is.wide.mail.test',
    'user249@mail.test',
  ]);
  const { page, problems, foreign } = await studio.visit('users');
  await page.getByText('250 users', { exact: true }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await userRow(page, 'somebody.whose').waitFor();
  // A long word takes no room of other columns.
  const left = (cells: readonly Element[]) => [...new Set(cells.map((cell) => cell.getBoundingClientRect().left))];
  expect(await page.locator('[role="row"] > :nth-child(2)').evaluateAll(left)).toHaveLength(1);
  await page.setViewportSize({ width: 1280, height: 800 });
  // More come when the end is near.
  await page.getByRole('grid', { name: 'Users' }).focus();
  await page.keyboard.press('Control+End');
  await userRow(page, 'user151@mail.test').waitFor();
  await expect
    .poll(async () => page.keyboard.press('Control+End').then(() => userRow(page, 'user1@mail.test').count()))
    .toBe(1);
  await page.getByRole('searchbox').fill('USER17@');
  await page.getByText('1 user', { exact: true }).waitFor();
  await page.getByRole('searchbox').fill('person 24');
  await page.getByText('11 users', { exact: true }).waitFor();
  await page.getByLabel('State').selectOption({ label: 'Not confirmed' });
  await page.getByText('1 user', { exact: true }).waitFor();
  await userRow(page, 'user240@mail.test').waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe('?search=person+24&state=unconfirmed');
  await page.getByRole('link', { name: 'Clear' }).click();
  await page.getByText('250 users', { exact: true }).waitFor();
  await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('');
  await page.getByRole('columnheader', { name: 'Last sign-in' }).getByRole('button').click();
  await userRow(page, 'user250@mail.test').waitFor();
  await page.getByRole('columnheader', { name: 'User' }).getByRole('button').click();
  await userRow(page, 'user100@mail.test').waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe('?order=email.asc');
  await page.reload();
  await open(page, 'user100@mail.test');
  await page.getByRole('heading', { name: 'user100@mail.test' }).waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/studio\/users\/[0-9a-f-]{36}$/);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByLabel('Phone').waitFor();
  await picture(page, 'users');
  await page.goto(`${studio.url}/studio/users?search=nobody`);
  await page.getByRole('heading', { name: 'No user matches “nobody”' }).waitFor();
  await page.getByRole('link', { name: 'Show all users' }).click();
  await page.getByText('250 users', { exact: true }).waitFor();
  await page.goto(`${studio.url}/studio/users/${crypto.randomUUID()}`);
  await page.getByRole('heading', { name: 'User not found' }).waitFor();
  expect([problems, foreign]).toEqual([[], []]);
});

test('users are invited, created, changed, confirmed, banned and deleted, each in the name of the access token', async () => {
  const { page, problems } = await studio.visit('users');
  await page.getByRole('heading', { name: 'No users yet' }).waitFor();
  await button(page, 'Invite user').click();
  await page.getByLabel('Email address').fill('ada@mail.test');
  await page.keyboard.press('Enter');
  await notice(page, 'Invitation sent to ada@mail.test.');
  await button(page, 'Resend invitation').click();
  await notice(page, 'Invitation sent again');

  await button(page, 'Create user').click();
  const dialog = page.locator('.dialog');
  // The first field has the focus.
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('email');
  await page.keyboard.type('bo@mail.test');
  await dialog.getByLabel('Password').fill(' correct horse ');
  await dialog.getByRole('checkbox', { name: 'Confirmed already' }).uncheck();
  await button(page, 'Create user').last().click();
  await notice(page, 'bo@mail.test was created.');
  const { id } = (await studio.database.query("select id from auth.users where email = 'bo@mail.test'"))[0] as {
    id: string;
  };
  await page.getByRole('heading', { name: 'bo@mail.test', exact: true }).waitFor();
  const place = await page.getByRole('heading', { name: 'Users', exact: true }).boundingBox();
  const list = await page.getByRole('grid', { name: 'Users' }).boundingBox();
  await button(page, 'Confirm email').click();
  await notice(page, 'The email of bo@mail.test is confirmed.');
  expect(await page.getByRole('heading', { name: 'Users', exact: true }).boundingBox()).toEqual(place);
  expect(await page.getByRole('grid', { name: 'Users' }).boundingBox()).toEqual(list);
  await page.getByLabel('Phone').fill('+49 170 1234567');
  await button(page, 'Save').click();
  await notice(page, 'bo@mail.test was changed.');
  await page.getByLabel('Ban for').selectOption({ label: '1 week' });
  await button(page, 'Ban').click();
  await notice(page, 'bo@mail.test is banned.');
  await userRow(page, 'bo@mail.test').getByText('Banned').waitFor();
  expect(await reads(id)).toMatchObject({ phone: '491701234567', email_confirmed_at: expect.any(Date) });
  await button(page, 'Unban').click();
  await notice(page, 'bo@mail.test may sign in again.');
  // The blanks are part of the password.
  await studio.ask('/token?grant_type=password', { email: 'bo@mail.test', password: ' correct horse ' });
  await studio.patch({
    security_captcha_enabled: true,
    security_captcha_provider: 'hcaptcha',
    security_captcha_secret: 'x',
  });
  await button(page, 'Send password reset').click();
  await notice(page, 'Password reset email sent to bo@mail.test.');

  await tab(page, 'Metadata');
  const metadata = page.getByLabel('User metadata', { exact: true });
  await metadata.fill('{"plan": ');
  await page.getByText('Not JSON.').waitFor();
  expect(await button(page, 'Save User metadata').isDisabled()).toBe(true);
  await metadata.fill('{"plan": "large"}');
  await button(page, 'Save User metadata').click();
  await notice(page, 'The metadata of bo@mail.test was changed.');
  expect((await reads(id)).raw_user_meta_data).toEqual({ plan: 'large' });
  await tab(page, 'Audit');
  await page
    .getByRole('row')
    .filter({ hasText: 'user_signedup' })
    .getByText('the access token of the project')
    .waitFor();
  await tab(page, 'Emails');
  await page.getByRole('row').filter({ hasText: 'Reset password' }).waitFor();
  await tab(page, 'Account');
  await userRow(page, 'ada@mail.test').getByText('Invited').waitFor();

  await button(page, 'Delete …').click();
  await button(page, 'Cancel').click();
  await dialog.waitFor({ state: 'detached' });
  await button(page, 'Delete …').click();
  await button(page, 'Delete user').click();
  await notice(page, 'bo@mail.test was deleted.');
  await page.getByText('1 user', { exact: true }).waitFor();
  expect(await reads(id)).toBeUndefined();
  expect(problems).toEqual([]);
});

test('users lose a session, all sessions, a second factor and an identity', async () => {
  const password = 'correct horse';
  const { id } = await add({ email: 'ada@mail.test', password, email_confirm: true });
  const signIn = () => studio.ask('/token?grant_type=password', { email: 'ada@mail.test', password });
  await signIn();
  const { refresh_token: kept } = (await signIn()) as { readonly refresh_token: string };
  await studio.database.query(
    `with factor as (
      insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
      values (gen_random_uuid(), $1, 'my phone', 'totp', 'verified', 'x', now(), now())
    )
    insert into auth.identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
    values (gen_random_uuid(), $1, 'github', '42', '{"sub": "42", "email": "ada@mail.test"}', now(), now())`,
    [id],
  );
  const { page } = await studio.visit(`users/${id}?tab=sessions`);
  const sessions = page.getByRole('region', { name: 'Sessions' });
  const ends = sessions.getByRole('button', { name: 'End', exact: true });
  await expect.poll(() => ends.count()).toBe(2);
  await ends.last().click();
  await notice(page, 'The session was ended.');
  await expect.poll(() => ends.count()).toBe(1);
  await button(page, 'End all sessions').click();
  await notice(page, 'ada@mail.test was signed out everywhere.');
  await page.getByText('Not signed in anywhere.').waitFor();
  const refused = await fetch(`${studio.url}/auth/v1/token?grant_type=refresh_token`, {
    method: 'POST',
    headers: { apikey: anonKey },
    body: JSON.stringify({ refresh_token: kept }),
  });
  expect(refused.status).toBe(400);
  await tab(page, 'Sign-in');
  await button(page, 'Remove totp my phone').click();
  await notice(page, 'The second factor was removed.');
  await button(page, 'Unlink github').click();
  await notice(page, 'github was unlinked; all sessions ended.');
  await expect.poll(() => button(page, 'Unlink email').isDisabled()).toBe(true);
});

test('users: what somebody else changed meanwhile is not overwritten, and a token that is revoked or may not is told so', async () => {
  const { id } = await add({ email: 'ada@mail.test', email_confirm: true });
  const operator = await addToken(studio.database, { scopes: ['project:operate'] });
  const { page } = await studio.visit('', { entry: 'stranger' });
  await page.evaluate((token) => sessionStorage.setItem('pgreflect:access-token', token), operator);
  await page.goto(`${studio.url}/studio/users/${id}`);
  await page.getByLabel('Phone').fill('491701234567');
  await studio.database.query("update auth.users set email = 'grace@mail.test', updated_at = now() where id = $1", [
    id,
  ]);
  await button(page, 'Save').click();
  await page.getByText('The user has changed since you read it.').waitFor();
  expect(await reads(id)).toMatchObject({ phone: null });
  await button(page, 'Read again').click();
  await page.getByRole('heading', { name: 'grace@mail.test' }).waitFor();
  // What was typed is kept and saved, and nothing else.
  await page.getByText('Somebody else has changed this user.').waitFor();
  await button(page, 'Save').click();
  await notice(page, 'grace@mail.test was changed.');
  expect(await reads(id)).toMatchObject({ email: 'grace@mail.test', phone: '491701234567' });
  // No key of the project is asked for, or sent.
  await studio.database.query('update auth.pgreflect_access_tokens set revoked_at = now()');
  await page.getByRole('searchbox').fill('grace');
  await page.getByRole('dialog').getByLabel('Access token').waitFor();
  const reader = await addToken(studio.database, { scopes: ['auth_config:read'] });
  await page.evaluate((token) => sessionStorage.setItem('pgreflect:access-token', token), reader);
  await page.goto(`${studio.url}/studio/users`);
  await page.getByRole('heading', { name: 'Access denied' }).waitFor();
});

test('users: what is typed stays when somebody else changes the user, and what they changed is shown', async () => {
  const { id } = await add({ email: 'ada@mail.test', email_confirm: true, user_metadata: { a: 1, b: 1 } });
  const { page } = await studio.visit(`users/${id}`);
  const elsewhere = async (change: string) => {
    await studio.database.query(`update auth.users set ${change}, updated_at = now() where id = $1`, [id]);
    await page.evaluate(() => dispatchEvent(new Event('focus')));
  };
  await page.getByLabel('Email address').fill('typed@mail.test');
  await elsewhere("email = 'grace@mail.test', phone = '491700000000'");
  await page.getByText('The address is now grace@mail.test.').waitFor();
  expect(await page.getByLabel('Email address').inputValue()).toBe('typed@mail.test');
  expect(await page.getByLabel('Phone').inputValue()).toBe('491700000000');
  await button(page, 'Save').click();
  await notice(page, 'grace@mail.test was changed.');
  await page.getByText('Somebody else has changed this user.').waitFor({ state: 'detached' });
  await tab(page, 'Metadata');
  await page.getByLabel('User metadata').fill('{"a": 2, "b": 1}');
  await elsewhere(`raw_user_meta_data = '{"a": 1, "b": 3}'`);
  await page.getByText('Only the members that you changed are saved.').waitFor();
  await button(page, 'Save User metadata').click();
  await expect.poll(() => page.getByLabel('User metadata').inputValue()).toMatch(/"a": 2,\s+"b": 3/);
});

test('users: no fault that axe-core finds, and long words fit, in the light and on a phone in the dark', async () => {
  const long = `${'a-rather-long-name.'.repeat(3)}@${'company'.repeat(8)}.example`;
  const password = 'correct horse';
  const { id } = await add({
    email: long,
    password,
    email_confirm: true,
    user_metadata: { full_name: 'x'.repeat(200) },
  });
  await studio.ask('/token?grant_type=password', { email: long, password });
  const { page } = await studio.visit('users');
  const excess = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('html, [aria-labelledby="user-name"], section.rows')].flatMap((part) =>
        part.scrollWidth > part.clientWidth ? [part.scrollWidth - part.clientWidth] : [],
      ),
    );
  await userRow(page, long).waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
  await page.goto(`${studio.url}/studio/users/${id}`);
  await page.getByRole('heading', { name: long }).waitFor();
  for (const name of ['Sign-in', 'Sessions', 'Emails', 'Audit', 'Metadata', 'Account']) {
    await tab(page, name);
    await page.getByText('Loading').first().waitFor({ state: 'detached' });
    const wide = [await excess(), await onDarkPhone(page, excess)];
    expect([name, await violations(page), wide]).toEqual([name, [], [[], []]]);
  }
  // In the dark the tabs are made of the same parts.
  expect(await onDarkPhone(page, () => violations(page))).toEqual([]);
  await button(page, 'Delete …').click();
  await page.getByRole('dialog').waitFor();
  expect(await faultsInBothLooks(page)).toEqual([]);
});

test('an address, metadata or a new user that was typed and not saved is asked about before it is lost', async () => {
  const { id } = await add({ email: 'kept@mail.test', password: 'Kept-password-1', email_confirm: true });
  const { page, problems } = await studio.visit(`users/${id}`);
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    return dialog.type() === 'beforeunload' ? dialog.dismiss() : asked.length > 3 ? dialog.accept() : dialog.dismiss();
  });
  await page.getByLabel('Email address').fill('typed@mail.test');
  await tab(page, 'Metadata');
  await expect.poll(() => asked).toEqual(['confirm']);
  expect(await page.getByLabel('Email address').inputValue()).toBe('typed@mail.test');
  await followMenu(page, 'Logs');
  await expect.poll(() => asked.length).toBe(2);
  await button(page, 'Create user').click();
  await page.getByRole('dialog').getByLabel('Email address').fill('new@mail.test');
  await page.evaluate(() => history.back());
  await expect.poll(() => asked.length).toBe(3);
  expect(await page.getByRole('dialog').getByLabel('Email address').inputValue()).toBe('new@mail.test');
  await page.keyboard.press('Escape');
  await page.getByLabel('Email address').fill('kept@mail.test');
  await tab(page, 'Metadata');
  await page.getByLabel('User metadata').fill('{"a": 1');
  expect(asked).toHaveLength(3);
  await followMenu(page, 'Logs');
  await expect.poll(() => asked.length).toBe(4);
  await expect.poll(() => page.url()).toContain('/studio/logs');
  expect(problems).toEqual([]);
});
