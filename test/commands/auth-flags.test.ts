/**
 * The auth configuration on the command line of `start` and `serve`.
 */

import { expect, test } from 'vitest';
import { authFieldNames } from '../../src/config/auth/auth-fields.ts';
import { authFlagName, authReference } from '../../src/config/auth/auth-reference.ts';
import { makeApiKeys } from '../../src/config/keys.ts';
import { flagName, optionNames } from '../../src/config/options.ts';
import { createAuthDatabase } from '../support/postgres.ts';
import { runCommand, startCommand } from './run-command.ts';

const secret = 'a-secret-of-at-least-thirty-two-characters';
const { anonKey } = await makeApiKeys(secret, 'anon', 'service_role');

test('a flag wins over the environment, and a switch may stand alone or be turned off', async () => {
  const database = await createAuthDatabase();
  const env = {
    DATABASE_URL: database.urlAs('authenticator', 'test'),
    PGREFLECT_ADMIN_DATABASE_URL: database.url,
    PGREFLECT_JWT_SECRET: secret,
    GOTRUE_DISABLE_SIGNUP: 'false',
    GOTRUE_MAILER_AUTOCONFIRM: 'false',
    PGREFLECT_EXTERNAL_EMAIL_ENABLED: 'true',
  };
  const flags = ['--disable-signup', '--mailer-autoconfirm=true', '--no-external-email-enabled'];
  const command = startCommand(['serve', '--port', '0', ...flags], { env });
  const [, url] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
  const response = await fetch(`${url}/auth/v1/settings`, { headers: { apikey: anonKey } });
  expect(await response.json()).toMatchObject({
    disable_signup: true,
    mailer_autoconfirm: true,
    external: { email: false },
  });
});

test('mistakes are in the one list of all problems: unknown names, wrong values, values given twice; secrets are not shown', async () => {
  const { code, err } = await runCommand([
    ...['serve', '--smtp-hots', 'mail.test', '--mailer-otp-length', '11', '--site-url', 'app.test', '--port', 'x'],
    ...['--smtp-pass', 'hunter2', '--smtp-pass', 'hunter3'],
  ]);
  expect(code).toBe(1);
  expect(err).toContain('There are 7 problems:');
  expect(err).toContain('pgreflect serve has no option --smtp-hots.\n    Did you mean --smtp-host?');
  expect(err).toContain('--mailer-otp-length must be a whole number from 6 to 10 (given: "11").');
  expect(err).toContain('--site-url must be an absolute URL (given: "app.test").');
  expect(err).toContain('--smtp-pass is given 2 times.');
  expect(err).toContain('--port must be a whole number');
  expect(err).not.toContain('hunter');
});

test('a command that runs no service says whose flag it is', async () => {
  const { err } = await runCommand(['keys', '--site-url', 'https://app.test']);
  expect(err).toContain('pgreflect keys has no option --site-url; it belongs to: start, serve.');
});

test.each(['start', 'serve'])('%s --help has every flag below a heading, those that are alike once', async (name) => {
  const { out } = await runCommand([name, '--help']);
  for (const [heading, entries] of authReference()) {
    expect(out).toContain(`\n${heading}:\n`);
    for (const { flag } of entries) expect(out.split(`  ${flag} `)).toHaveLength(2);
  }
  expect(out).toContain('PROVIDER is one of apple, azure,');
  expect(out).toContain('PGREFLECT_SMTP_PASS, PGREFLECT_SMTP_PASS_FILE, GOTRUE_SMTP_PASS');
  expect(out.split('\n').filter((line) => line.length > 120)).toEqual([]);
});

test('the entries of the reference stand for every field, and no field has the flag of an option', () => {
  const entries = [...authReference().values()].flat();
  const flags = entries.flatMap(({ flag, word }) =>
    word === null ? [flag] : word.standsFor.map((text) => flag.replace(word.placeholder, text)),
  );
  expect(flags.sort()).toEqual(authFieldNames.map((name) => `--${authFlagName(name)}`).sort());
  expect(authFieldNames.map(authFlagName).filter((flag) => optionNames.map(flagName).includes(flag))).toEqual([]);
});
