/**
 * The studio in a real browser, on a whole gateway with the example: one of each for all tests of a file.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import { ref } from '../management/management.ts';
import { keptContexts, openBrowser } from '../support/browser.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { findFreePort, isFreePort } from '../support/free-port.ts';
import { anonKey, serviceKey, testConfig } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The access token of the project, which may do everything. */
export const accessToken = 'sbp_0123456789012345678901234567890123456789';

/** What the project starts with as subject of the email of a changed phone number. */
export const startSubject = 'The number from the file';

/** A person at the studio. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Addresses outside the gateway that were asked for. */
  readonly foreign: readonly string[];
  /** What the pages complained about, beside refused requests. */
  readonly problems: readonly string[];
}

/** How a page is opened. */
interface VisitOptions extends Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'permissions' | 'hasTouch'> {
  readonly entry?: 'signed in' | 'stranger';
  /** In a browser of its own: what is loaded counts, or the page is changed in a way that lasts. */
  readonly isFirst?: boolean;
}

/** The studio under test. */
export interface TestStudio {
  readonly database: TestDatabase;
  readonly url: string;
  /** Opens a page of the studio in a tab that remembers nothing; signed in unless `entry` says another way in. */
  visit(path: string, more?: VisitOptions): Promise<Visit>;
  /** Sends a request below `/auth/v1`. */
  ask(path: string, body: unknown, key?: string): Promise<unknown>;
  /** Changes the auth configuration as somebody else would. */
  patch(change: Readonly<Record<string, unknown>>): Promise<void>;
  /** The auth configuration, as the management API answers it. */
  config(): Promise<Readonly<Record<string, unknown>>>;
  /** Stops the gateway; the returned starts another one at the same address. */
  stop(): Promise<() => Promise<void>>;
}

const firstExample = 'examples/shop/queries/01-first-products.graphql';

/** Starts a local project; stopped after the test file. @param operations Its examples; the first is what GraphiQL begins with. */
export function startStudio(...operations: readonly string[]): Promise<TestStudio> {
  return openStudio(operations, (url) => url);
}

/** A studio, and what takes the database away from it. */
export interface FragileStudio extends TestStudio {
  readonly forwarder: Forwarder;
}

/** As `startStudio`. */
export async function startFragileStudio(): Promise<FragileStudio> {
  const forwarder = await startForwarder();
  const studio = await openStudio([], (url) => {
    const through = new URL(url);
    forwarder.target = new URL(url);
    return Object.assign(through, { hostname: '127.0.0.1', port: String(forwarder.port) }).href;
  });
  return { ...studio, forwarder };
}

