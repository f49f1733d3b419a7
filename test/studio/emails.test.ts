/**
 * The page Emails in a real browser: from a draft to the email that a user gets, and everything that may come between.
 */

import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { builtIn } from '../../src/email/built-in/built-in.ts';
import { addToken } from '../management/management.ts';
import { defaultTemplates } from '../support/default-templates.ts';
import { serviceKey } from '../support/http.ts';
import { supabaseClient } from '../support/supabase-js.ts';
import { chooseAction, chooseUser, followMenu, startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
});

beforeEach(() =>
  studio.database.query(
    'truncate auth.pgreflect_config, auth.pgreflect_config_versions, auth.pgreflect_captured_email, auth.pgreflect_rate_limits',
  ),
);

const subject = (page: Page) => page.getByRole('textbox', { name: 'Subject' });
const body = (page: Page) => page.getByRole('textbox', { name: 'Body' });
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true });
const language = (page: Page) => page.getByRole('combobox', { name: 'Language' });
const languages = (page: Page) => language(page).getByRole('option').allTextContents();
const chosenLanguage = (page: Page) => language(page).locator('option:checked').textContent();
const preview = (page: Page) => page.frameLocator('iframe[title="Preview of the email"]');

/** Puts a text in place of what is in the editor. */
async function write(page: Page, field: ReturnType<typeof body>, text: string): Promise<void> {
  await field.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

test('an email is edited, previewed and saved; the next one has the change, and its link signs in', async () => {
  const { page, context, foreign, problems } = await studio.visit('emails');
  await studio.patch({ site_url: `${studio.url}/health` });
  await page.getByRole('link', { name: 'Magic link' }).click();
  await write(page, subject(page), 'Welcome back, {{ .Data.name }}');
  await write(page, body(page), '<h1>Hello {{ .Data.name }}</h1><p><a href="{{ .ConfirmationURL }}">Come in</a></p>');
  await preview(page).getByRole('heading', { name: 'Hello Ada Lovelace' }).waitFor();
  await page.getByText('Welcome back, Ada Lovelace').waitFor();
  await save(page).click();
  await page.getByText('Saved. The next email uses it.').waitFor();

  await studio.ask(
    '/admin/users',
    { email: 'grace@mail.test', email_confirm: true, user_metadata: { name: 'Grace' } },
    serviceKey,
  );
  const client = supabaseClient(studio.url);
  await client.auth.signInWithOtp({ email: 'grace@mail.test', options: { shouldCreateUser: false } });
  await page.getByRole('link', { name: 'Inbox' }).click();
  await page.getByRole('heading', { name: 'Welcome back, Grace' }).waitFor();
  await page.getByText(`The link leads on to ${studio.url}.`).waitFor();
  const [opened] = await Promise.all([
    context.waitForEvent('page'),
    page.frameLocator('iframe[title="The email"]').getByRole('link', { name: 'Come in' }).click(),
  ]);
  await opened.waitForURL(/#access_token=/);
  const session = Object.fromEntries(new URLSearchParams(new URL(opened.url()).hash.slice(1)));
  const { data } = await client.auth.setSession(session);
  expect(data.user).toMatchObject({ email: 'grace@mail.test' });
  expect({ foreign: foreign.filter((url) => !url.startsWith('about:')), problems }).toEqual({
    foreign: [],
    problems: [],
  });
});

test('links that lead nowhere are marked in the preview, refused, and saved by whoever insists', async () => {
  const { page } = await studio.visit('emails/recovery');
  const links = [
    ['{{ .SiteURL }}/confirm?token_hash={{ .TokenHash }}&type=email', false],
    ['https://example.com', false],
    ['{{ .ConfirmURL }}', true],
    ['#', true],
    ['{{ .SiteURL }}/confirm?token_hash={{ .TokenHsh }}&type=email', true],
  ] as const;
  await write(
    page,
    body(page),
    links.map(([address], index) => `<p><a href="${address}">Go ${index}</a></p>`).join(''),
  );
  const outlines = () =>
    preview(page)
      .locator('a')
      .evaluateAll((all) => all.map((link) => getComputedStyle(link).outlineStyle));
  await expect.poll(outlines).toEqual(links.map(([, isDead]) => (isDead ? 'dashed' : 'none')));

  const dead = '<p>{{ .Token }}</p>\n<a href="{{ .ConfirmationUrl }}">Reset</a>';
  await write(page, body(page), dead);
  await page.locator('.faults .fault').getByText('Line 2: the link would be empty: .ConfirmationUrl').waitFor();
  await save(page).click();
  const refused = page.locator('.notice.fault');
  await expect
    .poll(() => refused.locator('p').textContent())
    .toBe(
      'Not saved. Body, line 2, column 13: the link would be empty: .ConfirmationUrl is no variable of this email (did you mean .ConfirmationURL?) [dead-link].',
    );
  const stored = () => studio.database.query('select values from auth.pgreflect_config');
  expect(await stored()).toEqual([]);
  await refused.getByRole('button', { name: 'Save without a working link' }).click();
  await page.locator('.notice.warning').getByText('Body, line 2, column 13: the link would be empty').waitFor();
  await expect.poll(stored).toMatchObject([{ values: { mailer_templates_recovery_content: dead } }]);
});

test('faults and warnings are underlined at their words and said; what has a fault cannot be saved, and the last good preview stays', async () => {
  const { page } = await studio.visit('emails/recovery');
  const underlined = (kind: string) => page.locator(`.cm-lintRange-${kind}`).allTextContents();
  await preview(page).getByRole('heading', { name: 'Reset your password' }).waitFor();
  await write(page, body(page), '<p>fine</p>\n<p>{{ end }}</p>');
  await page.getByText('Line 2: unexpected {{end}}').waitFor();
  await expect.poll(() => underlined('error')).toEqual(['end']);
  await expect.poll(() => save(page).isDisabled()).toBe(true);
  await preview(page).getByRole('heading', { name: 'Reset your password' }).waitFor();
  await write(page, body(page), '<p>at {{\u00a0.Email }}</p>');
  await page.getByText('it is a no-break space').waitFor();
  await expect.poll(() => underlined('error')).toEqual(['\u00a0']);
  await write(page, body(page), '{{ range 1000000000 }}x{{ end }}');
  await page
    .locator('.faults .fault')
    .getByText(/Line 1: .*(limit|most|long|iterations)/)
    .waitFor();

  await write(page, subject(page), 'two\nlines');
  await expect.poll(() => subject(page).textContent()).toBe('two lines');
  await write(page, body(page), '<p>again</p>');
  await preview(page).getByText('again').waitFor();
  await page.locator('.faults .fault').getByText('recipients cannot continue').waitFor();
  // It is about the text as a whole, and no word of it.
  await expect.poll(() => underlined('warning')).toEqual([]);

  const typo = '<p>{{ if .Data.name }}{{ .ConfirmationURl }}{{ end }}<img alt="" src="logo.png">{{ .Token }}</p>';
  await write(page, body(page), typo);
  await page.getByText('Line 1: logo.png is no web address').waitFor();
  await expect.poll(() => underlined('warning')).toEqual(['.ConfirmationURl', 'logo.png']);
  await save(page).click();
  const said =
    'Body, line 1, column 26: .ConfirmationURl is always empty in this email (did you mean .ConfirmationURL?) [empty-variable].';
  await expect.poll(() => page.locator('.notice.warning li').first().textContent()).toBe(said);
});

test('on a phone the list comes first, and nothing is rendered before an email was chosen', async () => {
  const { page } = await studio.visit('users', { viewport: { width: 390, height: 844 } });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').at(-1) ?? ''));
  await followMenu(page, 'Emails');
  await page.getByRole('link', { name: 'Magic link' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(asked).toContain('emails');
  expect(asked).not.toContain('render');
  await page.getByRole('link', { name: 'Magic link' }).click();
  await preview(page).getByRole('heading').first().waitFor();
  await page.getByRole('tab', { name: 'Phone', selected: true }).waitFor();
});

test('variables of the email, members of its metadata and words of the language are completed', async () => {
  const { page } = await studio.visit('emails/email_change');
  await write(page, body(page), '<p>{{ .New');
  // By mouse: the editor takes no keys in the first moment of a list, so that nobody chooses what he has not seen.
  await page.getByRole('option', { name: '.NewEmail' }).click();
  await page.keyboard.insertText(' }} {{ .Data.na');
  await page.getByRole('option', { name: 'name' }).click();
  await page.keyboard.insertText(' }}</p>');
  await preview(page).getByText('ada.lovelace@example.com Ada Lovelace').waitFor();
  await page.getByText('Variables').click();
  await page.getByRole('button', { name: '{{ .SendingTo }}' }).click();
  await expect.poll(() => body(page).textContent()).toContain('{{ .SendingTo }}');
});

test('a script in a template or in the data of a user never runs', async () => {
  const { page } = await studio.visit('emails/recovery');
  const evil = `<script>parent.document.title='owned'</script><img src="x:y" onerror="parent.document.title='owned'">`;
  await studio.ask('/admin/users', { email: 'evil@mail.test', user_metadata: { name: evil } }, serviceKey);
  await write(page, subject(page), '{{ .Data.name }}');
  await write(page, body(page), `<p>shown {{ .Data.name }}</p>${evil}<a target="_top" href="/health">Leave</a>`);
  await page.getByRole('button', { name: 'Data: sample' }).click();
  await chooseUser(page, 'Fill in from a user', 'evil@mail.test');
  await page.getByRole('button', { name: 'Apply' }).click();
  await preview(page).getByText("shown <script>parent.document.title='owned'</script>").waitFor();
  await page.locator('.preview-subject').getByText('<script>').waitFor();
  await page.getByRole('tab', { name: 'Text', exact: true }).click();
  await page.locator('.preview .source').getByText('<script>').waitFor();
  expect(await page.title()).toMatch(/^Emails - \S+ \(local\)/);
});

test('the preview is as wide as on a computer or a phone, made to fit, and dark where that is asked for', async () => {
  // The colors of this browser must not decide.
  const { page } = await studio.visit('emails/recovery', {
    viewport: { width: 1280, height: 800 },
    colorScheme: 'dark',
  });
  const frame = page.locator('.preview iframe');
  const design = '<style>p{color:red}@media (prefers-color-scheme: dark){p{color:lime}}</style>';
  await write(page, body(page), `${design}<p id="it">{{ .Token }}</p>`);
  await preview(page).locator('#it').waitFor();
  const look = async () => {
    const pane = await page.locator('.preview-body').boundingBox();
    const seen = await frame.boundingBox();
    return {
      width: await frame.evaluate((node: HTMLElement) => node.offsetWidth),
      isWhole: Math.round(seen!.x) >= Math.round(pane!.x) && seen!.width <= pane!.width + 1,
      color: await preview(page)
        .locator('#it')
        .evaluate((node) => getComputedStyle(node).color),
      filter: await frame.evaluate((node) => getComputedStyle(node).filter),
    };
  };
  const light = { width: 720, isWhole: true, color: 'rgb(255, 0, 0)', filter: 'none' };
  await expect.poll(look).toEqual(light);
  await page.getByRole('tab', { name: 'Phone' }).click();
  await expect.poll(look).toEqual({ ...light, width: 375 });
  await page.getByRole('button', { name: 'Dark' }).click();
  await expect.poll(look).toEqual({ ...light, width: 375, color: 'rgb(0, 255, 0)' });
  await page.getByText('With the dark design of the email.').waitFor();
  await write(page, body(page), '<p id="it" style="color: red">{{ .Token }}</p>');
  await page.getByText('The email has no dark design.').waitFor();
  await expect.poll(look).toEqual({ ...light, width: 375, filter: 'invert(1) hue-rotate(180deg)' });
});

test('a second person is told, sees the difference, and decides', async () => {
  const [first, second] = [await studio.visit('emails/invite'), await studio.visit('emails/invite')];
  await write(second.page, subject(second.page), 'Mine');
  await write(first.page, subject(first.page), 'Theirs');
  await save(first.page).click();
  await first.page.getByText('Saved.').waitFor();

  await save(second.page).click();
  const dialog = second.page.getByRole('dialog', { name: 'Someone else saved this email' });
  await dialog.locator('.cm-deletedChunk').getByText('Theirs').waitFor();
  await dialog.locator('.cm-changedLine').getByText('Mine').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await second.page.getByText('Someone else saved this email while').waitFor();
  await expect.poll(() => subject(second.page).textContent()).toBe('Mine');

  await second.page.getByRole('button', { name: 'Compare versions' }).click();
  await dialog.getByRole('button', { name: 'Keep my version' }).click();
  await second.page.getByText('Your version is in the editor. Save it to send it.').waitFor();
  await save(second.page).click();
  await second.page.getByText('Saved.').waitFor();
  const [{ subject: stored }] = (await studio.database.query<{ subject: string }>(
    `select values ->> 'mailer_subjects_invite' as subject from auth.pgreflect_config`,
  )) as [{ subject: string }];
  expect(stored).toBe('Mine');

  // A change of something else is no reason to ask.
  await studio.patch({ mailer_subjects_recovery: 'Another email' });
  await write(second.page, subject(second.page), 'Mine again');
  await second.page.keyboard.press('ControlOrMeta+s');
  await expect.poll(async () => (await studio.config()).mailer_subjects_invite).toBe('Mine again');
});

test('a token that ends while somebody edits loses nothing: another one goes on', async () => {
  const tokens = [await addToken(studio.database), await addToken(studio.database)];
  const { page } = await studio.visit('emails/invite', { entry: 'stranger' });
  await page.getByLabel('Access token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This is not an access token of this project.').waitFor();
  await page.getByLabel('Access token').fill(tokens[0]!);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await write(page, subject(page), 'Not lost');
  // Else the preview may be the first that is refused.
  await page.locator('.preview-subject').getByText('Not lost').waitFor();
  await studio.database.query('update auth.pgreflect_access_tokens set revoked_at = now()');
  await studio.database.query(
    `update auth.pgreflect_access_tokens set revoked_at = null
    where token_hash = sha256(convert_to($1, 'UTF8'))`,
    [tokens[1]],
  );
  await save(page).click();
  const dialog = page.getByRole('dialog', { name: 'Your access token is no longer valid' });
  await dialog.getByLabel('Access token').fill(tokens[1]!);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await expect.poll(() => subject(page).textContent()).toBe('Not lost');
  await save(page).click();
  await page.getByText('Saved.').waitFor();
});

test('a draft survives other pages, a reload and a server that is away', async () => {
  const { page } = await studio.visit('emails/recovery');
  await write(page, subject(page), 'A draft');
  await page.getByRole('link', { name: 'Invite user' }).click();
  await page.getByRole('link', { name: /Reset password.*Unsaved/ }).waitFor();
  page.once('dialog', (dialog) => void dialog.dismiss());
  await page.getByRole('button', { name: 'Sign out' }).click();
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await page.getByRole('link', { name: /Reset password/ }).click();
  await expect.poll(() => subject(page).textContent()).toBe('A draft');

  const startAgain = await studio.stop();
  await write(page, subject(page), 'A longer draft');
  await page.getByText('The studio retries every two seconds').waitFor();
  await startAgain();
  await page.getByText('The studio retries every two seconds').waitFor({ state: 'hidden' });
  await page.locator('.preview-subject').getByText('A longer draft').waitFor();
  await save(page).click();
  await page.getByText('Saved.').waitFor();
});

test('versions can be compared and restored, texts discarded and put back to the default', async () => {
  await studio.patch({ mailer_subjects_recovery: 'First', mailer_templates_recovery_content: '<p>{{ .Token }}</p>' });
  await studio.patch({ mailer_subjects_recovery: 'Second' });
  const { page } = await studio.visit('emails/recovery');
  await page.getByRole('link', { name: /Reset password.*Edited/ }).waitFor();
  await chooseAction(page, 'Show versions');
  await page.getByText('Choose a version to see how it differs').waitFor();
  await page.getByRole('button', { name: /Version 1/ }).click();
  await page.locator('.cm-changedLine').getByText('First').waitFor();
  await page.getByRole('button', { name: 'Restore version 1' }).click();
  await expect.poll(() => subject(page).textContent()).toBe('First');
  await page.getByText('Version 1 is in the editor. Save it to send it.').waitFor();
  await chooseAction(page, 'Compare texts');
  await page.locator('.cm-deletedChunk').getByText('Second').waitFor();
  await page.getByRole('tab', { name: 'With the default' }).click();
  await page.locator('.cm-deletedChunk').getByText(defaultTemplates.recovery.subject).first().waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await expect.poll(() => subject(page).textContent()).toBe('Second');

  await chooseAction(page, 'Restore default');
  await page.getByText('The default is in the editor. Save it to send it.').waitFor();
  await save(page).click();
  await page.getByText('Saved.').waitFor();
  expect(await studio.database.query('select values from auth.pgreflect_config')).toEqual([{ values: {} }]);
});

test('a token that may only read shows everything and changes nothing', async () => {
  const reader = await addToken(studio.database, { scopes: ['auth_config:read'] });
  const { page } = await studio.visit('emails/password_changed_notification', { entry: 'stranger' });
  await page.getByLabel('Access token').fill(reader);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await write(page, subject(page), 'A try');
  await page.locator('.preview-subject').getByText('A try').waitFor();
  await expect.poll(() => save(page).isDisabled()).toBe(true);
  await expect.poll(() => page.getByRole('button', { name: 'Send test' }).isDisabled()).toBe(true);
  await expect.poll(() => page.getByLabel('Send this email').isDisabled()).toBe(true);
});

test('a notification is switched on, and a test is sent', async () => {
  const { page } = await studio.visit('emails/password_changed_notification');
  await write(page, subject(page), 'Before');
  await save(page).click();
  await page.getByText('Saved. It is sent once the email is switched on.').waitFor();
  await page.getByLabel('Send this email').check();
  await page.getByText('“Password changed” is sent from now on.').waitFor();
  await write(page, subject(page), 'After');
  await save(page).click();
  await page.getByText('Saved. The next email uses it.').waitFor();
  const inList = (title: string) => page.getByRole('checkbox', { name: `Send “${title}”` });
  expect(await inList('Password changed').isChecked()).toBe(true);
  await inList('Identity linked').check();
  await expect.poll(async () => (await studio.config()).mailer_notifications_identity_linked_enabled).toBe(true);
  await inList('Password changed').uncheck();
  await page.getByText('“Password changed” is no longer sent.').waitFor();
  await expect.poll(() => page.getByLabel('Send this email').isChecked()).toBe(false);
  await page.getByLabel('Send a test to').fill('me@mail.test');
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByText('This project has no mail server. The test to me@mail.test is in the Inbox.').waitFor();
  const rows = await studio.database.query('select recipient, kind from auth.pgreflect_captured_email');
  expect(rows).toEqual([{ recipient: 'me@mail.test', kind: 'password_changed_notification' }]);
  await page.locator('.trial').getByRole('link', { name: 'Inbox' }).click();
  await page.getByRole('heading', { name: '[Test] After' }).waitFor();
});

test('the brand is seen in an email while it is typed, and saved with a warning about a faint color', async () => {
  const { page, problems } = await studio.visit('emails/recovery');
  await page.getByRole('button', { name: 'Brand' }).click();
  const dialog = page.getByRole('dialog', { name: 'Brand' });
  await dialog.getByLabel('Name').fill('The Shop');
  await dialog.getByLabel('Button color').fill('#ffdd00');
  await dialog.getByLabel('Footer').fill('Main Street 1');
  const shown = dialog.frameLocator('iframe[title="Preview of the email"]');
  await shown.getByText('The Shop', { exact: true }).waitFor();
  await shown.getByText('Main Street 1').waitFor();
  await expect.poll(() => shown.locator('.button a').getAttribute('style')).toContain('color: #000000');
  await dialog.getByRole('button', { name: 'Save brand' }).click();
  await dialog.getByText('Saved. The next email uses it.').waitFor();
  await dialog.getByText('Button color: the button hardly stands out from the white card').waitFor();
  expect(await studio.database.query('select values from auth.pgreflect_config')).toEqual([
    { values: { mailer_brand_name: 'The Shop', mailer_brand_color: '#ffdd00', mailer_brand_footer: 'Main Street 1' } },
  ]);
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  await preview(page).getByText('The Shop', { exact: true }).waitFor();
  expect(problems).toEqual([]);
});

test('a language is added by keyboard on a phone, previewed, tried, saved and removed', async () => {
  const base = { mailer_subjects_recovery: 'Password', mailer_templates_recovery_content: '<p>Code {{ .Token }}</p>' };
  const field = 'mailer_templates_recovery_translations';
  const [fr, text] = [{ subject: 'Mot de passe' }, 'Kode {{ .Token }}'];
  await studio.patch({ ...base, [field]: { fr, 'de-CH': { text } } });
  const { page, problems } = await studio.visit('emails/recovery', { viewport: { width: 360, height: 740 } });
  const stored = async () => (await studio.config())[field];
  await language(page).focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => chosenLanguage(page)).toBe('French (no body)');
  await expect.poll(() => new URL(page.url()).search).toBe('?language=fr');
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => chosenLanguage(page)).toBe('German (Switzerland) (no texts)');
  await page.keyboard.press('ArrowUp');
  await preview(page).getByText('Code ').waitFor();
  await page.locator('.preview-subject').getByText('Mot de passe').waitFor();

  await page.getByRole('button', { name: 'More', exact: true }).press('Enter');
  await page.getByRole('menuitem', { name: 'Add language …' }).press('Enter');
  await page.getByLabel('Language tag').fill('jp');
  await page.keyboard.press('Enter');
  await page.getByText('There is no such language. Examples: de, pt-BR, French.').waitFor();
  await page.getByLabel('Language tag').fill('DE');
  await page.keyboard.press('Enter');
  await expect.poll(() => chosenLanguage(page)).toBe('German');
  await expect.poll(() => subject(page).textContent()).toBe('Password');
  await write(page, subject(page), 'Passwort');
  await write(page, body(page), '<p>{{ .Locale }}: dein Code {{ .Token }}</p>');
  await preview(page).getByText('de: dein Code').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await page.getByLabel('Send a test to').fill('me@mail.test');
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByText('The test to me@mail.test is in the').waitFor();
  const tried = await studio.database.query('select subject, html from auth.pgreflect_captured_email');
  expect(tried).toEqual([{ subject: '[Test] Passwort', html: expect.stringContaining('de: dein Code') }]);

  // Somebody else changes another language meanwhile.
  await studio.patch({ [field]: { fr: { subject: 'Autre' }, 'de-CH': { text } } });
  await save(page).click();
  await page.getByText('Saved. The next email uses it.').waitFor();
  const de = { subject: 'Passwort', content: '<p>{{ .Locale }}: dein Code {{ .Token }}</p>' };
  expect(await stored()).toEqual({ de, 'de-CH': { text }, fr: { subject: 'Autre' } });
  await language(page).selectOption({ label: 'German (Switzerland) (no texts)' });
  await preview(page).getByText('de-CH: dein Code').waitFor();
  page.on('dialog', (dialog) => void dialog.accept());
  await chooseAction(page, 'Remove German (Switzerland)');
  await page.getByText('German (Switzerland) is removed.').waitFor();
  expect(await stored()).toEqual({ de, fr: { subject: 'Autre' } });
  await expect.poll(() => subject(page).textContent()).toBe('Password');
  expect(problems).toEqual([]);
});

test('the text part of an email is written beside its body, and is made from the body again once it is empty', async () => {
  const { page, problems } = await studio.visit('emails/recovery');
  const field = 'mailer_templates_recovery_text';
  const part = page.getByRole('textbox', { name: 'Text part' });
  await page.getByText('Text part', { exact: true }).click();
  await page.getByRole('tab', { name: 'Text', exact: true }).click();
  await write(page, part, 'Code {{ if }}');
  await page.locator('.faults .fault').getByText('Line 1: missing value for if').waitFor();
  await expect.poll(() => save(page).isDisabled()).toBe(true);
  await write(page, part, 'Code <{{ .Email }}>');
  await page.locator('.preview .source').getByText('Code <ada@example.com>', { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await chooseAction(page, 'Compare texts');
  await page.getByRole('dialog').getByRole('heading', { name: 'Text part' }).waitFor();
  await page.keyboard.press('Escape');
  await save(page).click();
  await page.locator('.notice').getByText('Saved').waitFor();
  expect((await studio.config())[field]).toBe('Code <{{ .Email }}>');
  await part.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await expect.poll(() => page.locator('.preview .source').textContent()).not.toContain('Code <');
  await save(page).click();
  await page.locator('.notice').getByText('Saved').waitFor();
  expect(await studio.database.query('select values from auth.pgreflect_config')).toEqual([{ values: {} }]);
  expect(problems).toEqual([]);
});

test('a translation without a text shows the built-in one, and says which language has a dead link', async () => {
  const field = 'mailer_templates_recovery_translations';
  await studio.patch({ [field]: { de: { subject: 'Neues Passwort' } } });
  const { page } = await studio.visit('emails/recovery');
  await language(page).selectOption({ label: 'German (no body)' });
  await page.locator('.preview-subject').getByText('Neues Passwort').waitFor();
  await expect.poll(() => preview(page).locator('html').getAttribute('lang')).toBe('de');
  await write(page, body(page), '<p>\n<a href="{{ .ConfirmationUrl }}">Los</a></p>');
  await page.locator('.faults .fault').getByText('Line 2: the link would be empty').waitFor();
  await save(page).click();
  await page
    .locator('.notice.fault')
    .getByText('Not saved. de: Body, line 2, column 13: the link would be empty')
    .waitFor();
  expect((await studio.config())[field]).toEqual({ de: { subject: 'Neues Passwort' } });
});

const text = (page: Page) => page.getByRole('textbox', { name: 'Text', exact: true });
const values = () => studio.database.query('select values from auth.pgreflect_config');

test('a layout is seen around the built-in emails, tried, saved, and put back to the default', async () => {
  const { page, problems } = await studio.visit('emails/layout', { viewport: { width: 360, height: 740 } });
  await preview(page).getByRole('heading', { name: 'Reset your password' }).waitFor();
  await write(page, text(page), '<p>\n{{ if }}');
  await page.locator('.faults .fault').getByText('Line 2: missing value for if').waitFor();
  await expect.poll(() => page.locator('.cm-lintRange-error').count()).toBe(1);
  await write(page, text(page), '<p>Nothing</p>');
  await page.locator('.faults .fault').getByText('must use {{ template "content" . }} exactly once').waitFor();
  await expect.poll(() => save(page).isDisabled()).toBe(true);

  const layout = '<div id="mine">{{ template "content" . }}</div>';
  await write(page, text(page), layout);
  await preview(page).locator('#mine').getByRole('heading', { name: 'Reset your password' }).waitFor();
  await page.getByLabel('Shown in').selectOption({ label: 'Invite user' });
  await preview(page).locator('#mine').getByRole('heading', { name: "You've been invited" }).waitFor();
  await page.getByRole('button', { name: 'Dark' }).click();
  await page.getByText('The email has no dark design.').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await page.getByLabel('Send a test to').fill('me@mail.test');
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByText('The test to me@mail.test is in the').waitFor();
  const [tried] = await studio.database.query('select kind, html from auth.pgreflect_captured_email');
  expect(tried).toMatchObject({ kind: 'invite', html: expect.stringContaining('<div id="mine">') });
  await save(page).click();
  await page.getByText('Saved. The next email uses it.').waitFor();
  expect(await values()).toEqual([{ values: { mailer_layout_content: layout } }]);
  const list = page.getByRole('link', { name: 'All emails' });
  await list.click();
  const edited = page.locator('.email-list a', { hasText: 'Edited' });
  expect(await edited.allTextContents()).toEqual(['Phone number changedEdited', 'LayoutEdited']);
  await page.getByRole('link', { name: 'Invite user' }).click();
  await expect.poll(() => languages(page)).toContain('German (built-in)');
  await list.click();
  await page.getByRole('link', { name: 'Layout' }).click();

  await chooseAction(page, 'Restore default');
  await page.getByText('The default is in the editor. Save it to send it.').waitFor();
  await save(page).click();
  await page.getByText('Saved. The next email uses it.').waitFor();
  expect(await values()).toEqual([{ values: {} }]);
  expect(problems).toEqual([]);
});

test('a partial is added, seen by itself and in emails; a change that breaks emails is refused and names them all', async () => {
  const { page, problems } = await studio.visit('emails/recovery');
  await page.getByRole('button', { name: 'Add partial' }).click();
  await page.getByLabel('Name').fill('two words');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('Use letters, digits, _ and -.').waitFor();
  await page.getByLabel('Name').fill('sign');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('link', { name: /sign.*Unsaved/ }).waitFor();
  await write(page, text(page), 'Yours, {{ .Brand.Name }}');
  await preview(page).getByText('Yours, localhost').waitFor();
  await save(page).click();
  await page.getByText('Saved. The next email uses it.').waitFor();
  expect(await values()).toEqual([{ values: { mailer_partials: { sign: 'Yours, {{ .Brand.Name }}' } } }]);

  const users = ['mailer_templates_recovery_content', 'mailer_templates_magic_link_content'];
  const content = '<p title="{{ template "sign" . }}">{{ .Token }}</p>';
  await studio.patch(Object.fromEntries(users.map((field) => [field, content])));
  await write(page, text(page), 'Yours" b');
  await preview(page).getByText('Yours" b').waitFor();
  await save(page).click();
  const refused = page.locator('.notice.fault');
  await refused.getByText('Magic link: Body, line 1').waitFor();
  await refused.getByText('Reset password: Body, line 1').waitFor();
  await page.getByLabel('Shown in').selectOption({ label: 'Reset password' });
  await page.locator('.faults .fault').getByText('In the email, line 1: ').waitFor();
  await expect.poll(() => save(page).isDisabled()).toBe(true);
  await write(page, text(page), 'Yours\n{{ if }}');
  await page.locator('.faults .fault').getByText('Line 2: missing value for if').waitFor();
  await expect.poll(() => page.locator('.cm-lintRange-error').count()).toBe(1);
  await page.getByRole('button', { name: 'Discard changes' }).click();

  page.on('dialog', (dialog) => void dialog.accept());
  await chooseAction(page, 'Remove partial');
  await refused.getByText('Magic link: Body, line 1, column 23: no such template "sign"').waitFor();
  await studio.patch(Object.fromEntries(users.map((field) => [field, null])));
  await chooseAction(page, 'Remove partial');
  await page.getByRole('heading', { name: 'Layout' }).waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'sign', exact: true }).count()).toBe(0);
  expect(await values()).toEqual([{ values: { mailer_partials: {} } }]);
  expect(problems).toEqual([]);
});

test('the page of links is seen as a page, by kind of link and language, and saved with a warning', async () => {
  const { page, problems } = await studio.visit('emails/link_page', { viewport: { width: 360, height: 740 } });
  const shown = page.frameLocator('iframe[title="Preview of the page"]');
  await shown.getByRole('button', { name: 'Reset password' }).waitFor();
  await page.getByRole('combobox', { name: 'Link' }).selectOption({ label: 'Magic link' });
  await shown.getByRole('button', { name: 'Sign in' }).waitFor();
  await language(page).selectOption({ label: 'Japanese (built-in)' });
  await expect.poll(() => shown.locator('html').getAttribute('lang')).toBe('ja');
  await page.getByRole('button', { name: 'Copy built-in text' }).click();
  await page.getByText('The built-in text is in the editor.').waitFor();
  await expect.poll(() => text(page).textContent()).toContain('{{ .Button }}');
  await write(page, text(page), '<p>No button</p>');
  await page.locator('.faults .fault').getByText('must use {{ .Button }} exactly once').waitFor();
  await write(page, text(page), '<main><p>{{ .Nobody }}</p>{{ .Button }}</main>');
  await page.getByText('Line 1: .Nobody is always empty on this page').waitFor();
  await page.getByRole('button', { name: 'Dark' }).click();
  await page.getByText('The page has no dark design and stays as it is.').waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await save(page).click();
  await page.getByText('ja: Text, line 1, column 13: .Nobody is always empty on this page').waitFor();
  const content = '<main><p>{{ .Nobody }}</p>{{ .Button }}</main>';
  const ja = { mailer_templates_link_page_translations: { ja: { content } } };
  expect(await values()).toEqual([{ values: ja }]);
  await page.getByText('Now they work when they are opened.').waitFor();
  await page.getByRole('link', { name: 'Change in Settings' }).click();
  await page.getByLabel('Before a link is used').selectOption('page');
  await save(page).click();
  await page.getByText('1 change saved.').waitFor();
  await page.goBack();
  await page.getByText('They do now.').waitFor();
  const asked = { headers: { 'accept-language': 'ja' } };
  const page1 = await fetch(`${studio.url}/auth/v1/verify?token=x&type=recovery`, asked);
  expect(await page1.text()).toMatch(/^<main><p><\/p><form /);
  expect(problems).toEqual([]);
});

/** As when somebody comes back to the window. */
const readAgain = (page: Page) => page.evaluate(() => dispatchEvent(new Event('focus')));

test('languages of the built-in texts can be chosen from the start, and a translation from before the main text says so', async () => {
  const { page } = await studio.visit('emails/recovery');
  const known = () => languages(page);
  const names = ['Dutch', 'French', 'German', 'Italian', 'Japanese', 'Polish', 'Portuguese', 'Spanish'];
  await expect.poll(known).toEqual(['Main text (English)', ...names.map((name) => `${name} (built-in)`)]);
  await language(page).selectOption({ label: 'German (built-in)' });
  await preview(page).getByRole('heading', { name: 'Setze dein Passwort zurück' }).waitFor();
  await page.getByRole('button', { name: 'Copy built-in text' }).click();
  await expect.poll(() => subject(page).textContent()).toBe('Setze dein Passwort zurück');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByText('Readers of German get the built-in text until you save your own.').waitFor();

  await language(page).selectOption({ label: 'Main text (English)' });
  const place = await subject(page).boundingBox();
  await write(page, subject(page), 'First');
  await page.getByText(/^Your text will also go to readers of German, .*, Japanese:/).waitFor();
  expect(await subject(page).boundingBox()).toEqual(place);
  await page.getByRole('button', { name: 'Keep the translations' }).click();
  await page.getByText('German, French, Spanish, Italian, Portuguese, Dutch, Polish, Japanese: the built-in').waitFor();
  await save(page).click();
  await page.getByText('Saved. The next email uses it.').waitFor();
  const field = 'mailer_templates_recovery_translations';
  const kept = (await studio.config())[field] as Readonly<Record<string, object>>;
  expect(Object.keys(kept)).toEqual(['de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt']);
  expect(kept.ja).toEqual({ subject: builtIn('recovery', 'ja').subject, content: builtIn('recovery', 'ja').content });
  await studio.patch({ mailer_subjects_recovery: null, [field]: null });
  await readAgain(page);
  await expect.poll(known).toContain('German (built-in)');
  await write(page, subject(page), 'Own');
  await save(page).click();
  await page
    .locator('.notice.warning li')
    .getByText(/^Subject: readers of German, .*, Japanese get it, too: it ends the built-in translations\.$/)
    .waitFor();
  await expect.poll(known).toEqual(['Main text']);
  await page.getByRole('button', { name: 'Keep the translations' }).click();
  await expect.poll(known).toEqual(['Main text', ...names]);
  expect((await studio.config())[field]).toEqual(kept);
  await studio.patch({ [field]: null });
  await readAgain(page);
  await expect.poll(known).toEqual(['Main text']);

  const [de, fr] = ['de', 'fr'].map((tag) => ({ subject: tag, content: `<p>${tag} {{ .Token }}</p>` }));
  await studio.patch({ mailer_subjects_recovery: 'First', [field]: { de, fr } });
  await readAgain(page);
  await expect.poll(known).toEqual(['Main text', 'French', 'German']);
  await studio.patch({ mailer_subjects_recovery: 'Second', [field]: { de, fr: { ...fr, subject: 'Nouveau' } } });
  await readAgain(page);
  await expect.poll(known).toEqual(['Main text', 'French', 'German (older than the main text)']);
  await language(page).selectOption({ label: 'German (older than the main text)' });
  await write(page, subject(page), 'Neu');
  await save(page).click();
  await page.getByText('Saved. The next email uses it.').waitFor();
  await expect.poll(known).toEqual(['Main text', 'French', 'German']);
});
