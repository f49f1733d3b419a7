import { beforeAll, describe, expect, test } from 'vitest';
import { isAuthFieldName } from '../../src/config/auth/auth-fields.ts';
import { configFields } from '../../src/management/config-fields.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, managedGateway, ref, sentences } from './management.ts';

let database: TestDatabase;
let token: string;

beforeAll(async () => {
  database = await createAuthDatabase();
  token = await addToken(database);
});

/** A gateway with a fresh allowance of requests. */
async function gateway(
  ...given: Parameters<typeof managedGateway> extends [unknown, unknown, ...infer More] ? More : never
) {
  await database.query('truncate auth.pgreflect_rate_limits, auth.pgreflect_config');
  return managedGateway(database, token, ...given);
}

async function problemOf({ patch }: ManagedGateway, body: unknown): Promise<string> {
  const answer = await patch(body);
  expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
  expect(await database.query('select from auth.pgreflect_config c where c.version > 0')).toEqual([]);
  return answer.body.message;
}

describe('values', () => {
  test.each([
    [{ mailer_otp_length: '6' }, 'mailer_otp_length must be an integer'],
    [{ mailer_otp_length: 6.5 }, 'mailer_otp_length must be an integer'],
    [{ mailer_otp_length: 5 }, 'mailer_otp_length must be a whole number from 6 to 10'],
    [{ mailer_otp_length: 11 }, 'mailer_otp_length must be a whole number from 6 to 10'],
    [{ mailer_otp_exp: null }, 'mailer_otp_exp must not be null'],
    [{ sms_otp_length: null }, 'sms_otp_length must not be null'],
    [{ disable_signup: 'true' }, 'disable_signup must be true or false'],
    [{ disable_signup: 1 }, 'disable_signup must be true or false'],
    [{ site_url: 'app.example' }, 'site_url must be an absolute URL'],
    [{ site_url: 'https://a.example,https://b.example' }, 'site_url must not contain a comma'],
    [{ site_url: ['https://a.example'] }, 'site_url must be a string'],
    [{ site_url: {} }, 'site_url must be a string'],
    [{ sms_provider: 'pigeon' }, expect.stringContaining('sms_provider must be one of')],
    [{ sessions_timebox: -1 }, 'sessions_timebox must be a number of hours, 0 or more'],
    [{ smtp_port: 0 }, 'smtp_port must be a port from 1 to 65535'],
    [{ smtp_sender_name: 'a\r\nBcc: b' }, 'smtp_sender_name must not contain a line break'],
    [{ mailer_subjects_invite: 'a\nb' }, 'mailer_subjects_invite must not contain a line break'],
    [{ mailer_subjects_invite: 'x'.repeat(999) }, 'mailer_subjects_invite must have at most 998 characters'],
    [{ smtp_user: 'a\0b' }, 'smtp_user must not contain a NUL character'],
    [{ smtp_user: 'a\ud800b' }, 'smtp_user must be well-formed Unicode text'],
    [{ saml_external_url: 'a\0b' }, 'saml_external_url must not contain a NUL character'],
    [{ hook_send_sms_enabled: 'yes' }, 'hook_send_sms_enabled must be true or false'],
    [{ hook_send_sms_enabled: true }, 'hook_send_sms_enabled needs hook_send_sms_uri'],
    [{ hook_send_sms_uri: 'http://x.test/' }, expect.stringMatching(/^hook_send_sms_uri must be an https address; /)],
    [
      { hook_send_sms_enabled: true, hook_send_sms_uri: 'https://x.test/' },
      'hook_send_sms_enabled needs hook_send_sms_secrets, which sign its requests',
    ],
    [
      { hook_send_sms_enabled: true, hook_send_sms_uri: 'https://x.test/', hook_send_sms_secrets: 'v1,whsec_short' },
      expect.stringMatching(/^hook_send_sms_secrets must be secrets of the form v1,whsec_BASE64/),
    ],
    [
      { mailer_templates_invite_content: 'x'.repeat(1_000_001) },
      'mailer_templates_invite_content must have at most 1000000 bytes',
    ],
    [
      { mailer_autoconfirm: true, mailer_allow_unverified_email_sign_ins: true },
      'mailer_autoconfirm and mailer_allow_unverified_email_sign_ins cannot both be true',
    ],
  ])('%j is refused', async (body, message) => {
    expect(await problemOf(await gateway(), body)).toEqual(message);
  });

  test.each([
    [{ smtp_port: '587' }, { smtp_port: '587' }],
    [{ smtp_port: 465 }, { smtp_port: '465' }],
    [{ sessions_timebox: 0.5 }, { sessions_timebox: 0.5 }],
    [{ uri_allow_list: 'https://*.example/**,myapp://cb' }, { uri_allow_list: 'https://*.example/**,myapp://cb' }],
    [{ mailer_subjects_invite: 'Grüße 🎉' }, { mailer_subjects_invite: 'Grüße 🎉' }],
  ])('%j is accepted', async (body, stored) => {
    const { patch } = await gateway();
    const answer = await patch(body);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject(stored);
  });

  test('a value that contradicts a stored one is refused as well', async () => {
    const managed = await gateway();
    await managed.patch({ mailer_autoconfirm: true });
    const answer = await managed.patch({ mailer_allow_unverified_email_sign_ins: true });
    // Of the two fields that contradict each other, the client has set this one.
    expect([answer.status, answer.body.problems]).toEqual([
      400,
      [expect.objectContaining({ field: 'mailer_allow_unverified_email_sign_ins', allow_warnings: false })],
    ]);
    expect((await managed.get()).body.mailer_allow_unverified_email_sign_ins).toBe(false);
  });

  test('a malformed pattern of the allow list is refused', async () => {
    expect(await problemOf(await gateway(), { uri_allow_list: 'https://[a-' })).toMatch(/^uri_allow_list /);
  });

  test('all problems are reported at once, in the order of the fields, and nothing is stored', async () => {
    const body = { unheard_of: 1, mailer_otp_length: '6', jwt_exp: -1, smtp_host: 'ok.example', site_url: 'x' };
    expect(await problemOf(await gateway(), body)).toBe(
      'site_url must be an absolute URL; jwt_exp must be a whole number from 0 to 604800; mailer_otp_length must be an integer; ' +
        'Unknown field "unheard_of"',
    );
  });

  test('no field takes a value of another type', async () => {
    const managed = await gateway();
    const wrong = { boolean: 'true', integer: '1', number: '1', string: 7.5, object: '{}' } as const;
    const body = Object.fromEntries(
      [...configFields].map(([name, { row }]) => [
        name,
        wrong[String([row.kind.json.type].flat()[0]) as keyof typeof wrong],
      ]),
    );
    const message = await problemOf(managed, body);
    expect(message.split('; ')).toHaveLength(configFields.size);
  });
});

