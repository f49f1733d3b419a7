/**
 * What Gmail, Outlook (for Windows, the new one and on the web), Apple Mail and Yahoo make of emails, by the data of
 * caniemail.com. `npm run test:update` writes the table of the check `unsupported`.
 */
import { join } from 'node:path';
import { caniemail, rawData } from 'caniemail';
import { describe, expect, test } from 'vitest';
import { layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { emailKindNames } from '../../src/config/auth/email-kinds.ts';
import { builtIn, builtInLocales } from '../../src/email/built-in/built-in.ts';
import { layOut, printBody } from '../../src/email/built-in/layout.ts';
import { parseTemplate, renderTemplate } from '../../src/email/engine/template.ts';
import { checkTemplate } from '../../src/email/lint/check-template.ts';
import { sampleData } from '../../src/email/lint/template-samples.ts';
import { clients, features, programsWithout, told } from '../support/mail-programs.ts';

const root = join(import.meta.dirname, '../..');

/** What the built-in emails use although a program ignores it, and what its readers get. Nobody loses a word or a link. */
const enhancements: Readonly<Record<string, string>> = {
  '<style> element': 'Gmail in a browser on a phone: the light colors',
  '@media': 'the light colors',
  'color-scheme meta tag': 'the light colors, or those that the program makes itself',
  'color-scheme CSS property': 'the same',
  '<body> element': 'Yahoo on a phone: the color of the page is that of the table inside it',
  'border-radius': 'Outlook for Windows: square corners',
  'table-layout': 'Outlook for Windows, which has no narrow screens',
  'white-space': 'Outlook for Windows: the lines of the footer after each other',
  'word-break': 'Yahoo: very long words widen the card',
  'aria-label attribute': 'Yahoo: the code is read as one number',
};

describe('a built-in email', () => {
  /** With its logo and footer. */
  const rendered = builtInLocales.flatMap((locale) =>
    emailKindNames.map((email) => {
      const data = {
        ...sampleData(email)[0],
        Brand: {
          Name: 'Shop',
          LogoURL: 'https://a.test/logo.png',
          Color: '#0b6e4f',
          OnColor: '#ffffff',
          Footer: 'a\nb',
        },
      };
      const { content } = builtIn(email, locale);
      return { name: `${email} ${locale}`, html: renderTemplate(parseTemplate(content, { kind: 'html' }), data) };
    }),
  );

  test('a built-in email has nothing that a program does not support, but what only makes it nicer elsewhere', () => {
    const used = new Set<string>();
    for (const { name, html } of rendered) {
      const { errors } = caniemail({ clients: clients as never, html }).issues;
      for (const [client, issues] of errors)
        for (const { title } of issues) {
          expect(enhancements, `${name}: ${client} does not support ${title}`).toHaveProperty([title]);
          used.add(title);
        }
    }
    expect(rendered).toHaveLength(14 * 9);
    expect([...used].sort()).toEqual(Object.keys(enhancements).sort());
  });

  test('a built-in email is looked at by a package that finds what is not supported', () => {
    const html = layOut(
      printBody({
        heading: '',
        lead: '<video></video><p style="position: fixed">x</p>',
        button: null,
        codeLine: null,
        hasCode: false,
        end: [],
      }),
      { locale: 'en', heading: '' },
    );
    const { errors } = caniemail({ clients: clients as never, html }).issues;
    const titles = [...errors.values()].flatMap((issues) => issues.map(({ title }) => title));
    expect(titles).toEqual(expect.arrayContaining(['<video> element', 'position']));
  });
});

describe('the check "unsupported"', () => {
  test('the check "unsupported" has the elements and CSS that the data of caniemail.com lists', async () => {
    const tables = Object.entries(told).map(([kind, slugs]) => {
      const rows = Object.entries(slugs).flatMap(([slug, names]) =>
        names.map((name) => `['${name}', '${programsWithout(slug)}']`),
      );
      return `/** ${headings[kind]} */\nexport const ${kind}: ReadonlyMap<string, string> = new Map([\n${inLines(rows.sort())}\n]); // biome-ignore format: a table\n`;
    });
    const text = `${header}\n${tables.join('\n')}`;
    await expect(text).toMatchFileSnapshot(join(root, 'src/email/lint/unsupported-table.ts'));
  });

  test('the check "unsupported" reports each feature that a program lacks, unless an email without it only looks plainer', () => {
    const known = Object.values(told).flatMap((slugs) => Object.keys(slugs));
    expect(known.filter((slug) => programsWithout(slug) === '')).toEqual([]);
    const others = features
      .map(({ slug }) => slug)
      .filter((slug) => !known.includes(slug) && programsWithout(slug) !== '');
    expect(others.join(' ')).toMatchInlineSnapshot(
      `"css-accent-color css-animation css-at-font-face css-at-import css-at-keyframes css-at-media-device-pixel-ratio css-at-media-hover css-at-media-orientation css-at-media-prefers-color-scheme css-at-media-prefers-reduced-motion css-at-media css-at-supports css-background-clip css-background-origin css-background-position css-background-repeat css-background-size css-border-inline-block-individual css-border-inline-block-longhand css-border-radius-logical css-border-radius css-border-spacing css-box-shadow css-box-sizing css-caption-side css-color-scheme css-column-layout-properties css-cursor css-empty-cells css-font-kerning css-font-size-adjust css-font-stretch css-height css-hyphenate-character css-hyphenate-limit-chars css-hyphens css-inert-attribute css-inline-size css-left-right-top-bottom css-list-style-position css-max-height css-min-height css-min-width css-nesting css-object-position css-opacity css-orphans css-outline-offset css-outline css-overflow-wrap css-overflow css-pseudo-class-active css-pseudo-class-checked css-pseudo-class-default css-pseudo-class-first-child css-pseudo-class-first-of-type css-pseudo-class-focus-visible css-pseudo-class-focus-within css-pseudo-class-focus css-pseudo-class-has css-pseudo-class-hover css-pseudo-class-lang css-pseudo-class-last-child css-pseudo-class-last-of-type css-pseudo-class-link css-pseudo-class-not css-pseudo-class-nth-child css-pseudo-class-nth-last-child css-pseudo-class-nth-last-of-type css-pseudo-class-nth-of-type css-pseudo-class-only-child css-pseudo-class-only-of-type css-pseudo-class-target css-pseudo-class-visited css-pseudo-element-after css-pseudo-element-before css-pseudo-element-first-letter css-pseudo-element-first-line css-pseudo-element-marker css-pseudo-element-placeholder css-resize css-scroll-snap css-selector-adjacent-sibling css-selector-attribute css-selector-chaining css-selector-child css-selector-general-sibling css-selector-universal css-shape-margin css-sytem-ui css-tab-size css-table-layout css-text-align-last css-text-decoration-color css-text-decoration-line css-text-decoration-skip-ink css-text-decoration-style css-text-decoration-thickness css-text-emphasis-position css-text-emphasis css-text-justify css-text-overflow css-text-shadow css-text-underline-offset css-text-underline-position css-text-wrap css-transition css-unit-initial css-user-select css-white-space-collapse css-white-space css-widows css-word-break css-word-spacing css-word-wrap html-abbr html-acronym html-aria-describedby html-aria-hidden html-aria-label html-aria-labelledby html-aria-live html-bdi html-button-reset html-button-submit html-doctype html-form html-hidden html-input-checkbox html-input-hidden html-input-radio html-input-reset html-input-submit html-input-text html-link html-loading-attribute html-meta-color-scheme html-popover html-required html-rp html-rt html-ruby html-select html-semantics html-srcset html-target html-textarea html-wbr"`,
    );
  });

  test.each([
    ['<svg></svg>', 'Gmail, Outlook and Yahoo cannot show <svg>'],
    ['<p style="float: left">x</p>', 'Outlook for Windows ignores the CSS property float'],
    ['<p style="width: calc(100% - 2px)">x</p>', 'Outlook and Yahoo ignore the CSS function calc()'],
    ['<p style="width: 1.5rem">x</p>', 'Outlook for Windows and Yahoo ignore the CSS unit rem'],
    ['<p style="display:flex">x</p>', 'Outlook for Windows ignores the CSS value flex'],
    ['<p style="color: rgba(0, 0, 0, .8)">x</p>', 'Outlook for Windows ignores the CSS function rgba()'],
    ['<p style="color: LIGHT-DARK(red, blue)">x</p>', 'Gmail and Outlook ignore the CSS function light-dark()'],
  ])('the check "unsupported" reports %s: %s', (source, message) => {
    const field = { part: 'content', email: 'password_changed_notification' } as const;
    expect(checkTemplate(field, source, layerAuthConfig({})).warnings).toMatchObject([
      { name: 'unsupported', message },
    ]);
  });

  test.each([
    '<p style="width: 100%; font-family: flex, rem; border-radius: 4px">x</p>',
    '<p style="background: url(https://a.test/10rem.png); width: 5px">x</p>',
    '<p style="color: {{ .Data.color }}">10rem</p>',
  ])('the check "unsupported" accepts %s', (source) => {
    const field = { part: 'content', email: 'password_changed_notification' } as const;
    expect(checkTemplate(field, source, layerAuthConfig({})).warnings).toEqual([]);
  });
});

const headings: Readonly<Record<string, string>> = {
  elements: 'Elements.',
  properties: 'CSS properties.',
  functions: 'CSS functions.',
  units: 'CSS units.',
  values: 'CSS values: of `display`, and lengths.',
};

const header = `/**
 * What mail programs do not support so that an email looks wrong, with the letters of the programs: Gmail, Outlook for
 * Windows (W), Outlook on the web and the new one (O), Apple Mail, Yahoo. A letter means that no current version does.
 *
 * Written by \`npm run test:update\` from the data of caniemail.com of ${rawData.last_update_date.slice(0, 10)}.
 */
`;

function inLines(rows: readonly string[]): string {
  const lines: string[] = [];
  for (const row of rows) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + row.length < 116) lines[lines.length - 1] = `${last} ${row},`;
    else lines.push(`  ${row},`);
  }
  return lines.join('\n');
}
