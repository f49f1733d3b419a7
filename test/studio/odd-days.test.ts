/**
 * The studio on an odd day: keys typed wrong, a proxy that rewrites headers, refusals that pass, another start value below.
 */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { addToken, ref } from '../management/management.ts';
import { defaultTemplates } from '../support/default-templates.ts';
import { serviceKey } from '../support/http.ts';
import { accessToken, chooseAction, chooseUser, startStudio, startSubject, type TestStudio } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

const operations = `query One { authorCollection(first: 1) { edges { node { nodeId } } } }

mutation Two {
  a: updateAuthorCollection(set: { name: "A" }, filter: { id: { eq: -1 } }) { affectedCount }
  b: updateAuthorCollection(set: { name: "B" }, filter: { id: { eq: -2 } }) { affectedCount }
}
`;

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio(operations);
});

beforeEach(() =>
  studio.database.query(
    `truncate auth.pgreflect_config, auth.pgreflect_config_versions, auth.pgreflect_captured_email, auth.pgreflect_rate_limits,
      auth.users cascade`,
  ),
);

const subject = (page: Page) => page.getByRole('textbox', { name: 'Subject' });
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true });

async function write(page: Page, text: string): Promise<void> {
  await subject(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** Sends one of the operations in the editor. Until GraphiQL has read them, the button opens no menu and would send both. */
async function run(page: Page, operation: 'One' | 'Two'): Promise<void> {
  await page.getByRole('button', { name: 'Execute query' }).and(page.locator('[aria-haspopup="menu"]')).click();
  await page.getByRole('menuitem', { name: operation }).click();
}

describe('sign-in', () => {
  test('a text that cannot be a token is refused as one, not reported as a server that is away', async () => {
    const { page } = await studio.visit('emails', { entry: 'stranger' });
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    // Who comes by keyboard types at once.
    await page.keyboard.insertText('sbp_…');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('This is not an access token of this project.').waitFor();
  });

  test('a draft that was made before a reload is asked about, on whichever page', async () => {
    const { page } = await studio.visit('emails/recovery');
    await write(page, 'A draft');
    await page.getByRole('link', { name: /Reset password.*Unsaved/ }).waitFor();
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void (dialog.type() === 'confirm' ? dialog.dismiss() : dialog.accept());
    });
    await page.goto(`${studio.url}/studio/users`);
    await page.getByText('No users yet').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect(asked).toContain('confirm');
  });
});

describe('emails', () => {
  test('emails are saved through a proxy that weakens the tag of a compressed answer; a draft that somebody else has stored word for word is none any more', async () => {
    const { page } = await studio.visit('users');
    await page.route('**/config/auth', async (route) => {
      const response = await route.fetch();
      const headers = response.headers();
      await route.fulfill({ response, headers: { ...headers, etag: `W/${headers.etag}` } });
    });
    await page.getByRole('link', { name: 'Emails' }).click();
    await page.getByRole('link', { name: 'Invite user' }).click();
    await write(page, 'Through a proxy');
    await save(page).click();
    await page.getByText('Saved.').waitFor();
    await page.unroute('**/config/auth');
    await write(page, 'The same');
    await page.getByRole('link', { name: /Invite user.*Unsaved/ }).waitFor();
    await studio.patch({ mailer_subjects_invite: 'The same' });
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await page.getByRole('link', { name: /Invite user.*Edited/ }).waitFor();
    expect(await page.getByText('Someone else saved').count()).toBe(0);
  });
});

describe('a text that the project starts with', () => {
  const path = 'emails/phone_changed_notification';
  const builtIn = defaultTemplates.phone_changed_notification.subject;
  const inForce = async (): Promise<unknown> => {
    const headers = { authorization: `Bearer ${accessToken}` };
    const response = await fetch(`${studio.url}/v1/projects/${ref}/config/auth`, { headers });
    return ((await response.json()) as Record<string, unknown>).mailer_subjects_phone_changed_notification;
  };

  test('a text that the project starts with gives way to the built-in one, and comes back, also with a version that had no text of its own', async () => {
    const { page } = await studio.visit(path);
    await expect.poll(() => subject(page).textContent()).toBe(startSubject);
    await chooseAction(page, 'Restore default');
    await save(page).click();
    await page.getByText('Saved.').waitFor();
    await expect.poll(inForce).toBe(builtIn);
    await expect.poll(() => subject(page).textContent()).toBe(builtIn);
    await write(page, startSubject);
    await save(page).click();
    await page.getByText('Saved.').waitFor();
    await expect.poll(inForce).toBe(startSubject);
    const [row] = await studio.database.query('select values from auth.pgreflect_config');
    expect(row).toEqual({ values: {} });

    await studio.patch({ mailer_templates_phone_changed_notification_content: '<p>{{ .Phone }}</p>' });
    await studio.patch({ mailer_subjects_phone_changed_notification: '' });
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await expect.poll(() => subject(page).textContent()).toBe(builtIn);
    const restore = async (version: number) => {
      await chooseAction(page, 'Show versions');
      await page.getByRole('button', { name: new RegExp(`Version ${version}`) }).click();
      await page.getByRole('button', { name: `Restore version ${version}` }).click();
    };
    const [{ latest }] = (await studio.database.query<{ latest: number }>(
      'select max(version) as latest from auth.pgreflect_config_versions',
    )) as [{ latest: number }];
    await restore(latest - 1);
    await expect.poll(() => subject(page).textContent()).toBe(startSubject);
    await restore(latest);
    await expect.poll(() => subject(page).textContent()).toBe(builtIn);
  });
});

