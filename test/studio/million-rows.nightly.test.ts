/** The page Data with a table that is scrolled through to the last of a million rows, which takes minutes. */
import { expect, test, vi } from 'vitest';
import { startStudio } from './studio.ts';

vi.setConfig({ testTimeout: 1_800_000 });

const studio = await startStudio();

test('a table of 1,000,000 rows is scrolled through to its last row, and no more rows are in the page than at the start', async () => {
  await studio.database.query(`
    create table measure (id int primary key, note text);
    insert into measure (id, note) select n, 'Note ' || n from generate_series(1, 1000000) n;
    analyze measure;
    comment on table measure is '@graphql({"max_rows": 1000, "totalCount": {"enabled": true}})';
    grant select on measure to service_role`);
  const { page, problems } = await studio.visit('data/Measure?as=service');
  const rows = page.getByRole('grid', { name: 'Rows of Measure' });
  await rows.getByRole('row', { name: /^1 Note 1$/ }).waitFor();
  await page.getByText('500,000 or more rows').waitFor();
  await rows.focus();
  const look = async (): Promise<readonly number[]> => {
    const inSight = await rows.evaluate((element) => {
      const shown = [...element.querySelectorAll('[role=row][aria-rowindex]')].slice(1);
      return shown.map((row) => [Number(row.getAttribute('aria-rowindex')) - 1, row.textContent] as const);
    });
    expect(inSight.length).toBeLessThan(80);
    for (const [index, text] of inSight) expect(text).toBe(`${index}Note ${index}`);
    return inSight.map(([index]) => index);
  };
  for (let last = 0; last < 1_000_000; ) {
    await page.keyboard.press('Control+End');
    last = (await look()).at(-1) ?? 0;
  }
  // Firefox scrolls no further.
  expect(await rows.evaluate((element) => element.scrollHeight)).toBeLessThan(17_000_000);
  await rows.getByRole('row', { name: /^1000000 Note 1000000$/ }).click();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Measure 1000000' }).getByLabel('note').waitFor();
  await page.keyboard.press('Escape');
  // The way back by the scrollbar, part by part.
  for (let first = 1_000_000; first > 1; ) {
    await rows.evaluate((element) => {
      element.scrollTop = 0;
    });
    const before = first;
    await expect.poll(async () => (await look())[0]).toBeLessThan(before);
    first = (await look())[0] ?? 0;
  }
  await page.keyboard.press('Control+End');
  await rows.getByRole('row', { name: /^1000000 Note 1000000$/ }).waitFor();
  await page.keyboard.press('Control+Home');
  await rows.getByRole('row', { name: /^1 Note 1$/ }).waitFor();
  expect(problems).toEqual([]);
});
