import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { type AuthFieldName, authField, authFieldNames } from '../../../src/config/auth/auth-fields.ts';
import { loadAuthConfig } from '../../../src/config/auth/load-auth-config.ts';
import { writeAuthFile } from '../../../src/config/auth/write-auth-file.ts';

const texts: Readonly<Record<string, string>> = {
  site_url: 'https://app.test/a"b',
  uri_allow_list: 'https://a.test/**,https://b.test/*',
  password_required_characters: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:0123456789',
  sms_test_otp: '15551234567=123456,15557654321=654321',
  mailer_templates_confirmation_content: '<p>\n\t"{{ .Token }}" \\ ä</p>\r\n',
};

/** A value that the field takes and that is not its default; undefined where it takes no simple one. */
function sampleOf(name: AuthFieldName): unknown {
  const { kind, secret, default: usual } = authField(name);
  const candidates: readonly unknown[] = [
    ...(texts[name] === undefined ? [] : [texts[name]]),
    ...(secret ? [`the secret of ${name}`] : []),
    ...(typeof usual === 'boolean' ? [!usual] : []),
    ...((kind.json.enum as readonly string[] | undefined) ?? []),
    ...[kind.json.maximum, 7, 'a text', 'https://a.test/x', 'a@b.test', '2030-01-01T00:00:00Z', usual, {}],
  ];
  for (const value of candidates) {
    try {
      if (value !== null && value !== undefined) return kind.parse(value);
    } catch {
      // The next one.
    }
  }
  return undefined;
}

test('every field that is written is read as it was', () => {
  const values = new Map(
    authFieldNames.flatMap((name) => {
      const value = sampleOf(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  expect(values.size).toBeGreaterThan(authFieldNames.length - 30);
  const { text, variables } = writeAuthFile(values);
  const secrets = authFieldNames.filter((name) => authField(name).secret && values.has(name));
  expect(variables).toHaveLength(secrets.length);
  expect(text).not.toContain('the secret of');
  // The variables of fields themselves would be read first: another environment, where the names stand for the same.
  const renamed = text.replaceAll('env(PGREFLECT_', 'env(X_');
  const environment = Object.fromEntries(secrets.map((name) => [`X_${name.toUpperCase()}`, String(values.get(name))]));
  const { given, problems } = loadAuthConfig({
    flags: new Map(),
    file: parse(renamed),
    fileName: 'auth.toml',
    isNamed: true,
    environment,
    workingDirectory: '/',
  });
  expect(problems.filter(({ problem }) => problem.startsWith('auth.toml'))).toEqual([]);
  expect(given).toEqual(Object.fromEntries(values));
});

test('names are those of supabase/config.toml where these mean the value', () => {
  const { text } = writeAuthFile(
    new Map<AuthFieldName, unknown>([
      ['disable_signup', true],
      ['uri_allow_list', texts.uri_allow_list],
      ['smtp_host', 'mail.test'],
      ['smtp_pass', 'secret'],
      ['mailer_subjects_confirmation', 'Hello'],
      ['password_required_characters', 'ab:cd'],
    ]),
  );
  expect(text.trimEnd()).toMatchInlineSnapshot(`
    "password_required_characters = "ab:cd"

    [auth]
    additional_redirect_urls = [ "https://a.test/**", "https://b.test/*" ]
    enable_signup = false

    [auth.email.smtp]
    host = "mail.test"
    pass = "env(PGREFLECT_SMTP_PASS)"

    [auth.email.template.confirmation]
    subject = "Hello""
  `);
});
