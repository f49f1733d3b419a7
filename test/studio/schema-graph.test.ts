/**
 * The drawing of the schema in a real browser, with more tables than fit at once: found, drawn with their neighbors, moved and
 * made larger.
 */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

/** Each `unit` belongs to the one of half its number; the others are to be found by name. */
const tables = `do $$ begin
  for number in 1 .. 62 loop
    execute format('create table unit_%s (id int primary key, parent_id int references unit_%s)', number, greatest(1, number / 2));
  end loop;
end $$;
create table reorder (id int primary key, customer_order_id int);
create table shipment (id int primary key, order_no int);
create table orders (id int primary key);
grant select on all tables in schema public to service_role;
notify pgreflect, 'reload'`;

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
  await studio.database.query(tables);
});

const drawing = (page: Page) => page.getByRole('group', { name: 'Tables, with lines' });
const box = (page: Page, name: string) => drawing(page).locator(`[data-table="${name}"]`);
const boxes = (page: Page) => drawing(page).locator('.box');
const zoom = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

async function rectOf(place: Locator): Promise<Rect> {
  const rect = await place.boundingBox();
  if (rect === null) throw new Error('It is not shown.');
  return rect;
}

const middleOf = ({ x, y, width, height }: Rect) => ({ x: x + width / 2, y: y + height / 2 });

/** Names of the boxes that are not wholly within the drawing. */
async function hidden(page: Page): Promise<readonly string[]> {
  return drawing(page).evaluate((svg) => {
    const place = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('.box')].flatMap((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const isIn = left >= place.left && right <= place.right && top >= place.top && bottom <= place.bottom;
      return isIn ? [] : [element.getAttribute('data-table') ?? ''];
    });
  });
}

/** Opens a page of the schema when the gateway has heard of all tables. */
async function open(path: string, more: Parameters<TestStudio['visit']>[1] = {}): Promise<Page> {
  const { page, problems } = await studio.visit(path, more);
  await expect
    .poll(
      async () => {
        await page.evaluate(() => dispatchEvent(new Event('focus')));
        return page.locator('.schema-list a').count();
      },
      { timeout: 120_000 },
    )
    .toBeGreaterThan(66);
  expect(problems).toEqual([]);
  return page;
}

test.each([
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const)('a chosen table stands in the middle, all its neighbors around it: $viewport.width', async (look) => {
  const page = await open('schema/Unit3?role=service_role', look);
  await box(page, 'Unit3').waitFor();
  // Two relationships away: its parent, the parent of that, the other child of that; its children and theirs.
  const near = ['Unit1', 'Unit12', 'Unit13', 'Unit14', 'Unit15', 'Unit2', 'Unit3', 'Unit6', 'Unit7'];
  const names = () => boxes(page).evaluateAll((all) => all.map((one) => one.getAttribute('data-table')).sort());
  await expect.poll(names).toEqual(near);
  const isInTheMiddle = async () => {
    const [place, chosen] = [middleOf(await rectOf(drawing(page))), middleOf(await rectOf(box(page, 'Unit3')))];
    return { x: Math.abs(place.x - chosen.x) < 2, y: Math.abs(place.y - chosen.y) < 2 };
  };
  await expect.poll(isInTheMiddle).toEqual({ x: true, y: true });
  for (const name of ['Unit1', 'Unit6', 'Unit7']) expect(await hidden(page)).not.toContain(name);

  // The list shows it, too, where it is beside the drawing.
  if (look.viewport.width > 1000) {
    const entry = page
      .getByRole('navigation', { name: 'Tables' })
      .getByRole('link', { name: 'Unit3 no row security public.unit_3' });
    await expect.poll(async () => (await rectOf(entry)).y).toBeLessThan(800);
  }
  await page.getByRole('radio', { name: '1 step' }).check();
  await expect.poll(names).toEqual(['Unit1', 'Unit3', 'Unit6', 'Unit7']);
  expect(await violations(page)).toEqual([]);
  await box(page, 'Unit7').click();
  await page.getByRole('heading', { name: 'Unit7', exact: true }).waitFor();
  await expect.poll(names).toEqual(['Unit14', 'Unit15', 'Unit3', 'Unit7']);
});

test('the drawing is zoomed at the pointer, moved and fitted again; a table that is dragged is not opened', async () => {
  const page = await open('schema/Unit3?role=service_role', { viewport: { width: 1280, height: 800 } });
  await box(page, 'Unit3').waitFor();
  const before = await rectOf(box(page, 'Unit3'));
  const { x, y } = middleOf(before);
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -300);
  await expect.poll(async () => (await rectOf(box(page, 'Unit3'))).width).toBeGreaterThan(before.width * 1.2);
  const large = await rectOf(box(page, 'Unit3'));
  expect(Math.abs(middleOf(large).x - x)).toBeLessThan(2);

  await page.mouse.down();
  await page.mouse.move(x + 40, y + 25, { steps: 4 });
  await page.mouse.move(x + 80, y + 50, { steps: 4 });
  await page.mouse.up();
  const way = async () => {
    const now = await rectOf(box(page, 'Unit3'));
    return [Math.round(now.x - large.x), Math.round(now.y - large.y)];
  };
  await expect.poll(way).toEqual([80, 50]);
  const moved = await rectOf(box(page, 'Unit3'));
  await expect.poll(() => new URL(page.url()).pathname).toBe('/studio/schema/Unit3');

  // Somebody who comes back to the window finds it as it was.
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await page.waitForLoadState('networkidle');
  expect(await rectOf(box(page, 'Unit3'))).toEqual(moved);
  await zoom(page, 'Zoom in');
  await zoom(page, 'Zoom in');
  const isPartHidden = async () => (await hidden(page)).length > 0;
  await expect.poll(isPartHidden).toBe(true);
  await zoom(page, 'Fit');
  await expect.poll(() => hidden(page)).toEqual([]);
  await zoom(page, 'Zoom out');
  await expect.poll(async () => (await rectOf(box(page, 'Unit3'))).width).toBeLessThan(before.width);

  // By keyboard, what is out of sight comes into it.
  for (let count = 0; count < 5; count += 1) await zoom(page, 'Zoom in');
  await expect.poll(isPartHidden).toBe(true);
  const [outside = ''] = await hidden(page);
  await box(page, outside).focus();
  await expect.poll(() => hidden(page)).not.toContain(outside);
});

