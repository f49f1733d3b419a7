import { createHmac, generateKeyPairSync, hash } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { authFieldNames } from '../../src/config/auth/auth-fields.ts';
import type { Config } from '../../src/config/config.ts';
import { makeSigningKey } from '../../src/config/keys.ts';
import { templateFieldNames } from '../../src/email/lint/check-template.ts';
import { inertFields } from '../../src/management/config-fields.ts';
import { defaultTemplates } from '../support/default-templates.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { createAuthDatabase, createDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, managedGateway, ref } from './management.ts';

let database: TestDatabase;
let token: string;

/** The settings of a signature. */
const signing = {
  mailer_dkim_domain: 'mail.test',
  mailer_dkim_selector: 'k1',
  mailer_dkim_private_key: generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey,
};

beforeAll(async () => {
  database = await createAuthDatabase();
});

beforeEach(async () => {
  await database.query('truncate auth.pgreflect_config, auth.pgreflect_config_versions, auth.pgreflect_rate_limits');
  token = await addToken(database);
});

describe('reading', () => {
  test('every field is answered, those without effect too', async () => {
    const { get } = await managedGateway(database, token);
    const { status, headers, body } = await get();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(Object.keys(body).sort()).toEqual([...authFieldNames, ...inertFields.keys()].sort());
    expect(body).toMatchObject({
      mailer_otp_length: 6,
      smtp_port: '587',
      hook_mfa_verification_attempt_enabled: false,
      smtp_pass: null,
    });
  });

  test('an email that is not set is answered with the text that is sent', async () => {
    const { get } = await managedGateway(database, token);
    const { body } = await get();
    expect(body.mailer_subjects_recovery).toBe(defaultTemplates.recovery.subject);
    expect(body.mailer_templates_invite_content).toBe(defaultTemplates.invite.content);
    const [textParts, others] = [true, false].map((isText) =>
      templateFieldNames.filter((name) => name.endsWith('_text') === isText),
    );
    expect(others!.every((name) => typeof body[name] === 'string' && body[name] !== '')).toBe(true);
    expect(textParts!.every((name) => body[name] === null)).toBe(true);
  });

  test('start values lie above the defaults, stored values above both', async () => {
    const authValues = { jwt_exp: 1800, site_url: 'https://start.example' };
    const { get, patch } = await managedGateway(database, token, { authValues });
    await patch({ site_url: 'https://stored.example' });
    expect((await get()).body).toMatchObject({
      jwt_exp: 1800,
      site_url: 'https://stored.example',
      mailer_otp_exp: 3600,
    });
    const { body } = await patch({ site_url: null });
    expect(body.site_url).toBe('https://start.example');
  });

  test('a limit that was started as n/duration is answered as a number an hour', async () => {
    const { get } = await managedGateway(database, token, { authValues: { rate_limit_email_sent: '10/5m' } });
    expect((await get()).body.rate_limit_email_sent).toBe(120);
  });
});

