/** Where hooks go, and what signs their requests. */
import { expect, test } from 'vitest';
import { checkAuthConfig, layerAuthConfig } from '../../../src/config/auth/auth-config.ts';
import { parseHookTarget, parseWebhookSecrets } from '../../../src/config/auth/hook-target.ts';
import { loadAuthConfig } from '../../../src/config/auth/load-auth-config.ts';

test('a hook is a function of the database or a webhook', () => {
  const name = 'Custom_Claims_2';
  expect(parseHookTarget(`pg-functions://postgres/public/${name}`)).toEqual({
    kind: 'function',
    schema: 'public',
    name,
  });
  expect(parseHookTarget('https://hooks.example/auth?a=1')).toEqual({
    kind: 'webhook',
    url: 'https://hooks.example/auth?a=1',
  });
});

test.each(['localhost:8000', '127.0.0.1', '[::1]:9', 'host.docker.internal:54321'])(
  'http is for this machine: %s',
  (host) => {
    expect(parseHookTarget(`http://${host}/`)).toMatchObject({ kind: 'webhook', url: `http://${host}/` });
  },
);

test.each([
  ['http://hooks.example/', 'must be an https address; http is for this machine (localhost) alone'],
  ['http://localhost.hooks.example/', 'must be an https address; http is for this machine (localhost) alone'],
  ['https://user:secret@hooks.example/', 'must not have a login in it'],
  ['https://', 'must be an https address'],
  ['javascript:alert(1)', 'must be pg-functions://postgres/SCHEMA/FUNCTION or the https address of a webhook'],
  ['pg-functions://other/public/f', 'must be pg-functions://postgres/SCHEMA/FUNCTION or the https address of a webhook'],
  ['pg-functions://postgres/public/f"; drop', 'must be pg-functions://postgres/SCHEMA/FUNCTION or the https address of a webhook'],
  [`pg-functions://postgres/public/${'f'.repeat(64)}`, 'must be pg-functions://postgres/SCHEMA/FUNCTION or the https address of a webhook'],
])('%s is neither', (text, message) => {
  expect(() => parseHookTarget(text)).toThrow(new Error(message));
}); // biome-ignore format: a table

test('several secrets are separated by a bar, and are not repeated in messages', () => {
  const [first, second] = [Buffer.alloc(24, 1), Buffer.alloc(64, 2)];
  const text = [first, second].map((key) => `v1,whsec_${key.toString('base64')}`);
  expect(parseWebhookSecrets(text.join('|'))).toEqual([first, second]);
  for (const wrong of ['', `${text[0]}|`, 'v1,whsec_tooshort', text[0]?.slice(3) ?? '', `v1a,whpk_${'a'.repeat(40)}`]) {
    expect(() => parseWebhookSecrets(wrong)).toThrow(
      /^must be secrets of the form v1,whsec_BASE64 \(24 to 66 bytes\), separated by \|$/,
    );
  }
});

test('the table of a hook in the file of the Supabase CLI is read, and its variables', () => {
  const { config, problems } = loadAuthConfig({
    flags: new Map(),
    environment: {
      GOTRUE_HOOK_SEND_SMS_ENABLED: 'true',
      GOTRUE_HOOK_SEND_SMS_URI: 'pg-functions://postgres/public/send_sms',
      EMAIL_SECRET: `v1,whsec_${'a'.repeat(40)}`,
    },
    file: {
      auth: { hook: { send_email: { enabled: true, uri: 'https://x.test/mail', secrets: 'env(EMAIL_SECRET)' } } },
    },
    fileName: 'pgreflect.toml',
    isNamed: true,
    workingDirectory: '/',
  });
  expect(problems).toEqual([]);
  expect(config).toMatchObject({
    hook_send_sms_enabled: true,
    hook_send_sms_uri: 'pg-functions://postgres/public/send_sms',
    hook_send_email_enabled: true,
    hook_send_email_secrets: `v1,whsec_${'a'.repeat(40)}`,
    hook_custom_access_token_enabled: false,
  });
});

test('a hook that is switched on has to be complete; one that is off may be half-made', () => {
  const half = { hook_before_user_created_uri: 'https://x.test/', hook_before_user_created_secrets: null };
  expect(checkAuthConfig(layerAuthConfig(half))).toEqual([]);
  expect(checkAuthConfig(layerAuthConfig({ ...half, hook_before_user_created_enabled: true }))).toEqual([
    'hook_before_user_created_enabled needs hook_before_user_created_secrets, which sign its requests',
  ]);
});
