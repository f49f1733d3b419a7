/**
 * The patterns of links in emails, each as the program of examples/email-links: its template is stored through the management
 * API, its email is delivered, a browser follows the link and ends with the session; a second time the link is refused.
 */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { type EmailLinks, expectStatus, newPage, startEmailLinks } from '../support/email-links.ts';
import { installPackages } from '../support/install-packages.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

const browser = await openBrowser();
const password = 'a good password';
const refused = 'Email link is invalid or has expired';
const codeRefused = 'Token has expired or is invalid';

let database: TestDatabase;
beforeAll(async () => {
  installPackages('examples/email-links');
  database = await createAuthDatabase();
}, 300_000);

/** Fills in a form of a page and sends it. */
async function submit(page: Page, form: string, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`${form} [name=${name}]`, value);
  await page.click(`${form} [type=submit]`);
}

/** Asks the page of a pattern for the email of a sign-up. */
async function signUp(page: Page, origin: string, email: string): Promise<void> {
  await page.goto(origin);
  await expectStatus(page, 'Not signed in');
  await submit(page, '#sign-up', { email, password });
  await expectStatus(page, `An email is on its way to ${email}`);
}

/** Follows the one link of the newest email to an address. */
async function followEmail(links: EmailLinks, page: Page, email: string): Promise<void> {
  await links.openEmail(page, email);
  await page.click('a');
}

/** Where the one link of the newest email to an address leads. */
async function linkInEmail(links: EmailLinks, page: Page, email: string): Promise<string> {
  await links.openEmail(page, email);
  return page.locator('a').evaluate((link) => (link as unknown as { href: string }).href);
}

