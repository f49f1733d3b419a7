/**
 * `pgreflect templates check`: what is said of the files of emails, with line and column, without a server.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { emailKindNames } from '../../src/config/auth/email-kinds.ts';
import { builtIn, builtInLocales } from '../../src/email/built-in/built-in.ts';
import { checkNames } from '../../src/email/lint/check-names.ts';
import { checkTemplate } from '../../src/email/lint/check-template.ts';
import { defaultTemplates } from '../support/default-templates.ts';
import { runCommand, temporaryDirectory } from './run-command.ts';

/** Checks files of a new directory. */
async function check(files: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'partials'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const { code, out, err } = await runCommand(['templates', 'check', directory, ...flags]);
  return { code, lines: out.split('\n').filter((line) => line !== ''), err };
}

const link = '<a href="{{ .ConfirmationURL }}">Go</a>';
const config = layerAuthConfig({});

/** The names of what is found in a body, with what they are about. */
function namesIn(source: string, email: 'recovery' | 'reauthentication' = 'recovery'): readonly string[] {
  const { problem, warnings, deadEnds } = checkTemplate({ part: 'content', email }, source, config);
  expect(problem).toBeNull();
  return [...warnings, ...deadEnds].map(({ name, line, column }) => `${line}:${column} ${name}`);
}

describe('the command', () => {
  test('the command says each finding with file, line, column and the name of its check', async () => {
    const { code, lines, err } = await check({
      'recovery.html': `<p>\n  <img src="https://a.test/x.png">${link}`,
      'invite.de.subject': 'Hallo {{ .Emial }}',
      'confirmation.html': `<p>{{ .Token }}</p>\n{{ if .Token }}`,
    });
    expect(lines).toEqual([
      'confirmation.html:2:1: error: `{{ if .Token }}` has no {{ end }} (unexpected EOF)',
      'invite.de.subject:1:10: warning: .Emial is always empty in this email (did you mean .Email?) [empty-variable]',
      'recovery.html:2:3: warning: the image has no alt: write what it shows, or alt="" if it only decorates [missing-alt]',
    ]);
    expect([code, err]).toEqual([1, expect.stringContaining('3 texts: 1 error, 2 warnings.')]);
  });

  test('the command ends with 0 where there are only warnings, with --strict with 1', async () => {
    const files = { 'recovery.html': `<img src="https://a.test/x.png">${link}` };
    expect(await check(files)).toMatchObject({ code: 0, lines: [expect.stringContaining('[missing-alt]')] });
    expect((await check(files, '--strict')).code).toBe(1);
    expect(await check({ 'recovery.html': link }, '--strict')).toMatchObject({ code: 0, lines: [] });
  });

  test('the command reads layout and partials, and says what is wrong with them once', async () => {
    const layout = '<!doctype html><html><body>{{ template "content" . }}</body></html>';
    const files = { 'layout.html': layout, 'recovery.html': '{{ template "button" . }}', 'invite.html': link };
    expect(await check({ ...files, 'partials/button.html': link }, '--strict')).toMatchObject({ code: 0, lines: [] });
    const { code, lines } = await check({ ...files, 'partials/button.html': link, 'layout.html': '<p>none' });
    expect([code, lines]).toEqual([1, [expect.stringMatching(/^layout\.html: error: the layout must use /)]]);
    const faulty = await check({ ...files, 'partials/button.html': '<b>\n{{ upper . }}' });
    expect(faulty.lines).toEqual([expect.stringMatching(/^partials\/button\.html:2:4: error: function "upper" not /)]);
    expect(faulty.err).toContain('The emails are checked once these errors are corrected.');
  });

  test('the command compares the variables of languages with those of the email itself, and none with a built-in text', async () => {
    const hello = `{{ with .Data.name }}<p>{{ . }}</p>{{ end }}${link}`;
    const files = {
      'recovery.html': hello,
      'recovery.de.html': link,
      'recovery.fr.html': `<p>{{ .Email }}</p>${hello}`,
    };
    expect(await check(files)).toMatchObject({
      code: 0,
      lines: [
        'recovery.de.html: warning: this language does not use .Data.name, which the email itself uses in line 1, column 9 [language-variables]',
        'recovery.fr.html:1:7: warning: this language uses .Email, which the email itself does not use [language-variables]',
      ],
    });
    const builtIn = defaultTemplates.recovery.content;
    expect(await check({ 'recovery.html': builtIn, 'recovery.de.html': link })).toMatchObject({ code: 0, lines: [] });
  });

  test('the command refuses what the field of a text would not take', async () => {
    const { code, lines } = await check({
      'recovery.html': link + ' '.repeat(1_000_000),
      'recovery.de.subject': 'two\nlines',
      'subjects.json': JSON.stringify({ recovery: 'two\nlines' }),
      'partials/9.html': 'x',
    });
    expect([code, lines]).toEqual([
      1,
      [
        'recovery.de.subject: error: it must not contain a line break',
        'recovery.html: error: it must have at most 1000000 bytes',
        'subjects.json: recovery: error: it must not contain a line break',
        'error: mailer_partials has the name "9": use letters, digits, _ and -, and not "content"',
      ],
    ]);
  });

  test('the command reads the switches of the project from its configuration', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'templates'));
    const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
    const lines = async () => (await runCommand(['templates', 'check'], { directory })).out.trim();
    write('templates/password_changed_notification.html', '<p>Changed: <a href="myapp://home">open</a></p>');
    write('templates/subjects.json', JSON.stringify({ recovery: '<b>{{ .Token }}' }));
    expect(await lines()).toBe('');
    write('pgreflect.toml', 'mailer_subject_html_escape = true\n');
    expect(await lines()).toBe(
      'password_changed_notification.html: warning: the email is not sent: mailer_notifications_password_changed_enabled is off [switched-off]',
    );
    write('pgreflect.toml', '[auth.email.notification.password_changed]\nenabled = true\n');
    write('templates/subjects.json', JSON.stringify({ recovery: '<b title="{{ .Token }}' }));
    expect(await lines()).toBe('');
    write(
      'pgreflect.toml',
      'mailer_subject_html_escape = true\nmailer_notifications_password_changed_enabled = true\n',
    );
    expect(await lines()).toMatch(/^subjects.json: recovery:1:1: error: .* is never closed/);
  });

  test('the command refuses a directory without emails', async () => {
    expect(await check({ 'notes.md': '' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('no email templates'),
    });
  });
});