describe('changing', () => {
  test('one field is changed, the whole configuration is answered, and reading shows it', async () => {
    const { get, patch } = await managedGateway(database, token);
    const changed = await patch({ mailer_subjects_recovery: 'Forgot your password?' });
    expect(changed.status).toBe(200);
    expect(changed.body.mailer_subjects_recovery).toBe('Forgot your password?');
    expect(changed.body).toEqual((await get()).body);
  });

  test('null restores what was there before anything was stored', async () => {
    const { patch } = await managedGateway(database, token);
    await patch({ mailer_subjects_recovery: 'Mine', jwt_exp: 60, saml_enabled: true });
    const { body } = await patch({ mailer_subjects_recovery: null, jwt_exp: null, saml_enabled: null });
    expect(body).toMatchObject({
      mailer_subjects_recovery: defaultTemplates.recovery.subject,
      jwt_exp: 3600,
      saml_enabled: false,
    });
    expect(await database.query('select c.values from auth.pgreflect_config c')).toEqual([{ values: {} }]);
  });

  test('an empty body of an email stands for the built-in one', async () => {
    const { patch } = await managedGateway(database, token);
    const { status, body } = await patch({ mailer_templates_recovery_content: '' });
    expect(status).toBe(200);
    expect(body.mailer_templates_recovery_content).toBe(defaultTemplates.recovery.content);
  });

  test('an empty object changes nothing and makes no version', async () => {
    const { patch } = await managedGateway(database, token);
    await patch({ jwt_exp: 60 });
    expect((await patch({})).status).toBe(200);
    expect((await patch({ jwt_exp: 60 })).status).toBe(200);
    expect(await database.query('select c.version from auth.pgreflect_config c')).toEqual([{ version: '1' }]);
  });

  test('every version is kept with its values, what changed, when and by whom', async () => {
    const { patch } = await managedGateway(database, token);
    await patch({ jwt_exp: 60, mailer_otp_length: 8 });
    await patch({ jwt_exp: 120 });
    const versions = await database.query(
      `select v.version::int, v.values, v.changed, v.updated_by, now() - v.updated_at < interval '1 minute' as recent
      from auth.pgreflect_config_versions v order by v.version`,
    );
    const by = expect.stringMatching(/^test \([0-9a-f-]{36}\)$/);
    expect(versions).toEqual([
      {
        version: 1,
        values: { jwt_exp: 60, mailer_otp_length: 8 },
        changed: expect.arrayContaining(['jwt_exp', 'mailer_otp_length']),
        updated_by: by,
        recent: true,
      },
      {
        version: 2,
        values: { jwt_exp: 120, mailer_otp_length: 8 },
        changed: ['jwt_exp'],
        updated_by: by,
        recent: true,
      },
    ]);
  });

  test('after the stored values were deleted in the database, a change with the new version is accepted, one with an old version is refused', async () => {
    const { get, patch, call } = await managedGateway(database, token);
    const change = (version: string | null, body: unknown) =>
      call({ method: 'PATCH', headers: { 'if-match': version! }, body: JSON.stringify(body) });
    await patch({ mailer_otp_length: 7 });
    const before = (await get()).headers.get('etag');
    await database.query('delete from auth.pgreflect_config');
    const now = (await get()).headers.get('etag');

    expect((await change(before, { mailer_otp_length: 8 })).status).toBe(412);
    expect(await change(now, { mailer_otp_length: 9 })).toMatchObject({ status: 200, body: { mailer_otp_length: 9 } });
    // Numbers of versions are not used again.
    expect((await get()).headers.get('etag')).not.toBe(before);
  });

  test('fields of hosted projects without effect here are stored and named in a header', async () => {
    const { patch, get } = await managedGateway(database, token);
    const { status, headers, body } = await patch({
      hook_mfa_verification_attempt_enabled: true,
      jwt_exp: 60,
      saml_external_url: 'x',
    });
    expect(status).toBe(200);
    expect(headers.get('access-control-expose-headers')).toMatch(/x-pgreflect-ignored-fields, x-template-warnings/);
    expect(headers.get('x-pgreflect-ignored-fields')?.split(',').sort()).toEqual([
      'hook_mfa_verification_attempt_enabled',
      'saml_external_url',
    ]);
    expect(body).toMatchObject({ hook_mfa_verification_attempt_enabled: true, saml_external_url: 'x' });
    expect((await get()).body.saml_external_url).toBe('x');
  });

  test('two changes of different fields at the same time are both kept', async () => {
    const { patch, get } = await managedGateway(database, token);
    const other = await managedGateway(database, token);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => [
        patch({ jwt_exp: 100 + index }),
        other.patch({ [`mailer_subjects_${['invite', 'recovery'][index % 2]}`]: `Subject ${index}` }),
      ]).flat(),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { body } = await get();
    expect(body.jwt_exp).toBeGreaterThanOrEqual(100);
    expect(body.mailer_subjects_invite).toMatch(/^Subject/);
    expect(body.mailer_subjects_recovery).toMatch(/^Subject/);
  });

  test('a body of everything that was read can be sent back and changes nothing', async () => {
    const { patch, get } = await managedGateway(database, token);
    await patch({ ...signing, smtp_pass: 'hunter2', jwt_exp: 60 });
    const before = (await get()).body;
    const after = await patch(before);
    expect(after.body).toEqual(before);
    const [row] = await database.query<{ pass: string }>(
      `select c.values ->> 'smtp_pass' as pass from auth.pgreflect_config c`,
    );
    expect(row?.pass).toBe('hunter2');
    expect((await get()).body.mailer_dkim_private_key).toMatch(/^hmac-sha256:/);
  });
});