describe('{{ .ConfirmationURL }}', () => {
  test('a sign-up is confirmed by the link, which brings the browser back signed in, once', async () => {
    const links = await startEmailLinks(database, 'confirmation-url');
    const origin = await links.serve('confirmation-url');
    const page = await newPage(browser);
    const email = 'confirmation-url@x.test';
    await signUp(page, origin, email);
    await followEmail(links, page, email);
    await expectStatus(page, `Signed in as ${email}`);
    expect(page.url()).toBe(`${origin}/#`);
    const again = await newPage(browser);
    await followEmail(links, again, email);
    await expectStatus(again, refused);
    expect(again.url()).toMatch(/#error=access_denied&error_code=otp_expired&/);
  });

  test('a link whose time is over says the same', async () => {
    const links = await startEmailLinks(database, 'confirmation-url');
    const origin = await links.serve('confirmation-url');
    const page = await newPage(browser);
    await signUp(page, origin, 'too-late@x.test');
    links.auth.pass(3601);
    await followEmail(links, page, 'too-late@x.test');
    await expectStatus(page, refused);
  });

  test('a sign-up that asks to be led to a site that is not listed is led to the own one', async () => {
    const links = await startEmailLinks(database, 'confirmation-url');
    const origin = await links.serve('confirmation-url');
    const page = await newPage(browser);
    const email = 'led-away@x.test';
    await links.auth.ask('/signup?redirect_to=https://evil.test/', { email, password });
    // Also where somebody changes the link itself.
    const link = new URL(await linkInEmail(links, page, email));
    expect(link.searchParams.get('redirect_to')).toBe(origin);
    link.searchParams.set('redirect_to', 'https://evil.test/');
    await page.goto(link.href);
    await expectStatus(page, `Signed in as ${email}`);
    expect(new URL(page.url()).origin).toBe(origin);
  });
});

describe('an own page with {{ .TokenHash }}', () => {
  test('a forgotten password is replaced by a new one, once', async () => {
    const links = await startEmailLinks(database, 'own-page');
    const origin = await links.serve('own-page');
    const page = await newPage(browser);
    const email = 'forgetful@x.test';
    await signUp(page, origin, email);
    await followEmail(links, page, email);
    await expectStatus(page, `Signed in as ${email}`);
    const elsewhere = await newPage(browser);
    await elsewhere.goto(origin);
    await submit(elsewhere, '#forgotten', { email });
    await expectStatus(elsewhere, `An email is on its way to ${email}`);
    await followEmail(links, elsewhere, email);
    await expectStatus(elsewhere, `Signed in as ${email}`);
    expect(elsewhere.url()).toBe(`${origin}/confirm.html`);
    await submit(elsewhere, '#new-password', { password: 'another good password' });
    await expectStatus(elsewhere, 'Your new password is saved');
    const old = await links.auth.ask('/token?grant_type=password', { email, password });
    const fresh = await links.auth.ask('/token?grant_type=password', { email, password: 'another good password' });
    expect([old.status, fresh.status]).toEqual([400, 200]);
    const again = await newPage(browser);
    await followEmail(links, again, email);
    await expectStatus(again, refused);
    expect(await again.locator('#new-password').isVisible()).toBe(false);
  });

  test('a change of the address counts when the links in both emails were followed, each once', async () => {
    const links = await startEmailLinks(database, 'own-page');
    const origin = await links.serve('own-page');
    const page = await newPage(browser);
    const [before, after] = ['old-address@x.test', 'new-address@x.test'];
    await signUp(page, origin, before);
    await followEmail(links, page, before);
    await expectStatus(page, `Signed in as ${before}`);
    await page.goto(origin);
    await submit(page, '#change', { email: after });
    await expectStatus(page, `An email is on its way to ${after}`);
    await followEmail(links, page, after);
    await expectStatus(page, 'Confirmed. Now follow the link in the email to your other address');
    await followEmail(links, page, after);
    await expectStatus(page, refused);
    await followEmail(links, page, before);
    await expectStatus(page, `Signed in as ${after}`);
    await followEmail(links, page, before);
    await expectStatus(page, refused);
  });
});

describe('a page that asks for the code, {{ .Token }}', () => {
  test('the code signs in a new user and a known one, each code once', async () => {
    const links = await startEmailLinks(database, 'code');
    const origin = await links.serve('code');
    const email = 'code@x.test';
    for (const kind of ['new', 'known']) {
      const page = await newPage(browser);
      await page.goto(origin);
      await submit(page, '#ask', { email });
      await expectStatus(page, `A code is on its way to ${email}`);
      const sent = links.emailsTo(email).at(-1)!;
      const [code = ''] = /^\d{6}/.exec(sent.parsed.subject ?? '') ?? [];
      expect(sent.parsed.html, kind).not.toContain('href');
      expect(sent.parsed.html, kind).toContain(`<strong>${code}</strong>`);
      await submit(page, '#enter', { code: code === '000000' ? '000001' : '000000' });
      await expectStatus(page, codeRefused);
      await submit(page, '#enter', { code });
      await expectStatus(page, `Signed in as ${email}`);
      await submit(page, '#enter', { code });
      await expectStatus(page, codeRefused);
    }
  });
});

describe('the page with a button, for emails that are opened by scanners first', () => {
  test('an invitation that scanners opened is still good; the button uses it up', async () => {
    const links = await startEmailLinks(database, 'button');
    const origin = await links.serve('button');
    const email = 'invited@x.test';
    expect(await links.run('invite', [email])).toEqual({ code: 0, text: `Invited ${email}` });
    const page = await newPage(browser);
    const link = await linkInEmail(links, page, email);
    expect(link.startsWith(`${origin}/confirm.html?confirmation_url=http%3a%2f%2flocalhost`)).toBe(true);
    // A scanner asks for the link, and another renders the page and looks for more links.
    for (const method of ['HEAD', 'GET']) expect((await fetch(link, { method })).status).toBe(200);
    const scanner = await newPage(browser);
    await scanner.goto(link);
    await expectStatus(scanner, 'Is it you? Then go on.');
    expect(await scanner.locator('a, form, iframe').count()).toBe(0);
    await page.click('a');
    await page.click('#confirm');
    await expectStatus(page, `Signed in as ${email}`);
    await followEmail(links, page, email);
    await page.click('#confirm');
    await expectStatus(page, refused);
  });

  test('a sign-up is confirmed by the button', async () => {
    const links = await startEmailLinks(database, 'button');
    const origin = await links.serve('button');
    const page = await newPage(browser);
    const email = 'button@x.test';
    await signUp(page, origin, email);
    await followEmail(links, page, email);
    await page.click('#confirm');
    await expectStatus(page, `Signed in as ${email}`);
  });

  test('a link to anywhere but the auth service gets no button', async () => {
    const links = await startEmailLinks(database, 'button');
    const origin = await links.serve('button');
    const { url } = links.auth;
    const page = await newPage(browser);
    const foreign = [
      `https://evil.test/auth/v1/verify?token=x`,
      `${url}@evil.test/auth/v1/verify?token=x`,
      `${url}.evil.test/auth/v1/verify?token=x`,
      `//evil.test/auth/v1/verify`,
      url.replace('http:', 'https:').concat('/auth/v1/verify?token=x'),
      `${url}/auth/v1/authorize?provider=evil`,
      `${url}/auth/v1/verify/../logout`,
      'javascript:alert(1)//auth/v1/verify',
      'data:text/html,hello',
      'no link',
    ];
    for (const target of foreign) {
      await page.goto(`${origin}/confirm.html?confirmation_url=${encodeURIComponent(target)}`);
      await expectStatus(page, 'This link does not come from us and was not opened.');
      expect(await page.locator('#confirm').isVisible(), target).toBe(false);
    }
    await page.goto(`${origin}/confirm.html`);
    await expectStatus(page, 'This link is not complete. Copy all of it from the email.');
    // The page stays ours where another site would put its own around the button.
    const frame = await newPage(browser);
    await frame.setContent(`<iframe src="${origin}/confirm.html"></iframe>`);
    await expect.poll(() => frame.frames()[1]?.url()).toMatch(/^chrome-error:/);
  });
});

describe('a server with the session in cookies', () => {
  test('the token hash of a sign-up becomes a session on the server, once, in whatever browser', async () => {
    const links = await startEmailLinks(database, 'server');
    const origin = await links.serve('server');
    const page = await newPage(browser);
    const email = 'server@x.test';
    await page.goto(origin);
    await submit(page, '#send-link', { email });
    await expectStatus(page, `An email is on its way to ${email}`);
    const elsewhere = await newPage(browser);
    await followEmail(links, elsewhere, email);
    await expectStatus(elsewhere, `Signed in as ${email}`);
    const cookies = await elsewhere.context().cookies();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    expect(await elsewhere.evaluate('document.cookie')).toBe('');
    await followEmail(links, page, email);
    await expectStatus(page, refused);
    await elsewhere.goto(origin);
    await elsewhere.click('[type=submit]');
    await expectStatus(elsewhere, 'Not signed in');
  });

  test('the code of a magic link is worth something in the browser that asked, once, and nowhere else', async () => {
    const links = await startEmailLinks(database, 'server');
    const origin = await links.serve('server');
    const email = 'server-pkce@x.test';
    await links.configure({ mailer_autoconfirm: true });
    const page = await newPage(browser);
    const ask = async () => {
      await page.goto(origin);
      await submit(page, '#send-link', { email });
      await expectStatus(page, `An email is on its way to ${email}`);
    };
    await ask();
    const thief = await newPage(browser);
    await followEmail(links, thief, email);
    expect(await thief.locator('#status').textContent()).toContain('code verifier');
    expect(await thief.context().cookies()).toEqual([]);
    links.auth.pass(1);
    await ask();
    await followEmail(links, page, email);
    await expectStatus(page, `Signed in as ${email}`);
    await followEmail(links, page, email);
    await expectStatus(page, refused);
  });

  test('the page that follows is one of the own, whatever the link says', async () => {
    const links = await startEmailLinks(database, 'server');
    const origin = await links.serve('server');
    const endings = ['https://evil.test/', '//evil.test', '\\\\evil.test', 'javascript:alert(1)', '/auth/callback'];
    for (const next of endings) {
      const { body } = await links.auth.askAdmin('/admin/generate_link', { type: 'magiclink', email: 'next@x.test' });
      const link = new URL(`${origin}/auth/confirm`);
      link.search = new URLSearchParams({ token_hash: body.hashed_token, type: 'email', next }).toString();
      const response = await fetch(link, { redirect: 'manual' });
      expect([response.status, response.headers.get('location')], next).toEqual([303, origin]);
    }
  });

  test('what a link says is shown as text', async () => {
    const links = await startEmailLinks(database, 'server');
    const origin = await links.serve('server');
    const page = await newPage(browser);
    await page.goto(`${origin}/auth/callback?error_description=${encodeURIComponent('<b onclick="x">&amp;')}`);
    await expectStatus(page, '<b onclick="x">&amp;');
  });
});

describe('a deep link into an app', () => {
  const allowed = { uri_allow_list: 'com.example.notes://**' };

  /** Follows the link of the newest email up to the app's scheme, where the operating system takes over. */
  async function followToApp(links: EmailLinks, page: Page, email: string): Promise<string> {
    await links.openEmail(page, email);
    const redirect = page.waitForResponse((response) => response.status() === 303);
    await page.click('a');
    return (await (await redirect).headerValue('location')) ?? '';
  }

  test('the link of the email opens the app, which has the session then, once', async () => {
    const links = await startEmailLinks(database, 'deep-link');
    await links.configure(allowed);
    const page = await newPage(browser);
    const email = 'deep-link@x.test';
    const device = { SESSION_FILE: links.newFile() };
    const asked = await links.run('deep-link', ['sign-in', email], device);
    expect(asked).toEqual({ code: 0, text: `An email is on its way to ${email}` });
    const link = await followToApp(links, page, email);
    expect(link).toMatch(/^com\.example\.notes:\/\/signed-in\?code=[\w-]+$/);
    const other = await links.run('deep-link', [link], { SESSION_FILE: links.newFile() });
    expect(other).toMatchObject({ code: 1, text: expect.stringContaining('code verifier') });
    expect(await links.run('deep-link', [link], device)).toEqual({ code: 0, text: `Signed in as ${email}` });
    expect(await links.run('deep-link', [], device)).toEqual({ code: 0, text: `Signed in as ${email}` });
    const again = await followToApp(links, page, email);
    expect(await links.run('deep-link', [again], device)).toEqual({ code: 1, text: refused });
  });

  test('an invitation names the app itself', async () => {
    const links = await startEmailLinks(database, 'deep-link');
    const page = await newPage(browser);
    const email = 'invited-to-app@x.test';
    const device = { SESSION_FILE: links.newFile() };
    expect((await links.run('invite', [email])).code).toBe(0);
    const link = await linkInEmail(links, page, email);
    expect(link).toMatch(/^com\.example\.notes:\/\/invited\?token_hash=[0-9a-f]{56}&type=invite$/);
    expect(await links.run('deep-link', [link], device)).toEqual({ code: 0, text: `Signed in as ${email}` });
    expect(await links.run('deep-link', [link], device)).toEqual({ code: 1, text: refused });
  });

  test('a scheme that is not listed leads to the site instead', async () => {
    const links = await startEmailLinks(database, 'deep-link');
    await links.configure({ site_url: 'http://localhost:3000' });
    const page = await newPage(browser);
    const email = 'unlisted@x.test';
    await links.run('deep-link', ['sign-in', email], { SESSION_FILE: links.newFile() });
    expect(await followToApp(links, page, email)).toMatch(/^http:\/\/localhost:3000\/?\?code=[\w-]+$/);
  });

  test('the app refuses links that are not its own or say nothing', async () => {
    const links = await startEmailLinks(database, 'deep-link');
    const device = { SESSION_FILE: links.newFile() };
    for (const link of ['https://evil.test/?code=1', 'com.example.other://signed-in?code=1', '::']) {
      const opened = await links.run('deep-link', [link], device);
      expect(opened, link).toEqual({ code: 1, text: 'This is no link of this app.' });
    }
    const empty = await links.run('deep-link', ['com.example.notes://signed-in'], device);
    expect(empty).toEqual({ code: 1, text: 'This link is not complete.' });
  });
});

test.each(['code', 'server'])('%s: what is no page is not found, and the pages are served on', async (script) => {
  const links = await startEmailLinks(database, script);
  const origin = await links.serve(script);
  for (const path of ['/nowhere', '//', '/../settings.ts', '/templates/confirmation.html'])
    expect((await fetch(`${origin}${path}`)).status, path).toBe(404);
  expect((await fetch(origin)).status).toBe(200);
});

test('the compiler accepts the programs', async () => {
  const links = await startEmailLinks(database, 'code');
  expect(await links.run('check', [])).toEqual({ code: 0, text: '' });
});
