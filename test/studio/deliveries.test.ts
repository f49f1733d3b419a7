/**
 * The page Deliveries in a real browser: the delivery status of emails, whose they are, and addresses that an operator lifts.
 */
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { hashRecipient } from '../../src/email/outbox/deliveries.ts';
import { operatorTokenCommand } from '../../src/management/tokens/access-tokens.ts';
import { addToken, ref } from '../management/management.ts';
import { accessToken, chooseUser, picture, startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
});
beforeEach(() =>
  studio.database.query('truncate pgreflect_queue.deliveries, pgreflect_queue.suppressed, auth.users cascade'),
);

/** @returns The user's id. */
async function signUp(email: string): Promise<string> {
  const { id } = (await studio.ask('/signup', { email, password: 'a good password' })) as { readonly id: string };
  await vi.waitFor(async () => {
    const [row] = await studio.database.query('select state from pgreflect_queue.deliveries where user_id = $1', [id]);
    expect(row).toEqual({ state: 'captured' });
  });
  return id;
}

async function refuse(user: string): Promise<void> {
  await studio.database.query(
    `update pgreflect_queue.deliveries set state = 'failed', event = 'bounced', answer = '550 5.1.1 No such user' where user_id = $1`,
    [user],
  );
}

test('emails are listed with their state, filtered, and lead to their users, whose page lists them too', async () => {
  const [ada] = [await signUp('ada@mail.test'), await signUp('bo@mail.test')];
  await refuse(ada);
  const { page, problems, foreign } = await studio.visit('deliveries');
  await page.getByText('Last 24 hours: 0 sent, 1 in the inbox, 1 not sent').waitFor();
  const table = page.getByRole('region', { name: 'Emails' });
  await expect.poll(() => table.getByRole('row').count()).toBe(3);
  await page.getByLabel('State').selectOption('failed');
  await table.getByRole('cell', { name: 'b***@mail.test' }).waitFor({ state: 'detached' });
  await expect
    .poll(() => table.getByRole('row', { name: 'Confirm sign-up' }).textContent())
    .toMatch(/Confirm sign-up en.*550 5.1.1 No such user/);
  await expect.poll(() => page.url()).toContain('state=failed');
  await table.getByRole('link', { name: 'a***@mail.test' }).click();
  await page.getByRole('region', { name: 'Emails to this user' }).getByText('550 5.1.1 No such user').waitFor();
  await page.getByRole('link', { name: 'All emails to this user' }).click();
  await page.getByRole('button', { name: 'Show all users' }).click();
  await table.getByRole('cell', { name: 'b***@mail.test' }).waitFor();
  await chooseUser(page, 'To', 'ada@mail.test');
  await table.getByRole('cell', { name: 'b***@mail.test' }).waitFor({ state: 'detached' });
  await table.getByRole('row').getByText('550 5.1.1 No such user').waitFor();
  await page.getByLabel('Email', { exact: true }).selectOption({ label: 'Invite user' });
  await page.getByText('No email matches').waitFor();
  expect({ problems, foreign }).toEqual({ problems: [], foreign: [] });
});

test('a day of emails is counted by hour and state', async () => {
  await studio.database.query(
    `insert into pgreflect_queue.deliveries (kind, user_id, locale, recipient, recipient_hash, template_version, state, answer, attempts, created_at, updated_at)
    select (array['confirmation', 'magic_link', 'recovery', 'invite'])[1 + n % 4], gen_random_uuid(), (array['en', 'de', 'fr'])[1 + n % 3],
      chr(97 + n % 26) || '***@mail.test', $1, 0, case when n % 17 = 0 then 'failed' else 'sent' end,
      case when n % 17 = 0 then '550 5.1.1 No such user' else '250 2.0.0 OK' end, 1, at, at
    from generate_series(170, 1, -1) n cross join lateral (select now() - interval '8 minutes' * n + interval '1 second' as at)`,
    [hashRecipient('somebody@mail.test')],
  );
  const { page } = await studio.visit('deliveries', { viewport: { width: 1600, height: 1000 } });
  await page.getByText('Last 24 hours: 160 sent, 10 not sent').waitFor();
  await page.getByRole('row', { name: 'failed' }).first().waitFor();
  expect(await violations(page)).toEqual([]);
  await picture(page, 'deliveries');
  // In a window that gets narrower, what was drawn for the wider one does not stay as wide.
  await page.setViewportSize({ width: 390, height: 844 });
  const excess = () => page.locator('.deliveries').evaluate((part) => part.scrollWidth - part.clientWidth);
  await expect.poll(excess).toBe(0);
});