describe('secrets', () => {
  const form = /^hmac-sha256:[0-9a-f]{64}$/;

  test('of signatures are refused without quoting them, and a signature is configured whole or not at all', async () => {
    const { patch } = await managedGateway(database, token);
    const pem = signing.mailer_dkim_private_key;
    const broken = await patch({ ...signing, mailer_dkim_private_key: pem.replace('PRIVATE', 'SECRET') });
    expect(broken.status).toBe(400);
    expect(broken.body.message).toContain('mailer_dkim_private_key must be a private RSA key of at least 1024 bits');
    const alone = await patch({ mailer_dkim_private_key: pem });
    expect(alone.body.message).toContain('missing: mailer_dkim_domain, mailer_dkim_selector');
    const injected = await patch({ ...signing, mailer_dkim_domain: 'mail.test; l=0' });
    expect(injected.body.message).toContain('mailer_dkim_domain must be a DNS name in ASCII');
    for (const { body } of [broken, alone, injected]) expect(JSON.stringify(body)).not.toContain(pem.slice(40, 80));
  });

  test('secrets are answered as digests, which cannot be used to try guesses by what is public', async () => {
    const { patch, get } = await managedGateway(database, token, {
      authValues: { external_google_secret: 'from the start' },
    });
    await patch({ smtp_pass: 'hunter2', hook_send_sms_secrets: 'v1,whsec_x', sms_twilio_auth_token: 'hunter2' });
    const { body } = await get();
    const { smtp_pass, external_google_secret, hook_send_sms_secrets, sms_twilio_auth_token } = body;
    const shown = [smtp_pass, external_google_secret, hook_send_sms_secrets, sms_twilio_auth_token];
    for (const digest of shown) expect(digest).toMatch(form);
    // Equal secrets of two fields do not show that they are equal.
    expect(new Set(shown).size).toBe(4);
    expect(body.external_github_secret).toBeNull();
    expect(JSON.stringify(body)).not.toMatch(/hunter2|from the start|whsec/);
    const guesses = [hash('sha256', 'hunter2')];
    for (const key of [ref, anonKey, serviceKey, database.url, 'smtp_pass', '', token]) {
      for (const text of ['hunter2', `${ref}hunter2`, '["smtp_pass","hunter2"]']) {
        guesses.push(createHmac('sha256', key).update(text).digest('hex'));
      }
    }
    for (const guess of guesses) expect(JSON.stringify(body)).not.toContain(guess);
  });

  test('secrets have the same digest in every process of a project, and another one under another signing key', async () => {
    const digestOf = async (given: Partial<Config>) => {
      const { get } = await managedGateway(database, token, { authValues: { smtp_pass: 'hunter2' }, ...given });
      return (await get()).body.smtp_pass as string;
    };
    const key = await makeSigningKey();
    const other = await makeSigningKey();
    const [first, again, rotated, asymmetric, asymmetricAgain, another] = [
      await digestOf({}),
      await digestOf({}),
      await digestOf({ jwtSecret: 'another secret of more than thirty-two characters' }),
      await digestOf({ jwtSecret: null, jwtKeys: [key] }),
      await digestOf({ jwtSecret: null, jwtKeys: [key] }),
      await digestOf({ jwtSecret: null, jwtKeys: [other] }),
    ];
    expect([again, asymmetricAgain]).toEqual([first, asymmetric]);
    expect(new Set([first, rotated, asymmetric, another]).size).toBe(4);
  });

  test('secrets stay as they are when their digest is sent back; any other digest never becomes the secret', async () => {
    const { patch, get } = await managedGateway(database, token, { authValues: { external_google_secret: 'start' } });
    await patch({ smtp_pass: 'hunter2' });
    const { smtp_pass, external_google_secret } = (await get()).body;
    expect((await patch({ smtp_pass, external_google_secret })).status).toBe(200);
    for (const foreign of [external_google_secret, `hmac-sha256:${'0'.repeat(64)}`]) {
      expect(await patch({ smtp_pass: foreign, jwt_exp: 99 })).toMatchObject({
        status: 400,
        body: { message: 'smtp_pass is the digest of another secret; send the secret itself' },
      });
    }
    expect(await database.query('select c.values from auth.pgreflect_config c')).toEqual([
      { values: { smtp_pass: 'hunter2' } },
    ]);
  });
});

test('the secret of a hook that is on keeps its form, and its digest is no new one', async () => {
  const { patch, get } = await managedGateway(database, token);
  const secrets = `v1,whsec_${'a'.repeat(44)}`;
  const hook = { hook_send_sms_enabled: true, hook_send_sms_uri: 'https://hooks.example/sms' };
  expect((await patch({ ...hook, hook_send_sms_secrets: secrets })).status).toBe(200);
  const { body } = await get();
  expect(await patch(body)).toMatchObject({ status: 200, body });
  const stored = await database.query(
    `select c.values ->> 'hook_send_sms_secrets' as kept from auth.pgreflect_config c`,
  );
  expect(stored).toEqual([{ kept: secrets }]);
  expect((await patch({ hook_send_sms_secrets: 'hunter2' })).body.message).not.toContain('hunter2');
});