describe('unknown fields', () => {
  test('unknown fields are refused with the nearest name', async () => {
    expect(await problemOf(await gateway(), { mailer_subject_recovery: 'x', jwt_exp: 60 })).toBe(
      'Unknown field "mailer_subject_recovery" (did you mean "mailer_subjects_recovery"?)',
    );
    expect(await problemOf(await gateway(), { mailer_templates_confirmation: 'x' })).toBe(
      'Unknown field "mailer_templates_confirmation" (did you mean "mailer_templates_confirmation_content"?)',
    );
  });

  test('named like members of JavaScript objects are unknown too', async () => {
    const managed = await gateway();
    const answer = await managed.call({
      method: 'PATCH',
      body: '{"__proto__": {"jwt_exp": 1}, "constructor": 1, "toString": 1}',
    });
    expect(answer.body.message).toBe(
      'Unknown field "__proto__"; Unknown field "constructor"; Unknown field "toString"',
    );
  });

  test('unknown fields are counted rather than listed where there are many', async () => {
    const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`unheard_of_${index}`, 1]));
    const message = await problemOf(await gateway(), body);
    expect(message).toMatch(/; and 49980 more unknown fields$/);
    expect(message.length).toBeLessThan(3000);
  });

  test('unknown fields can be ignored instead, and are named in the header', async () => {
    const { patch } = await gateway({ managementIgnoreUnknownFields: true });
    const answer = await patch({ unheard_of: 1, 'häder\r\nX-Evil: 1': 1, jwt_exp: 60 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-pgreflect-ignored-fields')).toBe('unheard_of,h?der??X-Evil: 1');
    expect(answer.headers.get('x-evil')).toBeNull();
  });

  test('every field of a hosted project is known', () => {
    const some = [
      'passkey_enabled',
      'nimbus_oauth_client_secret',
      'db_max_pool_size_unit',
      'external_zoom_secret',
      'rate_limit_web3',
    ];
    expect(some.filter((name) => !configFields.has(name))).toEqual([]);
    // 237 in Supabase Auth; the ones beyond them are our own.
    expect(configFields.size).toBeGreaterThan(237);
    expect([...configFields.keys()].filter((name) => isAuthFieldName(name) !== !configFields.get(name)?.inert)).toEqual(
      [],
    );
  });
});

