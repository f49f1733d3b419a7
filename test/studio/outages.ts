/** The database of a studio that goes away, and what its pages show meanwhile and afterwards. */
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { FragileStudio } from './studio.ts';

/** Takes the database away. @returns Gives it back. */
export function takeDatabase({ forwarder }: FragileStudio): () => void {
  const { target } = forwarder;
  forwarder.target = null;
  forwarder.cut();
  const giveBack = () => {
    forwarder.target = target;
  };
  onTestFinished(giveBack);
  return giveBack;
}

/** Why requests cannot be answered. */
export const reason = 'The database cannot be reached.';

/** Where every page says it. */
export const notice = (page: Page) => page.locator('#page > [role=status]').getByText(reason);

/** Opens pages for the first time, each while the database is away: it shows what it has when the database is back. */
export async function expectPagesBack(studio: FragileStudio, titles: readonly string[]): Promise<void> {
  const { page, problems } = await studio.visit('', { isFirst: true });
  await page.getByText(/PostgreSQL \d+/).waitFor();
  const lacking: string[] = [];
  for (const title of titles) {
    const giveBack = takeDatabase(studio);
    await page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name: title, exact: true }).click();
    // What the page Live shows is not in the database.
    await notice(page)
      .or(page.getByRole('heading', { name: 'Nobody subscribes now' }))
      .first()
      .waitFor();
    giveBack();
    await notice(page).waitFor({ state: 'detached' });
    const isDead = () =>
      page
        .locator('main')
        .getByText(/Loading|cannot be|could not be|failed to load|opens as soon as/)
        .filter({ visible: true })
        .count();
    await expect
      .poll(isDead, { timeout: 15_000 })
      .toBe(0)
      .catch(() => lacking.push(title));
  }
  expect({ lacking, problems }).toEqual({ lacking: [], problems: [] });
}
