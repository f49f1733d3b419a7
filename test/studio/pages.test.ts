/**
 * The pages Inbox and GraphQL in a real browser, and what holds for every page: nobody is kept out by how they use it, in light
 * and in dark, and little has to be loaded.
 */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { operatorTokenCommand } from '../../src/management/tokens/access-tokens.ts';
import { serviceKey } from '../support/http.ts';
import {
  accessToken,
  chooseAction,
  chooseUser,
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

const notes = `# Notes that the caller may see.
query Notes {
  ownNoteCollection {
    edges {
      node {
        id
        body
      }
    }
  }
}
`;

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio(notes);
});

beforeEach(() =>
  studio.database.query(
    'truncate auth.pgreflect_config, auth.pgreflect_captured_email, auth.pgreflect_rate_limits, auth.users cascade',
  ),
);

/** Sends a real email, of whose template `subject` and `content` are. */
async function sendEmail(to: string, subject: string, content: string | null = null): Promise<void> {
  const own = content === null ? null : `{{/* check: ignore no-link */}}${content}`;
  await studio.patch({ mailer_subjects_invite: subject, mailer_templates_invite_content: own });
  await studio.ask('/invite', { email: to }, serviceKey);
}

describe('the inbox', () => {
  const email = (page: Page) => page.frameLocator('iframe[title="The email"]');

  test('a new email appears by itself, as its reader sees it, as text and as source; its link opens in a tab without a referrer; tabs that nobody sees ask for none', async () => {
    const { page, context, problems } = await studio.visit('inbox', { entry: 'stranger' });
    await page.getByRole('heading', { name: 'No email yet' }).waitFor();
    await sendEmail('ada@mail.test', 'Grüße & <b>Küsse</b>', '<p>für dich</p><a href="/health?a=1">Go</a>');
    await page.getByRole('heading', { name: 'Grüße & <b>Küsse</b>' }).waitFor();
    expect((await page.locator('iframe[title="The email"]').boundingBox())?.height).toBeGreaterThan(600);
    await page.getByRole('tab', { name: 'Source' }).click();
    await page.locator('.source').getByText('f=C3=BCr dich').waitFor();
    await page.getByRole('tab', { name: 'Text' }).press('Enter');
    await page.locator('.source').getByText('für dich').waitFor();
    await page.getByRole('tab', { name: 'Text' }).press('ArrowLeft');
    const [opened] = await Promise.all([
      context.waitForEvent('page'),
      email(page).getByRole('link', { name: 'Go' }).click(),
    ]);
    await opened.waitForURL(`${studio.url}/health?a=1`);
    expect(await opened.evaluate('document.referrer')).toBe('');

    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const show = (visibility: string) =>
      page.evaluate((state) => {
        Object.defineProperty(document, 'hidden', { value: state === 'hidden', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, visibility);
    await show('hidden');
    await sendEmail('ada@mail.test', 'while nobody looked');
    // What was asked for before has its answer, and the next pauses pass.
    await page.waitForTimeout(2000);
    asked.length = 0;
    await page.waitForTimeout(3000);
    expect(asked).toEqual([]);
    await show('visible');
    await page.getByRole('link', { name: 'while nobody looked' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('an email that comes in does not close the one that is read; the list is filtered by any part of a recipient as one types', async () => {
    await sendEmail('ada@mail.test', 'first');
    const { page } = await studio.visit('inbox', { entry: 'stranger' });
    await page.getByRole('heading', { name: 'first' }).waitFor();
    await sendEmail('bo@mail.test', 'second');
    await page.getByRole('link', { name: 'second' }).waitFor();
    await page.getByText('2 emails').waitFor();
    expect(await page.getByRole('heading', { level: 2 }).textContent()).toBe('first');
    await page.getByRole('link', { name: 'second' }).click();
    await page.getByRole('heading', { name: 'second' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'second' }).waitFor();
    const filter = page.getByLabel('Filter by recipient');
    await filter.fill('DA@mail');
    await page.getByText('1 email', { exact: true }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).textContent()).toBe('first');
    await page.reload();
    await page.getByText('1 email', { exact: true }).waitFor();
    expect(await filter.inputValue()).toBe('DA@mail');
    await filter.press('End');
    await page.keyboard.type('2');
    await page.getByRole('heading', { name: 'No email to “DA@mail2”' }).waitFor();
    await sendEmail('ada@mail2.test', 'third');
    await page.getByRole('heading', { name: 'third' }).waitFor();
    await page.goto(`${studio.url}/studio/inbox?id=999999`);
    await page.getByText('This email no longer exists').waitFor();
  });

  test('an email runs no script, submits no form and moves no frame, whatever its template says', async () => {
    const content = `<meta http-equiv="refresh" content="0;url=/health"><body onload="parent.document.title='owned'"><script>parent.document.title='owned'</script>
      <img src="x" onerror="parent.document.title='owned'"><base href="https://evil.test/"><form action="/studio/inbox"><button>Send</button></form>
      <a href="/health" target="_top">Leave</a><p>shown</p></body>`;
    await sendEmail('ada@mail.test', '"><img src=x onerror=alert(1)>', content);
    const { page } = await studio.visit('inbox', { entry: 'stranger' });
    await email(page).getByText('shown').waitFor();
    await email(page).getByRole('button', { name: 'Send' }).click();
    await email(page).getByRole('link', { name: 'Leave' }).click();
    await page.getByRole('tab', { name: 'Text' }).click();
    expect(await page.title()).toBe('Inbox - pgreflect');
    await expect.poll(() => page.url()).toBe(`${studio.url}/studio/inbox`);
    expect(await page.getByRole('heading', { level: 2 }).textContent()).toBe('"><img src=x onerror=alert(1)>');
  });

  test('a stranger who may not read it is asked to sign in, and nothing is asked again until then', async () => {
    const { page } = await studio.visit('', { entry: 'stranger', isFirst: true });
    let count = 0;
    await page.route('**/inbox.json?**', (route) => {
      count += 1;
      return route.fulfill({ status: 401, json: { errors: [{ message: 'The inbox needs an access token.' }] } });
    });
    await page.clock.install();
    await page.goto(`${studio.url}/studio/inbox`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByText(operatorTokenCommand, { exact: true }).waitFor();
    await page.clock.runFor(60_000);
    expect(count).toBe(1);
    await page.unroute('**/inbox.json?**');
    await page.getByLabel('Access token').fill(accessToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'No email yet' }).waitFor();
  });
});

test('every page has one head with its name, as high as the others', async () => {
  const { page } = await studio.visit('home');
  const heads = () =>
    page
      .locator('main > .page-head, main > .graphql > .page-head')
      .evaluateAll((all) => all.map((head) => [head.querySelector('h1')?.textContent, head.clientHeight]));
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  const [[, height] = []] = await heads();
  for (const link of await page.getByRole('navigation', { name: 'Studio' }).getByRole('link').all()) {
    const title = (await link.textContent())?.trim();
    await link.click();
    await expect.poll(heads).toEqual([[title, height]]);
  }
});

test('what is typed right after Ctrl+K is looked for, also before the code of the list is there; settings and what is done with keys are found from every page', async () => {
  const { page } = await studio.visit('home', { isFirst: true });
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  const { promise: isTyped, resolve: typed } = Promise.withResolvers<void>();
  await page.route('**/assets/command-list*.js', async (route) => {
    await isTyped;
    await route.continue();
  });
  const field = page.getByRole('dialog', { name: 'Go to or run' }).locator('input.palette-input');
  await page.keyboard.press('Control+k');
  await expect.poll(() => field.evaluate((input) => input === document.activeElement)).toBe(true);
  await page.keyboard.type('rota');
  typed();
  await page.getByRole('option', { name: 'Rotate the keys' }).waitFor();
  await page.keyboard.type('te');
  expect(await field.inputValue()).toBe('rotate');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Rotate the keys' }).waitFor();
  await expect.poll(() => page.url()).toBe(`${studio.url}/studio/settings/keys?group=rotate-the-keys`);
  await followMenu(page, 'Home');
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Data', exact: true }).waitFor();
  expect(await page.getByRole('option', { name: 'Shortest password' }).count()).toBe(0);
  await page.keyboard.type('shortest pass');
  await page.getByRole('option', { name: 'Shortest password' }).click();
  await page.locator('[data-wanted="true"]').getByLabel('Shortest password').waitFor();
});

test('tables are found by the words of their names in SQL, on Data and on Access', async () => {
  const { page } = await studio.visit('data?as=service');
  const finds = async (option: string) => {
    for (const typed of ['order_line', 'public.order_line', 'line', 'order public']) {
      await page.keyboard.press('Control+k');
      await page.locator('input.palette-input').fill(typed);
      await page.getByRole('option', { name: option, exact: true }).waitFor();
      await page.keyboard.press('Escape');
    }
  };
  await page.getByRole('link', { name: 'OrderLine', exact: true }).waitFor();
  await finds('Table OrderLine');
  await page.goto(`${studio.url}/studio/access`);
  await page.getByRole('grid', { name: 'Tables and roles' }).waitFor();
  await finds('public.order_line');
});

test('Enter before the code of the palette is there runs the first that is found', async () => {
  const { page } = await studio.visit('home', { isFirst: true });
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  const { promise: isEntered, resolve: entered } = Promise.withResolvers<void>();
  await page.route('**/assets/command-list*.js', async (route) => {
    await isEntered;
    await route.continue();
  });
  const field = page.getByRole('dialog', { name: 'Go to or run' }).locator('input.palette-input');
  await page.keyboard.press('Control+k');
  await expect.poll(() => field.evaluate((input) => input === document.activeElement)).toBe(true);
  await page.keyboard.type('deliv');
  await page.keyboard.press('Enter');
  entered();
  await expect.poll(() => page.url()).toBe(`${studio.url}/studio/deliveries`);
  await field.waitFor({ state: 'detached' });
});

describe('GraphQL', () => {
  const run = (page: Page) => page.getByRole('button', { name: 'Execute query' }).click();
  const answer = (page: Page, text: string) => page.locator('.result-window').getByText(text).first();

  test('each role has its own answer; operators see the SQL and the plan of the last operation', async () => {
    await studio.database.query(`create table own_note (id uuid primary key default gen_random_uuid(), owner uuid, body text);
      alter table own_note enable row level security;
      create policy own on own_note to authenticated using (owner = (select auth.uid()));
      grant select on own_note to anon, authenticated, service_role; notify pgreflect, 'reload'`);
    const { id } = (await studio.ask('/admin/users', { email: 'ada@mail.test', email_confirm: true }, serviceKey)) as {
      id: string;
    };
    await studio.database.query(`insert into own_note (owner, body) values ($1, 'of Ada'), (null, 'of nobody')`, [id]);
    const { page, foreign, problems } = await studio.visit('graphql');
    // Without a place for the answer GraphiQL sends nothing.
    await page.locator('.result-window .CodeMirror-line').first().waitFor();
    await page.locator('.graphiql-query-editor .CodeMirror-line').first().waitFor();
    await run(page);
    await answer(page, '"edges": []').waitFor();
    await page.getByRole('radio', { name: 'service_role' }).check();
    await run(page);
    await answer(page, '"of nobody"').waitFor();
    await page.getByRole('radio', { name: 'User' }).check();
    await chooseUser(page, 'User', 'ada@mail.test');
    await answer(page, '"of nobody"').waitFor();
    await run(page);
    await answer(page, '"of nobody"').waitFor({ state: 'hidden' });
    await answer(page, '"of Ada"').waitFor();

    await page.getByRole('button', { name: 'SQL and plan' }).click();
    await page.locator('.plan .source').getByText('"public"."own_note"').waitFor();
    await page.locator('.plan-text').getByText('Scan on own_note').waitFor();
    await page.locator('.plan').getByText('authenticated').waitFor();
    await picture(page, 'graphql');
    expect({ foreign, problems }).toEqual({ foreign: [], problems: [] });
  });
});

describe('every page', () => {
  /** Names of the menu, which is behind a button, that are cut off. */
  const hidden = async (page: Page) => {
    await page.getByRole('button', { name: 'Menu' }).click();
    const names = await page.getByRole('navigation', { name: 'Studio' }).evaluate((menu) =>
      [...menu.querySelectorAll('a')]
        .map((link) => ({ name: link.textContent, box: link.getBoundingClientRect() }))
        .filter(({ box }) => box.left < 0 || box.right > innerWidth)
        .map(({ name }) => name),
    );
    await page.keyboard.press('Escape');
    return names;
  };

  /** How far the middle of what is said is from the middle of its place. */
  const eccentricity = (page: Page) =>
    page.locator('.empty').evaluate((place) => {
      const [outer, first, last] = [place, place.firstElementChild, place.lastElementChild].map((element) =>
        element!.getBoundingClientRect(),
      ) as [DOMRect, DOMRect, DOMRect];
      const across = (first.left + first.right - outer.left - outer.right) / 2;
      const down = (first.top + last.bottom - outer.top - outer.bottom) / 2;
      return { isCentered: Math.abs(across) < 2 && Math.abs(down) < 2, isLarge: outer.height > innerHeight / 2 };
    });

  /** In the light, and on a phone in the dark. */
  const expectInTheMiddle = async (page: Page) => {
    const middle = { isCentered: true, isLarge: true };
    expect(await eccentricity(page)).toEqual(middle);
    await onDarkPhone(page, () => expect.poll(() => eccentricity(page)).toEqual(middle));
  };

  test('every page with nothing to show says in its middle what comes next, and the menu of a phone is whole', async () => {
    const { page } = await studio.visit('inbox?to=ada@mail.test');
    await page.getByRole('link', { name: 'Show all emails' }).click();
    await page.getByRole('heading', { name: 'No email yet' }).waitFor();
    await page.getByRole('link', { name: 'Open the templates' }).waitFor();
    await expectInTheMiddle(page);
    await followMenu(page, 'Live');
    await page.getByRole('heading', { name: 'Nobody subscribes now' }).waitFor();
    await expectInTheMiddle(page);
    await followMenu(page, 'Users');
    await page.getByRole('heading', { name: 'No users yet' }).waitFor();
    await expectInTheMiddle(page);
    expect(await onDarkPhone(page, () => hidden(page))).toEqual([]);
  });

  test('every page has no fault that axe-core finds, and fits, in the light and on a phone in the dark', async () => {
    await sendEmail('ada@mail.test', 'An email');
    await studio.patch({ mailer_notifications_password_changed_enabled: true });
    const found: Record<string, readonly string[]> = {};
    const check = async (name: string, page: Page): Promise<void> => {
      found[name] = await faultsInBothLooks(page);
    };
    const stranger = await studio.visit('', { entry: 'stranger' });
    await stranger.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await check('sign-in', stranger.page);

    const { page } = await studio.visit('emails/recovery');
    await page.frameLocator('iframe').getByRole('heading', { name: 'Reset your password' }).waitFor();
    await check('emails', page);
    expect((await page.locator('.screen').boundingBox())?.height).toBeGreaterThan(600);
    await picture(page, 'emails');
    await onDarkPhone(page, () => picture(page, 'emails-phone'));
    await chooseAction(page, 'Compare texts');
    await page.getByRole('dialog').waitFor();
    found.compare = await violations(page);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Data: sample' }).click();
    await page.getByLabel('Fill in from a user').waitFor();
    found.data = await violations(page);
    await page.keyboard.press('Escape');
    await followMenu(page, 'Inbox');
    await page.getByRole('link', { name: 'An email' }).click();
    await page.frameLocator('iframe').getByRole('heading').first().waitFor();
    await check('inbox', page);
    await followMenu(page, 'Emails');
    await page.getByText('Magic link').first().waitFor();
    await check('list', page);
    await followMenu(page, 'GraphQL');
    await page.locator('.graphiql-query-editor .CodeMirror-line').first().waitFor();
    await check('graphql', page);
    expect(Object.fromEntries(Object.entries(found).filter(([, faults]) => faults.length > 0))).toEqual({});
  });
});
