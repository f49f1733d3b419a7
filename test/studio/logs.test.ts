/** The page Logs in a real browser: the last requests, found, opened and kept up to date without moving what one reads. */
import { beforeAll, expect, test, vi } from 'vitest';
import { addToken, ref } from '../management/management.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { accessToken, picture, startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
});

const ask = (query: string, id: string, key = anonKey) =>
  fetch(`${studio.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify({ query }),
  }).then((response) => response.json());

const products = 'query FirstProducts { productCollection(first: 3) { edges { node { name } } } }';

test('the last requests are listed, filtered, opened with their stages, and new ones wait until the reader wants them', async () => {
  const { page, problems, foreign } = await studio.visit('logs', {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.getByText('No request yet').waitFor();
  expect(await violations(page)).toEqual([]);
  for (let at = 0; at < 5; at += 1) await ask(products, `fine:${at}`);
  await ask('query AllOrders { orderCollection { edges { node { id } } } }', 'as-service', serviceKey);
  await ask('query Misspelled { productCollection { edges { node { nothing } } } }', 'wrong');
  const table = page.getByRole('grid', { name: 'Last requests' });
  const rows = table.getByRole('row').filter({ has: page.getByRole('rowheader') });
  await expect.poll(() => rows.count()).toBe(7);
  await expect.poll(() => rows.first().textContent()).toMatch(/Misspelled.*anon200 ?GRAPHQL_VALIDATION_FAILED/);
  await page.getByText(/7 requests in the last hour, 1 with an error/).waitFor({ state: 'attached' });
  expect(await violations(page)).toEqual([]);
  await page.mouse.move(5, 5);
  const cutCharts = () =>
    page
      .locator('.chart-place')
      .evaluateAll((all) => all.filter((each) => each.scrollHeight > each.clientHeight).length);
  await page.setViewportSize({ width: 1024, height: 900 });
  await expect
    .poll(() =>
      page
        .locator('.chart-place')
        .first()
        .evaluate(({ clientWidth }) => clientWidth),
    )
    .toBeLessThan(260);
  expect(await cutCharts()).toBe(0);
  await page.setViewportSize({ width: 1600, height: 1000 });

  await page.getByRole('radio', { name: 'Failed' }).click();
  await expect.poll(() => rows.count()).toBe(1);
  await expect.poll(() => page.url()).toContain('failed=true');
  await page.getByRole('radio', { name: 'All' }).click();
  await page.getByLabel('Role').selectOption('service_role');
  await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining('AllOrders')]);
  await page.getByLabel('Role').selectOption('');
  const asked: string[] = [];
  page.on('request', (request) => {
    const text = new URL(request.url()).searchParams.get('text');
    if (request.url().includes('/requests?') && text !== null) asked.push(text);
  });
  // As fast as a quick typist.
  await page.getByRole('searchbox', { name: 'Operation, path or id' }).pressSequentially('fine:3', { delay: 20 });
  await expect.poll(() => rows.count()).toBe(1);
  expect(asked.filter((text, at) => text !== asked[at - 1])).toEqual(['fine:3']);
  await rows.first().click();
  const detail = page.getByRole('complementary', { name: 'Request' });
  await detail.getByRole('heading', { name: 'FirstProducts' }).waitFor();
  for (const words of ['Database', 'Others', 'FirstProducts', 'query', 'anon', 'fine:3', 'bytes'])
    await detail.getByText(words).first().waitFor();
  expect(await violations(page)).toEqual([]);
  await detail.getByRole('button', { name: 'Copy Request id' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('fine:3');

  await page.getByRole('searchbox', { name: 'Operation, path or id' }).fill('');
  await page.getByRole('radio', { name: 'Operations' }).click();
  const operations = page.getByRole('grid', { name: 'Operations' });
  await expect.poll(() => operations.getByRole('row', { name: /^FirstProducts query .* 5 0/ }).count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  for (const [name, at] of [
    ['Requests', 3],
    ['Failed', 4],
  ] as const) {
    await operations.getByRole('button', { name }).click();
    await operations.getByRole('columnheader', { name }).waitFor();
    const cells = operations.locator(`.data-body [role="row"] > :nth-child(${at + 1})`);
    const shown = (await cells.allTextContents()).map((text) => Number.parseFloat(text));
    expect(shown).toEqual(shown.toSorted((one, other) => other - one));
  }
  await operations.getByRole('row', { name: /^FirstProducts/ }).click();
  await page.getByText('5 requests, slowest first').waitFor();
  const took = (await rows.locator('.right').allTextContents()).map(
    (text) => Number.parseFloat(text) * (text.endsWith(' ms') ? 1 : 1000),
  );
  expect(took).toEqual(took.toSorted((one, other) => other - one));
  await page.goBack();
  await operations.waitFor();

  await page.goto(`${studio.url}/studio/logs?request=wrong`);
  await detail.getByRole('heading', { name: 'Misspelled' }).waitFor();
  await detail.getByText("The document is not valid against the role's schema.").waitFor();
  await detail.getByText(/^Cannot query field "nothing" on type "Product"\..* \(line 1, column 55\)$/).waitFor();
  await page.goto(`${studio.url}/studio/logs?request=fine%3A3`);
  await detail.getByRole('heading', { name: 'FirstProducts' }).waitFor();
  await expect.poll(() => rows.count()).toBe(7);
  await picture(page, 'logs');
  const before = await rows.allTextContents();
  await ask(products, 'meanwhile');
  await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
  expect(await rows.allTextContents()).toEqual(before);
  await page.getByRole('button', { name: 'Show 1 new' }).click();
  await expect.poll(() => rows.count()).toBe(8);
  await detail.getByRole('link', { name: 'Close' }).click();
  await detail.waitFor({ state: 'detached' });

  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Go to or run').fill('find request');
  await page.keyboard.press('Enter');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
    .toBe('Operation, path or id');
  await table.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await detail.waitFor();
  expect(await page.content()).not.toMatch(/eyJ[A-Za-z0-9_-]{20}|productCollection/);
  expect({ problems, foreign }).toEqual({ problems: [], foreign: [] });
});

test('an id that is pasted into the palette leads to its request or user, and an address to its users', async () => {
  await ask('{ productCollection { edges { node { nothing } } } }', 'checkout-42');
  await studio.ask('/signup', { email: 'grace@example.com', password: 'correct horse battery' });
  const [user] = (await studio.database.query("select id from auth.users where email = 'grace@example.com'")) as {
    id: string;
  }[];
  const { page } = await studio.visit('');
  const find = async (text: string, option: string) => {
    await page.keyboard.press('Control+k');
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
    await page.keyboard.insertText(` ${text} `);
    await page.getByRole('option', { name: option }).click();
  };
  await find('checkout-42', 'Request checkout-42');
  const detail = page.getByRole('complementary', { name: 'Request' });
  await detail.getByText('Cannot query field "nothing" on type "Product".').waitFor();
  const trace = await detail
    .locator('dd')
    .filter({ hasText: /^[\da-f]{32}/ })
    .textContent();
  await find((trace as string).slice(0, 32), `Request ${trace?.slice(0, 32)}`);
  await detail.getByText('checkout-42').waitFor();
  await find(user?.id as string, `User ${user?.id}`);
  await page.getByRole('heading', { name: 'grace@example.com' }).waitFor();
  await find('grace@example.com', 'Users with grace@example.com');
  await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('grace@example.com');
});

test('what the pages of the studio ask on their own is left out, and what somebody reads as a visitor is not', async () => {
  const { id } = (await studio.ask('/admin/users', { email: 'hopper@example.com' }, serviceKey)) as { id: string };
  const listed = async () => {
    // As the studio asks, so that it leaves no trace.
    const headers = { authorization: `Bearer ${accessToken}`, 'x-pgreflect-studio': '1' };
    const response = await fetch(`${studio.url}/v1/projects/${ref}/requests?limit=500`, { headers });
    const { requests } = (await response.json()) as {
      requests: readonly { id: string; method: string; path: string; operation: string | null; role: string | null }[];
    };
    return requests;
  };
  const before = new Set((await listed()).map((request) => request.id));
  const { page } = await studio.visit('home');
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  for (const link of await page.getByRole('navigation', { name: 'Studio' }).getByRole('link').all()) {
    await link.click();
    await page
      .getByRole('heading', { level: 1, name: ((await link.textContent()) ?? '').trim(), exact: true })
      .waitFor();
  }
  const deeper = {
    [`users/${id}`]: 'hopper@example.com',
    'emails/recovery': 'Subject',
    'settings/history': 'History',
    'access/public/review': 'public.review',
    'schema/Product?role=anon': 'With extensions',
    'data/Product?as=anon': /^\d+ rows$/,
  };
  for (const [path, words] of Object.entries(deeper)) {
    await page.evaluate((address) => {
      history.pushState(null, '', address);
      dispatchEvent(new PopStateEvent('popstate'));
    }, `/studio/${path}`);
    await page.getByText(words).first().waitFor();
  }
  const fresh = (await listed()).filter((request) => !before.has(request.id));
  const others = fresh.filter(({ path, role }) => path !== '/graphql/v1' || role !== 'anon');
  expect(others).toEqual([]);
  expect(fresh.length).toBeGreaterThan(0);
});

test('a request that is not kept any more says where it is, and on a phone in the dark the page is whole', async () => {
  await ask(products, 'for-the-phone');
  const { page } = await studio.visit('logs?request=long-ago', {
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
  });
  await page.getByText('Not kept any more').waitFor();
  await page.getByRole('link', { name: 'Close' }).click();
  const name = page.getByRole('rowheader', { name: 'FirstProducts' }).first();
  await name.waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await name.click();
  await page.getByRole('complementary', { name: 'Request' }).getByText('Database').waitFor();
  expect(await violations(page)).toEqual([]);
});

test('without the scope project:operate the page Logs says what is missing, and while the server is away it keeps what it has', async () => {
  const reader = await addToken(studio.database, { scopes: ['auth_config:read'], projectRef: ref });
  const stranger = await studio.visit('logs', { entry: 'stranger' });
  await stranger.page.getByLabel('Access token').fill(reader);
  await stranger.page.getByRole('button', { name: 'Sign in' }).click();
  await stranger.page.getByText('Access denied').waitFor();

  await ask(products, 'before-it-went');
  const { page } = await studio.visit('logs');
  const name = page.getByRole('rowheader', { name: 'FirstProducts' }).first();
  await name.waitFor();
  const start = await studio.stop();
  await page.getByText('The server is not responding.').first().waitFor();
  expect(await name.isVisible()).toBe(true);
  await start();
  await page.getByText('No request yet').waitFor();
  expect(accessToken).not.toBe(reader);
});

test('what the database does for a document that is rejected is told to be the freshness check', async () => {
  await ask('{ noSuchField }', 'rejected-document');
  const { page } = await studio.visit('logs');
  // As a database with the schema-change trigger is asked.
  await page.route('**/requests?*', async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replaceAll(/"runMs":[\d.]+/g, '"runMs":4');
    await route.fulfill({ response, body: text });
  });
  await page.goto(`${studio.url}/studio/logs?request=rejected-document`);
  const panel = page.getByRole('complementary', { name: 'Request' });
  await panel.getByText('GRAPHQL_VALIDATION_FAILED').waitFor();
  await panel.getByText('Freshness check').waitFor();
  expect(await panel.textContent()).not.toContain('Database');
});