test('an email that waits is listed with the time of its next attempt, and a test email as one', async () => {
  const dueAt = '2099-12-31T10:20:30.000Z';
  await studio.database.query(
    `with delivery as (
      insert into pgreflect_queue.deliveries (kind, recipient, recipient_hash, template_version, state, attempts, created_at, updated_at)
      values ('invite', 'w***@mail.test', $2, 0, 'deferred', 3, now(), now()) returning id
    )
    insert into pgreflect_queue.emails (kind, user_id, message, created_at, expires_at, due_at, delivery_id)
    select 'invite', gen_random_uuid(), '{}', now(), $1::timestamptz, $1::timestamptz, id from delivery`,
    [dueAt, hashRecipient('waits@mail.test')],
  );
  onTestFinished(async () => void (await studio.database.query('truncate pgreflect_queue.emails')));
  const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ email: 'recovery', to: 'me@mail.test' });
  const target = `${studio.url}/v1/projects/${ref}/config/auth/emails/send`;
  expect((await fetch(target, { method: 'POST', headers, body })).status).toBe(200);
  const { page } = await studio.visit('deliveries');
  const waiting = page.getByRole('row', { name: 'w***@mail.test deferred' });
  expect(await waiting.getByText('next:').getByRole('time').getAttribute('datetime')).toBe(dueAt);
  const row = page.getByRole('row', { name: /Reset password en test m\*\*\*@mail.test captured/ });
  await row.waitFor();
  // No server has answered.
  expect(await row.getByRole('cell').last().textContent()).toBe('');
});

test('with a mail server the page of the inbox leads here, and seldom asks for the inbox', async () => {
  await studio.patch({ smtp_host: '127.0.0.1', smtp_admin_email: 'no-reply@mail.test' });
  onTestFinished(() => studio.patch({ smtp_host: null, smtp_admin_email: null }));
  const { page } = await studio.visit('graphql');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.getByRole('link', { name: 'Inbox' }).click();
  await page.getByText('The inbox is not available').waitFor();
  // Longer than the usual pause, shorter than the one without an inbox.
  await page.waitForTimeout(2500);
  expect(asked.filter((url) => url.includes('inbox.json'))).toHaveLength(1);
  await page.getByRole('link', { name: 'See the delivery status of emails' }).click();
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
});

test('an operator lifts an address that bounced', async () => {
  await studio.database.query(
    `insert into pgreflect_queue.suppressed (recipient_hash, recipient, reason, created_at, expires_at)
    values ($1, 'c***@mail.test', 'bounced', now(), now() + interval '30 days')`,
    [hashRecipient('cleo@mail.test')],
  );
  const { page } = await studio.visit('deliveries');
  await page.getByText('No email yet').waitFor();
  const table = page.getByRole('region', { name: 'Suppressed addresses' });
  await table.getByRole('row', { name: 'c***@mail.test bounced' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await table.getByRole('button', { name: 'Lift c***@mail.test' }).click();
  await page.getByText('c***@mail.test gets emails again.').waitFor();
  await table.waitFor({ state: 'detached' });
  expect(await studio.database.query('select from pgreflect_queue.suppressed')).toEqual([]);
});

test('without the scope of an operator the page says what it needs', async () => {
  const token = await addToken(studio.database);
  const { page } = await studio.visit('', { entry: 'stranger' });
  await page.evaluate((text) => sessionStorage.setItem('pgreflect:access-token', text), token);
  await page.goto(`${studio.url}/studio/deliveries`);
  await page.getByText('This page needs an access token with the scope project:operate.').waitFor();
  await page.getByRole('alert').getByText(operatorTokenCommand, { exact: true }).waitFor();
});
