/**
 * People behind mail scanners: every link of every email is opened before them, by GET, by HEAD and in a browser that runs
 * scripts and follows redirects. Then they press the button, or type the code, in an application with the published client.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { emailKindNames, isLinkKind } from '../../src/config/auth/email-kinds.ts';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { openBrowser } from '../support/browser.ts';
import { anonKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { clientScript } from '../support/supabase-js.ts';

let database: TestDatabase;
let browser: Browser;
let appUrl: string;

beforeAll(async () => {
  database = await createAuthDatabase();
  browser = await openBrowser();
  appUrl = await serveApp();
});

/** A page that has nothing but the client; gateway and flow stand in its address. */
async function serveApp(): Promise<string> {
  const library = readFileSync(clientScript);
  const page = `<!doctype html><title>App</title><script src="/supabase.js"></script><script>
    const given = new URLSearchParams(location.search);
    window.client = supabase.createClient(given.get('gateway'), '${anonKey}', { auth: { flowType: given.get('flow') } });
  </script>`;
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/moved')) {
      const { port } = server.address() as AddressInfo;
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
      return;
    }
    response.setHeader('content-type', request.url === '/supabase.js' ? 'text/javascript' : 'text/html');
    response.end(request.url === '/supabase.js' ? library : page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close().closeAllConnections());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

// biome-ignore lint/suspicious/noExplicitAny: the client in the page has no types here
declare const window: { client: any };

type Flow = 'implicit' | 'pkce';

const password = 'a good password';
const serve = (values: AuthValues = {}) =>
  testAuth(database, {
    mailer_link_confirmation: 'page',
    site_url: appUrl,
    uri_allow_list: 'myapp://**',
    smtp_max_frequency: 0,
    ...values,
  });

/** A browser of its own. */
async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  return context;
}

const appOf = (auth: TestAuth, flow: Flow) => `${appUrl}/?gateway=${encodeURIComponent(auth.url)}&flow=${flow}`;

async function openApp(auth: TestAuth, flow: Flow): Promise<Page> {
  const page = await (await newContext()).newPage();
  await page.goto(appOf(auth, flow));
  return page;
}

/** One for all tests; it ends with the file. */
let scanner: Page | undefined;

/** Opens a link as scanners do; it must still be good afterwards. */
async function scan(link: string): Promise<void> {
  for (const method of ['GET', 'HEAD', 'GET']) expect((await fetch(link, { method })).status).toBe(200);
  scanner ??= await (await browser.newContext()).newPage();
  await scanner.goto(link);
  expect(new URL(scanner.url()).pathname).toBe('/auth/v1/verify');
}

/** Presses the button in the browser that has the application. */
async function press(app: Page, link: string): Promise<void> {
  await app.goto(link);
  await app.getByRole('button').click();
  await app.waitForURL(`${appUrl}/**`);
}

const userIn = async (app: Page) => {
  await app.evaluate(() => window.client.auth.initialize());
  const { data } = await app.evaluate(() => window.client.auth.getSession());
  return data.session?.user.email;
};

type Ask = (auth: TestAuth, app: Page, email: string, redirectTo: string) => Promise<unknown>;

const known = (auth: TestAuth, email: string) =>
  auth.askAdmin('/admin/users', { email, password, email_confirm: true });

/** How each email with a link is asked for, and the type of its code. */
const flows: Readonly<Record<string, readonly [type: string, ask: Ask]>> = {
  confirmation: [
    'email',
    (_auth, app, email, emailRedirectTo) =>
      app.evaluate(
        ([email, password, emailRedirectTo]) =>
          window.client.auth.signUp({ email, password, options: { emailRedirectTo } }),
        [email, password, emailRedirectTo],
      ),
  ],
  magic_link: [
    'email',
    async (auth, app, email, emailRedirectTo) => {
      await known(auth, email);
      await app.evaluate(
        ([email, emailRedirectTo]) => window.client.auth.signInWithOtp({ email, options: { emailRedirectTo } }),
        [email, emailRedirectTo],
      );
    },
  ],
  recovery: [
    'recovery',
    async (auth, app, email, redirectTo) => {
      await known(auth, email);
      await app.evaluate(
        ([email, redirectTo]) => window.client.auth.resetPasswordForEmail(email, { redirectTo }),
        [email, redirectTo],
      );
    },
  ],
  invite: [
    'invite',
    (auth, _app, email, redirectTo) =>
      auth.askAdmin(`/invite?redirect_to=${encodeURIComponent(redirectTo)}`, { email }),
  ],
};

