/**
 * The auth configuration's start values: every field from environment and file, all problems at once.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { checkAuthConfig, defaultAuthConfig, layerAuthConfig } from '../../../src/config/auth/auth-config.ts';
import { authField, authFieldNames, originalVariable } from '../../../src/config/auth/auth-fields.ts';
import { parseDurationSeconds } from '../../../src/config/auth/go-duration.ts';
import { type AuthSources, loadAuthConfig } from '../../../src/config/auth/load-auth-config.ts';

const directory = mkdtempSync(join(tmpdir(), 'auth-config-'));

function load(given: Partial<Omit<AuthSources, 'file'>> & { readonly toml?: string } = {}) {
  return loadAuthConfig({
    flags: new Map(),
    environment: {},
    file: parse(given.toml ?? ''),
    fileName: 'pgreflect.toml',
    isNamed: true,
    workingDirectory: directory,
    ...given,
  });
}

const file = (name: string, origin: string) => ({ kind: 'file', path: join(directory, name), origin });
const remote = (location: string, origin: string) => ({ kind: 'remote', location, origin });

test('nothing given is the defaults', () => {
  const loaded = load();
  expect(loaded.config).toEqual(defaultAuthConfig);
  expect([loaded.problems, loaded.warnings, loaded.origins.size]).toEqual([[], [], 0]);
  expect(loaded.config).toMatchObject({
    site_url: 'http://localhost:3000',
    jwt_exp: 3600,
    mailer_otp_exp: 3600,
    mailer_otp_length: 6,
    smtp_port: '587',
    smtp_host: null,
    rate_limit_token_refresh: 150,
    refresh_token_rotation_enabled: true,
    mailer_secure_email_change_enabled: true,
    mailer_notifications_password_changed_enabled: false,
    mailer_subjects_recovery: null,
    external_google_enabled: false,
  });
});

test('every default is a value that its own kind accepts', () => {
  for (const name of authFieldNames) {
    const { kind, default: value } = authField(name);
    if (value !== null && value !== '') expect([name, kind.parse(value)]).toEqual([name, value]);
  }
});

test('every field says in a sentence what it does', () => {
  expect(authFieldNames.filter((name) => !/^.{10,}\.$/.test(authField(name).doc))).toEqual([]);
});

test('fields have the names of Supabase Auth in the environment', () => {
  expect(originalVariable('site_url')).toBe('GOTRUE_SITE_URL');
  expect(originalVariable('refresh_token_rotation_enabled')).toBe('GOTRUE_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED');
  expect(originalVariable('mailer_templates_recovery_content')).toBe('GOTRUE_MAILER_TEMPLATES_RECOVERY');
  expect(originalVariable('mailer_subjects_password_changed_notification')).toBe(
    'GOTRUE_MAILER_SUBJECTS_PASSWORD_CHANGED_NOTIFICATION',
  );
  expect(originalVariable('mailer_delivery')).toBeNull();
});

test('flags win over our names, these over those of Supabase Auth, these over the file', () => {
  const toml = 'auth = { site_url = "https://file.test" }';
  const original = { GOTRUE_SITE_URL: 'https://original.test' };
  const ours = { ...original, PGREFLECT_SITE_URL: 'https://ours.test' };
  const flags = new Map([['site_url', ['https://flag.test']]] as const);
  const all = [
    load({ toml }),
    load({ toml, environment: original }),
    load({ toml, environment: ours }),
    load({ toml, environment: ours, flags }),
  ];
  expect(all.map(({ config }) => config.site_url)).toEqual([
    'https://file.test',
    'https://original.test',
    'https://ours.test',
    'https://flag.test',
  ]);
  expect(all.map(({ origins }) => origins.get('site_url'))).toEqual([
    'pgreflect.toml: auth.site_url',
    'GOTRUE_SITE_URL',
    'PGREFLECT_SITE_URL',
    '--site-url',
  ]);
});

describe('the environment', () => {
  test('the environment has durations, switches and lists as Supabase Auth writes them', () => {
    const { config, problems } = load({
      environment: {
        GOTRUE_SMTP_MAX_FREQUENCY: '1m30s',
        GOTRUE_SESSIONS_TIMEBOX: '24h',
        GOTRUE_MAILER_AUTOCONFIRM: 'true',
        GOTRUE_URI_ALLOW_LIST: 'https://a.test/**,myapp://**',
        GOTRUE_SMTP_PORT: '465',
        GOTRUE_RATE_LIMIT_EMAIL_SENT: '10/5m',
        GOTRUE_RATE_LIMIT_SMS_SENT: '0',
        GOTRUE_SMS_TEST_OTP: '4915100:123456,4915200:654321',
        GOTRUE_EXTERNAL_GOOGLE_ENABLED: 'true',
        GOTRUE_EXTERNAL_GOOGLE_CLIENT_ID: 'us',
        GOTRUE_SMTP_HOST: '',
      },
    });
    expect(problems).toEqual([]);
    expect(config).toMatchObject({
      smtp_max_frequency: 90,
      sessions_timebox: 24,
      mailer_autoconfirm: true,
      uri_allow_list: 'https://a.test/**,myapp://**',
      smtp_port: '465',
      rate_limit_email_sent: '10/5m',
      rate_limit_sms_sent: 0,
      sms_test_otp: '4915100=123456,4915200=654321',
      external_google_enabled: true,
      external_google_client_id: 'us',
      smtp_host: null,
    });
  });

  test('the environment may name a file for a secret, not both', () => {
    writeFileSync(join(directory, 'password'), 'hunter2\n');
    expect(load({ environment: { PGREFLECT_SMTP_PASS_FILE: 'password' } }).config.smtp_pass).toBe('hunter2');
    const both = load({ environment: { PGREFLECT_SMTP_PASS_FILE: 'password', PGREFLECT_SMTP_PASS: 'x' } });
    expect(both.problems[0]?.problem).toContain('both set');
    expect(load({ environment: { PGREFLECT_SMTP_PASS_FILE: 'missing' } }).problems[0]?.problem).toContain('ENOENT');
  });

  test('the environment has templates inline, as files and as addresses', () => {
    writeFileSync(join(directory, 'invite.html'), '<h2>Come in</h2>');
    const loaded = load({
      environment: {
        GOTRUE_MAILER_TEMPLATES_RECOVERY: '<a href="{{ .ConfirmationURL }}">Reset</a>',
        GOTRUE_MAILER_TEMPLATES_INVITE: './invite.html',
        GOTRUE_MAILER_TEMPLATES_CONFIRMATION: 'https://templates.test/confirm.html',
        GOTRUE_MAILER_TEMPLATES_MAGIC_LINK: '/templates/magic.html',
        GOTRUE_MAILER_TEMPLATES_REAUTHENTICATION: './missing.html',
        GOTRUE_MAILER_TEMPLATES_EMAIL_CHANGE: `file://${join(directory, 'invite.html')}`,
      },
    });
    expect(loaded.config.mailer_templates_recovery_content).toContain('Reset');
    expect(loaded.templates).toEqual({
      invite: file('invite.html', 'GOTRUE_MAILER_TEMPLATES_INVITE'),
      reauthentication: file('missing.html', 'GOTRUE_MAILER_TEMPLATES_REAUTHENTICATION'),
      email_change: file('invite.html', 'GOTRUE_MAILER_TEMPLATES_EMAIL_CHANGE'),
      confirmation: remote('https://templates.test/confirm.html', 'GOTRUE_MAILER_TEMPLATES_CONFIRMATION'),
      magic_link: remote('/templates/magic.html', 'GOTRUE_MAILER_TEMPLATES_MAGIC_LINK'),
    });
    // Whether they can be read is found out later, and is no problem of the start.
    expect([loaded.problems, loaded.warnings]).toEqual([[], []]);
    const elsewhere = load({ environment: { GOTRUE_MAILER_TEMPLATES_INVITE: 'file://other.test/invite.html' } });
    expect(elsewhere.problems[0]?.problem).toContain('must be the address of a file of this machine');
  });
});

describe('the file', () => {
  test('the file has the tables of the Supabase CLI, with what they invert', () => {
    const { config, templates, problems, warnings } = load({
      environment: { SMTP_PASS: 'hunter2' },
      toml: `
[auth]
site_url = "https://app.test"
additional_redirect_urls = ["https://app.test/**", "myapp://**"]
jwt_expiry = 7200
enable_signup = false
enable_anonymous_sign_ins = true
minimum_password_length = 8
password_requirements = "letters_digits"
refresh_token_reuse_interval = 20
[auth.rate_limit]
email_sent = 100
sign_in_sign_ups = 31
token_verifications = 32
[auth.email]
enable_signup = true
double_confirm_changes = false
enable_confirmations = true
secure_password_change = true
max_frequency = "90s"
otp_length = 8
[auth.email.smtp]
host = "mail.app.test"
port = 465
pass = "env(SMTP_PASS)"
[auth.email.template.confirmation]
subject = "Please confirm"
content_path = "./confirm.html"
[auth.email.template.invite]
content = "Come in."
[auth.email.notification.password_changed]
enabled = true
content = "Changed."
[auth.sms.test_otp]
4915100 = "123456"
[auth.sessions]
timebox = "24h"
[auth.external.github]
enabled = true
client_id = "us"
`,
    });
    expect([problems, warnings]).toEqual([[], []]);
    expect(config).toMatchObject({
      site_url: 'https://app.test',
      uri_allow_list: 'https://app.test/**,myapp://**',
      jwt_exp: 7200,
      disable_signup: true,
      external_anonymous_users_enabled: true,
      password_min_length: 8,
      password_required_characters: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:0123456789',
      security_refresh_token_reuse_interval: 20,
      rate_limit_email_sent: 100,
      rate_limit_otp: 31,
      rate_limit_verify: 32,
      external_email_enabled: true,
      mailer_secure_email_change_enabled: false,
      mailer_autoconfirm: false,
      security_update_password_require_reauthentication: true,
      smtp_max_frequency: 90,
      mailer_otp_length: 8,
      smtp_host: 'mail.app.test',
      smtp_port: '465',
      smtp_pass: 'hunter2',
      mailer_subjects_confirmation: 'Please confirm',
      mailer_templates_invite_content: 'Come in.',
      mailer_notifications_password_changed_enabled: true,
      mailer_templates_password_changed_notification_content: 'Changed.',
      sms_test_otp: '4915100=123456',
      sessions_timebox: 24,
      external_github_enabled: true,
      external_github_client_id: 'us',
    });
    expect(templates).toEqual({
      confirmation: file('confirm.html', 'pgreflect.toml: auth.email.template.confirmation.content_path'),
    });
  });

  test('the file has bodies where the Supabase CLI looks for them: in the project, those of notifications in supabase', () => {
    const root = mkdtempSync(join(tmpdir(), 'auth-config-'));
    const places = [
      'templates/both.html',
      'templates/root.html',
      'supabase/templates/both.html',
      'supabase/templates/own.html',
    ];
    for (const place of places) {
      mkdirSync(dirname(join(root, place)), { recursive: true });
      writeFileSync(join(root, place), place);
    }
    const tables = ['template.invite', 'notification.email_changed'];
    const found = (fileName: string, path: string) => {
      const toml = tables.map((table) => `[auth.email.${table}]\ncontent_path = "${path}"`).join('\n');
      const { problems, templates } = load({ toml, fileName, workingDirectory: root });
      expect(problems).toEqual([]);
      return [templates.invite, templates.email_changed_notification].map((source) =>
        source?.kind === 'file' ? relative(root, source.path) : null,
      );
    };
    // Where it is in both places, as the CLI; else where it is.
    const [both, inRoot, own] = ['./templates/both.html', './templates/root.html', './templates/own.html'];
    expect(found('supabase/config.toml', both)).toEqual(['templates/both.html', 'supabase/templates/both.html']);
    expect(found('supabase/config.toml', inRoot)).toEqual(['templates/root.html', 'templates/root.html']);
    expect(found('supabase/config.toml', own)).toEqual(Array(2).fill('supabase/templates/own.html'));
    expect(found('supabase/config.toml', './none.html')).toEqual(['none.html', 'supabase/none.html']);
    // After [auth] was copied to the project.
    expect(found('pgreflect.toml', both)).toEqual(Array(2).fill('templates/both.html'));
    expect(found('pgreflect.toml', own)).toEqual(Array(2).fill('supabase/templates/own.html'));
    expect(found('pgreflect.toml', './none.html')).toEqual(Array(2).fill('none.html'));
  });

  test('the file may have fields under their own names, but not the same one twice', () => {
    expect(load({ toml: 'mailer_otp_length = 7' }).config.mailer_otp_length).toBe(7);
    const twice = load({ toml: 'site_url = "https://a.test"\nauth.site_url = "https://b.test"' });
    expect(twice.problems.map(({ problem }) => problem)).toEqual([
      'pgreflect.toml: auth.site_url says the same as site_url.',
    ]);
    const texts = load({ toml: '[auth.email.template.invite]\ncontent = "x"\ncontent_path = "confirm.html"' });
    expect(texts.problems).toHaveLength(1);
  });

  test('the file is told of a mistyped key, and warned of one without effect that is not switched off', () => {
    const off =
      '[auth.rate_limit]\nweb3 = 30\n[auth.web3.solana]\nenabled = false\n[auth.oauth_server]\nenabled = false\nissuer = "x"';
    const { problems, warnings } = load({
      toml: `[auth]\nenabled = true\nsite_ulr = "https://a.test"\n[auth.saml]\nenabled = true\n${off}`,
    });
    expect(problems).toEqual([
      { problem: 'pgreflect.toml: there is no setting "auth.site_ulr".', fix: 'Did you mean "site_url"?' },
    ]);
    expect(warnings).toEqual(['pgreflect.toml: "auth.saml" has no effect here.']);
  });

  test('the file switches a mail server off, and asks for no secrets of what is switched off', () => {
    const smtp = '[auth.email.smtp]\nenabled = false\nhost = "mail.test"\npass = "env(NOT_SET)"';
    const providers = ['external.apple', 'sms.twilio'].map((path) => {
      const key = path === 'sms.twilio' ? 'auth_token' : 'secret';
      return `[auth.${path}]\nenabled = false\n${key} = "env(NOT_SET)"`;
    });
    const { problems, warnings, config } = load({ toml: [smtp, ...providers].join('\n') });
    expect([problems, warnings, config.smtp_host]).toEqual([[], [], null]);
    const on = load({ toml: smtp.replace('enabled = false', 'enabled = true') });
    expect([on.warnings, on.config.smtp_host]).toEqual([[], 'mail.test']);
    expect(on.problems).toHaveLength(1);
    expect(load({ toml: '[auth.email.smtp]\nenabled = "no"' }).problems.map(({ problem }) => problem)).toEqual([
      'pgreflect.toml: auth.email.smtp.enabled must be true or false.',
    ]);
  });

  test('the file names the key of a variable that is not set', () => {
    const { problems } = load({ toml: '[auth.email.smtp]\npass = "env(NOT_SET)"' });
    expect(problems).toEqual([
      {
        problem: 'pgreflect.toml: auth.email.smtp.pass names the variable NOT_SET, which is not set.',
        fix: 'Set it, as by `set -a; . ./.env; set +a`, or switch off what it is for: enabled = false.',
      },
    ]);
    const [needed] = load({ toml: '[auth]\nsite_url = "env(NOT_SET)"' }).problems;
    expect(needed?.fix).toBe('Set it, as by `set -a; . ./.env; set +a`.');
  });
});

test('all problems are found, and no secret is shown', () => {
  const { problems } = load({
    environment: {
      GOTRUE_MAILER_OTP_LENGTH: '11',
      GOTRUE_SITE_URL: 'app.test',
      GOTRUE_URI_ALLOW_LIST: 'https://[a.test',
      GOTRUE_SMTP_PASS: 'hunter\0two',
      GOTRUE_SMTP_ADMIN_EMAIL: 'nobody',
      GOTRUE_MAILER_SUBJECTS_INVITE: 'two\nlines',
      GOTRUE_SESSIONS_TIMEBOX: 'a day',
      GOTRUE_MAILER_AUTOCONFIRM: 'true',
      GOTRUE_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
    },
  });
  const text = problems.map(({ problem }) => problem).join('\n');
  for (const words of [
    'GOTRUE_MAILER_OTP_LENGTH must be a whole number from 6 to 10 (given: "11").',
    'GOTRUE_SITE_URL must be an absolute URL',
    'GOTRUE_URI_ALLOW_LIST: pattern "https://[a.test" has a "[" without its "]"',
    'GOTRUE_SMTP_PASS must not contain a NUL character.',
    'GOTRUE_SMTP_ADMIN_EMAIL must be an email address',
    'GOTRUE_MAILER_SUBJECTS_INVITE must not contain a line break',
    'GOTRUE_SESSIONS_TIMEBOX must be a duration',
    'cannot both be true',
  ])
    expect(text).toContain(words);
  expect(text).not.toContain('hunter');
});

test('the management API coerces nothing but the port', () => {
  const read = (name: Parameters<typeof authField>[0], value: unknown) => () => authField(name).kind.parse(value);
  expect(read('mailer_otp_length', '6')).toThrow('must be an integer');
  expect(read('mailer_otp_length', 6.5)).toThrow('must be an integer');
  expect(read('mailer_otp_length', 5)).toThrow('must be a whole number from 6 to 10');
  expect(read('disable_signup', 'true')).toThrow('must be true or false');
  expect(read('site_url', 5)).toThrow('must be a string');
  expect(read('rate_limit_email_sent', '10/5m')).toThrow('must be an integer');
  expect(read('smtp_port', 587)()).toBe('587');
  expect(read('smtp_port', '587')()).toBe('587');
  expect(read('smtp_port', '99999')).toThrow('must be a port');
  expect(read('sms_provider', 'pigeon')).toThrow('must be one of');
});

test('addresses of providers are those of the web, without secrets in them', () => {
  const { kind } = authField('external_keycloak_url');
  for (const good of ['', 'https://login.x.test/realms/shop', 'http://keycloak:8080']) {
    expect([kind.parse(good), kind.parseText(good)]).toEqual([good, good]);
  }
  const bad = ['login.x.test', 'file:///x', 'javascript:alert(1)', 'https://user:pass@x.test', 'https://x.test/#a'];
  for (const url of bad) {
    expect(() => kind.parse(url)).toThrow('must be an http or https address');
    expect(() => authField('external_google_redirect_uri').kind.parse(url)).toThrow('must be an http or https');
  }
});

test('layers lie over each other, and the whole is checked', () => {
  const config = layerAuthConfig({ site_url: 'https://a.test', jwt_exp: 60 }, { jwt_exp: 120 });
  expect([config.site_url, config.jwt_exp, config.mailer_otp_exp]).toEqual(['https://a.test', 120, 3600]);
  expect(checkAuthConfig(config)).toEqual([]);
});

test.each([
  ['60s', 60],
  ['1h30m', 5400],
  ['300ms', 0.3],
  ['1.5h', 5400],
  ['0', 0],
])('the duration %s is %d seconds', (text, seconds) => expect(parseDurationSeconds(text)).toBeCloseTo(seconds));
