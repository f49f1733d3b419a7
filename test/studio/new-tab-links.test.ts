/**
 * What the studio puts into an email before it shows it.
 */
import { expect, test } from 'vitest';
import { withNewTabLinks } from '../../src/studio/app/components/new-tab-links.ts';

const base = '<base target="_blank">';

test.each([
  ['<html><HEAD lang="de"><title>x</title>', `<html><HEAD lang="de">${base}<title>x</title>`],
  ['<html><head><title>x</title>', `<html><head>${base}<title>x</title>`],
  ['<!doctype html><header>x</header>', `<!doctype html>${base}<header>x</header>`],
  ['<p>x', `${base}<p>x`],
  ['<p><head', `${base}<p><head`],
])('links of %s lead out of the frame', (html, shown) => {
  expect(withNewTabLinks(html)).toBe(shown);
});

test('an email with many unclosed heads does not freeze the page', () => {
  const html = '<head '.repeat(200_000);
  expect(withNewTabLinks(html)).toBe(base + html);
});