/** @param through The connection string for one of the database. */
async function openStudio(operations: readonly string[], through: (url: string) => string): Promise<TestStudio> {
  const examples = operations.length > 0 ? operations : [read(firstExample)];
  const browser = await openBrowser();
  const database = await createAuthDatabase(read('examples/shop/schema.sql'), read('examples/shop/data.sql'));
  // Links in emails name the port, so it is chosen before the start.
  const { port, unused } = await takeOrigin();
  const url = `http://localhost:${port}`;
  const takeTab = tabsOf(browser, url, unused);
  const start = () => startProject(database, port, examples, through);
  let gateway: Gateway = await start();
  afterAll(() => gateway.stop());
  return {
    database,
    url,
    visit: (path, options = {}) => openPage({ takeTab, url, path, ticket: () => gateway.studioEntry(), ...options }),
    async ask(path, body, key = anonKey) {
      const headers = { apikey: key, authorization: `Bearer ${key}` };
      const response = await fetch(`${url}/auth/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(response.status).toBeLessThan(300);
      return response.json();
    },
    async patch(change) {
      const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
      const target = `${url}/v1/projects/${ref}/config/auth`;
      const response = await fetch(target, { method: 'PATCH', headers, body: JSON.stringify(change) });
      expect(response.status).toBe(200);
    },
    async config() {
      const headers = { authorization: `Bearer ${accessToken}` };
      const response = await fetch(`${url}/v1/projects/${ref}/config/auth`, { headers });
      expect(response.status).toBe(200);
      return response.json();
    },
    async stop() {
      await gateway.stop();
      return async () => {
        gateway = await start();
      };
    },
  };
}

function startProject(
  database: TestDatabase,
  port: number,
  examples: readonly string[],
  through: (url: string) => string,
): Promise<Gateway> {
  const config: Config = testConfig({
    databaseUrl: through(database.urlAs('authenticator', 'test')),
    adminDatabaseUrl: through(database.url),
    schemas: ['public'],
    localProject: true,
    exampleOperations: examples,
    authValues: {
      smtp_max_frequency: 0,
      rate_limit_otp: 1000,
      rate_limit_email_sent: 1000,
      rate_limit_email_recipient: 0,
      mailer_subjects_phone_changed_notification: startSubject,
    },
    externalUrl: `http://localhost:${port}`,
    port,
    anonKey,
    serviceKey,
    accessToken,
    projectRef: ref,
  });
  return startGateway(config, { observe: () => {} });
}

/** A port, and tabs that show it and that no test uses. */
interface Origin {
  readonly port: number;
  readonly unused: Page[];
}

/** One for the process: test files that share it load this file anew. */
const registry = globalThis as unknown as { studioOrigin?: Origin };

/** The port of the studio of the file before, with its tabs: a browser keeps the process of a tab for pages of one origin alone. */
async function takeOrigin(): Promise<Origin> {
  const known = registry.studioOrigin;
  if (known !== undefined && (await isFreePort(known.port))) return known;
  registry.studioOrigin = { port: await findFreePort(), unused: [] };
  return registry.studioOrigin;
}

/** Takes a tab that no other test uses; it is as a new one, but the code that it has loaded is compiled already. */
type TakeTab = (options: { readonly hasTouch: boolean; readonly isFirst: boolean }) => Promise<Page>;

/** Whatever a test listens to. */
const events = ['console', 'dialog', 'pageerror', 'request', 'requestfailed', 'response'];

/** Opening the studio takes half of the time where the tab, which is a process of the browser, has compiled its code before. */
function tabsOf(browser: Browser, url: string, unused: Page[]): TakeTab {
  return async ({ hasTouch, isFirst }) => {
    const isUsual = !hasTouch && !isFirst;
    const page = (isUsual && unused.pop()) || (await (await browser.newContext({ hasTouch })).newPage());
    const context = page.context();
    onTestFinished(async ({ task }) => {
      if (!isUsual || task.result?.state === 'fail') {
        keptContexts.delete(context);
        return context.close();
      }
      for (const event of events) page.removeAllListeners(event);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await Promise.all(context.pages().map((other) => other !== page && other.close()));
      await Promise.all([context.clearPermissions(), context.clearCookies()]);
      // A page of the same origin, or the process would not be kept.
      await page.goto(`${url}/health`);
      await page.evaluate(() => [localStorage, sessionStorage].map((kept) => kept.clear()));
      keptContexts.add(context);
      unused.push(page);
    });
    return page;
  };
}

interface Opening extends VisitOptions {
  readonly takeTab: TakeTab;
  readonly url: string;
  readonly path: string;
  readonly ticket: () => string;
}

async function openPage({ takeTab, url, path, ticket, ...options }: Opening): Promise<Visit> {
  const { entry = 'signed in', hasTouch = false, isFirst = false, permissions = [] } = options;
  const page = await takeTab({ hasTouch, isFirst });
  const context = page.context();
  if (permissions.length > 0) await context.grantPermissions(permissions);
  await page.setViewportSize(options.viewport ?? { width: 1600, height: 1000 });
  await page.emulateMedia({ colorScheme: options.colorScheme ?? 'light', reducedMotion: 'reduce' });
  const foreign: string[] = [];
  const problems: string[] = [];
  const unanswered: string[] = [];
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') {
      const shown = await page.locator('body').ariaSnapshot();
      console.error(
        [`"${task.name}" ended at ${page.url()}, where the page showed:`, shown, ...problems, ...unanswered].join('\n'),
      );
    }
  });
  page.on('requestfailed', (request) => unanswered.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on('response', (response) => {
    if (!response.ok()) unanswered.push(`${response.url()}: ${response.status()}`);
  });
  page.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(url)) foreign.push(request.url());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    // A refused request, and the frame that has no script to run, are meant.
    if (message.type() === 'error' && !/the server responded with|Blocked script execution|ERR_/.test(text))
      problems.push(text);
  });
  if (entry === 'signed in') {
    const fragment = ticket().split('#')[1];
    await page.goto(`${url}/studio/${path}#${fragment}`);
    await page.getByTitle(`Project ${ref}`).waitFor();
  } else {
    await page.goto(`${url}/studio/${path}`);
  }
  return { page, context, foreign, problems };
}