describe('who may ask', () => {
  test.each([
    ['no token', null, 401, 'Unauthorized'],
    ['a token that nobody made', `Bearer sbp_${'0'.repeat(40)}`, 401, 'Unauthorized'],
    ['the anon key', `Bearer ${anonKey}`, 401, 'Unauthorized'],
    ['the service key', `Bearer ${serviceKey}`, 401, 'Unauthorized'],
    ['another scheme', 'Basic dGVzdDp0ZXN0', 401, 'Unauthorized'],
    ['a blank token', 'Bearer ', 401, 'Unauthorized'],
  ])('%s is refused', async (_, authorization, status, message) => {
    const { call } = await managedGateway(database, token);
    const answer = await call({ token: authorization });
    expect([answer.status, answer.body.message]).toEqual([status, message]);
  });

  test('the ref is looked at before the token, the token before the project', async () => {
    const { call } = await managedGateway(database, token);
    const at = (name: string, authorization: string | null) =>
      call({ path: `/v1/projects/${name}/config/auth`, token: authorization });
    const malformed = await at('short', null);
    expect([malformed.status, malformed.body]).toEqual([
      400,
      { message: 'ref must be 20 characters', code: 'invalid_ref' },
    ]);
    expect((await at('z'.repeat(20), null)).status).toBe(401);
    const elsewhere = await at('z'.repeat(20), `Bearer ${token}`);
    expect([elsewhere.status, elsewhere.body.message]).toEqual([404, 'Project not found']);
  });

  test('a token of another project, or without the scope, is refused with 403', async () => {
    const ofAnother = await addToken(database, { projectRef: 'z'.repeat(20) });
    const reader = await addToken(database, { scopes: ['auth_config:read'] });
    const writer = await addToken(database, { scopes: ['auth_config:write'] });
    const { call } = await managedGateway(database, token);
    const forbidden = { message: 'Forbidden action', code: 'forbidden' };
    expect((await call({ token: `Bearer ${ofAnother}` })).body).toEqual(forbidden);
    expect((await call({ token: `Bearer ${reader}` })).status).toBe(200);
    expect((await call({ token: `Bearer ${reader}`, method: 'PATCH', body: '{"jwt_exp":1}' })).body).toEqual(forbidden);
    expect((await call({ token: `Bearer ${writer}` })).status).toBe(403);
    expect((await call({ token: `Bearer ${writer}`, method: 'PATCH', body: '{}' })).status).toBe(200);
  });

  test('an expired token and a revoked one are refused as a missing one is', async () => {
    const expired = await addToken(database, { expiresAt: new Date(Date.now() - 1000) });
    const { call, get } = await managedGateway(database, token);
    expect((await call({ token: `Bearer ${expired}` })).status).toBe(401);
    expect((await get()).status).toBe(200);
    await database.query('update auth.pgreflect_access_tokens set revoked_at = now()');
    expect((await get()).status).toBe(401);
  });

  test('the one token of the configuration may do everything', async () => {
    const { call } = await managedGateway(database, token, { accessToken: 'a fixed one' });
    expect((await call({ token: 'Bearer a-fixed-one' })).status).toBe(401);
    const fixed = await managedGateway(database, 'sbp_fixed', { accessToken: 'sbp_fixed' });
    expect((await fixed.patch({ jwt_exp: 60 })).status).toBe(200);
  });

  test('more than 60 requests of one token in a minute are refused until the next', async () => {
    const { call, get } = await managedGateway(database, token);
    const other = await addToken(database);
    const answers = await Promise.all(Array.from({ length: 61 }, () => get()));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.body).toEqual({
      message: 'Rate limit exceeded: 60 requests a minute for an access token (--management-rate-limit)',
      code: 'rate_limited',
    });
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await call({ token: `Bearer ${other}` })).status).toBe(200);
  });

  test('requests with unknown tokens are limited per address, and tokens that were valid before go on', async () => {
    const { call, get, gateway } = await managedGateway(database, token, { accessToken: 'a fixed one' });
    expect((await get()).status).toBe(200);
    const unknown = (n: number) => `Bearer sbp_${String(n).padStart(40, '0')}`;
    const statuses: number[] = [];
    for (let n = 0; n < 62; n++) statuses.push((await call({ token: unknown(n) })).status);
    expect(statuses).toEqual([...Array(60).fill(401), 429, 429]);
    const refused = await call({ token: unknown(62) });
    expect(refused.body).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('unknown access tokens'),
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const elsewhere = { headers: { authorization: unknown(63) } };
    expect((await fetch(`${gateway.url}/studio/project`, elsewhere)).status).toBe(429);
    expect((await get()).status).toBe(200);
    expect((await call({ token: 'Bearer a fixed one' })).status).not.toBe(429);
  });

  test('--management-rate-limit sets another number of requests, ten times as many drafts and reads, or none', async () => {
    const path = `/v1/projects/${ref}/config/auth/emails/render`;
    const operator = `Bearer ${await addToken(database, { scopes: ['project:operate'] })}`;
    const statuses = async (limit: number | null, method: 'GET' | 'POST' | 'read', count: number) => {
      await database.query('truncate auth.pgreflect_rate_limits');
      const { call } = await managedGateway(database, token, { managementRateLimit: limit });
      const body = JSON.stringify({ email: 'invite', subject: 'S', content: '<p></p>' });
      const read = { token: operator, path: `/v1/projects/${ref}/schema?role=anon` };
      const ask = () => call(method === 'read' ? read : method === 'GET' ? {} : { method, path, body });
      const answers = await Promise.all(Array.from({ length: count }, ask));
      return answers.filter(({ status }) => status === 200).length;
    };
    expect(await statuses(1, 'GET', 3)).toBe(1);
    expect(await statuses(1, 'POST', 12)).toBe(10);
    expect(await statuses(1, 'read', 12)).toBe(10);
    expect(await statuses(null, 'GET', 61)).toBe(61);
  });
});

