/**
 * Variables of which braces are missing, and links to plain text: mail programs show a button, and it leads nowhere.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { emailKindNames } from '../../src/config/auth/email-kinds.ts';
import { checkTemplate } from '../../src/email/lint/check-template.ts';
import { defaultTemplates } from '../support/default-templates.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, managedGateway, ref, sentences } from './management.ts';

let database: TestDatabase;
let token: string;

beforeAll(async () => {
  database = await createAuthDatabase();
  token = await addToken(database);
});

const field = 'mailer_templates_recovery_content';

/** Stores a body, and says what the editor shows of it before that. */
async function save(content: string, name = field) {
  await database.query('truncate auth.pgreflect_rate_limits, auth.pgreflect_config');
  const { call, get } = await managedGateway(database, token);
  // A first text would end the built-in translations, which is told.
  const kinds = ['recovery', 'password_changed_notification'];
  const first = Object.fromEntries(kinds.map((kind) => [`mailer_subjects_${kind}`, 'Yours']));
  await call({ method: 'PATCH', body: JSON.stringify(first) });
  const send = async (query: string) => {
    const path = `/v1/projects/${ref}/config/auth${query}`;
    const headers = { prefer: 'return=representation; warnings' };
    return call({ method: 'PATCH', path, headers, body: JSON.stringify({ [name]: content }) });
  };
  const answer = await send('');
  const path = `/v1/projects/${ref}/config/auth/emails/render`;
  const draft = await call({ method: 'POST', path, body: JSON.stringify({ email: 'recovery', content }) });
  const warnings = draft.body.content.warnings as { message: string; line: number; column: number; refused: boolean }[];
  const shown = warnings.map(
    ({ message, line, column, refused }) => `line ${line}, column ${column}: ${message}${refused ? ' REFUSED' : ''}`,
  );
  return { answer, send, stored: (await get()).body[name], shown };
}

describe('a link whose variable lacks braces', () => {
  test.each([
    ['href="{ .ConfirmationURL }}"', '{ .ConfirmationURL }}'],
    ["HREF = '{ .ConfirmationURL }'", '{ .ConfirmationURL }'],
    ['href=".ConfirmationURL"', '.ConfirmationURL'],
    ['href=.ConfirmationURL', '.ConfirmationURL', 1],
    ['href=" .ConfirmationURL }}"', ' .ConfirmationURL }}'],
    ['href="{ConfirmationURL}"', '{ConfirmationURL}'],
    ['href="%7B%7B .ConfirmationURL }}"', '%7B%7B .ConfirmationURL }}'],
    ['href="%7b%7b%20.ConfirmationURL%20%7d%7d"', '%7b%7b%20.ConfirmationURL%20%7d%7d'],
    ['href="https://app.test/c?t={ .TokenHash }}"', 'https://app.test/c?t={ .TokenHash }}'],
    ['href="{{ .SiteURL }}/c?t={ .TokenHash }}"', '{{ .SiteURL }}/c?t={ .TokenHash }}'],
  ])(
    'a link whose variable lacks braces is warned of, or refused for who asks, with its line: %s',
    async (attribute, address, unquoted = 0) => {
      const content = `<!-- one\ntwo -->\n<p>{{- /* three\n*/ -}}\n<a class="button"\n  ${attribute}>Reset</a></p> {{ .Token }}`;
      const column = 3 + attribute.indexOf(address);
      const mistake = `line 6, column ${column}: the link leads nowhere, its address is the plain text ${address}`;
      const { answer, send, stored, shown } = await save(content);
      expect(answer.status).toBe(200);
      expect(sentences(answer.body.warnings)).toContainEqual(expect.stringContaining(`${field}: ${mistake}`));
      expect(stored).toBe(content);
      expect(shown).toHaveLength(1 + unquoted);
      expect(shown.at(-1)).toMatch(/ REFUSED$/);
      expect(shown.at(-1)).toContain(mistake);
      const refused = await send('?allow_warnings=false');
      expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
      expect(refused.body.message).toContain(`${field}: ${mistake}`);
      expect(refused.body.message).toContain('leave out ?allow_warnings=false');
    },
  );

  test('a link whose variable lacks braces is warned of in an email that has no code and no link', async () => {
    const name = 'mailer_templates_password_changed_notification_content';
    const { answer } = await save('<p>Changed.</p>\n<a href="{ .SiteURL }}">Sign in</a>', name);
    expect(answer.status).toBe(200);
    expect(sentences(answer.body.warnings)).toEqual([
      expect.stringContaining(
        `${name}: line 2, column 10: the link leads nowhere, its address is the plain text { .SiteURL }}`,
      ),
      `${name}: the email is not sent: mailer_notifications_password_changed_enabled is off [switched-off]`,
    ]);
  });
});