/** A picture of the page for docs/studio.md, unless there is one: remove the file to have it made again. */
export async function picture(page: Page, name: string): Promise<void> {
  const path = fileURLToPath(new URL(`../../docs/studio-${name}.png`, import.meta.url));
  if (!existsSync(path)) await page.screenshot({ path });
}

/** Chooses an action from the menu "More". */
export async function chooseAction(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: title, exact: true }).click();
}

/** Finds a user in a field by the address. */
export async function chooseUser(page: Page, label: string, address: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).fill(address);
  await page.getByRole('option', { name: address, exact: true }).click();
}

/** Goes to a page by the menu, which is behind a button where there is little room. */
export async function followMenu(page: Page, title: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu' });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name: title, exact: true }).click();
}

/** What is wrong with the page: what axe-core finds, how far it is too wide, and tables that have buttons out of sight. */
async function faults(page: Page): Promise<readonly string[]> {
  const found = await violations(page);
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('section.rows')].flatMap((table) =>
      table.scrollWidth > table.clientWidth && table.querySelector('button') !== null
        ? [`the table "${table.getAttribute('aria-label')}" is cut`]
        : [],
    ),
  );
  return [...found, ...(excess > 0 ? [`${excess} pixels too wide`] : []), ...cut];
}

/** Goes on with the page in the dark and on a phone, and comes back to what it was: less to do than to open it once more. */
export async function onDarkPhone<T>(page: Page, look: () => Promise<T>): Promise<T> {
  const usual = page.viewportSize() ?? { width: 1600, height: 1000 };
  await change(page, 'dark', { width: 360, height: 740 });
  const seen = await look();
  await change(page, 'light', usual);
  return seen;
}

async function change(page: Page, colorScheme: 'light' | 'dark', size: { width: number; height: number }) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(size);
  // Components hear of it in the next frame.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

/** What is wrong with the page as it is, in the light, and on a phone in the dark. */
export async function faultsInBothLooks(page: Page): Promise<readonly string[]> {
  const inTheDark = async () => (await faults(page)).map((fault) => `on a phone in the dark: ${fault}`);
  return [...(await faults(page)), ...(await onDarkPhone(page, inTheDark))];
}

/** What axe-core finds wrong with the page: rule and place. Editors get their labels a moment after they are shown. */
export async function violations(page: Page): Promise<readonly string[]> {
  for (let looks = 1; ; looks += 1) {
    const found = await violationsNow(page);
    if (found.length === 0 || looks === 10) return found;
    await page.waitForTimeout(500);
  }
}

async function violationsNow(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(async () => {
    // Frames with emails have no script to look with; what is in them is their author's. A tab of GraphiQL has its button
    // to close inside, which is GraphiQL's own.
    const options = { iframes: false, resultTypes: ['violations'] };
    // biome-ignore lint/suspicious/noExplicitAny: a script of the page, not a module of ours
    const { violations: found } = await (globalThis as any).axe.run({ exclude: ['.graphiql-tab'] }, options);
    return found.flatMap(
      ({ id, nodes }: { id: string; nodes: readonly { target: unknown; failureSummary: string }[] }) =>
        nodes
          // The field that CodeMirror reads the keyboard with scrolls its text, from beside it.
          .filter(({ target }) => !(id === 'scrollable-region-focusable' && /\.CodeMirror-scroll$/.test(`${target}`)))
          .map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
    );
  });
}