describe('the protocol', () => {
  test('other methods are refused with the allowed ones', async () => {
    const { call } = await managedGateway(database, token);
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const { status, headers, body } = await call({ method, body: '{}' });
      expect([status, headers.get('allow'), body.code]).toEqual([
        405,
        'GET, HEAD, PATCH, OPTIONS',
        'method_not_allowed',
      ]);
    }
  });

  test.each([
    ['an array', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['nothing', ''],
    ['malformed JSON', '{"jwt_exp": }'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
  ])('%s as the body is refused', async (_, body) => {
    const { call } = await managedGateway(database, token);
    const answer = await call({ method: 'PATCH', body });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_body']);
  });

  test('a body has to be JSON, and its content type may have parameters', async () => {
    const { call } = await managedGateway(database, token);
    const send = (type: string) => call({ method: 'PATCH', body: '{}', headers: { 'content-type': type } });
    expect((await send('text/plain')).status).toBe(415);
    expect((await send('application/json; charset=utf-8')).status).toBe(200);
  });

  test('a body above 2 MiB is refused, one below the limit of other APIs and above it is not', async () => {
    const { patch } = await managedGateway(database, token);
    const text = `{{ .Token }}${'x'.repeat(900_000)}`;
    const big = { mailer_templates_invite_content: text, mailer_templates_recovery_content: text };
    expect((await patch(big)).status).toBe(200);
    const tooBig = await patch({ ...big, mailer_templates_confirmation_content: text });
    expect([tooBig.status, tooBig.body.code]).toEqual([413, 'body_too_large']);
  });

  test('without the auth tables there is no project to manage', async () => {
    const bare = await createDatabase();
    const { get } = await managedGateway(bare, 'sbp_fixed', { accessToken: 'sbp_fixed' });
    expect((await get()).body.code).toBe('project_not_found');
  });

  test('the API can be switched off, and then what it stored does not count', async () => {
    const { patch } = await managedGateway(database, token);
    await patch({ jwt_exp: 60 });
    const { get } = await managedGateway(database, token, { managementApiEnabled: false });
    expect((await get()).status).toBe(404);
  });

  test('with --config-only start values are answered, and changes refused', async () => {
    const { patch } = await managedGateway(database, token);
    await patch({ jwt_exp: 60 });
    const other = await managedGateway(database, token, { configOnly: true });
    expect((await other.get()).body.jwt_exp).toBe(3600);
    const refused = await other.patch({ jwt_exp: 120 });
    expect([refused.status, refused.body.code]).toEqual([403, 'config_only']);
  });

  test('a database that fails is answered with 500, and the reason is in the log alone', async () => {
    const { gateway, get, patch } = await managedGateway(database, 'sbp_fixed', { accessToken: 'sbp_fixed' });
    await database.query('alter table auth.pgreflect_config_versions rename to away');
    const changed = await patch({ jwt_exp: 61 });
    await database.query('alter table auth.away rename to pgreflect_config_versions');
    expect([changed.status, changed.body]).toEqual([
      500,
      { message: "Failed to update project's auth config", code: 'update_failed' },
    ]);
    expect((await get()).body.jwt_exp).toBe(3600);
    expect(gateway.observations).toContainEqual(expect.objectContaining({ kind: 'masked_error' }));
  });
});