describe('inbox', () => {
  test('inbox is shown again when a refusal has passed', async () => {
    await studio.ask('/invite', { email: 'ada@mail.test' }, serviceKey);
    const { page } = await studio.visit('inbox');
    await page.getByText('1 email', { exact: true }).waitFor();
    await studio.patch({ smtp_host: 'mail.test' });
    await page.getByRole('alert').getByText('smtp_host').waitFor();
    await studio.patch({ smtp_host: null });
    await page.getByText('1 email', { exact: true }).waitFor();
  });
});

test('users: a user who cannot be read for now is not one who is not there; where nothing may be copied, the button says so; a search that failed says so', async () => {
  const user = (await studio.ask('/admin/users', { email: 'ada@mail.test' }, serviceKey)) as { readonly id: string };
  const { page, problems } = await studio.visit('users');
  // As in a page of http:// at another name than localhost.
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await page.route(`**/admin/users/${user.id}`, (route) => route.abort());
  await page.getByRole('link', { name: 'ada@mail.test' }).click();
  await page.getByText('The user could not be loaded').waitFor();
  // It is read when the server is back.
  await page.unroute(`**/admin/users/${user.id}`);
  await page.getByRole('heading', { name: 'ada@mail.test' }).waitFor();
  await page.getByRole('button', { name: 'Copy the id' }).click();
  await page.getByText('Not allowed').waitFor();
  expect(problems).toEqual([]);

  await page.goto(`${studio.url}/studio/users`);
  await page.getByRole('link', { name: 'ada@mail.test' }).waitFor();
  await page.route('**/admin/users?**', (route) =>
    route.fulfill({ status: 500, json: { msg: 'The database is away', code: 'unexpected_failure' } }),
  );
  await page.getByRole('searchbox').fill('grace');
  await page.getByText('The database is away').waitFor();
});

test('data: an error of ours is told with the id under which the log has its cause', async () => {
  await studio.database.query(`create function broken() returns boolean language plpgsql as 'begin return nothing_there; end';
    create table broken_rule (id int primary key);
    insert into broken_rule values (1);
    alter table broken_rule enable row level security;
    create policy broken on broken_rule using (broken());
    grant select on broken_rule to anon; notify pgreflect, 'reload'`);
  const { page } = await studio.visit('data/BrokenRule?as=anon');
  await page.getByText(/under the id [0-9a-f]{8}-[0-9a-f-]{27}/).waitFor();
});

test('an operation that is refused has no plan, and the page says why; of the statements of one none is left beside those of the next, though two were the same', async () => {
  const { page } = await studio.visit('graphql');
  await page.getByRole('button', { name: 'SQL and plan' }).click();
  // Of a visitor, who may change no author.
  await run(page, 'Two');
  await expect.poll(() => page.locator('.plan').getByRole('alert').textContent()).toMatch(/mutation/i);
  await page.getByRole('radio', { name: 'service_role' }).check();
  await run(page, 'Two');
  await expect.poll(() => page.locator('.explained').count()).toBe(2);
  await run(page, 'One');
  await page.locator('.explained').getByText('select').first().waitFor();
  await expect.poll(() => page.locator('.explained').count()).toBe(1);
});

test('after a sign-in with another access token, the page does not act as the user of the one before', async () => {
  await studio.ask('/admin/users', { email: 'ada@mail.test', email_confirm: true }, serviceKey);
  const operator = await addToken(studio.database, { scopes: ['auth_config:read', 'project:operate'] });
  const reader = await addToken(studio.database, { scopes: ['auth_config:read'] });
  const { page } = await studio.visit('graphql', { entry: 'stranger' });
  await page.evaluate((token) => sessionStorage.setItem('pgreflect:access-token', token), operator);
  await page.reload();
  await page.getByRole('radio', { name: 'User' }).check();
  const acting = page.waitForResponse(/\/act-as$/);
  await chooseUser(page, 'User', 'ada@mail.test');
  await run(page, 'One');
  expect((await acting).status()).toBe(200);
  await page.locator('.result-window .CodeMirror-line').first().waitFor();
  await studio.database.query(
    "update auth.pgreflect_access_tokens set revoked_at = now() where scopes @> array['project:operate']",
  );
  await page.getByRole('button', { name: 'SQL and plan' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your access token is no longer valid' });
  await dialog.getByLabel('Access token').fill(reader);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('heading', { name: 'Access denied' }).waitFor();
});