describe('a body', () => {
  test.each([
    ['<p>Hello</p>', 'null:null no-link'],
    [`<a href="{{ .SiteURL }}/confirm?type=recovery">Go</a>${link}`, '1:10 link-without-token'],
    ['<a href="{{ .ConfirmationURL }}" class=x>a</a><a\nhref={{ .SiteURL }}>b</a>', '2:6 unquoted-href'],
    [`${link}\n<img src="https://a.test/x.png">`, '2:1 missing-alt'],
    [`${link}<img alt="x" src="http://a.test/x.png">`, '1:58 http-image'],
    [`${link}<script>1</script>`, '1:40 script'],
    [`${link}<form></form>`, '1:40 form'],
    [`<link rel="stylesheet" href="https://a.test/x.css">${link}`, '1:1 external-style'],
    [`<style>@import url(x.css);</style>${link}`, '1:8 external-style'],
    [`${link}<video></video>`, '1:40 unsupported'],
    [`<style>p { color: red; position: fixed }</style>${link}`, '1:24 unsupported'],
    [`${link}<p style="width:var(--x)">x</p>`, '1:50 unsupported'],
    [`<td style="background:#fff"><p>${link}<b style="color:#999">x</b></p></td>`, '1:71 contrast'],
    [`<td bgcolor=black><b style='color: #333333'>${link}</b>`, '1:19 contrast'],
  ])('%s is warned of', (source, finding) => {
    expect(namesIn(source)).toContain(finding);
  });

  test.each([
    '<img alt="" src="https://a.test/x.png"><img alt src="https://a.test/y.png"><img src="https://a.test/z.png" {{ .Data.alt }}>',
    '<a href="{{ .SiteURL }}">Home</a> <a href="{{ .SiteURL }}/confirm?token_hash={{ .TokenHash }}">Go</a>',
    // The rules of @media are for the programs that know them.
    '<style>@media (min-width:1px) { p { position: fixed } } p { color: red }</style>',
    // Where one of the colors is not literal, or the text is hidden on purpose.
    '<b style="color:#fff;background:{{ .Brand.Color }}">x</b><b style="color:#fff;background:url(x.png)">x</b>',
    '<td style="background:#fff"></td><b style="color:#fff">x</b><td style="background:#fff"><b class="dark" style="color:#fff">x</b></td>',
    '<b style="display:none;color:#fff;background:#fff">x</b>',
    '<b style="color:#767676;background:#ffffff">x</b>',
    '<!-- <img> --><p>{{ "<img>" }}{{/* <video> */}}</p>',
    // No markup, and no declarations.
    '<title><img></title><textarea><video></textarea>',
    `<p style="font-family: 'a; float: left'; /* float: left */ background: url(data:a;float:left)">x</p>`,
  ])('%s is accepted', (source) => {
    expect(namesIn(`${source}${link}`)).toEqual([]);
  });
});

