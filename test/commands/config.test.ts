/**
 * `pgreflect config`: what is stored goes from one project to another, and nothing is stored of a file with a mistake.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';
import { runCommand, temporaryDirectory } from './run-command.ts';

const ref = 'abcdefghijklmnopqrst';
const env = { SMTP_PASS: 'a very secret word' };
let directory: string;
beforeAll(() => {
  directory = temporaryDirectory(atEnd);
  write('confirmation.html', '<p><a href="{{ .ConfirmationURL }}">Confirm</a></p>\n');
});

const write = (name: string, text: string) => writeFileSync(join(directory, name), text);

const config = (database: TestDatabase, args: readonly string[], variables: Record<string, string> = env) =>
  runCommand(['config', ...args, '--database-url', database.url, '--project-ref', ref], { env: variables, directory });

const storedIn = async (database: TestDatabase) => {
  const [row] = await database.query<{ version: string; values: Record<string, unknown> }>(
    'select version, values from auth.pgreflect_config',
  );
  return row ?? null;
};

const file = `[auth]
site_url = "https://app.test"
additional_redirect_urls = ["https://app.test/**", "https://*.app.test/**"]
enable_signup = false
[auth.email]
otp_length = 8
max_frequency = "5s"
[auth.email.smtp]
host = "mail.app.test"
port = 587
user = "app"
pass = "env(SMTP_PASS)"
admin_email = "app@app.test"
[auth.email.template.confirmation]
subject = "Welcome"
content_path = "confirmation.html"
`;

test('a file is stored, exported without secrets, and applied to another project', async () => {
  const [one, other] = [await createAuthDatabase(), await createAuthDatabase()];
  write('auth.toml', file);
  const differs = await config(one, ['diff', 'auth.toml']);
  expect(differs).toMatchObject({ code: 1, err: '' });
  expect(differs.out).toMatchInlineSnapshot(`
    "site_url: "http://localhost:3000" -> "https://app.test"
    uri_allow_list: none -> "https://app.test/**,https://*.app.test/**"
    disable_signup: false -> true
    mailer_otp_length: 6 -> 8
    smtp_admin_email: none -> "app@app.test"
    smtp_host: none -> "mail.app.test"
    smtp_user: none -> "app"
    smtp_pass: none -> (hidden)
    smtp_max_frequency: 60 -> 5
    mailer_subjects_confirmation: "Confirm your email address" -> "Welcome"
    mailer_templates_confirmation_content: "<!doctype html>\\n<html lang=\\"en\\" dir=\\"ltr\\">\\n<head>\\n  <meta charset=\\"utf-8\\">\\n  <meta name=\\… (4650 characters) -> "<p><a href=\\"{{ .ConfirmationURL }}\\">Confirm</a></p>\\n"
    "
  `);
  expect(await storedIn(one)).toBeNull();

  const applied = await config(one, ['apply', 'auth.toml']);
  expect(applied).toMatchObject({ code: 0, err: 'Stored as version 1.\n', out: differs.out });
  expect((await storedIn(one))?.values).toMatchObject({
    disable_signup: true,
    mailer_otp_length: 8,
    smtp_max_frequency: 5,
    smtp_pass: env.SMTP_PASS,
    mailer_templates_confirmation_content: '<p><a href="{{ .ConfirmationURL }}">Confirm</a></p>\n',
  });
  expect(await config(one, ['diff', 'auth.toml'])).toEqual({ code: 0, out: '', err: '' });
  expect(await config(one, ['apply', 'auth.toml'])).toEqual({ code: 0, out: '', err: 'Nothing to change.\n' });

  const exported = await config(one, ['export']);
  expect(exported.err).toBe('Set for apply: PGREFLECT_SMTP_PASS.\n');
  expect(exported.out).toContain('pass = "env(PGREFLECT_SMTP_PASS)"');
  write('exported.toml', exported.out);
  // Without the variable nothing is stored.
  const refused = await config(other, ['apply', 'exported.toml'], {});
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain('names the variable PGREFLECT_SMTP_PASS, which is not set');
  // A variable that the start reads, too, need not be stored: here it has another name.
  write('exported.toml', exported.out.replace('PGREFLECT_SMTP_PASS', 'SMTP_PASS'));
  expect((await config(other, ['apply', 'exported.toml'])).code).toBe(0);
  expect((await storedIn(other))?.values).toEqual((await storedIn(one))?.values);
  for (const { out, err } of [differs, applied, exported, refused]) expect(out + err).not.toContain(env.SMTP_PASS);
});

test('one mistake, and nothing is stored', async () => {
  const database = await createAuthDatabase();
  const cases = [
    [
      '[auth]\nsite_url = "https://app.test"\n[auth.email]\notp_length = 99\n',
      'otp_length must be a whole number from 6 to 10',
    ],
    ['[auth]\nsite_ur = "https://app.test"\n', 'Did you mean "site_url"?'],
    [
      '[auth]\nsite_url = "https://app.test"\n[auth.email.template.invite]\ncontent = "{{ .Nothing"\n',
      'mailer_templates_invite_content',
    ],
    ['[auth]\nsite_url = \n', 'line 2'],
  ] as const;
  for (const [text, message] of cases) {
    write('wrong.toml', text);
    const applied = await config(database, ['apply', 'wrong.toml']);
    expect([applied.code, applied.err]).toEqual([1, expect.stringContaining(message)]);
  }
  expect((await config(database, ['diff', 'wrong.toml'])).code).toBe(2);
  expect((await config(database, ['diff', 'absent.toml'])).code).toBe(2);
  expect((await config(database, ['diff'])).code).toBe(2);
  expect((await storedIn(database))?.values ?? {}).toEqual({});
});

test('what a file leaves out stays, unless it is pruned', async () => {
  const database = await createAuthDatabase();
  write('both.toml', '[auth]\nsite_url = "https://one.test"\njwt_expiry = 600\n');
  write('one.toml', '[auth]\nsite_url = "https://two.test"\n');
  await config(database, ['apply', 'both.toml']);
  expect((await config(database, ['apply', 'one.toml'])).out).toBe(
    'site_url: "https://one.test" -> "https://two.test"\n',
  );
  expect((await storedIn(database))?.values).toEqual({ site_url: 'https://two.test', jwt_exp: 600 });
  expect((await config(database, ['diff', 'one.toml', '--prune'])).out).toBe('- jwt_exp: 600\n');
  await config(database, ['apply', 'one.toml', '--prune']);
  expect((await storedIn(database))?.values).toEqual({ site_url: 'https://two.test' });
  const [version] = await database.query(
    'select updated_by from auth.pgreflect_config_versions order by version desc limit 1',
  );
  expect(version).toEqual({ updated_by: 'pgreflect config apply' });
});