test.each([
  ['<a href="">Reset</a>', 'the link leads nowhere, its address is empty'],
  ["<a href=''>Reset</a>", 'the link leads nowhere, its address is empty'],
  ['<a href="#">Reset</a>', 'the link leads nowhere, its address is the plain text #'],
  ['<p>{ .SiteURL }}</p>', '{ .SiteURL }} is plain text and no variable: write {{ .SiteURL }}'],
  ['<p>{.Email}</p>', '{.Email} is plain text and no variable: write {{ .Email }}'],
  ['<p>at .SiteURL }}</p>', '.SiteURL }} is plain text and no variable: write {{ .SiteURL }}'],
])('%s is warned of, with its line', async (text, warning) => {
  const { answer, shown } = await save(`<p>{{ .Token }}</p>\n${text}`);
  const place = `line 2, column ${1 + text.search(/(?<=href=["'])|[{.]+/)}`;
  expect(answer.status).toBe(200);
  expect(sentences(answer.body.warnings)).toEqual([expect.stringContaining(`${field}: ${place}: ${warning} [`)]);
  expect(shown).toEqual([`${place}: ${warning}`]);
});

test('a subject with a variable that lacks a brace is warned of', async () => {
  const { answer } = await save('Code of { .SiteURL }}', 'mailer_subjects_recovery');
  expect(sentences(answer.body.warnings)).toEqual([
    'mailer_subjects_recovery: line 1, column 9: { .SiteURL }} is plain text and no variable: write {{ .SiteURL }} [plain-variable]',
  ]);
});

test.each([
  '<a href="mailto:help@app.test?subject=a{b}">Help</a> <a href="tel:+1">Call</a>',
  '<a href="https://app.test/{id}#top">App</a> <a href="#top">Top</a> <a name="top"></a>',
  '<a href="{{ if .Data.x }}{{ .SiteURL }}{{ end }}">App</a> <a href="{{ "}" }}">App</a>',
  '<a href="">'.replace('<a', '<link'),
  '<!-- <a href="">x</a> { .Email }} --><!-- [if mso]><a href="#">x</a><![endif]-->',
  '<style>@media print { .a { color: red } } p{.b{color:red} .c }</style>',
  '<p>href="" a.b} .5 } {a.b} f(.x) {{ "{ .Email }" }} {{/* { .Email }} */}}</p>',
])('there is no warning of %s', async (text) => {
  const { answer } = await save(`{{ .Token }} ${text}`);
  expect([answer.status, answer.body.warnings]).toEqual([200, []]);
});

test('the built-in emails have no warnings', () => {
  const switches = {
    mailer_extra_url_schemes: '',
    mailer_keep_conditional_comments: false,
    mailer_subject_html_escape: false,
    mailer_layout_content: null,
    mailer_partials: null,
    uri_allow_list: '',
  };
  for (const email of emailKindNames)
    for (const part of ['subject', 'content'] as const) {
      const found = checkTemplate({ part, email }, defaultTemplates[email][part], switches);
      expect(found, `${email} ${part}`).toEqual({ problem: null, warnings: [], deadEnds: [] });
    }
});

test('texts with very many mistakes are answered at once, with the first of each kind', () => {
  const switches = {
    mailer_extra_url_schemes: '',
    mailer_keep_conditional_comments: false,
    mailer_subject_html_escape: false,
    mailer_layout_content: null,
    mailer_partials: null,
    uri_allow_list: '',
  };
  const pieces = [
    '{ .Email }',
    '<a href="">x</a>',
    '<a href=".x">',
    '<a href="#">{ .x }</a>',
    '.a '.repeat(2),
    '{ ',
    ' ',
    '.',
    '<a ',
    '<!-- -->',
  ];
  for (const piece of pieces) {
    const text = `{{ .Token }}${piece.repeat(100_000 / piece.length)}`;
    const found = checkTemplate({ part: 'content', email: 'recovery' }, text, switches);
    expect(found.warnings.length + found.deadEnds.length, piece).toBeLessThanOrEqual(41);
  }
});