describe('an email whose readers can', () => {
  const shown = '<p>Welcome</p>';
  const hides = (html: string) => `${html}${shown}`;

  test.each([
    hides(`<!-- ${link} -->`),
    hides(`<!--[if mso]>${link}<![endif]-->`),
    hides('<style>/* {{ .ConfirmationURL }} */ p { color: red }</style>'),
    hides('{{ $url := .ConfirmationURL }}'),
    hides('{{ if .ConfirmationURL }}Hello{{ end }}'),
    hides(`{{ if false }}${link}{{ end }}`),
    hides(`{{ define "button" }}${link}{{ end }}`),
    hides(`<div style="display: none">${link}</div>`),
    hides(`<div style="max-height:0;overflow:hidden">${link}</div><div hidden>{{ .Token }}</div>`),
    hides('<p style="font-size:0">{{ .Token }}</p>'),
    hides('<img alt="{{ .Token }}" src="https://a.test/x.png"><img alt="" src="{{ .ConfirmationURL }}">'),
    hides('<title>{{ .Token }}</title><noscript>{{ .Token }}</noscript>'),
    hides('<a href="{{ .ConfirmationURL }}"></a><a href="{{ .ConfirmationURL }}">&nbsp;</a>'),
    hides('<script type="application/ld+json">{"url": {{ .ConfirmationURL }}}</script>'),
    hides(`<a href="{{ .SiteURL }}" title="{{ .Token }}" data-url="{{ .ConfirmationURL }}">Home</a>`),
  ])('not continue: %s', (source) => {
    expect(namesIn(source)).toContain('null:null no-link');
  });

  test.each([
    '<b>{{ slice .Token 0 3 }}</b> <b>{{ slice .Token 3 }}</b>',
    '{{ .SpelledToken }}',
    '<p>{{ .ConfirmationURL }}</p>',
    '<div style="font-size:0px"><div style="font-size:13px">{{ .Token }}</div></div>',
    `<p style="display:none">Read on<p>${link}`,
    `<!--[if !mso]><!-->${link}<!--<![endif]-->`,
    '<a href="{{ .ConfirmationURL }}"><img alt="" src="https://a.test/button.png"></a>',
    '<img alt="code" src="https://qr.test/?data={{ .ConfirmationURL }}">',
    '<a href="https://app.test/confirm?url={{ .ConfirmationURL }}">Go</a>',
    `{{ if eq .Data.plan "pro" }}${link}{{ end }}{{ if .Data.team.name }}${link}{{ end }}`,
    `{{ if eq .Locale "de" }}${link}{{ else if eq .Locale "en" }}${link}{{ end }}`,
    `{{ if .Data.a.b.c }}${link}{{ end }}{{ .Data.__proto__.x }}`,
  ])('an email whose readers can continue: %s', (source) => {
    expect(namesIn(source).filter((name) => name.endsWith('no-link'))).toEqual([]);
  });

  test('not continue is an error, unless warnings are allowed', async () => {
    const files = {
      'recovery.html': `<!-- ${link} -->${shown}`,
      'recovery.txt': 'Welcome',
      'invite.txt': '{{ .Token }}',
    };
    const message =
      'the email shows none of .ConfirmationURL, .TokenHash, .Token, so recipients cannot continue [no-link]';
    const lines = [`recovery.html: error: ${message}`, `recovery.txt: warning: ${message}`];
    expect(await check(files)).toMatchObject({ code: 1, lines });
    const allowed = await check(files, '--allow-warnings');
    expect(allowed).toMatchObject({
      code: 0,
      lines: [...lines]
        .reverse()
        .map((line) => line.replace('error', 'warning'))
        .sort(),
    });
    expect((await check(files, '--allow-warnings', '--strict')).code).toBe(1);
  });
});

