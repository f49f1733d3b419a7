/**
 * How the built-in emails look in a browser, as web mail and phones show them: widths, light and dark, and for people
 * who cannot see them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { type EmailKind, emailKindNames } from '../../src/config/auth/email-kinds.ts';
import { builtIn, builtInLocales } from '../../src/email/built-in/built-in.ts';
import { renderBuiltIn } from '../../src/email/link-page/link-page.ts';
import { linkActions } from '../../src/email/link-page/link-page-texts.ts';
import { contrast } from '../../src/email/message/brand.ts';
import { buildMessage } from '../../src/email/message/message.ts';
import { openBrowser } from '../support/browser.ts';
import { sampleData } from '../support/email.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await openBrowser();
/** One for all emails: whatever it shows, axe-core is loaded once. */
const page = await (await browser.newContext({ offline: true })).newPage();

const wide = 'x'.repeat(64);
const data = { ...sampleData, email: `${wide}@${wide}.test`, newEmail: `${wide}@mail.test`, to: `${wide}@mail.test` };

function htmlOf(kind: EmailKind, locale = 'en', values: AuthValues = {}): string {
  const content = { [`mailer_templates_${kind}_content`]: builtIn(kind, locale).content };
  const config = layerAuthConfig({
    site_url: 'https://app.test',
    mailer_brand_footer: 'Main Street 1',
    ...content,
    ...values,
  });
  return buildMessage(kind, config, data).html;
}

/** What axe-core finds: rule and place. */
async function violations(): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(async () => {
    // A mail program puts the email into its own page, which has the landmarks.
    const options = { rules: { region: { enabled: false }, 'landmark-one-main': { enabled: false } } };
    type Found = readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
    type Axe = { readonly run: (root: Document, options: object) => Promise<{ readonly violations: Found }> };
    const { violations: found } = await (globalThis as unknown as { readonly axe: Axe }).axe.run(document, options);
    return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
  });
}

async function show(html: string, colorScheme: 'light' | 'dark', width: number): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 800 });
  await page.setContent(html);
}

test('every email fits a phone, a tablet and a computer, in its middle', async () => {
  for (const kind of emailKindNames) {
    await show(htmlOf(kind), 'light', 320);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      const card = await page.evaluate(() => {
        const { left, width: own } = document.querySelector('.card')!.getBoundingClientRect();
        return { left, own, scrolls: document.documentElement.scrollWidth > innerWidth };
      });
      const space = Math.min(560, width - 16);
      expect([kind, width, card]).toEqual([kind, width, { left: (width - space) / 2, own: space, scrolls: false }]);
    }
  }
});

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test('axe-core finds no fault in any email', async () => {
    await show(together(emailKindNames.map((kind) => htmlOf(kind))), colorScheme, 390);
    expect(await page.locator('.card').count()).toBe(emailKindNames.length);
    expect(await violations()).toEqual([]);
  });

  test('colors of an email follow the settings of the reader', async () => {
    await show(htmlOf('recovery'), colorScheme, 600);
    const ground = await page.evaluate(() => getComputedStyle(document.querySelector('.card')!).backgroundColor);
    expect(ground).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(28, 28, 31)');
  });

  test.each(['#ffdd00', '#777777', '#000000'])('the button can be read in the color %s', async (color) => {
    await show(htmlOf('recovery', 'ja', { mailer_brand_color: color }), colorScheme, 390);
    expect(await violations()).toEqual([]);
    const link = page.getByRole('link');
    expect((await link.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    expect(await link.getAttribute('href')).toBe(sampleData.confirmationUrl);
  });
});

/** Widths of phones, of a message beside its list, and of a window. */
const widths = [320, 390, 600, 1280];

/** Emails in one page, each around its own body. */
function together(htmls: readonly string[]): string {
  const [first = '', ...others] = htmls;
  const bodies = others.map((html) => /<body[^>]*>([\s\S]*)<\/body>/.exec(html)?.[1] ?? '');
  return first.replace('</body>', () => `${bodies.join('')}</body>`);
}

