/**
 * The page Settings in a real browser: fields that are changed, refused, overtaken and restored; access tokens.
 */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { accessScopes, operatorTokenCommand } from '../../src/management/tokens/access-tokens.ts';
import { settingsSections } from '../../src/studio/app/pages/settings/sections.ts';
import { sqlTokenCommand } from '../../src/studio/app/shared/token-commands.ts';
import { addToken, ref } from '../management/management.ts';
import { faultsInBothLooks, onDarkPhone, picture, startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
});

beforeEach(() => studio.database.query('truncate auth.pgreflect_access_tokens'));

const path = 'settings/access-tokens';

/** Opens the page as the holder of a token. */
async function visitWith(token: string): Promise<Page> {
  const { page } = await studio.visit('', { entry: 'stranger' });
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Access tokens' }).click();
  return page;
}

async function readConfig(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${studio.url}/v1/projects/${ref}/config/auth`, { headers })).status;
}

test('settings are changed, refused at their field before anything is stored, saved together, reset and restored', async () => {
  const { page, problems, foreign } = await studio.visit('settings');
  await page.getByRole('heading', { name: 'General' }).waitFor();
  await expect.poll(() => page.url()).toBe(`${studio.url}/studio/settings/general`);
  await page.getByLabel('Redirect URLs').fill('https://a.test/**\nhttps://{b,c}.test/, https://d.test/');
  await page.getByRole('link', { name: 'Security' }).click();
  await page.getByLabel('Shortest password').fill('3');
  await page.getByRole('switch', { name: 'Captcha' }).check();
  await page.getByText('3 changes:').waitFor();
  await picture(page, 'settings');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Nothing was saved. Correct').waitFor();
  const row = page.locator('.setting', { has: page.getByLabel('Shortest password') });
  await row.getByRole('alert').getByText('password_min_length must be a whole number from 6 to 32767').waitFor();
  expect((await studio.config()).uri_allow_list).toBe('');

  await page.getByLabel('Shortest password').fill('12');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('security_captcha_enabled needs security_captcha_secret').waitFor();
  await page.getByRole('button', { name: 'Set security_captcha_secret' }).click();
  await page.getByLabel('Secret key').fill('a typed secret');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('4 changes saved.').waitFor();
  expect(await studio.config()).toMatchObject({
    uri_allow_list: 'https://a.test/**,https://{b,c}.test/,https://d.test/',
    password_min_length: 12,
    security_captcha_enabled: true,
    security_captcha_secret: expect.stringMatching(/^hmac-sha256:/),
  });
  expect(await page.content()).not.toContain('a typed secret');
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('a typed secret');

  await page.getByRole('button', { name: 'Reset to 6 password_min_length' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('1 change saved.').waitFor();
  expect((await studio.config()).password_min_length).toBe(6);

  await page.getByRole('link', { name: 'History' }).click();
  await page.getByRole('button', { name: 'Version 1', exact: false }).last().click();
  await page.getByRole('row', { name: 'Shortest password' }).getByText('12').waitFor();
  await page.getByRole('tab', { name: 'Compared with now' }).click();
  await page.getByRole('button', { name: 'Restore 1 field of version 1' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('1 change saved.').waitFor();
  expect((await studio.config()).password_min_length).toBe(12);
  expect({ problems, foreign }).toEqual({ problems: [], foreign: [] });
});

test("a value that somebody else saved meanwhile is shown beside one's own, which stays until one chooses", async () => {
  const { page } = await studio.visit('settings/security?field=password_min_length');
  await page.getByLabel('Shortest password').fill('20');
  await page.getByLabel('Longest session').fill('5');
  await studio.patch({ password_min_length: 15, site_url: 'https://other.test' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Somebody else saved this field. Theirs: 15. Yours: 20.').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  expect((await studio.config()).sessions_timebox).toBe(0);
  await page.reload();
  await page.getByRole('button', { name: 'Keep mine password_min_length' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('2 changes saved.').waitFor();
  expect(await studio.config()).toMatchObject({
    password_min_length: 20,
    sessions_timebox: 5,
    site_url: 'https://other.test',
  });
});

test('what is typed stays while the access token ends, and is saved with another one', async () => {
  const token = await addToken(studio.database, {
    scopes: ['auth_config:read', 'auth_config:write', 'project:operate'],
  });
  const page = await visitWith(token);
  await page.getByRole('link', { name: 'Rate limits' }).click();
  await page.getByLabel('Sign-ups and email requests').fill('77');
  await studio.database.query('delete from auth.pgreflect_access_tokens');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Your access token is no longer valid' }).waitFor();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Access token').fill(await addToken(studio.database));
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  expect(await page.getByLabel('Sign-ups and email requests').inputValue()).toBe('77');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('1 change saved.').waitFor();
});

test('the history calls texts of emails as their page does', async () => {
  await studio.patch({ mailer_subjects_invite: 'Come in', mailer_templates_invite_content: null });
  const { page } = await studio.visit('settings/history');
  await page.getByRole('button', { name: 'Invite user: Subject' }).click();
  await page.getByRole('row', { name: 'Invite user: Subject' }).getByText('Come in').waitFor();
});

test('a search finds settings by label, name and help, and the address keeps it', async () => {
  const { page } = await studio.visit('settings/general');
  await page.getByLabel('Search settings').fill('leaked');
  await page.getByRole('switch', { name: 'Refuse leaked passwords' }).waitFor();
  expect(await page.getByRole('switch').count()).toBe(1);
  await page.reload();
  await page.getByRole('switch', { name: 'Refuse leaked passwords' }).waitFor();
  await page.getByLabel('Search settings').fill('sign-up');
  const block = page.locator('.setting', { has: page.getByRole('switch', { name: 'Block sign-ups' }) });
  await block.getByText('Off', { exact: true }).waitFor();
  // The section is called "Sign-up and sign-in", which says nothing of this one.
  expect(await page.getByRole('switch', { name: 'Anonymous sign-in' }).count()).toBe(0);
  await block.getByRole('switch').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await block.getByText('Stored in the database').waitFor();
  expect((await studio.config()).disable_signup).toBe(true);
  await page.getByLabel('Search settings').fill('external_github_client_id');
  await page.getByRole('textbox', { name: 'Client ID' }).waitFor();
  await page.getByLabel('Search settings').fill('rotate');
  await page.getByRole('link', { name: 'Rotate the keys' }).click();
  await page.getByRole('region', { name: 'Rotate the keys' }).waitFor();
});

test('the steps that rotate the keys are those of what signs here, each with its command', async () => {
  const { page } = await studio.visit('settings/keys?group=rotate-the-keys');
  const region = page.getByRole('region', { name: 'Rotate the keys' });
  const steps = region.getByRole('listitem');
  await steps.first().waitFor();
  const ofFile = ['pgreflect keys --rotate --jwt-keys keys.json', 'pgreflect keys --retire --jwt-keys keys.json'];
  // This project has a secret of its own.
  expect(await steps.locator('code').allTextContents()).toEqual([
    'pgreflect keys --standby --out keys.json',
    ...ofFile,
  ]);
  await page.getByRole('row', { name: 'Secret without an ID' }).getByText('Signs').waitFor();
  const answerWith = (facts: object) =>
    page.route('**/studio/project', async (route) => {
      const answer = await route.fetch();
      const project = await answer.json();
      await route.fulfill({ response: answer, json: { ...project, signing: { ...project.signing, ...facts } } });
    });
  const shown = async (facts: object) => {
    await answerWith(facts);
    await page.reload();
    await steps.first().waitFor();
    return steps.locator('code').allTextContents();
  };
  expect(await shown({ from: 'keys' })).toEqual(ofFile);
  expect(await region.textContent()).not.toContain('JWT_SECRET');
  const keys = (minutesAgo: number) => [
    { id: `new-${'x'.repeat(39)}`, algorithm: 'ES256', state: 'signs', signedUntil: null },
    {
      id: 'old',
      algorithm: 'ES256',
      state: 'verifies',
      signedUntil: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
    },
  ];
  const ofProject = ['pgreflect keys --rotate', 'pgreflect keys --retire'];
  // Access tokens last an hour.
  expect(await shown({ from: 'project', keys: keys(30) })).toEqual(ofProject);
  await page.getByRole('row', { name: 'new' }).getByText('Signs since').waitFor();
  await page.getByRole('row', { name: 'old' }).getByText('signed until').waitFor();
  await region.getByText('Wait until').waitFor();
  expect(await page.getByRole('main').textContent()).not.toContain('--jwt-');
  expect(await faultsInBothLooks(page)).toEqual([]);
  const excess = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(await onDarkPhone(page, excess)).toBe(0);
  // Whoever rotates in a terminal sees it here.
  await answerWith({ from: 'project', keys: keys(61) });
  await region.getByText('have expired').waitFor();
  expect(await violations(page)).toEqual([]);
});

test('a token that may only read sees the settings and can change none', async () => {
  const page = await visitWith(await addToken(studio.database, { scopes: ['auth_config:read'] }));
  // For access tokens it takes another one, and the page has the command that creates it.
  await page.getByRole('alert').getByText(operatorTokenCommand, { exact: true }).waitFor();
  await page.getByRole('link', { name: 'General' }).click();
  await page.getByText('Your access token may read the settings, not change them.').waitFor();
  expect(await page.getByLabel('Site URL').isDisabled()).toBe(true);
});

test('every section of the settings is clear to axe-core, and fits, in the light and on a phone in the dark', async () => {
  const { page } = await studio.visit('settings/general');
  const list = page.getByRole('navigation', { name: 'Sections of the settings' });
  for (const { path: section, title } of settingsSections) {
    await list.getByRole('link', { name: title }).click();
    await page.getByRole('heading', { name: title, exact: true }).first().waitFor();
    await page.evaluate(() => {
      for (const card of document.querySelectorAll('details')) card.open = true;
    });
    const excess = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect([section, await violations(page), await onDarkPhone(page, excess)]).toEqual([section, [], 0]);
  }
  // In the dark they are made of the same parts.
  expect(await faultsInBothLooks(page)).toEqual([]);
});

test('each group of settings and the dialog of a token have an address, which opens them', async () => {
  const { page, problems } = await studio.visit('settings/emails?group=dkim-signature', {
    viewport: { width: 1280, height: 800 },
  });
  const at = () => new URL(page.url()).pathname + new URL(page.url()).search;
  const bottomOf = async (name: string) => {
    const { y, height } = (await page.getByLabel(name).boundingBox()) ?? { y: Infinity, height: 0 };
    return y + height;
  };
  await page.getByLabel('Private key').waitFor();
  await expect.poll(() => bottomOf('Domain')).toBeLessThan(800);
  await page.getByText('DKIM signature', { exact: true }).click();
  await page.getByLabel('Selector').waitFor({ state: 'hidden' });
  await expect.poll(at).toBe('/studio/settings/emails');
  await page.locator('summary', { hasText: 'Template engine' }).press('Enter');
  await page.getByLabel('Lenient comparisons').waitFor();
  await expect.poll(at).toBe('/studio/settings/emails?group=template-engine');
  await page.getByRole('link', { name: 'Notifications' }).click();
  await expect.poll(at).toBe('/studio/settings/emails?group=notifications');
  await page.goto(`${studio.url}/studio/settings/keys?group=signing-keys`);
  await page.locator('[data-wanted="true"]').getByRole('heading', { name: 'Signing keys' }).waitFor();
  await page.getByText('pgreflect keys --rotate --jwt-keys keys.json', { exact: true }).waitFor();
  // The project is a local one.
  await page.getByRole('button', { name: 'Copy Service key' }).waitFor();
  await page.goto(`${studio.url}/studio/settings/access-tokens/new`);
  await page.getByRole('dialog', { name: 'Create access token' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(at).toBe('/studio/settings/access-tokens');
  expect(problems).toEqual([]);
});

test('a token is made with a name, which is text whatever it looks like, scopes and expiry, works, is shown once, and works no more when it was revoked', async () => {
  const { page, problems, foreign } = await studio.visit(path);
  const name = 'release pipeline <img src=x onerror=alert(1)>';
  await page.getByText('No access tokens yet').waitFor();
  await page.getByRole('button', { name: 'Create access token' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('checkbox', { name: 'Change the auth configuration' }).check();
  await page.getByLabel('Expires').selectOption({ label: '90 days' });
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your new access token' });
  const token = (await dialog.locator('code').textContent()) ?? '';
  expect(token).toMatch(/^sbp_[0-9a-f]{40}$/);
  expect(await readConfig(token)).toBe(200);
  const [row] = await studio.database.query<{ name: string; scopes: string[]; days: number }>(
    `select name, scopes, round(extract(epoch from expires_at - created_at) / 86400)::int as days
      from auth.pgreflect_access_tokens`,
  );
  expect(row).toEqual({ name, scopes: ['auth_config:read', 'auth_config:write'], days: 90 });
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name }).waitFor();
  await page.reload();
  await page.getByRole('row', { name }).waitFor();
  expect(await page.content()).not.toContain(token);
  expect(await page.locator('img[src="x"]').count()).toBe(0);

  await page.getByRole('button', { name: `Revoke … ${name}` }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await readConfig(token)).toBe(200);
  await page.getByRole('button', { name: `Revoke … ${name}` }).click();
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await page.locator('.toast').getByText(`The access token “${name}” was revoked.`).waitFor();
  await page.getByText('No access tokens yet').waitFor();
  expect(await readConfig(token)).toBe(401);
  expect({ problems, foreign }).toEqual({ problems: [], foreign: [] });
});

test('offers no scope and no end that the token in use lacks, and asks for another one when that is revoked', async () => {
  const expiresAt = new Date(Date.now() + 45 * 86_400_000);
  const own = await addToken(studio.database, {
    scopes: ['auth_config:read', 'project:operate'],
    expiresAt,
    projectRef: ref,
  });
  const page = await visitWith(own);
  await page.getByRole('row', { name: 'in use here' }).waitFor();
  await page.getByRole('button', { name: 'Create access token' }).click();
  await expect
    .poll(() => page.getByRole('checkbox', { name: 'Change the auth configuration' }).isDisabled())
    .toBe(true);
  const ends = await page.getByLabel('Expires').getByRole('option').allTextContents();
  expect(ends).toEqual(['30 days', expect.stringMatching(/^With your own token: /)]);
  await page.getByLabel('Name').fill('as long as mine');
  await page.getByText('Scopes that your token lacks').click();
  const command = (end: string) => page.getByText(sqlTokenCommand(end), { exact: true });
  await command('30d').waitFor();
  await page.getByLabel('Expires').selectOption({ index: 1 });
  await command(expiresAt.toISOString()).waitFor();
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke … test' }).click();
  await page.getByText('You are signed in with this token.').waitFor();
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await page.getByRole('heading', { name: 'Your access token is no longer valid' }).waitFor();
});

test('access tokens: no fault that axe-core finds, and the page fits, in the light and on a phone in the dark', async () => {
  await addToken(studio.database, { scopes: accessScopes, expiresAt: new Date(Date.now() + 86_400_000) });
  const { page } = await studio.visit(path);
  const check = async () => {
    const high = () => page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
    expect([await faultsInBothLooks(page), await high(), await onDarkPhone(page, high)]).toEqual([[], 0, 0]);
  };
  await page.getByRole('row', { name: 'test' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Create access token' }).click();
  await page.getByLabel('Name').fill('a name');
  await check();
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('heading', { name: 'Your new access token' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke … test' }).click();
  await page.getByRole('heading', { name: 'Revoke “test”?' }).waitFor();
  expect(await violations(page)).toEqual([]);
});