describe('the name of a file', () => {
  test.each([
    ['email_changed.html', 'email_changed_notification'],
    ['identity_linked.html', 'identity_linked_notification'],
    ['mfa_factor_enrolled.html', 'mfa_factor_enrolled_notification'],
    ['Multi-factor authentication method added.html', 'mfa_factor_enrolled_notification'],
    ['Phone number changed.html', 'phone_changed_notification'],
    ['Confirm sign up.html', 'confirmation'],
    ['confirm-signup.html', 'confirmation'],
    ['invite-user.html', 'invite'],
    ['magic-link.html', 'magic_link'],
    ['Change email address.html', 'email_change'],
    ['change-email.html', 'email_change'],
    ['reset_password.html', 'recovery'],
    ['Reset password.html', 'recovery'],
    ['Reauthentication.html', 'reauthentication'],
  ])('%s, of the Supabase CLI or dashboard, is that of %s', async (file, email) => {
    const { code, lines, err } = await check({ [file]: '{{ .Token }}{{ .Nothing }}' });
    expect({ code, lines }).toEqual({
      code: 0,
      lines: expect.arrayContaining([
        expect.stringContaining(`${email}.html:1:16: warning: .Nothing is always empty in this email`),
      ]),
    });
    expect(err).toContain(`${file} is read as ${email}.html.`);
  });

  test('of no email is a warning, of a mistyped one an error, and two of one email are refused', async () => {
    const files = { 'recovery.html': link, 'newsletter.html': 'News', 'welcome.de.html': 'Hallo', 'notes.txt': 'x' };
    const warning = (file: string) => `warning: ${file} has the name of no email, so it is left alone.`;
    const lines = ['newsletter.html', 'notes.txt', 'welcome.de.html'].map(warning);
    expect(await check(files)).toMatchObject({ code: 0, lines });
    expect((await check(files, '--strict')).code).toBe(1);
    const mistyped = await check({ ...files, 'email_chnged.html': link });
    expect(mistyped).toMatchObject({ code: 1, lines: [] });
    expect(mistyped.err).toContain('Did you mean "email_changed_notification"?');
    const twice = await check({ ...files, 'reset-password.html': link });
    expect(twice).toMatchObject({ code: 1, lines: [] });
    expect(twice.err).toContain('recovery.html and reset-password.html are the same email.');
  });
});

