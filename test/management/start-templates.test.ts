/**
 * Bodies of emails in files and at addresses: which text the next email has.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import type { TemplateSource, TemplateSources } from '../../src/config/auth/auth-template-source.ts';
import { fetchTemplate, showAddress } from '../../src/management/templates/fetch-template.ts';
import { type TestAuth, testAuth, unlimited } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

let addresses = 0;

/** The confirmation email that a new user gets. */
async function nextEmail(auth: TestAuth) {
  addresses += 1;
  const email = `user${addresses}@mail.test`;
  const answer = await auth.ask('/signup', { email, password: 'a good password' });
  expect(answer).toMatchObject({ status: 200 });
  return auth.message(email);
}

/** Waits until emails have the text. */
async function emailsHave(auth: TestAuth, html: string): Promise<void> {
  await vi.waitFor(async () => expect((await nextEmail(auth)).html).toBe(html), { timeout: 20_000, interval: 200 });
}

function refusals({ observations }: TestAuth) {
  return observations.filter((observation) => observation.kind === 'template_refused');
}

const start = (confirmation: TemplateSource, values: AuthValues = {}) =>
  testAuth(database, values, { authTemplates: { confirmation } });

const builtIn = 'Confirm your email address';

function templateFile(text: string) {
  const directory = mkdtempSync(join(tmpdir(), 'templates-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'confirm.html');
  const write = (next: string) => {
    // As editors do it: a new file in the place of the old one.
    writeFileSync(`${path}.new`, next);
    renameSync(`${path}.new`, path);
  };
  write(text);
  return { path, write, source: { kind: 'file', path, origin: 'content_path' } as const };
}

describe('a file', () => {
  test('a file is used from the start, and when it changes; a broken one is refused with its place, and the previous stays', async () => {
    const file = templateFile('one');
    const auth = await start(file.source, { mailer_subjects_confirmation: 'Welcome' });
    expect(await nextEmail(auth)).toMatchObject({ subject: 'Welcome', html: 'one' });
    file.write('two');
    await emailsHave(auth, 'two');
    file.write('three\n  {{ if }}x{{ end }}');
    await vi.waitFor(() => expect(refusals(auth)).toHaveLength(1));
    expect(refusals(auth)[0]).toEqual({
      kind: 'template_refused',
      email: 'confirmation',
      source: `content_path (${file.path})`,
      problem: expect.stringMatching(/^content, line 2, column \d+: ./),
      kept: 'previous',
    });
    expect(await nextEmail(auth)).toMatchObject({ subject: 'Welcome', html: 'two' });
    file.write('four');
    await emailsHave(auth, 'four');
    expect(refusals(auth)).toHaveLength(1);
  });

  test('that cannot be read leaves the email with the built-in subject and body, until it can', async () => {
    const file = templateFile('later');
    rmSync(file.path);
    const auth = await start(file.source, { mailer_subjects_confirmation: 'Welcome' });
    expect(refusals(auth)).toMatchObject([{ problem: 'cannot be read (ENOENT)', kept: 'built-in' }]);
    expect((await nextEmail(auth)).subject).toBe(builtIn);
    file.write('later');
    await emailsHave(auth, 'later');
    expect((await nextEmail(auth)).subject).toBe('Welcome');
  });

  test('a file is what the management API shows, and what it stores wins', async () => {
    const token = 'sbp_0123456789012345678901234567890123456789';
    const given = { authTemplates: { confirmation: templateFile('<b>file</b>').source }, accessToken: token };
    const projectRef = 'abcdefghijklmnopqrst';
    const auth = await testAuth(database, {}, { ...given, projectRef });
    const call = async (body?: unknown) => {
      const response = await fetch(`${auth.url}/v1/projects/${projectRef}/config/auth`, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'PATCH', body: JSON.stringify(body) }),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const field = 'mailer_templates_confirmation_content';
    expect((await call())[field]).toBe('<b>file</b>');
    await call({ [field]: '{{/* check: ignore no-link */}}stored' });
    expect((await nextEmail(auth)).html).toBe('stored');
    await call({ [field]: null });
    expect((await nextEmail(auth)).html).toBe('<b>file</b>');
  });
});

const warnings = ({ observations }: TestAuth) =>
  observations.flatMap((observation) => (observation.kind === 'warning' ? [observation.message] : []));

describe('a text that is valid and most likely a mistake', () => {
  test('of a file is used, and the log says once what is wrong with it, and again when it is wrong in another way', async () => {
    const file = templateFile('<p>\n<a href="{{ .ConfirmationURl }}">Confirm</a> {{ .Token }}');
    const auth = await start(file.source, { mailer_subjects_recovery: 'For {{ .Naem }}' });
    const place = `Email confirmation, content_path (${file.path}): content: `;
    const [empty, link] = [
      `${place}line 2, column 13: .ConfirmationURl is always empty in this email (did you mean .ConfirmationURL?) [empty-variable]`,
      `${place}line 2, column 13: the link would be empty: .ConfirmationURl is no variable of this email (did you mean .ConfirmationURL?) [dead-link]`,
    ];
    const subject =
      'Email recovery, configuration: subject: line 1, column 8: .Naem is always empty in this email [empty-variable]';
    expect(warnings(auth)).toEqual([empty, link, subject]);
    expect((await nextEmail(auth)).html).toContain('<a href="">Confirm</a>');
    file.write('nothing to follow');
    const uses = `${place}the email shows none of .ConfirmationURL, .TokenHash, .Token, so recipients cannot continue [no-link]`;
    await vi.waitFor(() => expect(warnings(auth)).toEqual([empty, link, subject, uses]));
  });

  test('in several places is reported once, with the number of them', async () => {
    const file = templateFile(`<p style="margin:1rem">{{ .Token }}</p>${'<p style="margin:2rem"></p>'.repeat(3)}`);
    expect(warnings(await start(file.source))).toEqual([
      expect.stringMatching(
        /: content: line 1, column \d+: .* ignore the CSS unit rem \[unsupported\], the first of 4$/,
      ),
    ]);
  });

  test('a text that is valid and most likely a mistake is not reported for one without mistakes', async () => {
    const file = templateFile('{{ .ConfirmationURL }}');
    expect(warnings(await start(file.source, { mailer_subjects_recovery: 'For {{ .Email }}' }))).toEqual([]);
  });
});

test('a broken text of the configuration itself is refused in the same way: subject and body fall together', async () => {
  const auth = await testAuth(database, {
    mailer_subjects_confirmation: '{{ .Email',
    mailer_templates_confirmation_content: 'body',
  });
  expect(refusals(auth)).toMatchObject([
    { source: 'configuration', problem: expect.stringContaining('subject, line 1, column'), kept: 'built-in' },
  ]);
  const email = await nextEmail(auth);
  expect(email.subject).toBe(builtIn);
  expect(email.html).not.toBe('body');
});

test('a broken translation of the start values does not keep its readers from signing up, and the log says where it is', async () => {
  const values = { mailer_templates_confirmation_translations: { de: { content: '<p>\n{{ if }}' } } };
  const auth = await testAuth(database, values, { authTemplates: {} });
  const email = 'reader@mail.test';
  const signedUp = await auth.ask('/signup', { email, password: 'a good password', data: { locale: 'de' } });
  expect(signedUp.status).toBe(200);
  expect((await auth.message(email)).html).toContain('<html lang="de"');
  expect(warnings(auth)).toEqual([
    expect.stringContaining(
      'mailer_templates_confirmation_translations: de, content: line 2, column 7: missing value for if',
    ),
  ]);
});

test('other start values replace the first ones, with their templates', async () => {
  const auth = await testAuth(database, { mailer_templates_confirmation_content: 'first' });
  expect((await nextEmail(auth)).html).toBe('first');
  const site = await templateSite((_request, response) => response.end('<i>second</i>'));
  const authTemplates: TemplateSources = { confirmation: { kind: 'remote', location: site.url, origin: 'test' } };
  await auth.gateway.configureAuth({
    authValues: { ...unlimited, mailer_subjects_confirmation: 'Second' },
    authTemplates,
  });
  expect(await nextEmail(auth)).toMatchObject({ subject: 'Second', html: '<i>second</i>' });
});

test('start values that replace others decide themselves how templates are read, and where paths lead', async () => {
  const auth = await testAuth(database, { mailer_subjects_confirmation: 'First' });
  const site = await templateSite((request, response) => response.end(`path ${request.url}`));
  const authTemplates: TemplateSources = {
    confirmation: { kind: 'remote', location: '/confirm.html', origin: 'test' },
  };
  await auth.gateway.configureAuth({ authValues: { ...unlimited, site_url: site.url }, authTemplates });
  expect((await nextEmail(auth)).html).toBe('path /confirm.html');
  const subject = '<a href="{{ .Email }}>';
  const escaping = { ...unlimited, mailer_subject_html_escape: true, mailer_subjects_confirmation: subject };
  await auth.gateway.configureAuth({ authValues: escaping, authTemplates: {} });
  expect(refusals(auth)).toMatchObject([{ problem: expect.stringMatching(/^subject/) }]);
  expect((await nextEmail(auth)).html).toBe('path /confirm.html');
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server with templates. */
async function templateSite(answer: Answer) {
  const requests: IncomingMessage[] = [];
  let current = answer;
  const server = createServer((request, response) => {
    requests.push(request);
    current(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    answer: (next: Answer) => {
      current = next;
    },
  };
}

/** Answers with a text that has a version, as web servers do. */
const versioned =
  (text: string): Answer =>
  (request, response) => {
    const etag = `"${text.length}"`;
    if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
    else response.writeHead(200, { etag }).end(text);
  };

describe('an address', () => {
  test('an address is asked at the start and every ten minutes, and transferred only when it has changed', async () => {
    const site = await templateSite(versioned('one'));
    const auth = await start({ kind: 'remote', location: `${site.url}/confirm.html?v=1`, origin: 'test' });
    expect((await nextEmail(auth)).html).toBe('one');
    auth.pass(599);
    expect((await nextEmail(auth)).html).toBe('one');
    expect(site.requests).toHaveLength(1);
    auth.pass(1);
    await vi.waitFor(() => expect(site.requests).toHaveLength(2));
    expect(site.requests[1]?.headers['if-none-match']).toBe('"3"');
    expect((await nextEmail(auth)).html).toBe('one');
    site.answer(versioned('other'));
    auth.pass(600);
    await emailsHave(auth, 'other');
  });

  test('that fails is asked again after ten seconds; the previous text stays, and it is said once', async () => {
    const site = await templateSite(versioned('one'));
    const auth = await start({ kind: 'remote', location: `${site.url}/confirm.html?key=secret`, origin: 'VARIABLE' });
    site.answer((_request, response) => response.writeHead(500).end('broken'));
    auth.pass(600);
    await vi.waitFor(() => expect(refusals(auth)).toHaveLength(1));
    expect(refusals(auth)[0]).toMatchObject({
      source: `VARIABLE (${site.url}/confirm.html)`,
      problem: 'answers with the status 500',
      kept: 'previous',
    });
    expect((await nextEmail(auth)).html).toBe('one');
    auth.pass(10);
    await vi.waitFor(() => expect(site.requests).toHaveLength(3));
    site.answer(versioned('back'));
    auth.pass(10);
    await emailsHave(auth, 'back');
    expect(refusals(auth)).toHaveLength(1);
  });

  test('without a scheme is below the site URL', async () => {
    const site = await templateSite((request, response) => response.end(`path ${request.url}`));
    const values = { site_url: `${site.url}/app/` };
    const auth = await start({ kind: 'remote', location: '/emails/confirm.html', origin: 'test' }, values);
    expect((await nextEmail(auth)).html).toBe('path /app/emails/confirm.html');
  });

  test('an address stays below the site URL of the start values, whatever the management API stores', async () => {
    const [first, second] = [await templateSite(versioned('one')), await templateSite(versioned('two'))];
    const token = 'sbp_0123456789012345678901234567890123456789';
    const projectRef = 'abcdefghijklmnopqrst';
    const location = { kind: 'remote', location: '/confirm.html', origin: 'test' } as const;
    const given = { authTemplates: { confirmation: location }, accessToken: token, projectRef };
    const auth = await testAuth(database, { site_url: first.url }, given);
    expect((await nextEmail(auth)).html).toBe('one');
    const patch = (site_url: string | null) =>
      fetch(`${auth.url}/v1/projects/${projectRef}/config/auth`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ site_url }),
      });
    expect((await patch(second.url)).status).toBe(200);
    first.answer(versioned('later'));
    auth.pass(600);
    await emailsHave(auth, 'later');
    expect(second.requests).toEqual([]);
    await patch(null);
  });

  test('that never answers does not keep the gateway from stopping', async () => {
    const site = await templateSite(versioned('one'));
    const auth = await start({ kind: 'remote', location: site.url, origin: 'test' });
    site.answer(() => {});
    auth.pass(600);
    await vi.waitFor(() => expect(site.requests).toHaveLength(2));
    await auth.gateway.stop();
  });
});

describe('what is not accepted from an address', () => {
  const never = new AbortController().signal;

  test.each<[string, Answer]>([
    ['answers with the status 404', (_request, response) => response.writeHead(404).end('<p>Not here</p>')],
    ['answers with the status 304', (_request, response) => response.writeHead(304).end()],
    ['is larger than 1000000 bytes', (_request, response) => response.end('x'.repeat(1_000_001))],
    [
      'is larger than 1000000 bytes',
      (_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(50_000_000))),
    ],
    ['is no UTF-8 text', (_request, response) => response.end(Buffer.from([0x3c, 0xff, 0xfe]))],
    [
      'redirects to another origin',
      (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
    ],
    [
      'redirects to another origin',
      (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    ],
    ['redirects more than 5 times', (_request, response) => response.writeHead(302, { location: '/again' }).end()],
    ['cannot be fetched (ECONNRESET)', (request) => request.socket.destroy()],
  ])('%s', async (problem, answer) => {
    const { url } = await templateSite(answer);
    await expect(fetchTemplate(`${url}/confirm.html`, null, never)).rejects.toThrow(
      new RegExp(`^${RegExp.escape(problem)}$`),
    );
  });

  test('what is not accepted from an address is one with another scheme, a user or a password', async () => {
    await expect(fetchTemplate('ftp://templates.test/x', null, never)).rejects.toThrow('is no http or https address');
    await expect(fetchTemplate('http://ana:hunter2@templates.test/x', null, never)).rejects.toThrow(
      'must not contain a user name or a password',
    );
    expect(showAddress('http://ana:hunter2@templates.test/x?key=hunter2#hunter2')).toBe('http://templates.test/x');
  });

  test('a redirect on the same origin is followed', async () => {
    const { url } = await templateSite((request, response) => {
      if (request.url === '/old') response.writeHead(301, { location: '/new' }).end();
      else response.end('\ufeffmoved');
    });
    expect((await fetchTemplate(`${url}/old`, null, never)).text).toBe('moved');
  });
});