const cases = [
  ...Object.keys(flows).map((kind) => [kind, 'implicit', 'link'] as const),
  ['confirmation', 'pkce', 'link'],
  // The client itself is given the code, whichever its flow.
  ['confirmation', 'implicit', 'code'],
  // The built-in invitation has no code.
  ['invite', 'implicit', 'code'],
] as const;

test.each(cases)('after a scanner, %s signs in (%s) by %s', async (kind, flow, by) => {
  const auth = await serve();
  const app = await openApp(auth, flow);
  const email = `${kind}.${flow}.${by}@x.test`;
  const [type, ask] = flows[kind]!;
  await ask(auth, app, email, appOf(auth, flow));
  const message = await auth.message(email);
  expect(message.kind).toBe(kind);
  await scan(message.link);
  if (by === 'link') await press(app, message.link);
  else {
    // The built-in invitation has no code, so its hash stands for the one of an own template.
    const given =
      message.code === ''
        ? { token_hash: new URL(message.link).searchParams.get('token') }
        : { email, token: message.code };
    await app.evaluate((options) => window.client.auth.verifyOtp(options), { type, ...given });
  }
  expect(await userIn(app)).toBe(email);
  expect(app.url()).not.toContain('access_token');
});

test.each([
  ['pkce', 'link'],
  ['implicit', 'code'],
] as const)('after a scanner, a new address is confirmed at both (%s) by %s', async (flow, by) => {
  const auth = await serve();
  const [email, next] = [`old.${flow}.${by}@x.test`, `new.${flow}.${by}@x.test`];
  await known(auth, email);
  const app = await openApp(auth, flow);
  await app.evaluate((given) => window.client.auth.signInWithPassword(given), { email, password });
  await app.evaluate(
    ([email, emailRedirectTo]) => window.client.auth.updateUser({ email }, { emailRedirectTo }),
    [next, appOf(auth, flow)],
  );
  for (const address of [email, next]) {
    const message = await auth.message(address);
    await scan(message.link);
    if (by === 'link') await press(app, message.link);
    else
      await app.evaluate((given) => window.client.auth.verifyOtp(given), {
        type: 'email_change',
        email: address,
        token: message.code,
      });
  }
  await app.evaluate(() => window.client.auth.refreshSession());
  expect(await userIn(app)).toBe(next);
});

test('after a scanner, the code of a reauthentication changes the password', async () => {
  const auth = await serve({ security_update_password_require_reauthentication: true });
  const email = 'reauthenticates@x.test';
  await known(auth, email);
  const app = await openApp(auth, 'pkce');
  await app.evaluate((given) => window.client.auth.signInWithPassword(given), { email, password });
  // Only a session of more than a day needs the code.
  await database.query(`update auth.sessions set created_at = created_at - interval '25 hours'`);
  await app.evaluate(() => window.client.auth.reauthenticate());
  const { html, code: nonce } = await auth.message(email);
  const links = [...html.matchAll(/href="(https?:[^"]*)"/g)].map(([, link = '']) => link);
  expect(links.filter((link) => link.includes('/auth/v1/'))).toEqual([]);
  const error = await app.evaluate(async (given) => (await window.client.auth.updateUser(given)).error?.message, {
    password: 'another good password',
    nonce,
  });
  expect(error).toBeUndefined();
});

test('the button verifies where the site redirects to another host', async () => {
  const auth = await serve();
  const app = await openApp(auth, 'implicit');
  const email = 'moved@x.test';
  await flows.confirmation![1](auth, app, email, `${appUrl}/moved`);
  await app.goto((await auth.message(email)).link);
  await app.getByRole('button').click();
  await app.waitForURL(`${appUrl.replace('localhost', '127.0.0.1')}/#access_token=**`);
});

test('these are all of the fourteen emails that have a link', () => {
  expect(emailKindNames.filter(isLinkKind).sort()).toEqual([...Object.keys(flows), 'email_change'].sort());
});

test.each(['myapp://cb', ''])(
  'the browser lets the button lead to %j, and the page loads nothing and breaks no rule',
  async (target) => {
    const auth = await serve();
    const page = await (await newContext()).newPage();
    const [requests, complaints]: [string[], string[]] = [[], []];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`${auth.url}/auth/v1/verify?token=x&type=recovery&redirect_to=${encodeURIComponent(target)}`);
    expect(requests).toHaveLength(1);
    const left = page.waitForRequest((request) => request.url().startsWith(target || appUrl));
    await page.getByRole('button', { name: 'Reset password' }).click();
    await left;
    expect(complaints).toEqual([]);
  },
);
