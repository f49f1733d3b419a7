import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { publishAddress } from '../../src/cli/shared/local-project.ts';
import { builtIn } from '../../src/email/built-in/built-in.ts';
import { runCommand, temporaryDirectory } from '../commands/run-command.ts';
import { defaultTemplates } from '../support/default-templates.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from './management.ts';

let database: TestDatabase;
let token: string;

beforeAll(async () => {
  database = await createAuthDatabase();
});

beforeEach(async () => {
  await database.query('truncate auth.pgreflect_config, auth.pgreflect_config_versions, auth.pgreflect_rate_limits');
  token = await addToken(database);
});

/** A project, a directory, and the command on both. */
async function project() {
  const managed: ManagedGateway = await managedGateway(database, token);
  const directory = temporaryDirectory();
  const env = {
    PGREFLECT_EXTERNAL_URL: managed.gateway.url,
    PGREFLECT_PROJECT_REF: ref,
    PGREFLECT_ACCESS_TOKEN: token,
  };
  const run = (...args: readonly string[]) => runCommand(['templates', ...args], { env, directory });
  const file = (name: string) => join(directory, 'templates', name);
  return { ...managed, directory, env, run, file };
}

describe('pgreflect templates', () => {
  test('pull writes a file for each body and one for the subjects, the texts that are in force', async () => {
    const { run, file, patch } = await project();
    await patch({
      mailer_subjects_invite: 'Grüße 🎉',
      mailer_templates_invite_content: '<p>{{ .ConfirmationURL }}</p>',
    });
    const { code, out } = await run('pull');
    expect([code, out]).toEqual([0, expect.stringContaining('Wrote 15 files')]);
    expect(readdirSync(file('.')).filter((name) => name !== '.pulled')).toHaveLength(15);
    expect(readFileSync(file('invite.html'), 'utf8')).toBe('<p>{{ .ConfirmationURL }}</p>');
    expect(readFileSync(file('recovery.html'), 'utf8')).toBe(defaultTemplates.recovery.content);
    expect(JSON.parse(readFileSync(file('subjects.json'), 'utf8'))).toMatchObject({
      invite: 'Grüße 🎉',
      recovery: defaultTemplates.recovery.subject,
    });
  });

  test('the text part of an email is a file where it has a template of its own', async () => {
    const { run, file, patch, get } = await project();
    await patch({ mailer_templates_invite_text: 'Join: {{ .ConfirmationURL }}' });
    expect((await run('pull')).out).toContain('Wrote 16 files');
    expect(readFileSync(file('invite.txt'), 'utf8')).toBe('Join: {{ .ConfirmationURL }}');
    writeFileSync(file('invite.txt'), '');
    writeFileSync(file('recovery.txt'), 'Reset: {{ .ConfirmationURL }}');
    const pushed = await run('push');
    expect([pushed.code, pushed.out]).toEqual([
      0,
      expect.stringMatching(/invite\.txt \(empty.*changed {2}recovery\.txt/s),
    ]);
    expect((await get()).body).toMatchObject({
      mailer_templates_invite_text: '',
      mailer_templates_recovery_text: 'Reset: {{ .ConfirmationURL }}',
    });
    expect(await run('diff')).toMatchObject({ code: 0, out: 'Nothing differs.\n' });
  });

  test('the layout and the partials are files, too', async () => {
    const { run, file, patch, get } = await project();
    const partials = { button: '<a href="{{ . }}">Go</a>', old: 'x' };
    await patch({ mailer_partials: partials, mailer_layout_content: '<i>{{ template "content" . }}</i>' });
    expect((await run('pull')).out).toContain('Wrote 18 files');
    expect(readFileSync(file('layout.html'), 'utf8')).toBe('<i>{{ template "content" . }}</i>');
    expect(readFileSync(file('partials/button.html'), 'utf8')).toBe(partials.button);
    expect((await run('push')).out).toBe('Nothing differs.\n');
    writeFileSync(file('layout.html'), '');
    writeFileSync(file('partials/old.html'), '');
    writeFileSync(file('partials/sign.html'), 'Bye');
    expect((await run('push')).code).toBe(0);
    expect((await get()).body).toMatchObject({
      mailer_layout_content: '',
      mailer_partials: { button: partials.button, sign: 'Bye' },
    });
    writeFileSync(file('partials/sign.html'), '{{ if }}');
    expect((await run('push')).err).toContain('partials/sign.html: line 1, column 7: missing value for if');
  });

  test('a new layout makes no difference to built-in texts that were pulled; the next pull leaves out their page', async () => {
    const { run, file, get } = await project();
    await run('pull');
    writeFileSync(file('layout.html'), '<i>{{ template "content" . }}</i>');
    expect(await run('push')).toMatchObject({ code: 0, out: 'changed  layout.html\n', err: '' });
    expect(await run('push')).toMatchObject({ code: 0, out: 'Nothing differs.\n', err: '' });
    expect(await run('diff')).toMatchObject({ code: 0, out: 'Nothing differs.\n' });
    const page = readFileSync(file('invite.html'), 'utf8');
    writeFileSync(file('invite.html'), page.replace('<!doctype html>', '<!doctype html>\n'));
    expect((await run('check')).out).toContain('invite.html:1:1: warning: the email is a whole page, so the layout');
    writeFileSync(file('invite.html'), page);
    await run('pull');
    expect(readFileSync(file('invite.html'), 'utf8')).toMatch(/^<h1/);
    writeFileSync(file('invite.html'), `${readFileSync(file('invite.html'), 'utf8')}<p>Bye</p>`);
    expect((await run('push')).out).toBe('changed  invite.html\n');
    expect((await get()).body.mailer_templates_invite_content).toMatch(/^<h1.*<p>Bye<\/p>$/s);
  });

  test('a push that ends the built-in translations of an email says so, and they can be pulled as files', async () => {
    const { run, file, get } = await project();
    await run('pull', '--translations');
    expect(readdirSync(file('.')).filter((name) => name.includes('.de.'))).toEqual([]);
    const edited = readFileSync(file('invite.html'), 'utf8').replace('</h1>', '!</h1>');
    writeFileSync(file('invite.html'), edited);
    const note =
      'Warning: invite.html: readers of de, fr, es, it, pt, nl, pl, ja get it, too: a text of your own ends the built-in translations of the email. To keep them, add them as yours (templates pull --translations writes them as files)';
    for (const args of [['push', '--dry-run'], ['push']]) expect((await run(...args)).err).toContain(note);
    expect((await run('push')).err).toBe('');
    writeFileSync(file('invite.fr.html'), '<a href="{{ .ConfirmationURL }}">Oui</a>');
    await run('pull', '--translations');
    expect(readFileSync(file('invite.fr.html'), 'utf8')).toContain('Oui');
    expect(readFileSync(file('invite.de.html'), 'utf8')).toBe(builtIn('invite', 'de').content);
    expect(readdirSync(file('.')).filter((name) => name.endsWith('.subject'))).toHaveLength(7);
    expect((await run('push')).code).toBe(0);
    const { mailer_templates_invite_translations: stored } = (await get()).body;
    expect(stored.de).toEqual({ subject: builtIn('invite', 'de').subject, content: builtIn('invite', 'de').content });
    expect(await run('diff')).toMatchObject({ code: 0 });
  });

  test('translations are files with a language tag in their name, and so is the page that asks before a link is used', async () => {
    const { run, file, patch, get } = await project();
    const field = 'mailer_templates_recovery_translations';
    const button = (text: string) => `<a href="{{ .ConfirmationURL }}">${text}</a>`;
    await patch({
      [field]: { de: { subject: 'Passwort', content: button('Los') }, 'pt-BR': { text: '{{ .Token }}' } },
      mailer_templates_link_page_translations: { de: { content: 'Hallo {{ .Button }}' } },
    });
    expect((await run('pull')).out).toContain('Wrote 19 files');
    expect(readFileSync(file('recovery.de.subject'), 'utf8')).toBe('Passwort');
    expect(readFileSync(file('link_page.de.html'), 'utf8')).toBe('Hallo {{ .Button }}');
    expect((await run('push')).out).toBe('Nothing differs.\n');
    writeFileSync(file('recovery.de.subject'), 'Neues Passwort\n');
    writeFileSync(file('recovery.pt-BR.txt'), '');
    writeFileSync(file('recovery.fr.html'), button('Allez'));
    writeFileSync(file('link_page.html'), 'Hello {{ .Button }}');
    expect((await run('diff')).out).toContain('--- in force: recovery.fr.html');
    const pushed = await run('push');
    expect([pushed.code, pushed.out]).toEqual([0, expect.stringContaining('changed  recovery.de.subject')]);
    expect((await get()).body).toMatchObject({
      [field]: { de: { subject: 'Neues Passwort', content: button('Los') }, fr: { content: button('Allez') } },
      mailer_templates_link_page_content: 'Hello {{ .Button }}',
    });
    writeFileSync(file('recovery.fr.html'), '<p>\n{{ if }}');
    expect((await run('push')).err).toContain('recovery.fr.html: line 2, column 7: missing value for if');
    writeFileSync(file('recovery.fr.html'), button('Allez'));
    await patch({ [field]: { de: { subject: 'Neues Passwort' } } });
    expect((await run('pull')).code).toBe(0);
    expect(readFileSync(file('recovery.fr.html'), 'utf8')).toBe('');
    expect(await run('diff')).toMatchObject({ code: 0 });
    writeFileSync(file('recovery.d.html'), 'x');
    expect((await run('push')).err).toContain('is no language tag');
  });

  test('diff shows what a push would change, line by line, and ends with 1 for CI', async () => {
    const { run, file } = await project();
    await run('pull');
    expect(await run('diff')).toMatchObject({ code: 0, out: 'Nothing differs.\n' });
    writeFileSync(file('recovery.html'), `${defaultTemplates.recovery.content}\n<p>Bye</p>`);
    const { code, out } = await run('diff');
    expect(code).toBe(1);
    expect(out).toContain('--- in force: recovery.html');
    expect(out).toContain('\n@@ -');
    expect(out).toContain('\n+<p>Bye</p>');
    expect(out).not.toContain('invite');
  });

  test('a file that is not UTF-8 is refused, and the mark that some editors put before it is no part of the text', async () => {
    const { run, file, get } = await project();
    await run('pull');
    const text = '<p>Grüße</p><a href="{{ .ConfirmationURL }}">Los</a>';
    writeFileSync(file('invite.html'), text, 'latin1');
    const refused = await run('push');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('invite.html is not UTF-8.') });
    writeFileSync(file('invite.html'), `\ufeff${text}`);
    writeFileSync(file('subjects.json'), `\ufeff${JSON.stringify({ invite: 'Komm' })}`);
    expect((await run('push')).code).toBe(0);
    const { body } = await get();
    expect([body.mailer_templates_invite_content, body.mailer_subjects_invite]).toEqual([text, 'Komm']);
  });

  test('push stores only what differs; texts that nobody touched stay the built-in ones', async () => {
    const { run, file, get } = await project();
    await run('pull');
    writeFileSync(file('invite.html'), '<a href="{{ .ConfirmationURL }}">Come in</a>');
    expect((await run('push', '--dry-run')).out).toBe('would change  invite.html\n');
    expect((await get()).body.mailer_templates_invite_content).toBe(defaultTemplates.invite.content);
    expect(await run('push')).toMatchObject({ code: 0, out: 'changed  invite.html\n' });
    expect((await get()).body.mailer_templates_invite_content).toBe('<a href="{{ .ConfirmationURL }}">Come in</a>');
    expect((await run('push')).out).toBe('Nothing differs.\n');
    const [row] = await database.query<{ names: string[] }>(
      'select array(select jsonb_object_keys(c.values)) as names from auth.pgreflect_config c',
    );
    expect(row?.names).toEqual(['mailer_templates_invite_content']);
  });

  describe('a push after somebody else has changed the project', () => {
    const mine = '<a href="{{ .ConfirmationURL }}">Mine</a>';
    const theirs = '<a href="{{ .ConfirmationURL }}">Theirs</a>';

    test('a push after somebody else has changed the project leaves what was edited there alone, and names it', async () => {
      const { run, file, get, patch } = await project();
      await run('pull');
      await patch({ mailer_templates_invite_content: theirs, mailer_subjects_invite: 'Theirs' });
      writeFileSync(file('recovery.html'), mine);
      const { code, out, err } = await run('push');
      expect([code, out]).toEqual([0, 'changed  recovery.html\n']);
      expect(err).toContain('invite.html: the project');
      expect(err).toContain('subjects.json: invite: the project');
      const { body } = await get();
      expect([body.mailer_templates_invite_content, body.mailer_subjects_invite]).toEqual([theirs, 'Theirs']);
      expect(body.mailer_templates_recovery_content).toBe(mine);
      expect(await run('push')).toMatchObject({ code: 0, out: 'Nothing differs.\n' });
      expect((await get()).body.mailer_templates_invite_content).toBe(theirs);
    });

    test('a push after somebody else has changed the project is refused where both sides edited a text, until the file is pulled again', async () => {
      const { run, file, get, patch } = await project();
      await run('pull');
      await patch({ mailer_templates_invite_content: theirs });
      writeFileSync(file('invite.html'), mine);
      writeFileSync(file('recovery.html'), mine);
      for (const args of [['push'], ['push', '--dry-run']]) {
        const { code, out, err } = await run(...args);
        expect([code, out]).toEqual([1, '']);
        expect(err).toMatch(/invite\.html: both the file and .* \(version \d+, \d{4}-.*Z, by test \(/);
        expect(err).toContain('templates diff');
        expect(err).not.toContain('recovery.html');
      }
      const { body } = await get();
      expect(body.mailer_templates_invite_content).toBe(theirs);
      expect(body.mailer_templates_recovery_content).toBe(defaultTemplates.recovery.content);
      rmSync(file('invite.html'));
      expect((await run('pull')).code).toBe(0);
      writeFileSync(file('invite.html'), mine);
      expect((await run('push')).out).toContain('changed  invite.html');
      expect((await get()).body.mailer_templates_invite_content).toBe(mine);
    });

    test('a push after somebody else has changed the project knows its own pushes, and the same edit on both sides', async () => {
      const { run, file, get, patch } = await project();
      await run('pull');
      writeFileSync(file('invite.html'), theirs);
      expect((await run('push')).code).toBe(0);
      writeFileSync(file('invite.html'), mine);
      expect((await run('push')).out).toBe('changed  invite.html\n');
      await patch({ mailer_templates_invite_content: theirs });
      writeFileSync(file('invite.html'), theirs);
      expect((await run('push')).out).toBe('Nothing differs.\n');
      writeFileSync(file('invite.html'), '');
      expect((await run('push')).code).toBe(0);
      writeFileSync(file('invite.html'), mine);
      expect((await run('push')).code).toBe(0);
      expect((await get()).body.mailer_templates_invite_content).toBe(mine);
    });

    test('a push after somebody else has changed the project is refused where they store something between its look and its change', async () => {
      const { gateway, run, file, get, patch } = await project();
      await run('pull');
      writeFileSync(file('invite.html'), mine);
      const proxy = createServer(async (request, response) => {
        const body = Buffer.concat(await request.toArray());
        if (request.method === 'PATCH') await patch({ mailer_templates_invite_content: theirs });
        const headers = request.headers as Record<string, string>;
        const sent = body.length === 0 ? {} : { body };
        const answer = await fetch(`${gateway.url}${request.url}`, { method: request.method ?? '', headers, ...sent });
        response.writeHead(answer.status, { etag: `W/${answer.headers.get('etag')}` }).end(await answer.text());
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void proxy.close());
      const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const { code, out, err } = await run('push', '--external-url', address);
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain('The configuration has changed since you read it.');
      expect(err).toContain('Push again');
      expect((await get()).body.mailer_templates_invite_content).toBe(theirs);
    });

    test('a push after somebody else has changed the project compares with the project alone where the directory was never pulled from it', async () => {
      const { run, file, get, patch } = await project();
      mkdirSync(file('.'));
      await patch({ mailer_templates_invite_content: theirs });
      writeFileSync(file('invite.html'), mine);
      expect(await run('push')).toMatchObject({ code: 0, out: 'changed  invite.html\n' });
      expect((await get()).body.mailer_templates_invite_content).toBe(mine);
      expect(readdirSync(file('.'))).toEqual(['invite.html']);
    });
  });

  describe('a pull over files that were edited', () => {
    const mine = '<a href="{{ .ConfirmationURL }}">Mine</a>';
    const theirs = '<a href="{{ .ConfirmationURL }}">Theirs</a>';
    const subjects = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

    test('a pull over files that were edited keeps and names them, and brings the other texts up to date', async () => {
      const { run, file, get, patch } = await project();
      await run('pull');
      writeFileSync(file('invite.html'), mine);
      const edited = { ...subjects(file('subjects.json')), invite: 'Mine' };
      writeFileSync(file('subjects.json'), JSON.stringify(edited));
      await patch({ mailer_templates_recovery_content: theirs, mailer_subjects_recovery: 'Theirs' });
      const { code, out } = await run('pull');
      expect([code, out]).toEqual([0, expect.stringMatching(/^Wrote 14 files.*\nkept {2}invite\.html.*\nkept/)]);
      expect(out).toContain('kept  subjects.json: invite');
      expect(readFileSync(file('invite.html'), 'utf8')).toBe(mine);
      expect(readFileSync(file('recovery.html'), 'utf8')).toBe(theirs);
      expect(subjects(file('subjects.json'))).toMatchObject({ invite: 'Mine', recovery: 'Theirs' });
      expect((await run('push')).out).toBe('changed  invite.html\nchanged  subjects.json: invite\n');
      expect((await get()).body).toMatchObject({
        mailer_templates_invite_content: mine,
        mailer_subjects_invite: 'Mine',
        mailer_templates_recovery_content: theirs,
        mailer_subjects_recovery: 'Theirs',
      });
    });

    test('a pull over files that were edited writes nothing where the project has changed such a text, too', async () => {
      const { run, file, patch } = await project();
      await run('pull');
      writeFileSync(file('invite.html'), mine);
      await patch({ mailer_templates_invite_content: theirs, mailer_templates_recovery_content: theirs });
      const { code, out, err } = await run('pull');
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain('invite.html: both the file and');
      expect(err).toContain('Nothing was written.');
      expect(readFileSync(file('invite.html'), 'utf8')).toBe(mine);
      expect(readFileSync(file('recovery.html'), 'utf8')).toBe(defaultTemplates.recovery.content);
      rmSync(file('invite.html'));
      expect((await run('pull')).code).toBe(0);
      expect(readFileSync(file('invite.html'), 'utf8')).toBe(theirs);
      expect(readFileSync(file('recovery.html'), 'utf8')).toBe(theirs);
    });

    test('overwrites no file that it did not write', async () => {
      const { run, file } = await project();
      mkdirSync(file('.'));
      writeFileSync(file('invite.html'), mine);
      const { code, err } = await run('pull');
      expect([code, err]).toEqual([1, expect.stringContaining('invite.html: the file differs from the project')]);
      expect(readdirSync(file('.'))).toEqual(['invite.html']);
      expect(readFileSync(file('invite.html'), 'utf8')).toBe(mine);
    });
  });

  test('an empty file or subject stands for the built-in text', async () => {
    const { run, file, get } = await project();
    mkdirSync(file('.'));
    writeFileSync(file('invite.html'), '');
    writeFileSync(file('subjects.json'), '{"invite": ""}');
    expect((await run('push')).out).toBe('Nothing differs.\n');
    writeFileSync(file('invite.html'), '<a href="{{ .ConfirmationURL }}">Come in</a>');
    expect((await run('push')).out).toBe('changed  invite.html\n');
    writeFileSync(file('invite.html'), '');
    const { code, out } = await run('diff');
    expect([code, out]).toEqual([1, expect.stringContaining('\n+<!doctype html>')]);
    expect((await run('push')).out).toBe('changed  invite.html (empty: the built-in text)\n');
    expect((await get()).body.mailer_templates_invite_content).toBe(defaultTemplates.invite.content);
    expect(await run('diff')).toMatchObject({ code: 0, out: 'Nothing differs.\n' });
  });

  test('a push with a mistake stores nothing and names file field and line', async () => {
    const { run, file, get } = await project();
    mkdirSync(file('.'));
    writeFileSync(file('invite.html'), '{{ .Token }}');
    writeFileSync(file('recovery.html'), 'one\n{{ end }}');
    const { code, err } = await run('push');
    expect(code).toBe(1);
    expect(err).toContain('refused: recovery.html: line 2, column');
    expect((await get()).body.mailer_templates_invite_content).toBe(defaultTemplates.invite.content);
    writeFileSync(file('recovery.html'), "{{ 'to; be' }}");
    const whole =
      "recovery.html: line 1, column 4: malformed character constant: 'to; be' (write text in double quotes";
    for (const args of [['push'], ['push', '--dry-run']]) {
      const told = (await run(...args)).err;
      expect(told).toContain(whole);
      expect(told.split('The management API refused')).toHaveLength(2);
    }
  });

  test('a push says that a text whose file is gone stays', async () => {
    const { run, file, get } = await project();
    await run('pull');
    rmSync(file('invite.html'));
    const { code, out, err } = await run('push');
    expect([code, out]).toEqual([0, 'Nothing differs.\n']);
    expect(err).toContain(
      "invite.html is gone, and the project's text stays. For the built-in text, push an empty file.",
    );
    expect((await get()).body.mailer_templates_invite_content).toBe(defaultTemplates.invite.content);
  });

  test('a dry run ends as the push would: with its refusals, its exit code and its warnings, and stores nothing', async () => {
    const { run, file, get, patch } = await project();
    mkdirSync(file('.'));
    const refusals = [
      { text: '<p>{{ if .x }}', says: 'no {{ end }}' },
      { text: '<a href="{{ .confirmationurl }}">go</a>', says: '--allow-warnings' },
    ];
    for (const { text, says } of refusals) {
      writeFileSync(file('invite.html'), text);
      writeFileSync(file('subjects.json'), JSON.stringify({ recovery: '{{ end }}' }));
      const dry = await run('push', '--dry-run');
      expect([dry.code, dry.out]).toEqual([1, '']);
      expect(dry.err).toContain(says);
      expect(dry.err).toContain('subjects.json: recovery: line 1, column');
      expect(dry.err).not.toContain('mailer_');
      expect(dry).toEqual(await run('push'));
    }
    writeFileSync(file('subjects.json'), '{}');
    writeFileSync(file('invite.html'), '<a href="{{ .ConfirmationURl }}">go</a>');
    const dry = await run('push', '--dry-run', '--allow-warnings');
    expect([dry.code, dry.out]).toEqual([0, 'would change  invite.html\n']);
    expect((await get()).body.mailer_templates_invite_content).toBe(defaultTemplates.invite.content);
    expect((await run('push', '--allow-warnings')).err).toBe(dry.err);
    expect(dry.err).toContain('Warning: ');
    // A subject is parsed as the project's switches say.
    await patch({ mailer_subject_html_escape: true });
    writeFileSync(file('subjects.json'), JSON.stringify({ recovery: '<a href="{{ .Token }}' }));
    const escaped = await run('push', '--dry-run');
    expect([escaped.code, escaped]).toEqual([1, await run('push')]);
  });

  test('warnings of the API are printed', async () => {
    const { run, file } = await project();
    mkdirSync(file('.'));
    writeFileSync(file('invite.html'), '<p>{{ .Token }} {{ .Nobody }}</p>');
    expect((await run('push')).err).toContain('Warning: invite.html: line 1, column 20: .Nobody is always empty');
  });

  test('an email whose link and code are gone is refused, unless a comment in it or the flag says that it is meant', async () => {
    const { run, file, get } = await project();
    mkdirSync(file('.'));
    writeFileSync(file('invite.html'), '<p>Welcome</p>');
    for (const args of [['push', '--dry-run'], ['push']]) {
      const { code, err } = await run(...args);
      expect([code, err]).toEqual([1, expect.stringContaining('refused: invite.html: the email shows none of .Conf')]);
      expect(err).toContain('To store it all the same: --allow-warnings');
    }
    expect((await run('check')).out).toMatch(/^invite.html: error: the email shows none of .* \[no-link\]\n$/);
    expect((await get()).body.mailer_templates_invite_content).toBe(defaultTemplates.invite.content);
    const allowed = await run('push', '--allow-warnings');
    expect([allowed.code, allowed.err]).toEqual([
      0,
      expect.stringContaining('Warning: invite.html: the email shows none'),
    ]);
    writeFileSync(file('invite.html'), '{{/* check: ignore no-link */}}<p>Come in</p>');
    expect(await run('push')).toMatchObject({ code: 0, out: 'changed  invite.html\n', err: '' });
  });

  test('a mistyped variable in a link is refused with the flag that stores it, and warned of then', async () => {
    const { run, file, get } = await project();
    mkdirSync(file('.'));
    const content = '<a href="{{ .ConfirmationURl }}">go</a>';
    writeFileSync(file('invite.html'), content);
    const refused = await run('push');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('.ConfirmationURl is no variable of this email (did you mean .ConfirmationURL?)');
    expect(refused.err).toContain('To store it all the same: --allow-warnings');
    expect(refused.err).not.toContain('?allow_warnings');
    expect((await get()).body.mailer_templates_invite_content).toBe(defaultTemplates.invite.content);
    const stored = await run('push', '--allow-warnings');
    expect(stored).toMatchObject({ code: 0, out: 'changed  invite.html\n' });
    expect(stored.err).toContain('Warning: invite.html: line 1, column 13: the link would be empty');
    expect((await get()).body.mailer_templates_invite_content).toBe(content);
  });

  /** A directory as that of a local project that this process runs at an address. */
  async function localProject(url: string): Promise<string> {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, '.pgreflect'));
    writeFileSync(join(directory, '.pgreflect', 'project.json'), JSON.stringify({ ref, accessToken: token }));
    publishAddress(join(directory, '.pgreflect'), url, 0);
    return directory;
  }

  test('the local project of the working directory needs no options while it runs', async () => {
    const { gateway } = await project();
    const directory = await localProject(gateway.url);
    expect((await runCommand(['templates', 'pull'], { directory })).code).toBe(0);
    const localhost = gateway.url.replace('127.0.0.1', 'localhost');
    expect((await runCommand(['templates', 'diff', '--external-url', localhost], { directory })).code).toBe(0);
    writeFileSync(join(directory, '.pgreflect', 'process'), '');
    expect((await runCommand(['templates', 'pull', '--external-url', gateway.url], { directory })).code).toBe(1);
  });

  describe('the token of the local project is sent to no other server', () => {
    /** A server that writes down what it is sent. */
    async function listener(answer: (response: ServerResponse) => void) {
      const heard: string[] = [];
      const server = createServer((request, response) => {
        heard.push(JSON.stringify([request.url, request.headers]));
        answer(response);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      return { heard, port: (server.address() as AddressInfo).port };
    }

    test.each([
      ['another port of this machine', (port: number) => `http://127.0.0.1:${port}`],
      ['a name that leads here', (port: number) => `http://localhost.localhost:${port}`],
      ['a local address before an at sign', (port: number, own: string) => `${own}@127.0.0.1:${port}`],
      ['a path', (port: number) => `http://localhost:${port}/x`],
    ])('%s', async (_what, make) => {
      const { gateway } = await project();
      const directory = await localProject(gateway.url);
      const { heard, port } = await listener((response) => response.end('{}'));
      const address = make(port, gateway.url);
      for (const env of [{}, { PGREFLECT_PROJECT_REF: ref }]) {
        expect((await runCommand(['templates', 'pull', '--external-url', address], { env, directory })).code).toBe(1);
      }
      writeFileSync(join(directory, 'pgreflect.toml'), `external_url = ${JSON.stringify(address)}\n`);
      expect((await runCommand(['templates', 'pull'], { directory })).code).toBe(1);
      expect(heard).toEqual([]);
    });

    test('an address that only a file of the working directory names gets no token from elsewhere', async () => {
      const { heard, port } = await listener((response) => response.end('{}'));
      const directory = temporaryDirectory();
      const env = { PGREFLECT_ACCESS_TOKEN: token, PGREFLECT_PROJECT_REF: ref };
      const address = `http://127.0.0.1:${port}`;
      writeFileSync(join(directory, 'pgreflect.toml'), `external_url = "${address}"\n`);
      const { code, err } = await runCommand(['templates', 'pull'], { env, directory });
      expect([code, heard]).toEqual([1, []]);
      expect(err).toContain('The access token was not given for');
      await runCommand(['templates', 'pull'], { env: { ...env, PGREFLECT_EXTERNAL_URL: address }, directory });
      expect(heard).toHaveLength(1);
    });

    test('an address that a file of a local project names gets none either, because a checkout may contain it', async () => {
      const { heard, port } = await listener((response) => response.end('{}'));
      const directory = await localProject(`http://localhost.localhost:${port}`);
      await runCommand(['templates', 'pull'], { env: { PGREFLECT_ACCESS_TOKEN: token }, directory });
      expect(heard).toEqual([]);
    });

    test('a redirect gets no token', async () => {
      const { heard, port } = await listener((response) => response.end('{}'));
      const inner = await listener((response) =>
        response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
      );
      const directory = await localProject(`http://127.0.0.1:${inner.port}`);
      const { code, err } = await runCommand(['templates', 'pull'], { directory });
      expect([code, heard, inner.heard.length]).toEqual([1, [], 1]);
      expect(err).toContain('Set --external-url to the address it redirects to');
    });
  });

  test.each([
    ['a token that is unknown', { PGREFLECT_ACCESS_TOKEN: 'sbp_x' }, 'Unauthorized'],
    ['another project', { PGREFLECT_PROJECT_REF: 'z'.repeat(20) }, 'Project not found'],
    [
      'a gateway that is away',
      { PGREFLECT_EXTERNAL_URL: 'http://127.0.0.1:59998' },
      'is not responding (ECONNREFUSED)',
    ],
    ['no token', { PGREFLECT_ACCESS_TOKEN: '' }, 'No access token is given.'],
    ['no ref', { PGREFLECT_PROJECT_REF: '' }, 'No project ref is given.'],
  ])('%s is refused with what to do', async (_, changed, message) => {
    const { directory, env } = await project();
    const { code, err } = await runCommand(['templates', 'pull'], { env: { ...env, ...changed }, directory });
    expect(code).toBe(1);
    expect(err).toContain(message);
    expect(err).not.toContain(token);
  });

  test('files with names of the Supabase dashboard are pushed, kept by a pull, and others left alone', async () => {
    const { run, file } = await project();
    const link = '<a href="{{ .ConfirmationURL }}">go</a>';
    mkdirSync(file('.'));
    writeFileSync(file('reset-password.html'), `${link} reset`);
    writeFileSync(file('newsletter.html'), 'News');
    writeFileSync(file('subjects.json'), JSON.stringify({ 'Reset password': 'Reset it' }));
    const pushed = await run('push');
    expect(pushed).toMatchObject({ code: 0 });
    expect(pushed.out).toContain('changed  recovery.html');
    expect(pushed.out).toContain('changed  subjects.json: recovery');
    expect(pushed.err).toContain('reset-password.html is read as recovery.html.');
    expect(pushed.err).toContain('Warning: newsletter.html has the name of no email, so it is left alone.');
    expect((await run('pull')).code).toBe(0);
    expect(readFileSync(file('reset-password.html'), 'utf8')).toBe(`${link} reset`);
    expect(existsSync(file('recovery.html'))).toBe(false);
    expect((await run('push')).out).toBe('Nothing differs.\n');
  });

  test('a directory that is missing, empty or holds a name of no email is refused', async () => {
    const { run, file } = await project();
    expect((await run('push')).err).toContain('cannot be read (ENOENT)');
    mkdirSync(file('.'));
    expect((await run('push')).err).toContain('has no email templates');
    writeFileSync(file('recovry.html'), 'x');
    expect((await run('push')).err).toContain('Did you mean "recovery"?');
  });
});
