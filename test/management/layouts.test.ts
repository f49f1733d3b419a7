/**
 * Layouts and partials in the configuration: what is checked when they are stored, and what their change does to emails.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from './management.ts';

let database: TestDatabase;
let managed: ManagedGateway;

const configPath = `/v1/projects/${ref}/config/auth`;

beforeAll(async () => {
  database = await createAuthDatabase();
});

beforeEach(async () => {
  await database.query('truncate auth.pgreflect_config, auth.pgreflect_config_versions, auth.pgreflect_rate_limits');
  managed = await managedGateway(database, await addToken(database));
});

const message = async (change: object): Promise<string> => {
  const { status, body } = await managed.patch(change);
  return status === 200 ? 'stored' : body.message;
};

const partials = { button: '<a href="{{ . }}">Go</a>', sign: '<p>{{ .Brand.Name }}</p>' };
const withButton = '<p>{{ template "button" .ConfirmationURL }}</p>';

describe('partials', () => {
  test('partials are an object, which is answered as it was stored, and templates may use them', async () => {
    const change = { mailer_partials: partials, mailer_templates_recovery_content: withButton };
    expect((await managed.patch(change)).body).toMatchObject(change);
    expect((await managed.get()).body.mailer_partials).toEqual(partials);
    const version = (await managed.get()).headers.get('etag');
    expect((await managed.patch({ mailer_partials: { ...partials } })).headers.get('etag')).toBe(version);
  });

  test.each([
    ['text', 'mailer_partials must be a JSON object'],
    [['a'], 'mailer_partials must be a JSON object'],
    [{ a: 5 }, 'mailer_partials must have a text under "a"'],
    [{ content: 'a' }, 'mailer_partials has the name "content"'],
    [{ 'a b': 'a' }, 'mailer_partials has the name "a b"'],
    [{ a: 'a\0' }, 'mailer_partials must have well-formed Unicode text without NUL characters'],
    [{ a: '\n{{ if }}' }, 'mailer_partials: "a", line 2, column 7: missing value for if'],
    [{ a: '{{ template "b" . }}', b: '{{ template "a" . }}' }, 'the partial "b" contains itself'],
    [Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`p${n}`, ''])), 'must have at most 100 partials'],
    [{ a: 'x'.repeat(200_000) }, 'mailer_partials must have at most 200000 bytes'],
  ])('%j are refused: %s', async (given, expected) => {
    expect(await message({ mailer_partials: given })).toContain(expected);
  });

  test('with a comparison that is false for some users are no warning of the emails that use them', async () => {
    const doubtful = { sign: '{{ if gt .Data.plan 1.0 }}Pro{{ end }}' };
    const content = '<p>{{ .ConfirmationURL }} {{ template "sign" . }}</p>';
    const change = { mailer_compatible: true, mailer_partials: doubtful, mailer_templates_recovery_content: content };
    const { status, headers } = await managed.patch(change);
    expect([status, headers.get('x-template-warnings')]).toEqual([200, null]);
  });

  test('a template that uses an unknown one is refused with its place', async () => {
    const content = '<p>{{ .ConfirmationURL }}</p>\n{{ template "buton" . }}';
    expect(await message({ mailer_partials: partials, mailer_templates_recovery_content: content })).toBe(
      'mailer_templates_recovery_content: line 2, column 13: no such template "buton"',
    );
  });

  test('a subject or text part that uses an unknown one is refused too', async () => {
    const values = { mailer_partials: partials, mailer_subjects_recovery: 'A {{ template "sing" . }}' };
    expect(await message(values)).toBe('mailer_subjects_recovery: line 1, column 15: no such template "sing"');
    expect(await message({ ...values, mailer_subjects_recovery: 'A {{ template "sign" . }}' })).toBe('stored');
    expect(await message({ mailer_partials: null })).toContain(
      'mailer_subjects_recovery, which is in force, would fail',
    );
    const text = '{{ if .Data.x }}\n{{ template "bye" . }}{{ end }}{{ .ConfirmationURL }}';
    expect(await message({ mailer_templates_recovery_text: text })).toContain(
      'line 2, column 13: no such template "bye"',
    );
  });

  test('a change that breaks templates is refused, and names them all', async () => {
    const templates = { mailer_templates_recovery_content: withButton, mailer_templates_invite_content: withButton };
    expect(await message({ ...templates, mailer_partials: partials })).toBe('stored');
    const gone = await message({ mailer_partials: { sign: partials.sign } });
    for (const field of Object.keys(templates))
      expect(gone).toContain(`${field}, which is in force, would fail: line 1, column 16: no such template "button"`);
    expect(await message({ mailer_partials: { ...partials, button: '<a href="' } })).toMatch(
      /^mailer_templates_invite_content, which is in force, would fail: .*; mailer_templates_recovery_content, /,
    );
    expect((await managed.get()).body.mailer_partials).toEqual(partials);
  });

  test('a faulty layout is told once, and not as a fault of the emails that change with it', async () => {
    const changed = { mailer_templates_recovery_content: '{{ .Token }}', mailer_templates_invite_content: '{{ if }}' };
    expect(await message({ ...changed, mailer_layout_content: '<p>none</p>' })).toBe(
      'mailer_templates_invite_content: line 1, column 7: missing value for if; mailer_layout_content: the layout must use {{ template "content" . }} exactly once',
    );
  });

  test('a change that takes the link or code out of an email is warned of, or refused for who asks', async () => {
    const content = '<p>{{ template "button" . }}</p>';
    const button = '<a href="{{ .ConfirmationURL }}">Go</a>';
    const texts = { mailer_templates_recovery_content: content, mailer_partials: { button } };
    expect(await message(texts)).toBe('stored');
    const lost =
      'mailer_templates_recovery_content, which is in force, would fail: the email shows none of .ConfirmationURL, .TokenHash, .Token, so recipients cannot continue [no-link]';
    const without = { mailer_partials: { button: '<a href="{{ .SiteURL }}">Go</a>' } };
    const path = `${configPath}?allow_warnings=false`;
    const refused = await managed.call({ method: 'PATCH', path, body: JSON.stringify(without) });
    expect(refused.body.message).toBe(`${lost}. To store it all the same, leave out ?allow_warnings=false`);
    const { status, headers } = await managed.call({ method: 'PATCH', body: JSON.stringify(without) });
    expect([status, headers.get('x-template-warnings')]).toEqual([200, lost]);
    // What was allowed once does not keep others from being changed.
    expect(await message({ mailer_partials: { button: '<a href="{{ .SiteURL }}">There</a>' } })).toBe('stored');
  });

  test('a translation may use them, and is checked with them', async () => {
    const de = { content: '<p>Los: {{ template "button" .ConfirmationURL }}</p>' };
    expect(await message({ mailer_partials: partials, mailer_templates_recovery_translations: { de } })).toBe('stored');
    expect(await message({ mailer_partials: null })).toMatch(
      /^mailer_templates_recovery_translations, which is in force, would fail: .*no such template "button"$/,
    );
  });

  test('a link in one counts as the link of the email', async () => {
    expect(await message({ mailer_partials: partials, mailer_templates_recovery_content: withButton })).toBe('stored');
  });
});

describe('the layout', () => {
  test('the layout is checked by itself and with the emails in force', async () => {
    expect(await message({ mailer_layout_content: '<p>\n{{ template "content" . }}' })).toBe('stored');
    expect(await message({ mailer_layout_content: '<p>hello</p>' })).toBe(
      'mailer_layout_content: the layout must use {{ template "content" . }} exactly once',
    );
    expect(await message({ mailer_layout_content: '{{ template "content" . }}\n{{ if }}' })).toBe(
      'mailer_layout_content: line 2, column 7: missing value for if',
    );
    expect(await message({ mailer_layout_content: '<b{{ template "content" . }}' })).toContain(
      'mailer_layout_content: ',
    );
  });

  test.each([
    ['<title>{{ template "content" . }}</title>', 'must use {{ template "content" . }} as text between tags'],
    ['<!-- {{ template "content" . }} -->', 'must use {{ template "content" . }} as text between tags'],
    ['<noscript>{{ template "content" . }}</noscript>', 'must not use {{ template "content" . }} in <noscript>'],
    ['<p><template><p>{{ template "content" . }}</template>', 'must not use {{ template "content" . }} in <template>'],
    ['<select></select><video src="a>b">{{ template "content" . }}</video>', 'must not use {{ template "content" . }} in <video>'],
  ])('the layout is refused where nobody would see the email: %s', async (layout, why) => {
    expect(await message({ mailer_layout_content: layout })).toContain(`mailer_layout_content: the layout ${why}`);
  }); // biome-ignore format: a table

  test('the layout may have such elements elsewhere', async () => {
    const layout =
      '<svg/><noscript></noscript><style>"<svg>"</style><!-- <svg> -->{{ template "content" . }}<svg></svg>';
    expect(await message({ mailer_layout_content: layout })).toBe('stored');
  });

  test('the layout is in previews and in the built-in bodies, which are answered without the page that it replaces', async () => {
    await managed.patch({ mailer_layout_content: '<html lang="en"><i>{{ template "content" . }}</i></html>' });
    const { body } = await managed.get();
    expect(body.mailer_templates_recovery_content).toMatch(/^<h1 /);
    const preview = await managed.call({
      method: 'POST',
      path: `${configPath}/emails/render`,
      body: JSON.stringify({ email: 'recovery', content: '<p>{{ .Token }}</p>' }),
    });
    expect(preview.body.content.output).toBe('<html lang="en"><i><p>123456</p></i></html>');
  });
});
