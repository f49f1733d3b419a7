/**
 * The text of an email's HTML: what a client without HTML shows, and what it must not hide.
 */
import { expect, test } from 'vitest';
import { toPlainText } from '../../../src/email/message/plain-text.ts';

const long = `https://app.test/verify?token=${'0123456789'.repeat(9)}&type=email`;

test.each([
  ['a link with its target', '<a href="https://app.test/x">Confirm</a>', 'Confirm <https://app.test/x>'],
  ['a link whose text is its target, once', '<a href="https://app.test/x">https://app.test/x</a>', 'https://app.test/x'],
  [
    'a link whose text is another address, with where it leads',
    '<a href="https://evil.test/">https://bank.test/</a>',
    'https://bank.test/ <https://evil.test/>',
  ],
  ['a link without text', '<a href="https://app.test/x"><img src="a.png"></a>', 'https://app.test/x'],
  ['a long link whole, on a line of its own', `<p>Please <a href="${long}">confirm</a>.</p>`, `Please confirm\n<${long}>.`],
  ['an address of an email', '<a href="mailto:help@app.test">Help</a>', 'Help <help@app.test>'],
  ['an image by its text', '<p><img src="https://app.test/logo.png" alt="The Shop"> says hello</p>', 'The Shop says hello'],
  ['a table of layout as its texts', '<table><tr><td><p>One</p></td></tr><tr><td>Two</td></tr></table>', 'One\n\nTwo'],
  ['a list as items', '<ul><li>One</li><li>Two</li></ul>', '* One\n * Two'],
  ['headings as they are written', '<h1>Reset it</h1><p>Now</p>', 'Reset it\n\nNow'],
  ['no styles, scripts, comments and titles', '<title>t</title><style>p{}</style><script>x()</script><!-- c --><p>a</p>', 'a'],
  ['values of users as text on their line', '<p>Hi &lt;a href=&#34;https://evil.test&#34;&gt;\n\n# x&lt;/a&gt;</p>', 'Hi <a href="https://evil.test"> # x</a>'],
])('the plain text shows %s', async (_what, html, text) => {
  expect(await toPlainText(html)).toBe(text);
}); // biome-ignore format: a table

test('lines have at most 78 characters, as mail programs show them', async () => {
  const text = await toPlainText(`<p>${'word '.repeat(100)}</p>`);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(78);
});
