/**
 * The editor of an email's texts in a real browser: what somebody sees who opens an email for the first time.
 */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { builtIn } from '../../src/email/built-in/built-in.ts';
import { foldsOf } from '../../src/studio/app/pages/emails/folds.ts';
import { chooseAction, startStudio, type TestStudio, violations } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

let studio: TestStudio;
beforeAll(async () => {
  studio = await startStudio();
});

beforeEach(() => studio.database.query('truncate auth.pgreflect_config, auth.pgreflect_config_versions'));

const body = (page: Page) => page.getByRole('textbox', { name: 'Body' });
const folded = (page: Page) => body(page).locator('.cm-foldPlaceholder');

test('the body begins with its text: the page around it and long styles are folded, and edits keep them', async () => {
  const { page } = await studio.visit('emails/recovery', { viewport: { width: 1280, height: 800 } });
  const sentence = body(page).getByText('We received a request to reset');
  await expect.poll(() => sentence.evaluate(isInView)).toBe(true);
  expect(await body(page).textContent()).not.toContain('<!doctype');
  await folded(page)
    .getByText(/^… 2\d lines …$/)
    .first()
    .waitFor();
  expect(await violations(page)).toEqual([]);

  await sentence.click();
  await page.keyboard.press('Home');
  await page.keyboard.press('End');
  await page.keyboard.insertText('<p>See you.</p>');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved. The next email uses it.').waitFor();
  const { mailer_templates_recovery_content: stored } = await studio.config();
  expect(String(stored).replace('<p>See you.</p>', '')).toBe(builtIn('recovery', 'en').content);
  expect(String(stored)).not.toBe(builtIn('recovery', 'en').content);

  await page.getByRole('button', { name: 'Show all code' }).click();
  await expect.poll(() => folded(page).count()).toBe(0);
  await expect.poll(() => body(page).textContent()).toContain('<!doctype html>');
  await page.getByRole('button', { name: 'Fold code' }).click();
  await expect.poll(() => folded(page).count()).toBeGreaterThan(3);
});

test('a fold opens where the text has a fault, and another text that is loaded is folded, too', async () => {
  const styled = (family: string) =>
    `<p style="font-size: 16px; line-height: 24px; font-family: ${family}">{{ .Token }}</p>`;
  await studio.patch({ mailer_templates_recovery_content: `${styled('{{ .Fnt }}')}\n${styled('Arial')}` });
  const { page } = await studio.visit('emails/recovery');
  await body(page).getByText('.Fnt').waitFor();
  expect(await folded(page).count()).toBe(1);
  await chooseAction(page, 'Restore default');
  await expect.poll(() => folded(page).count()).toBeGreaterThan(3);
});

test('where there is no room for an email, the list comes first, with the brand above it', async () => {
  const { page } = await studio.visit('emails', { viewport: { width: 900, height: 800 } });
  await page.getByRole('button', { name: 'Brand' }).click();
  await page.getByRole('dialog', { name: 'Brand' }).getByRole('button', { name: 'Close' }).click();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('link', { name: 'Magic link' }).click();
  await page.getByRole('heading', { name: 'Magic link' }).waitFor();
});

test.each([
  [390, 844],
  [768, 1024],
  [1280, 800],
])('the text comes early, and Save is in reach wherever one reads: %i pixels wide', async (width, height) => {
  const { page } = await studio.visit('emails/recovery', { viewport: { width, height } });
  const sentence = body(page).getByText('We received a request to reset');
  await sentence.waitFor();
  const save = page.getByRole('button', { name: 'Save', exact: true });
  const bottomOf = async (place: typeof save) => {
    const { y, height: high } = (await place.boundingBox()) ?? { y: Infinity, height: 0 };
    return y + high;
  };
  expect(await bottomOf(sentence)).toBeLessThan(height * 0.75);
  expect(await bottomOf(save)).toBeLessThanOrEqual(height);
  await page.getByRole('button', { name: 'Send test' }).scrollIntoViewIfNeeded();
  expect(await bottomOf(save)).toBeLessThanOrEqual(height);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  // What it says takes no room from the text.
  const place = await sentence.boundingBox();
  await page.getByRole('textbox', { name: 'Subject' }).click();
  await page.keyboard.insertText('Now: ');
  await page.getByText('Unsaved changes').waitFor();
  expect(await bottomOf(save)).toBeLessThanOrEqual(height);
  if (width > 900) expect(await sentence.boundingBox()).toEqual(place);
});

test('short code around the words, a text without any, and one that is very long are not folded', () => {
  const lines = (count: number) => '<br>\n'.repeat(count);
  const cut = (text: string) => foldsOf(text).map(({ from, to }) => text.slice(from, to));
  const frame = lines(6).trimEnd();
  expect(cut(`${frame}\n<p>a</p>\nb\n${frame}\n`)).toEqual([frame, frame]);
  for (const text of ['', 'a', 'a\n', lines(9), `<p>a</p>\n${lines(3)}`, `${lines(3)}a`, `${lines(30_000)}a`])
    expect(cut(text)).toEqual([]);
});

/** Whether an element is within the part of the page that shows. */
function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const around = element.closest('.cm-scroller')?.getBoundingClientRect();
  return around !== undefined && top >= around.top && bottom <= around.bottom;
}
