/**
 * What people see of an email before they store it, and of what was stored before: drafts rendered and tried, versions listed.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { emailKindNames } from '../../src/config/auth/email-kinds.ts';
import { defaultTemplates } from '../support/default-templates.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer, trustTestAuthority } from '../support/smtp-server.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from './management.ts';

let database: TestDatabase;
let token: string;
let managed: ManagedGateway;

const base = `/v1/projects/${ref}/config/auth`;
const post = (path: string, body: unknown) =>
  managed.call({ method: 'POST', path: `${base}${path}`, body: JSON.stringify(body) });
const get = (path: string) => managed.call({ path: `${base}${path}` });

beforeAll(async () => {
  trustTestAuthority();
  database = await createAuthDatabase();
});

beforeEach(async () => {
  await database.query(
    'truncate auth.pgreflect_config, auth.pgreflect_config_versions, auth.pgreflect_rate_limits, auth.pgreflect_captured_email',
  );
  token = await addToken(database);
  managed = await managedGateway(database, token, {
    allowPrivateNetworks: true,
    authValues: { site_url: 'https://shop.test' },
  });
});

describe('the list of emails', () => {
  test('the list of emails has all fourteen, with the names of their fields, their variables and their built-in texts', async () => {
    const { body } = await get('/emails');
    expect(body.map(({ email }: { email: string }) => email)).toEqual(emailKindNames);
    const [config, names] = [
      (await managed.get()).body,
      body.flatMap((row: Record<string, string>) => [
        row.subjectField,
        row.contentField,
        row.enabledField ?? row.subjectField,
      ]),
    ];
    expect(names.filter((name: string) => !(name in config))).toEqual([]);
    expect(body.filter(({ group }: { group: string }) => group === 'notification')).toHaveLength(8);
    const recovery = body.find(({ email }: { email: string }) => email === 'recovery');
    expect(recovery).toMatchObject({ enabledField: null, defaults: defaultTemplates.recovery });
    expect(Object.keys(recovery.sample).sort()).toEqual([...recovery.variables].sort());
    expect(recovery.sample.SiteURL).toBe('https://shop.test');
  });
});

describe('rendering a draft', () => {
  test.each([
    [
      '{{ if gt .Data.age 18 }}a{{ end }}',
      'comparison: float and int (numbers of the metadata have decimals: write 18.0)',
    ],
    ['{{ if eq .Data.age "18" }}a{{ end }}', 'comparison: float and string (only a text equals a text)'],
    [
      '{{ if eq .Data.age }}a{{ end }}',
      'missing argument for comparison (write two values: {{ if eq .Data.plan "pro" }})',
    ],
  ])('rendering a draft says what to write where %s compares values of two kinds', async (condition, said) => {
    const { body } = await post('/emails/render', {
      email: 'recovery',
      subject: '',
      content: `{{ .Token }}${condition}`,
    });
    const [{ message }] = body.content.warnings;
    expect(message.slice(-said.length)).toBe(said);
  });

  test('warns once of a comparison that is false for users without the metadata, in the layout and partials too', async () => {
    const { body } = await post('/emails/render', {
      email: 'recovery',
      content: '{{ template "row" . }}{{ range .Data.tags }}{{ if gt $.Data.plan 1.0 }}{{ end }}{{ end }}{{ .Token }}',
      layout: '\n{{ if lt .Data.plan 1.0 }}x{{ end }}{{ template "content" . }}',
      partials: { row: '{{ if ge .Data.plan 1.0 }}x{{ end }}' },
    });
    const hint = 'invalid type for comparison (where it may be missing: {{ if and .Data.age (gt .Data.age 18.0) }})';
    const found = { name: 'comparison', refused: false };
    expect(body.content.warnings).toMatchObject([
      { ...found, line: null, message: `in the layout, line 2: error calling lt: ${hint}` },
      { ...found, line: null, message: `in the partial "row", line 1: error calling ge: ${hint}` },
      { ...found, line: 1, column: 51, message: `error calling gt: ${hint}` },
    ]);
  });

  test('rendering a draft gives subject, body and text with sample data, or with data of the request', async () => {
    const draft = {
      email: 'recovery',
      subject: 'Hello {{ .Data.name }}',
      content: '<p>{{ .Email }} & {{ .Token }}</p>',
    };
    const sample = await post('/emails/render', draft);
    expect(sample.status).toBe(200);
    expect(sample.body).toMatchObject({
      subject: { output: 'Hello Ada Lovelace', fault: null },
      text: 'ada@example.com & 123456',
    });

    const data = { Data: { name: '<script>alert(1)</script>' }, Email: 'a"b@c.test' };
    const chosen = await post('/emails/render', {
      ...draft,
      content: '<p title="{{ .Email }}">{{ .Data.name }}</p>',
      data,
    });
    expect(chosen.body.content.output).toBe('<p title="a&#34;b@c.test">&lt;script&gt;alert(1)&lt;/script&gt;</p>');
    expect(chosen.body.subject.output).toBe('Hello <script>alert(1)</script>');
  });

  test('rendering a draft shows the text part: made from the body, or from its own template, which is checked like the others', async () => {
    const content = '<p>Go <a href="{{ .ConfirmationURL }}">there</a></p>';
    const made = await post('/emails/render', { email: 'invite', content });
    expect(made.body).toMatchObject({ text: expect.stringMatching(/^Go there\n<http:\/\/.*>$/), textPart: null });
    const own = await post('/emails/render', { email: 'invite', content, text: 'Hi {{ .Data.name }} & {{ .Toke }}' });
    expect(own.body.text).toBe('Hi Ada Lovelace & ');
    expect(own.body.textPart.warnings[0].message).toContain('.Toke is always empty in this email');
    const faulty = await post('/emails/render', { email: 'invite', content, text: '{{ if }}' });
    expect(faulty.body).toMatchObject({ text: null, textPart: { fault: { line: 1 } } });
    const refused = await managed.patch({ mailer_templates_invite_text: '\n{{ if }}' });
    expect(refused.body.message).toMatch(/^mailer_templates_invite_text: line 2, column \d+: /);
  });

  test('rendering a draft shows the email in a language, and sends a test in it', async () => {
    await managed.patch({ mailer_templates_recovery_translations: { sv: { subject: 'Lösenord {{ .Locale }}' } } });
    const german = await post('/emails/render', { email: 'recovery', locale: 'de-ch' });
    expect(german.body.subject.output).toBe('Setze dein Passwort zurück');
    expect(german.body.content.output).toContain('<html lang="de"');
    const swedish = await post('/emails/render', { email: 'recovery', locale: 'sv-FI' });
    expect(swedish.body.subject.output).toBe('Lösenord sv-FI');
    const draft = { email: 'recovery', locale: 'sv', content: '<p>Hej {{ .Locale }}</p>', to: 'trial@x.test' };
    expect((await post('/emails/send', draft)).status).toBe(200);
    const [sent] = await database.query(
      'select subject, html from auth.pgreflect_captured_email order by id desc limit 1',
    );
    expect(sent).toMatchObject({ subject: '[Test] Lösenord sv', html: expect.stringContaining('Hej sv') });
    const refused = await post('/emails/render', { email: 'recovery', locale: 'not a tag' });
    expect([refused.status, refused.body.message]).toEqual([400, 'locale must be a language tag such as de or pt-BR']);
    const { body } = await get('/emails');
    const { locales, translationsField } = body.find(({ email }: { email: string }) => email === 'recovery');
    expect([locales, translationsField]).toEqual([
      ['sv', 'en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ja'],
      'mailer_templates_recovery_translations',
    ]);
  });

  test('rendering a draft says where a fault is, and what is valid but most likely not meant', async () => {
    const content = '<p>\n  {{ if .Token }}x';
    const { body } = await post('/emails/render', { email: 'recovery', subject: '{{ .Token', content });
    expect(body.subject).toEqual({
      output: null,
      fault: {
        phase: 'parse',
        code: 'syntax',
        name: null,
        line: 1,
        column: 1,
        length: 9,
        piece: null,
        message: '`{{ .Token` is never closed: write }} behind it (unclosed action)',
      },
      warnings: [],
    });
    expect(body.content.fault).toMatchObject({ phase: 'parse', line: 2, column: 3, length: 15 });
    expect(body.content.fault.message).toBe('`{{ if .Token }}` has no {{ end }} (unexpected EOF)');
    expect(body.text).toBeNull();

    const warned = await post('/emails/render', { email: 'recovery', content: '<p>{{ .NewEmail }}</p>' });
    expect(warned.body.content.warnings[0]).toEqual({
      message: '.NewEmail is always empty in this email',
      name: 'empty-variable',
      refused: false,
      line: 1,
      column: 7,
      length: '.NewEmail'.length,
    });
  });

  test('rendering a draft stops a template that would never end', async () => {
    const loop = '{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}';
    for (const content of [loop, '{{ range 1000000000 }}x{{ end }}']) {
      const { status, body } = await post('/emails/render', { email: 'invite', content });
      expect(status).toBe(200);
      expect(body.content.fault.code).toMatch(/_limit$/);
    }
  });

  test('rendering a draft shows the text in force, and the built-in one for an empty text', async () => {
    await managed.patch({ mailer_subjects_invite: 'Stored' });
    expect((await post('/emails/render', { email: 'invite' })).body.subject.output).toBe('Stored');
    const { body } = await post('/emails/render', { email: 'invite', subject: '' });
    expect(body.subject.output).toBe("You've been invited");
  });

  test('rendering a draft refuses invalid members of the request by name', async () => {
    const email = 'recovery';
    const cases: readonly [unknown, string][] = [
      [[], 'The body must be a JSON object'],
      [{}, 'email must be one of confirmation, '],
      [{ email: 'toString' }, 'email must be one of confirmation, '],
      [{ email, content: 5 }, 'content must be a string'],
      [{ email, data: [] }, 'data must be a JSON object'],
      [{ email, data: { NewEmail: 'x' } }, 'data: the email recovery has no variable "NewEmail"'],
      [{ email, data: { Email: 5 } }, 'data.Email must be a string'],
      [{ email, data: { Data: null } }, 'data.Data must be a JSON object'],
    ];
    for (const [body, message] of cases) {
      const reply = await post('/emails/render', body);
      expect(reply.status).toBe(400);
      expect(reply.body.message).toContain(message);
    }
  });

  test('rendering a draft has a rate limit of its own, so that typing does not use up that of other requests', async () => {
    const subjects = Array.from({ length: 61 }, (_, index) => `${index}`);
    for (const subject of subjects) {
      expect((await post('/emails/render', { email: 'invite', subject })).status).toBe(200);
    }
    expect((await managed.get()).status).toBe(200);
  });

  test('rendering a draft is for holders of an access token alone', async () => {
    for (const key of [anonKey, serviceKey, 'wrong']) {
      const reply = await managed.call({
        method: 'POST',
        path: `${base}/emails/render`,
        token: `Bearer ${key}`,
        body: '{}',
      });
      expect(reply.status).toBe(401);
    }
    expect((await managed.call({ method: 'PUT', path: `${base}/emails/render` })).headers.get('allow')).toBe(
      'POST, OPTIONS',
    );
  });
});

describe('a test email', () => {
  test('a test email sends the draft and stores nothing', async () => {
    const draft = {
      email: 'magic_link',
      subject: 'Trial {{ .Token }}',
      content: '<p>Hi {{ .Data.name }}</p><a href="{{ .ConfirmationURL }}">Go</a>',
    };
    const { status } = await post('/emails/send', { ...draft, to: 'me@mail.test' });
    expect(status).toBe(200);
    const headers = { authorization: `Bearer ${token}` };
    const emails = await (await fetch(`${managed.gateway.url}/studio/inbox.json`, { headers })).json();
    const link = '/auth/v1/verify?token=test-email&amp;type=magiclink&amp;redirect_to=https://shop.test';
    expect(emails).toMatchObject([{ to: 'me@mail.test', subject: '[Test] Trial 123456' }]);
    expect(emails[0].html).toMatch(/^<p>Hi Ada Lovelace<\/p><a href="http:\/\/[^/]+\/auth/);
    expect(emails[0].html).toContain(`${link}">Go</a>`);
    expect((await managed.get()).body.mailer_subjects_magic_link).toBe(defaultTemplates.magic_link.subject);
  });

  test('a test email goes through the mail server where there is one, and says why it did not take it', async () => {
    const server = await startSmtpServer();
    await managed.patch({ smtp_host: 'localhost', smtp_port: String(server.port) });
    const sent = await post('/emails/send', { email: 'invite', to: 'me@mail.test' });
    expect(sent).toMatchObject({ status: 200, body: {} });
    expect(server.messages.map(({ parsed }) => parsed.subject)).toEqual(["[Test] You've been invited"]);
    await managed.patch({ smtp_port: '1' });
    const refused = await post('/emails/send', { email: 'invite', to: 'me@mail.test' });
    expect(refused.status).toBe(502);
    expect(refused.body).toMatchObject({ code: 'send_failed', message: expect.stringContaining('localhost') });
  });

  test('a test email takes what its schema says, and refuses the rest', async () => {
    const document = (await managed.call({ path: '/openapi.json', token: null })).body;
    const { requestBody } = document.paths['/v1/projects/{ref}/config/auth/emails/send'].post;
    const { properties, required, additionalProperties } = requestBody.content['application/json'].schema;
    expect({ required, additionalProperties, format: properties.to.format }).toEqual({
      required: ['email', 'to'],
      additionalProperties: false,
      format: 'email',
    });
    const whole = {
      email: 'invite',
      locale: 'de',
      to: 'me@mail.test',
      subject: 'S',
      content: '<p>{{ .Data.name }}</p>',
      text: '{{ .Data.name }}',
      layout: '<div>{{ template "content" . }}</div>',
      partials: { sign: 'x' },
      data: { Data: {} },
    };
    expect(Object.keys(whole).sort()).toEqual(Object.keys(properties).sort());
    const send = async (body: object) => (await post('/emails/send', body)).status;
    expect(await send(whole)).toBe(200);
    for (const [name, { type }] of Object.entries<{ type: string | string[] }>(properties)) {
      const { [name]: _left, ...rest } = whole as Record<string, unknown>;
      expect([name, await send(rest)]).toEqual([name, required.includes(name) ? 400 : 200]);
      expect([name, await send({ ...whole, [name]: null })]).toEqual([name, type.includes('null') ? 200 : 400]);
      expect([name, await send({ ...whole, [name]: 5 })]).toEqual([name, 400]);
    }
    const misspelled = await post('/emails/send', { email: 'invite', to: 'me@mail.test', contnet: 'x' });
    expect(misspelled).toMatchObject({ status: 400, body: { message: 'Unknown field "contnet"' } });
  });

  test('a test email needs an address, a draft without faults, and a token that may write', async () => {
    const wrong = await post('/emails/send', { email: 'invite', to: 'a b' });
    expect(wrong.body.message).toBe('to must be an email address');
    const faulty = await post('/emails/send', { email: 'invite', to: 'me@mail.test', content: '\n{{ end }}' });
    expect(faulty.body.message).toBe('line 2, column 8: unexpected {{end}}');
    const reader = await addToken(database, { scopes: ['auth_config:read'] });
    const body = JSON.stringify({ email: 'invite', to: 'me@mail.test' });
    const refused = await managed.call({
      method: 'POST',
      path: `${base}/emails/send`,
      token: `Bearer ${reader}`,
      body,
    });
    expect(refused.status).toBe(403);
  });
});

describe('versions', () => {
  test('versions are listed with who changed what, and read with what they said of the emails, never with a secret', async () => {
    await managed.patch({ mailer_subjects_invite: 'One', smtp_pass: 'very secret' });
    await managed.patch({ mailer_subjects_invite: 'Two', mailer_notifications_password_changed_enabled: true });
    const { body } = await get('/versions');
    expect(body).toMatchObject([
      {
        version: 2,
        changed: ['mailer_notifications_password_changed_enabled', 'mailer_subjects_invite'].sort().reverse(),
      },
      { version: 1, updatedBy: expect.stringMatching(/^test \(/) },
    ]);
    const first = await get('/versions/1');
    expect(first.body.values).toMatchObject({ mailer_subjects_invite: 'One', mailer_subjects_recovery: null });
    expect(JSON.stringify(first.body)).not.toContain('very secret');
    for (const version of ['3', 'x', '-1']) expect((await get(`/versions/${version}`)).status).toBe(404);
  });

  test('a change that names the version it was made from is refused when somebody was faster', async () => {
    const before = (await managed.get()).headers.get('etag') ?? '';
    const change = (subject: string, version: string) =>
      managed.call({
        method: 'PATCH',
        headers: { 'if-match': version },
        body: JSON.stringify({ mailer_subjects_invite: subject }),
      });
    const first = await change('mine', before);
    expect(first.status).toBe(200);
    const second = await change('yours', before);
    expect({ status: second.status, code: second.body.code }).toEqual({ status: 412, code: 'version_conflict' });
    expect((await managed.get()).body.mailer_subjects_invite).toBe('mine');
    expect((await change('yours', first.headers.get('etag') ?? '')).status).toBe(200);
    expect((await change('whatever it was', '*')).status).toBe(200);
    expect((await change('x', 'nonsense')).status).toBe(412);
  });
});

describe('the templates beside the emails', () => {
  test('the templates beside the emails are listed with their fields, variables and built-in texts', async () => {
    const { status, body } = await get('/emails/shared');
    expect(status).toBe(200);
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['layout', 'link_page']);
    const [layout, page] = body;
    expect(layout).toMatchObject({ contentField: 'mailer_layout_content', translationsField: null });
    expect(layout.variables).toEqual(expect.arrayContaining(['SiteURL', 'Brand', 'Email']));
    expect(page.variables).toEqual(['Action', 'SiteURL', 'Email', 'Locale', 'Button']);
    const config = (await managed.get()).body;
    expect(config[page.contentField]).toBe(page.defaults.content);
    const stored = { mailer_layout_content: layout.defaults.content, [page.contentField]: page.defaults.content };
    expect((await managed.patch(stored)).status).toBe(200);
  });

  test('a draft of the layout and the partials is rendered around an email and tried, and stored texts stay', async () => {
    await managed.patch({ mailer_partials: { sign: 'Stored' } });
    const draft = {
      email: 'recovery',
      content: '<p>{{ template "sign" . }}</p>',
      layout: '<html><body>L{{ template "content" . }}</body></html>',
    };
    const output = async (more: object) => (await post('/emails/render', { ...draft, ...more })).body.content.output;
    expect(await output({})).toBe('<html><body>L<p>Stored</p></body></html>');
    expect(await output({ partials: { sign: '{{ .Email }}' } })).toContain('L<p>ada@example.com</p>');
    expect(await output({ layout: '' })).toBe('<p>Stored</p>');
    expect(await output({ content: '' })).toMatch(/^<html><body>L<h1 /);
    expect((await post('/emails/send', { ...draft, to: 'me@mail.test' })).status).toBe(200);
    const [sent] = await database.query('select html from auth.pgreflect_captured_email');
    expect(sent).toMatchObject({ html: expect.stringContaining('<body>L<p>Stored') });
    expect((await managed.get()).body).toMatchObject({ mailer_layout_content: null });
  });

  test('a fault of a layout or partial has its place there', async () => {
    const faultOf = async (draft: object) =>
      (await post('/emails/render', { email: 'recovery', content: '<p>x</p>', ...draft })).body.content.fault;
    const layout = '<p>\n{{ template "content" . }}{{ if }}</p>';
    expect(await faultOf({ layout })).toMatchObject({
      message: 'in the layout, line 2: missing value for if',
      line: null,
      piece: { title: 'the layout', message: 'missing value for if', line: 2 },
    });
    const partials = { sign: 'a\n\n<a href="{{ .Email }}>x' };
    expect(await faultOf({ partials, content: '<p>{{ template "sign" . }}</p>', layout: '' })).toMatchObject({
      line: null,
      piece: { title: 'the partial "sign"', line: 3 },
    });
    expect(await faultOf({ content: '{{ if }}' })).toMatchObject({ line: 1, piece: null });
    expect((await post('/emails/render', { email: 'recovery', partials: { a: 1 } })).body.message).toBe(
      'partials must have a text under "a"',
    );
  });

  test('a draft of the page of links is rendered by kind and language, and its faults have their place', async () => {
    const render = (draft: object) => post('/emails/render', { email: 'link_page', ...draft });
    const { body } = await render({ content: '<p>{{ .Action }} {{ .Email }} {{ .Locale }}</p>{{ .Button }}' });
    expect(body.content.output).toMatch(/^<p>recovery a\*\*\*@example\.com <\/p><form method="post"/);
    const german = (await render({ locale: 'de', data: { Action: 'invite' } })).body;
    expect(german.content.output).toContain('<html lang="de">');
    expect(german.builtIn.content).toContain('{{ .Button }}');
    expect((await render({ content: '<p>\n{{ if }}</p>' })).body.content.fault).toMatchObject({ line: 2 });
    expect((await render({ content: '<p>no button</p>' })).body.content.fault.message).toMatch(/Button/);
    expect((await render({ data: { Action: 'x' } })).body.message).toMatch(/^data\.Action must be one of confirmation/);
    expect((await render({ data: { Button: 'x' } })).body.message).toMatch(/no variable "Button" to set/);
    expect((await post('/emails/send', { email: 'link_page', to: 'me@mail.test' })).status).toBe(400);
  });

  test('a draft with a language comes with the built-in texts of that language', async () => {
    const { body } = await post('/emails/render', {
      email: 'recovery',
      locale: 'de',
      subject: 'x',
      content: '<p>x</p>',
    });
    expect(body.builtIn.subject).toBe('Setze dein Passwort zurück');
    expect((await post('/emails/render', { email: 'recovery' })).body.builtIn).toBeNull();
  });
});