describe('templates', () => {
  test('a template that does not parse is refused with the line, and the old one stays', async () => {
    const managed = await gateway();
    expect(await problemOf(managed, { mailer_templates_recovery_content: 'one\ntwo {{ if }}' })).toMatch(
      /^mailer_templates_recovery_content: line 2, column \d+: /,
    );
  });

  test.each([
    [
      '{{ ConfirmationURL }}',
      'line 1, column 4: function "ConfirmationURL" not defined (did you mean .ConfirmationURL?)',
    ],
    [
      '<p>{{ if .Data.name }}{{ if .Token }}a{{ end }}</p>\n',
      'line 1, column 4: `{{ if .Data.name }}` has no {{ end }} (unexpected EOF)',
    ],
    [
      '{{ range .Data.a }}x{{ else }}\n\ny',
      'line 1, column 1: `{{ range .Data.a }}` has no {{ end }} (unexpected EOF)',
    ],
    ['\n{{ define "a" }}x', 'line 2, column 1: `{{ define "a" }}` has no {{ end }} (unexpected EOF)'],
    [
      '<p title="a">\n<a href="{{ .ConfirmationURL }}>Confirm</a></p>',
      /^line 2, column \d+: `<a href="` is never closed: look for a missing quote, > or end tag \(ends in a non-text context: .*\)$/,
    ],
    ['{{ .SiteURL }', 'line 1, column 1: `{{ .SiteURL }` is closed by one brace: write }} (unexpected "}" in operand)'],
    [
      '\n{{ .SiteURL } {{ .Token }}',
      'line 2, column 1: `{{ .SiteURL }` is closed by one brace: write }} (unexpected "}" in operand)',
    ],
    ['{{.SiteURL}', "line 1, column 1: `{{.SiteURL}` is closed by one brace: write }} (bad character U+007D '}')"],
    [
      '<p>\n{{ .Token </p>\n{{ .Email }}',
      'line 2, column 1: `{{ .Token` is never closed: write }} behind it (unexpected "<" in operand)',
    ],
    ['{{/* note\n<p>', 'line 1, column 1: `{{/* note` is never closed: write */}} behind it (unclosed comment)'],
    [
      '{{{ .Token }}}',
      'line 1, column 3: unexpected "{" in command (write an action with two braces on each side: {{ .Name }})',
    ],
    ['{{ if .Token }}{{ endif }}', 'line 1, column 19: function "endif" not defined (write {{ end }})'],
    ['{{ if .Token }}{{ elseif .Email }}', 'line 1, column 19: function "elseif" not defined (write {{ else if … }})'],
    [
      '{{ if eq .Email “de” }}',
      'line 1, column 17: unrecognized character in action: U+201C \'“\' (write straight quotes: "de")',
    ],
    [
      '{{ if eq .Email ‘de’ }}',
      'line 1, column 17: unrecognized character in action: U+2018 \'‘\' (write straight quotes: "de")',
    ],
    [
      "{{ if eq .Email 'de' }}",
      'line 1, column 17: malformed character constant: \'de\' (write text in double quotes: "de")',
    ],
    [
      '{{ .Email\u00a0}}',
      "line 1, column 4: bad character U+00A0 '\u00a0' (it is a no-break space: write a normal one)",
    ],
    [
      '{{ if .Email = "de" }}',
      'line 1, column 14: unexpected "=" in operand (compare with eq, ne, lt, le, gt or ge: {{ if eq .Data.plan "pro" }})',
    ],
    ['{{ if .Data.n > 5 }}', /compare with eq, ne, lt/],
    ['{{ if .Data.n>=5 }}', /compare with eq, ne, lt/],
    ['{{ if .Email != "x" }}', /compare with eq, ne, lt/],
    ['{{ if .Email && .Token }}', /join conditions with and: \{\{ if and /],
    ['{{ if eq .Data.plan &quot;pro&quot; }}', /write plain quotes: "pro", not &quot;/],
    ['{{ if eq .Data.plan &#39;pro&#39; }}', /write plain quotes/],
    ['{{ if .Email || .Token }}', /join conditions with or: \{\{ if or /],
    ['{{ if !.Email }}', /negate with not: \{\{ if not /],
    ['{{name}}', 'line 1, column 3: function "name" not defined (did you mean .Data.name?)'],
    [
      '{{weather}}',
      'line 1, column 3: function "weather" not defined (a variable begins with a dot: {{ .Data.name }})',
    ],
    ['{{ .Data.first-name }}', /write \{\{ index \.Data "first-name" \}\}/],
    ['{{ .Data.tags[0] }}', /write \{\{ index \.Data\.list 0 \}\}/],
    ['{{ .Email | upper }}', /use the value as it is/],
    ['{{ .Email | uppercase }}', /there is no function uppercase/],
    ['{{ if contains "a" .RedirectTo }}a{{ end }}', /there is no such function: compare with eq/],
    ['{{ now }}', /there is no such function/],
    ['{{ .Data.name || "there" }}', /write \{\{ or \.Data\.name "there" \}\}/],
    ['{{ .Data.name | default "there" }}', /write \{\{ or \.Data\.name "there" \}\}/],
    ['{{ /* note */ }}', /write a comment without blanks at its ends: \{\{\/\* note \*\/\}\}/],
    ['{{/if}}', /write \{\{ if … \}\}/],
    ['{{ if &gt; .Data.age 18 }}a{{ end }}', /write gt before the values/],
    ['{{\u200b .Email }}', /it is an invisible character: remove it/],
    ['{{ "de }}', /write a " at its end/],
    ['{{ if .Data.a }}<a href="{{ else }}<b>{{ end }}', /a tag or quote that begins in one branch/],
    ['{{#if name}}', 'line 1, column 3: unexpected "#" in command (write {{ if … }} and {{ end }})'],
    ['<p>{{ .Token }}</p>\n\n<style> p {', /^line 3, column \d+: `<style>` is never closed: /],
  ])('what %j lacks is added to the message of Go, with the line where it is missing', async (content, problem) => {
    const { patch } = await gateway();
    const { status, body } = await patch({ mailer_templates_recovery_content: content });
    expect(status).toBe(400);
    const [, said] = /^mailer_templates_recovery_content: (.*)$/s.exec(body.message) ?? [];
    if (typeof problem === 'string') expect(said).toBe(problem);
    else expect(said).toMatch(problem);
  });

  test('an unclosed attribute is refused in a body and accepted in a subject', async () => {
    const managed = await gateway();
    const text = '<a href="{{ .ConfirmationURL }}>link</a>';
    expect(await problemOf(managed, { mailer_templates_recovery_content: text })).toMatch(
      /^mailer_templates_recovery_content: /,
    );
    expect((await managed.patch({ mailer_subjects_recovery: text })).status).toBe(200);
  });

  test('with subjects escaped as HTML they are checked as HTML', async () => {
    const text = '<a href="{{ .ConfirmationURL }}>link</a>';
    const body = { mailer_subject_html_escape: true, mailer_subjects_recovery: text };
    expect(await problemOf(await gateway(), body)).toMatch(/^mailer_subjects_recovery: /);
  });

  test('a switch under which a template in force would fail is refused, unless a right one comes with it', async () => {
    const { patch } = await gateway();
    const text = '<a href="{{ .ConfirmationURL }}>link</a>';
    await patch({ mailer_subjects_recovery: text });
    const escaping = { mailer_subject_html_escape: true };
    expect(await patch(escaping)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^mailer_subjects_recovery, which is in force, would fail: /) },
    });
    expect((await patch({ ...escaping, mailer_subjects_recovery: 'Hello' })).status).toBe(200);
    // The switch is off again by its default, so the subject is not read as HTML.
    const back = { mailer_subject_html_escape: null, mailer_subjects_recovery: text };
    expect((await patch(back)).status).toBe(200);
  });

  test('an address list whose applications no link may have warns of the templates in force, each time it grows', async () => {
    const { patch, gateway: running } = await gateway();
    const content = '<a href="{{ .RedirectTo }}?token_hash={{ .TokenHash }}">Open</a>';
    const translations = { de: { content } };
    const texts = {
      mailer_templates_recovery_content: content,
      mailer_templates_magic_link_translations: translations,
    };
    expect((await patch(texts)).headers.get('x-template-warnings')).toBeNull();
    const warningsOf = async (change: object) => {
      const { status, headers } = await patch(change);
      expect(status).toBe(200);
      return headers.get('x-template-warnings');
    };
    const fix =
      'a redirect to com.acme.app:// becomes #ZgotmplZ here: add com.acme.app to mailer_extra_url_schemes [deep-link]';
    const warned = [
      `mailer_templates_recovery_content, which is in force: line 1, column 10: ${fix}`,
      `mailer_templates_magic_link_translations, which is in force: de, content: line 1, column 10: ${fix}`,
    ];
    const listed = await warningsOf({ uri_allow_list: 'https://app.test/**,com.acme.app://**' });
    expect(listed?.split('; ').sort()).toEqual([...warned].sort());
    for (const warning of warned)
      expect(running.observations).toContainEqual({ kind: 'warning', message: `Auth configuration: ${warning}` });
    expect(await warningsOf({ uri_allow_list: 'com.acme.app://**' })).toBeNull();
    expect(await warningsOf({ mailer_extra_url_schemes: 'com.acme.app' })).toBeNull();
    expect((await warningsOf({ mailer_extra_url_schemes: null }))?.split('; ')).toHaveLength(2);
  });

  test('a loop that never ends is refused, and the answer comes soon', async () => {
    const content = '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}';
    expect(await problemOf(await gateway(), { mailer_templates_recovery_content: content })).toMatch(
      /^mailer_templates_recovery_content: /,
    );
  });

  test('a template that needs metadata which some users lack is accepted', async () => {
    const { patch } = await gateway();
    const content = '{{ index .Data.teams 0 }} {{ .Data.company.name }} <a href="{{ .ConfirmationURL }}">go</a>';
    const answer = await patch({ mailer_templates_recovery_content: content });
    expect([answer.status, answer.headers.get('x-template-warnings')]).toEqual([200, null]);
  });

  test('a body that leads nowhere, as a text part, is stored with a warning, unless the client refuses that; so is a variable that is always empty', async () => {
    const { patch, call, gateway: running } = await gateway();
    const nowhere =
      'the email shows none of .ConfirmationURL, .TokenHash, .Token, so recipients cannot continue [no-link]';
    const change = {
      mailer_templates_recovery_content: 'Hello {{ .NewEmail }}',
      mailer_templates_recovery_text: 'Hello',
      mailer_templates_password_changed_notification_content: 'Changed for {{ .Email }}',
      mailer_notifications_password_changed_enabled: true,
      mailer_subjects_invite: '{{ .Provider }}',
    };
    const path = `/v1/projects/${ref}/config/auth?allow_warnings=false`;
    const refused = await call({ method: 'PATCH', path, body: JSON.stringify(change) });
    const field = 'mailer_templates_recovery_content';
    const problem = { message: `${field}: ${nowhere}`, field, reason: nowhere, allow_warnings: true };
    expect([refused.status, refused.body.problems]).toEqual([400, [problem]]);
    const answer = await patch(change);
    expect(answer).toMatchObject({ status: 200, body: change });
    expect(running.observations).toContainEqual({ kind: 'warning', message: `Auth configuration: ${problem.message}` });
    expect(answer.headers.get('x-template-warnings')?.split('; ').sort()).toEqual([
      'mailer_subjects_invite: line 1, column 4: .Provider is always empty in this email [empty-variable]',
      'mailer_templates_recovery_content: line 1, column 10: .NewEmail is always empty in this email [empty-variable]',
      problem.message,
      `mailer_templates_recovery_text: ${nowhere}`,
    ]);
  });

  test.each([
    ['{{ if eq .Data.locale "de" }}<a href="{{ .ConfirmationURL }}">Los</a>{{ else }}<p>Hi</p>{{ end }}', [[1, 7]]],
    ['<p>\n{{ if .Data.a }}<p>Hi</p>{{ else if .Data.b }}{{ .Token }}{{ else }}{{ .TokenHash }}{{ end }}', [[2, 7]]],
    ['{{ if .Data.a }}{{ .Token }}{{ else if .Data.b }}{{ .Token }}\n{{ else }}Hi{{ end }}', [[1, 40]]],
    ['{{ if .Data.a }}{{ if .Data.b }}{{ .Token }}{{ else }}Hi{{ end }}{{ else }}{{ .Token }}{{ end }}', [[1, 23]]],
    ['{{ with .Data.name }}Hi {{ . }} {{ $.Token }}{{ else }}Hi{{ end }}', [[1, 9]]],
    ['{{ define "a" }}{{ .Token }}{{ end }}{{ if .Data.a }}{{ template "a" . }}{{ else }}Hi{{ end }}', [[1, 44]]],
    ['{{ if .Data.a }}Hi{{ else }}{{ .Token }}{{ end }}', [[1, 7]]],
    // One that has it in the words around, in each branch, or where there is only one branch.
    ['{{ if .Data.a }}<a href="{{ .ConfirmationURL }}">Los</a>{{ else }}Hi{{ end }} {{ .Token }}', []],
    ['{{ if .Data.a }}{{ .Token }}{{ else }}<a href="{{ .ConfirmationURL }}">Go</a>{{ end }}', []],
    ['{{ with .Data.name }}Hi {{ . }}{{ else }}Hi{{ end }} {{ .Token }}', []],
    ['{{ if .Data.de }}{{ .Token }}{{ end }}{{ if .Data.en }}{{ .Token }}{{ end }}', []],
  ])('%s is warned of where one branch alone lets recipients continue', async (content, places) => {
    const { call } = await gateway();
    const answer = await call({
      method: 'PATCH',
      // The built-in texts are English alone, so no translations end.
      body: JSON.stringify({ mailer_templates_recovery_content: content, mailer_compatible: true }),
      headers: { prefer: 'return=representation; warnings' },
    });
    expect(answer.status).toBe(200);
    expect(sentences(answer.body.warnings)).toEqual(
      places.map(
        ([line, column]) =>
          `mailer_templates_recovery_content: line ${line}, column ${column}: a branch uses none of .ConfirmationURL, .TokenHash, .Token, and another does, so some recipients cannot continue [uneven-branches]`,
      ),
    );
  });

  test.each([
    ['{{ if gt .Data.plan 3.0 }}Hi{{ end }}', ['line 1, column 7: error calling gt: invalid type for comparison']],
    ['{{ .Data.age | le 18.0 }}', ['line 1, column 16: error calling le: invalid type for comparison']],
    ['{{ if eq .Data.age 18 }}Hi{{ end }}', ['line 1, column 7: error calling eq: incompatible types for comparison']],
    [
      '{{ range .Data.tags }}\n{{ gt $.Data.age 3.0 }}{{ lt . "b" }}{{ eq . true }}{{ end }}',
      ['line 2, column 41: error calling eq: incompatible types for comparison: string and bool'],
    ],
    ['{{ range $i := 3 }}{{ gt $.Data.age 3.0 }}{{ end }}', ['line 1, column 23: error calling gt: invalid type']],
    // What is asked for first, and what prints nothing, is not a comparison that misses someone.
    ['{{ if and .Data.plan (gt .Data.plan 3.0) }}Hi{{ end }}', []],
    ['{{ if eq .Data.plan "pro" }}Hi{{ end }}{{ index .Data.teams 0 }}', []],
    ['{{/* check: ignore comparison */}}{{ if gt .Data.plan 3.0 }}Hi{{ end }}', []],
  ])('%s is warned of where a comparison is never true for some users', async (condition, said) => {
    const { patch } = await gateway();
    const content = `${condition}<a href="{{ .ConfirmationURL }}">go</a>`;
    const { status, headers } = await patch({ mailer_templates_recovery_content: content, mailer_compatible: true });
    expect(status).toBe(200);
    const warnings = headers.get('x-template-warnings')?.split('; ') ?? [];
    expect(warnings).toEqual(
      said.map((one) => expect.stringMatching(`^mailer_templates_recovery_content: ${one}.* \\[comparison\\]$`)),
    );
  });

  test.each([
    ['ConfirmURL', '.ConfirmationURL'],
    ['ConfirmationLink', '.ConfirmationURL'],
    ['action_url', '.ConfirmationURL'],
    ['ResetLink', '.ConfirmationURL'],
    ['Code', '.Token'],
    ['hashed_token', '.TokenHash'],
    ['UserEmail', '.Email'],
    ['BaseURL', '.SiteURL'],
    ['RedirectURL', '.RedirectTo'],
    ['FirstName', '.Data.name'],
    ['UserMetadata', '.Data'],
    ['Weather', null],
  ])('%s, as other services call it, is warned of with its name here: %s', async (name, meant) => {
    const template = `<p>{{ .${name} }}</p><a href="{{ .ConfirmationURL }}">go</a>`;
    const { call } = await gateway();
    const body = JSON.stringify({ mailer_templates_recovery_content: template });
    const { headers } = await call({ method: 'PATCH', body });
    const guess = meant === null ? '' : ` (did you mean ${meant}?)`;
    expect(headers.get('x-template-warnings')).toBe(
      `mailer_templates_recovery_content: line 1, column 7: .${name} is always empty in this email${guess} [empty-variable]`,
    );
  });

  test('a mistyped variable is warned of with its right name: in the header, in the log, and in the answer if asked for', async () => {
    const { call, gateway: running } = await gateway();
    const change = {
      mailer_templates_recovery_content: '<p>{{ .Emial }}</p><a href="{{ .ConfirmationURL }}">go</a>',
    };
    const patch = (headers: Record<string, string>) => call({ method: 'PATCH', body: JSON.stringify(change), headers });
    const warning =
      'mailer_templates_recovery_content: line 1, column 7: .Emial is always empty in this email (did you mean .Email?) [empty-variable]';
    const reason = '.Emial is always empty in this email (did you mean .Email?) [empty-variable]';
    const told = { message: warning, field: 'mailer_templates_recovery_content', line: 1, column: 7, reason };
    const plain = await patch({});
    expect(plain.headers.get('x-template-warnings')).toBe(warning);
    expect(plain.body).not.toHaveProperty('warnings');
    expect(running.observations).toContainEqual({ kind: 'warning', message: `Auth configuration: ${warning}` });
    const asked = await patch({ prefer: 'return=representation; warnings' });
    expect(asked.body).toMatchObject({ ...change, warnings: [told] });
    expect(asked.headers.get('preference-applied')).toBe('return=representation; warnings');
    const right = await call({
      method: 'PATCH',
      body: JSON.stringify({ jwt_exp: 60 }),
      headers: { prefer: 'respond-async, return=representation;warnings' },
    });
    expect(right.body.warnings).toEqual([]);
  });

  test.each([
    ['<a href="{{ .ConfirmationURl }}">go</a>', '.ConfirmationURl', 1, 13],
    [`<p>{{ .Token }}</p>\n<a\nhref='{{ .confirmationURL | html }}'>go</a>`, '.confirmationURL', 3, 10],
    ['<a href={{ $.Url }}>{{ .Token }}</a>', '.Url', 1, 12],
    [
      '{{ if eq .Data.locale "de" }}<a href="{{ .URL }}">los</a>{{ else }}{{ .ConfirmationURL }}{{ end }}',
      '.URL',
      1,
      42,
    ],
    ['{{ define "b" }}<a href="{{ . }}">go</a>{{ end }}{{ .Token }}{{ template "b" .Link }}', '.Link', 1, 29],
    ['{{ define "b" }}<a href="{{ .Link }}">go</a>{{ end }}{{ .Token }}{{ template "b" . }}', '.Link', 1, 29],
    ['{{ with . }}<a href="{{ .NewEmail }}">{{ .Token }}</a>{{ end }}', '.NewEmail', 1, 25],
  ])(
    '%s is stored with a warning, or refused for who asks: its link would be empty',
    async (content, name, line, column) => {
      const { call, get } = await gateway();
      const patch = (query: string) =>
        call({
          method: 'PATCH',
          path: `/v1/projects/${ref}/config/auth${query}`,
          body: JSON.stringify({ mailer_templates_recovery_content: content }),
        });
      const refused = await patch('?allow_warnings=false');
      expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
      expect(refused.body.message).toContain(
        `line ${line}, column ${column}: the link would be empty: ${name} is no variable`,
      );
      expect(refused.body.message).toContain('leave out ?allow_warnings=false');
      expect((await get()).body.mailer_templates_recovery_content).not.toBe(content);
      for (const query of ['', '?allow_warnings=true', '?allow_warnings']) {
        const stored = await patch(query);
        expect(stored).toMatchObject({ status: 200, body: { mailer_templates_recovery_content: content } });
        expect(stored.headers.get('x-template-warnings')).toContain('the link would be empty');
      }
      await call({ method: 'PATCH', body: '{"mailer_templates_recovery_content": null}' });
    },
  );

  test('a link whose address comes from metadata, or is a part of it, is not refused, nor are notices', async () => {
    const { patch } = await gateway();
    const links = [
      '<a href="{{ .Data.link }}">{{ .Token }}</a>',
      '<a href="{{ .SiteURL }}/confirm?token_hash={{ .TokenHash }}">go</a>',
      '<a href="/{{ .Nothing }}">{{ .Token }}</a>',
      '<p href-like="{{ .Nothing }}" title="{{ .Nothing }}">{{ .Token }}</p>',
      '{{ if .Nothing }}<a href="{{ .Nothing }}">go</a>{{ end }}{{ .Token }}',
      '{{ with .Nothing }}<a href="{{ . }}">go</a>{{ end }}{{ .Token }}',
      '{{ range .Data.links }}<a href="{{ .Nothing }}">go</a>{{ end }}{{ .Token }}',
      '{{ define "a" }}{{ template "a" .Nothing }}{{ .Token }}{{ end }}{{ if .Nothing }}{{ template "a" . }}{{ end }}{{ .Token }}',
    ];
    for (const content of links) expect((await patch({ mailer_templates_recovery_content: content })).status).toBe(200);
    const notice = { mailer_templates_password_changed_notification_content: '<a href="{{ .Nothing }}">x</a>' };
    expect((await patch(notice)).status).toBe(200);
  });

  test('the template of text messages is checked too', async () => {
    expect(await problemOf(await gateway(), { sms_template: '{{ .Code' })).toMatch(
      /^sms_template: line 1, column \d+: /,
    );
  });
});
