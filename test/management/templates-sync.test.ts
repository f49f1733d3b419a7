import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { diffTexts } from '../../src/commands/text-diff.ts';
import { defaultTemplates } from '../../src/email/default-templates.ts';
import { temporaryDirectory } from '../commands/run-command.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { addToken, authDatabase, type ManagedGateway, managedGateway, ref, runHere } from './management.ts';

let database: TestDatabase;
let token: string;

beforeAll(async () => {
  database = await authDatabase();
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
  const run = (...args: readonly string[]) => runHere(['templates', ...args], env, directory);
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
    expect([code, out]).toEqual([0, expect.stringContaining('Wrote 14 files')]);
    expect(readdirSync(file('.'))).toHaveLength(14);
    expect(readFileSync(file('invite.html'), 'utf8')).toBe('<p>{{ .ConfirmationURL }}</p>');
    expect(readFileSync(file('recovery.html'), 'utf8')).toBe(defaultTemplates.recovery.content);
    expect(JSON.parse(readFileSync(file('subjects.json'), 'utf8'))).toMatchObject({
      invite: 'Grüße 🎉',
      recovery: defaultTemplates.recovery.subject,
    });
  });

  test('diff shows what a push would change, line by line, and ends with 1 for CI', async () => {
    const { run, file } = await project();
    await run('pull');
    expect(await run('diff')).toMatchObject({ code: 0, out: 'Nothing differs.\n' });
    writeFileSync(file('recovery.html'), `${defaultTemplates.recovery.content}\n<p>Bye</p>`);
    const { code, out } = await run('diff');
    expect(code).toBe(1);
    expect(out).toContain('--- in force: recovery.html');
    expect(out).toContain('+ <p>Bye</p>');
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

  test('a push with a mistake stores nothing and names file field and line', async () => {
    const { run, file, get } = await project();
    mkdirSync(file('.'));
    writeFileSync(file('invite.html'), '<p>ok</p>');
    writeFileSync(file('recovery.html'), 'one\n{{ end }}');
    const { code, err } = await run('push');
    expect(code).toBe(1);
    expect(err).toContain('mailer_templates_recovery_content: line 2:');
    expect((await get()).body.mailer_templates_invite_content).toBe(defaultTemplates.invite.content);
  });

  test('warnings of the API are passed on', async () => {
    const { run, file } = await project();
    mkdirSync(file('.'));
    writeFileSync(file('invite.html'), '<p>Welcome</p>');
    expect((await run('push')).err).toContain('Warning: mailer_templates_invite_content: the email uses none of');
  });

  test('the local project of the working directory needs no options but the address', async () => {
    const { directory, gateway } = await project();
    mkdirSync(join(directory, '.pgreflect'));
    writeFileSync(join(directory, '.pgreflect', 'project.json'), JSON.stringify({ ref, accessToken: token }));
    const { code } = await runHere(['templates', 'pull', '--external-url', gateway.url], {}, directory);
    expect(code).toBe(0);
  });

  test.each([
    ['a token that is unknown', { PGREFLECT_ACCESS_TOKEN: 'sbp_x' }, 'Unauthorized'],
    ['another project', { PGREFLECT_PROJECT_REF: 'z'.repeat(20) }, 'Project not found'],
    ['a gateway that is away', { PGREFLECT_EXTERNAL_URL: 'http://127.0.0.1:59998' }, 'does not answer (ECONNREFUSED)'],
    ['no token', { PGREFLECT_ACCESS_TOKEN: '' }, 'No access token is given.'],
    ['no ref', { PGREFLECT_PROJECT_REF: '' }, 'No project is named.'],
  ])('%s is refused with what to do', async (_, changed, message) => {
    const { directory, env } = await project();
    const { code, err } = await runHere(['templates', 'pull'], { ...env, ...changed }, directory);
    expect(code).toBe(1);
    expect(err).toContain(message);
    expect(err).not.toContain(token);
  });

  test('a directory that is missing, empty or holds a name of no email is refused', async () => {
    const { run, file } = await project();
    expect((await run('push')).err).toContain('cannot be read (ENOENT)');
    mkdirSync(file('.'));
    expect((await run('push')).err).toContain('There is no email in');
    writeFileSync(file('recovry.html'), 'x');
    expect((await run('push')).err).toContain('Did you mean "recovery"?');
  });
});

describe('a difference', () => {
  test('shows lines that went and came, with three around them', () => {
    const before = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].join('\n');
    const after = ['1', '2', '3', '4', 'five', '6', '7', '8', '9'].join('\n');
    expect(diffTexts(before, after)).toEqual(['  2', '  3', '  4', '- 5', '+ five', '  6', '  7', '  8', '...']);
  });

  test('keeps what is the same between two changes', () => {
    expect(diffTexts('a\nb\nc', 'x\nb\ny')).toEqual(['- a', '+ x', '  b', '- c', '+ y']);
    expect(diffTexts('a', 'a')).toEqual([]);
    expect(diffTexts('', 'a')).toEqual(['- ', '+ a']);
  });
});