describe('a link that cannot work', () => {
  const whole = (name: string) => `the link cannot work: .${name} is a whole address, so it has to begin the href`;
  const behind = 'what follows .ConfirmationURL is lost or changes where it leads: remove';

  test.each([
    ['{{ .SiteURL }}{{ .RedirectTo }}?token_hash={{ .TokenHash }}', whole('RedirectTo')],
    ['{{ .SiteURL }}{{ .ConfirmationURL }}', whole('ConfirmationURL')],
    ['{{ .SiteURL }}/{{ .ConfirmationURL }}', whole('ConfirmationURL')],
    ['http://{{ .ConfirmationURL }}', whole('ConfirmationURL')],
    ['https://{{ .SiteURL }}/confirm?token_hash={{ .TokenHash }}', whole('SiteURL')],
    ['{{ printf "%s%s" .SiteURL .RedirectTo }}', whole('RedirectTo')],
    ['{{ .SiteURL }}/x#access_token={{ .Token }}', 'the link cannot work: a code is no access token'],
    ['{{ .ConfirmationURL }}&next=/x', `${behind} &next=/x`],
    ['{{ .ConfirmationURL }}/reset-password', `${behind} /reset-password`],
  ])(
    'a link that cannot work is warned of at its place, and is no way to continue if it leads nowhere: %s',
    (address, message) => {
      const source = (rest: string) =>
        `<p>\n<a href="{{ .SiteURL }}/help">Help</a>\n<a href="${address}">Go</a>${rest}`;
      const place = { name: 'broken-link', line: 3, column: 10, message: expect.stringContaining(message) };
      const beside = checkTemplate({ part: 'content', email: 'recovery' }, source('{{ .Token }}'), config);
      expect(beside).toMatchObject({ problem: null, warnings: [place], deadEnds: [] });
      const alone = checkTemplate({ part: 'content', email: 'recovery' }, source(''), config);
      expect([...alone.warnings, ...alone.deadEnds]).toContainEqual(expect.objectContaining(place));
      expect(alone.deadEnds).toHaveLength(message.includes('whole address') ? 1 : 0);
    },
  );

  test.each([
    '{{ .SiteURL }}/confirm?confirmation_url={{ .ConfirmationURL }}',
    '{{ .SiteURL }}/confirm?token_hash={{ .TokenHash }}&next={{ .RedirectTo }}',
    'https://proxy.test/to/{{ .ConfirmationURL }}',
    'com.acme.app://open?token_hash={{ .TokenHash }}',
    '{{ .RedirectTo }}?token_hash={{ .TokenHash }}&type=email',
  ])('a link that cannot work is none of these: %s', (address) => {
    expect(namesIn(`<a href="${address}">Go</a>`)).toEqual([]);
  });

  test('to an application, whose scheme the filter lacks, is warned of by its scheme', () => {
    const deep = '<a href="{{ .RedirectTo }}?token_hash={{ .TokenHash }}&type=email">Open</a>';
    const found = (fields: object) =>
      checkTemplate({ part: 'content', email: 'recovery' }, `${link}${deep}`, { ...config, ...fields }).warnings;
    const uri_allow_list = 'https://app.test/**,com.acme.app://**,exp://**';
    const message =
      'a redirect to com.acme.app://, exp:// becomes #ZgotmplZ here: add com.acme.app, exp to mailer_extra_url_schemes';
    expect(found({ uri_allow_list })).toMatchObject([{ name: 'deep-link', message, line: 1, column: 49 }]);
    expect(found({ uri_allow_list, mailer_extra_url_schemes: 'com.acme.app, exp' })).toEqual([]);
    expect(found({ uri_allow_list: 'https://app.test/**,http://localhost:*' })).toEqual([]);
  });
});

test.each([
  'Your code is {{ .Token }}. <a href="{{ .SiteURL }}/verify">Enter it</a> <a href="{{ .SiteURL }}/verify?email={{ .Email }}">here</a>',
  `${link}<a href="{{ .SiteURL }}/help/confirm">Help</a><a href="{{ .SiteURL }}/shop?code=WELCOME10">Shop</a>`,
  `${link}<script type="application/ld+json">{"@type": "EmailMessage"}</script>`,
  `${link}<!-- {{ .Nothing }} -->`,
])('no false alarm: %s', (source) => {
  expect(namesIn(source)).toEqual([]);
});