describe.each(builtInLocales)('in the language %s', (locale) => {
  test('no email is wider than a phone, and axe-core finds no fault', async () => {
    await show(together(emailKindNames.map((kind) => htmlOf(kind, locale))), 'light', 320);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      const seen = await page.evaluate(() => ({
        cards: document.querySelectorAll('.card').length,
        wide: [...document.querySelectorAll('body *')]
          .filter(
            (element) => element.getBoundingClientRect().right > innerWidth || element.getBoundingClientRect().left < 0,
          )
          .map((element) => element.outerHTML.slice(0, 200)),
        scrolls: document.documentElement.scrollWidth > innerWidth,
      }));
      expect([width, seen]).toEqual([width, { cards: emailKindNames.length, wide: [], scrolls: false }]);
    }
    // The colors are those of the English ones.
    expect(await violations()).toEqual([]);
  });

  test('no page of links is wider than a phone, and axe-core finds no fault', async () => {
    await show('', 'dark', 320);
    for (const action of linkActions) {
      const facts = { action, email: `${wide}@${wide}.test`, siteUrl: `https://${wide}.test`, locale, languages: [] };
      await page.setContent(renderBuiltIn({ ...facts, fields: { token: 'x' } }));
      const scrolls = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect([action, scrolls]).toEqual([action, false]);
    }
    expect(await violations()).toEqual([]);
  });
});

/** What the manual shows, with their heights: a button and a code, another language, and no link. */
const shown = [
  ['confirmation', 'en', 640],
  ['recovery', 'de', 700],
  ['password_changed_notification', 'fr', 510],
] as const;

test.each(['light', 'dark'] as const)('the manual shows them at four widths in %s', async (colorScheme) => {
  const path = fileURLToPath(new URL(`../../docs/emails-${colorScheme}.png`, import.meta.url));
  // Kept, so that a run changes no file: delete it to take another.
  if (existsSync(path)) return;
  const values = { mailer_brand_name: 'The Shop', mailer_brand_color: '#0b6e4f', mailer_brand_footer: '1 Main Street' };
  const facts = { to: 'ada@example.com', email: 'ada@example.com', siteUrl: 'https://shop.example.com' };
  const frames = shown.flatMap(([kind, locale, height]) =>
    widths.map((width) => {
      const config = layerAuthConfig({ ...values, site_url: facts.siteUrl });
      const { html } = buildMessage(kind, config, { ...sampleData, ...facts, languages: [locale] });
      return `<iframe width="${width}" height="${height}" style="border: 0" srcdoc="${html.replace(/&/g, '&amp;').replace(/"/g, '&quot;')}"></iframe>`;
    }),
  );
  const total = widths.reduce((sum, width) => sum + width + 16, 16);
  const context = await browser.newContext({
    colorScheme,
    viewport: { width: total, height: 600 },
    deviceScaleFactor: 0.5,
  });
  const picture = await context.newPage();
  const ground = colorScheme === 'light' ? '#d4d4d8' : '#3f3f46';
  await picture.setContent(
    `<body style="margin: 16px; background: ${ground}; display: grid; gap: 16px; grid-template-columns: ${widths.map((width) => `${width}px`).join(' ')}">${frames.join('')}`,
  );
  await picture.screenshot({ path, fullPage: true });
});

test('a screen reader reads the digits of the code one by one, and a program copies them as a number', async () => {
  await show(htmlOf('reauthentication'), 'light', 390);
  const code = page.getByRole('img', { name: '0 1 2 3 4 5', exact: true });
  expect(await code.textContent()).toBe('012345');
});

test('a logo stands for the name of the service, which is shown where images are not', async () => {
  const values = { mailer_brand_name: 'The Shop', mailer_brand_logo_url: 'https://app.test/logo.png' };
  await show(htmlOf('recovery', 'en', values), 'light', 390);
  expect(await page.getByRole('img', { name: 'The Shop' }).getAttribute('src')).toBe('https://app.test/logo.png');
  expect(await violations()).toEqual([]);
  await show(htmlOf('recovery', 'en', { mailer_brand_name: 'A & B <x>' }), 'light', 390);
  await page.getByText('A & B <x>', { exact: true }).waitFor();
});

test('black or white can be read on any color', () => {
  for (let step = 0; step < 4096; step += 1) {
    const color = `#${[8, 4, 0].map((shift) => ((step >> shift) & 15).toString(16).repeat(2)).join('')}`;
    expect(Math.max(contrast(color, '#ffffff'), contrast(color, '#000000'))).toBeGreaterThanOrEqual(4.5);
  }
  expect(contrast('#ffffff', '#000000')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});