test('two fingers zoom it, one moves it, and a tap opens a table', async () => {
  const look = { viewport: { width: 390, height: 844 }, hasTouch: true };
  const page = await open('schema/Unit3?role=service_role', look);
  await box(page, 'Unit3').waitFor();
  const before = await rectOf(box(page, 'Unit3'));
  const { x, y } = middleOf(before);
  const fingers = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: readonly { x: number; y: number }[]) =>
    fingers.send('Input.dispatchTouchEvent', { type, touchPoints: [...touchPoints] });
  await touch('touchStart', { x: x - 20, y }, { x: x + 20, y });
  for (const reach of [25, 30, 35]) await touch('touchMove', { x: x - reach, y }, { x: x + reach, y });
  await touch('touchEnd');
  await expect.poll(async () => (await rectOf(box(page, 'Unit3'))).width).toBeGreaterThan(before.width * 1.4);
  const large = await rectOf(box(page, 'Unit3'));
  expect(Math.abs(middleOf(large).x - x)).toBeLessThan(3);

  await touch('touchStart', { x, y });
  for (const way of [10, 30, 50]) await touch('touchMove', { x, y: y + way });
  await touch('touchEnd');
  await expect.poll(async () => (await rectOf(box(page, 'Unit3'))).y - large.y).toBeGreaterThan(30);
  await expect.poll(() => page.evaluate(() => document.getElementById('page')?.scrollTop)).toBe(0);
  await page.getByRole('button', { name: 'Fit' }).tap();
  await box(page, 'Unit7').tap();
  await page.getByRole('heading', { name: 'Unit7', exact: true }).waitFor();
});

test('the page begins with the table of most relationships, in letters that can be read; all are drawn when somebody asks', async () => {
  const page = await open('schema?role=service_role', { viewport: { width: 1280, height: 800 } });
  await page.getByRole('heading', { name: 'Product', exact: true }).waitFor();
  await expect.poll(() => boxes(page).count()).toBeGreaterThan(1);
  const letters = await boxes(page)
    .locator('text:first-of-type')
    .evaluateAll((all) => all.map((one) => 13 * (one as SVGGraphicsElement).getScreenCTM()!.a));
  expect(Math.min(...letters)).toBeGreaterThan(9);
  await page.getByRole('link', { name: 'Hidden objects' }).click();
  await page.getByText('Choose one from the list to see it with its neighbors.').waitFor();
  await page.getByRole('button', { name: 'Draw all tables' }).click();
  await expect.poll(() => boxes(page).count()).toBeGreaterThan(66);
  await expect.poll(() => hidden(page)).toEqual([]);
});

test('a search finds first what is called so, then what begins so, then what has it in a name or a field; Enter opens the first', async () => {
  const page = await open('schema?role=service_role');
  const found = () =>
    page
      .getByRole('navigation', { name: 'Tables' })
      .getByRole('link')
      .locator('strong')
      .evaluateAll((all) => all.map(({ textContent }) => textContent).slice(1));
  await page.getByRole('searchbox').fill('ORDER');
  await expect.poll(async () => (await found()).slice(0, 4)).toEqual(['Order', 'OrderLine', 'Orders', 'Reorder']);
  expect(await found()).toContain('Shipment');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Order', exact: true }).waitFor();
  await page.getByRole('searchbox').fill('unit_6');
  await expect.poll(found).toEqual(['Unit6', 'Unit60', 'Unit61', 'Unit62']);
  await page.getByRole('searchbox').fill('none of them');
  await page.getByRole('button', { name: 'Show all tables' }).click();
  await expect.poll(async () => (await found()).length).toBeGreaterThan(66);
});