test('a subject is as long as its longest branch', () => {
  const about = (text: string) => checkTemplate({ part: 'subject', email: 'recovery' }, text, config).warnings;
  const branch = (length: number) =>
    `{{ if eq .Data.language "de" }}${'ü'.repeat(length)}{{ else }}${'x'.repeat(50)}{{ end }}`;
  expect(about(branch(70))).toEqual([]);
  expect(about(branch(71))).toMatchObject([{ message: expect.stringContaining('has 71 characters') }]);
  expect(about(`{{ define "a" }}${'x'.repeat(40)}{{ end }}{{ template "a" }}{{ template "a" }}`)).toHaveLength(1);
});

test('a subject that mail programs would cut is warned of; its variables do not count', () => {
  const about = (text: string) => checkTemplate({ part: 'subject', email: 'recovery' }, text, config).warnings;
  expect(about(`${'ü'.repeat(71)}{{ .Email }}`)).toMatchObject([{ name: 'long-subject' }]);
  expect(about(`${'ü'.repeat(70)}{{/* ${'x'.repeat(80)} */}}`)).toEqual([]);
});

describe('a comment', () => {
  test('a comment switches off the checks that it names, in its text', async () => {
    const image = '<img src="http://a.test/x.png">';
    expect(namesIn(`${link}${image}`)).toEqual(['1:40 missing-alt', '1:50 http-image']);
    expect(namesIn(`{{/* check: ignore missing-alt */}}${link}${image}`)).toEqual(['1:85 http-image']);
    expect(namesIn(`${link}${image}{{- /* check: ignore missing-alt, http-image */ -}}`)).toEqual([]);
    const empty = '{{/* check: ignore dead-link empty-variable unclosed-tag */}}<a href="{{ .X }}">{{ .Token }}';
    expect(await check({ 'recovery.html': empty }, '--strict')).toMatchObject({ code: 0, lines: [] });
  });

  test('with a name that there is not is warned of, with the nearest', () => {
    const { warnings } = checkTemplate(
      { part: 'content', email: 'recovery' },
      `{{/* check: ignore mising-alt */}}${link}`,
      config,
    );
    expect(warnings).toMatchObject([
      { name: 'unknown-check', message: 'there is no check "mising-alt" (did you mean missing-alt?)', column: 20 },
    ]);
  });
});

test('nothing is found in the built-in emails, in any language', () => {
  for (const locale of builtInLocales)
    for (const email of emailKindNames)
      for (const part of ['subject', 'content'] as const) {
        const found = checkTemplate({ part, email }, builtIn(email, locale)[part], config);
        expect(found, `${email} ${part} ${locale}`).toEqual({ problem: null, warnings: [], deadEnds: [] });
      }
});

test('names of checks are lower case words, so that a comment can list them', () => {
  expect(checkNames.filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
});

test('a body above 100 KB is warned of', () => {
  expect(namesIn(link + ' '.repeat(103_000))).toEqual(['null:null size']);
  expect(namesIn(link + ' '.repeat(100_000))).toEqual([]);
});

test('a text with very many mistakes has the first twenty of each kind, and is read in one go', () => {
  const pieces = [
    ...['<img>', '<video>', '<link rel=stylesheet>', '<a href=x>', '<b style="color:red;background:red">', '</p><b>'],
    ...['<b>@a{', '<style>@import "x";</style>', '<style>p{position:x}</style>', '{ check: ignore '],
  ];
  for (const piece of pieces) {
    const found = namesIn(`${link}${piece.repeat(100_000 / piece.length)}`);
    const counts = checkNames.map((name) => found.filter((one) => one.endsWith(` ${name}`)).length);
    expect(Math.max(...counts), piece).toBeLessThanOrEqual(20);
  }
});
