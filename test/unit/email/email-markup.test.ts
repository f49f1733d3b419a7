/**
 * Markup that does nothing in an email, and placeholders of other systems: said to whoever writes the text.
 */
import { describe, expect, test } from 'vitest';
import { emailKindNames } from '../../../src/config/auth/email-kinds.ts';
import { parseTemplate, renderTemplate } from '../../../src/email/engine/template.ts';
import { readEmailMarkup } from '../../../src/email/lint/email-markup.ts';
import { defaultTemplates } from '../../support/default-templates.ts';

/** What is said, and of which words. */
const find = (source: string, keeps = false) =>
  readEmailMarkup(source, keeps)
    .found.filter(({ kind }) => !others.includes(kind))
    .map(({ message, at, length }) => [source.slice(at, at + length), message]);
/** Checks with tests of their own. */
const others = ['unquoted-href', 'missing-alt', 'external-style', 'unsupported', 'contrast'];

describe('doubtful markup is warned of, at its words', () => {
  test.each([
    ['<p><img alt="x" src="logo.png"></p>', 'logo.png', /^logo\.png is no web address, .* https:/],
    ["<IMG SRC='/logo.png'>", '/logo.png', /is no web address/],
    ['<img src=//cdn.test/logo.png>', '//cdn.test/logo.png', /is no web address/],
    ['<img src="http://a.test/{{ .Data.logo }}">', 'http://a.test/{{ .Data.logo }}', /https addresses only/],
    ['<img src="C:\\Users\\me\\logo.png">', 'C:\\Users\\me\\logo.png', /file of your computer.*web server$/],
    ['<img src="file:///logo.png">', 'file:///logo.png', /file of your computer/],
    ['<img src="">', '"', /has no address/],
    ['<a href="/welcome">x</a>', '/welcome', /link leads nowhere: write it in full, with https/],
    ['<a href="www.app.test">x</a>', 'www.app.test', /link leads nowhere/],
    ['<script>if (a < b) "<img src=x>"</script>', '<script', /never run in an email/],
    ['<p><a href=" JavaScript:alert(1)">x</a></p>', ' JavaScript:alert(1)', /never run in an email: link to a page/],
    ['<img alt="" src="https://a.test/x" onerror="x()">', 'onerror', /never run in an email: remove onerror/],
    ['<p class="a"\nonclick=x()>x</p>', 'onclick', /never run in an email: remove onclick/],
    ['<iframe src="https://a.test"></iframe>', '<iframe', /mail programs remove the <iframe>: link to the page/],
    ['<form action="https://a.test"><input></form>', '<form', /link to a page/],
    ['<p>a<o:p></o:p> b<o:p>&nbsp;</o:p></p>', '<o:p', /Microsoft Word: paste/],
    [
      '<p><a href="https://a.test">x</p><p>more</p>',
      '<a',
      /never closed, so the rest of the email is a link: write <\/a>/,
    ],
    ['<p><strong>x</p><p><strong>y</strong></p>', '<strong', /never closed.*write <\/strong>/],
    [
      '<!--[if mso]><table><![endif]--><p>x</p><!--[if !mso]><!-->',
      '<!--[if mso]>',
      /mailer_keep_conditional_comments/,
    ],
    ['<p>Dear *|FNAME|*</p>', '*|FNAME|*', /placeholder of another system.*write \{\{ \.Email \}\} or/],
    ['<p>Dear %name%,</p>', '%name%', /placeholder/],
    ['<a href="https://a.test/?n=%recipient.name%">x</a>', '%recipient.name%', /placeholder/],
    ['<p>[[name]]</p>', '[[name]]', /placeholder/],
    ['<p>$\u007bname} </p>', '$\u007bname}', /placeholder/],
    ['<p><%= name %></p>', '<%= name %>', /placeholder/],
    ['<p>{% if name %}x</p>', '{% if name %}', /placeholder/],
  ])('%s', (source, words, message) => {
    expect(find(source)).toEqual([[words, expect.stringMatching(message)]]);
  });
});

test.each([
  '<img src="https://a.test/logo.png"><img src="{{ .SiteURL }}/logo.png"><img src="cid:logo"><img src="data:image/png;base64,AA==">',
  '<p>50% of {{ .Email }}, 20%. [1] [[ ]] {a} $5 * | %20name%20 a < b</p><a href="https://a.test/%C3%BCber%20x%">x</a>',
  '<style>a[href="x"]::after{content:"%name%"}</style><!-- <script> *|X|* --><title>x</title>',
  '{{ if .Data.de }}<a href="https://a.test/de">{{ else }}<a href="https://a.test">{{ end }}x</a>',
  '{{ "*|X|*" }}{{/* <script> */}}<br/><img data-src="x" src="https://a.test/x.png"/><a href="#top">x</a>',
])('%s is fine', (source) => {
  expect(find(source)).toEqual([]);
});

test('comments for Outlook are no mistake where they are sent', () => {
  const source = '<!--[if mso]><table><![endif]-->';
  expect(renderTemplate(parseTemplate(source, { kind: 'html' }), {})).toBe('');
  expect(find(source)).toHaveLength(1);
  const kept = parseTemplate(source, { kind: 'html', keepConditionalComments: true });
  expect(renderTemplate(kept, {})).toBe(source);
  expect(find(source, true)).toEqual([]);
});

test('the built-in emails have none of it', () => {
  for (const email of emailKindNames) expect(find(defaultTemplates[email].content)).toEqual([]);
});

test('a very long text is looked at at once, with the first places of each kind', () => {
  const pieces = [
    '<p>{{ .x }}</p>',
    '<a ',
    '<a "',
    '<a \'"',
    '<a>',
    '<!--',
    '<img src=x>',
    '%a.',
    '*|',
    '{%a',
    '<b x=',
    '<script>',
    '[[a',
    '<o:p>',
    '$\u007ba',
    '<%=',
  ];
  for (const piece of pieces) {
    const found = find(piece.repeat(500_000 / piece.length));
    expect(found.length, piece).toBeLessThanOrEqual(40);
  }
});
