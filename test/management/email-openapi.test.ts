/**
 * /openapi.json and the emails of the management API: every operation answers as it says, with nothing more and nothing missing, and takes
 * what it says and nothing else.
 */
import { createHmac } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, expect, test, vi } from 'vitest';
import { emailKindNames } from '../../src/config/auth/email-kinds.ts';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { type Conformance, createConformance } from '../support/openapi.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, ref } from './management.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Json = any;

let database: TestDatabase;
let token: string;
beforeAll(async () => {
  database = await createAuthDatabase();
  token = await addToken(database, { scopes: ['auth_config:read', 'auth_config:write', 'project:operate'] });
});

const root = `/v1/projects/${ref}`;
const render = `${root}/config/auth/emails/render`;
const send = `${root}/config/auth/emails/send`;
const eventsKey = 'key-0123456789abcdef';

interface Api {
  readonly auth: TestAuth;
  readonly document: Json;
  readonly conformance: Conformance;
  /** Asks, and the exchange has to be as described. */
  ask(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Json }>;
}

async function serve(): Promise<Api> {
  const values = { smtp_max_frequency: 0, mailer_events_service: 'mailgun', mailer_events_secret: eventsKey } as const;
  const auth = await testAuth(database, values, { projectRef: ref, managementRateLimit: null });
  const document: Json = await (await fetch(`${auth.url}/openapi.json`)).json();
  const conformance = createConformance(document);
  const ask: Api['ask'] = async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(auth.url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const reply = { status: response.status, body: await response.json() };
    const problems = conformance.check({
      method: method.toLowerCase(),
      path: path.replace(/\?.*/, ''),
      body,
      status: reply.status,
      answer: reply.body,
    });
    expect([method, path, reply.status, ...problems]).toEqual([method, path, reply.status]);
    return reply;
  };
  return { auth, document, conformance, ask };
}

/** A bounce as Mailgun signs it. */
function bounceOf(messageId: string, recipient: string): unknown {
  const signed = { timestamp: String(Math.floor(Date.now() / 1000)), token: 'b'.repeat(50) };
  const signature = createHmac('sha256', eventsKey)
    .update(signed.timestamp + signed.token)
    .digest('hex');
  const message = { headers: { 'message-id': messageId } };
  const data = {
    event: 'failed',
    severity: 'permanent',
    reason: 'bounce',
    recipient,
    message,
    'delivery-status': { message: 'No' },
  };
  return { signature: { ...signed, signature }, 'event-data': data };
}

test('every operation about emails answers as described', async () => {
  const { auth, conformance, ask } = await serve();
  await auth.ask('/signup', { email: 'ana@x.test', password: 'a good password', data: { locale: 'de' } });
  await auth.messages();
  await ask('GET', `${root}/config/auth/emails`);
  await ask('GET', `${root}/config/auth/emails/shared`);
  const texts = {
    mailer_subjects_recovery: 'S',
    mailer_templates_recovery_content: '<p>{{ template "b" . }}</p>',
    mailer_templates_recovery_translations: { de: { content: '<a href="{{ .ConfirmationURL }}">Los</a>' } },
    mailer_partials: { b: '<a href="{{ .ConfirmationURL }}">Go</a>' },
    mailer_layout_content: '<html>{{ template "content" . }}</html>',
  };
  const { body: stored } = await ask('PATCH', `${root}/config/auth`, texts);
  expect(stored).toMatchObject(texts);
  await ask('GET', `${root}/config/auth`);
  await ask('PATCH', `${root}/config/auth`, { mailer_templates_recovery_content: '<p>' });
  await ask('GET', `${root}/config/auth/fields`);
  await ask('GET', `${root}/config/auth/versions`);
  await ask('GET', `${root}/config/auth/versions/1`);
  for (const email of [...emailKindNames, 'link_page'])
    for (const locale of [null, 'de']) await ask('POST', render, { email, locale });
  const wrong = ['<p>\n{{ if }}', '<p>{{ template "b" . }}', '{{ index .Data 5 }}<a href="#">', '<p title="'];
  for (const content of wrong) {
    await ask('POST', render, { email: 'recovery', content, text: content, subject: content });
    await ask('POST', render, { email: 'recovery', layout: content, partials: { b: content } });
    await ask('POST', render, { email: 'link_page', content });
  }
  await ask('POST', send, { email: 'recovery', to: 'bo@x.test' });
  await ask('POST', send, { email: 'recovery', to: 'bo@x.test', content: '{{ if }}' });
  const list = () => ask('GET', `${root}/emails/deliveries`);
  await vi.waitFor(async () =>
    expect((await list()).body).toMatchObject([{ state: 'captured' }, { state: 'captured' }]),
  );
  // As with a mail server.
  await database.query(`update pgreflect_queue.deliveries set state = 'sent'`);
  const [trial, signUp] = (await list()).body;
  expect([trial.userId, trial.event, signUp.locale]).toEqual([null, null, 'de']);
  const [row] = await database.query<{ readonly id: string }>(
    'select message_id as id from pgreflect_queue.deliveries where id = $1',
    [signUp.id],
  );
  expect((await ask('POST', `${root}/emails/events`, bounceOf(row?.id ?? '', 'ana@x.test'))).body).toEqual({
    events: 1,
  });
  await ask('POST', `${root}/emails/events`, {});
  expect((await ask('GET', `${root}/emails/deliveries/${signUp.id}`)).body).toMatchObject({ event: 'bounced' });
  await ask('GET', `${root}/emails/deliveries/0`);
  const { body: addresses } = await ask('GET', `${root}/emails/suppressed`);
  await ask('DELETE', `${root}/emails/suppressed/${addresses[0].id}`);
  await ask('DELETE', `${root}/emails/suppressed/${addresses[0].id}`);
  const ofEmails = conformance.described.filter((name) => / \/v1\/.*(emails|config\/auth)/.test(name));
  expect(ofEmails.filter((name) => !conformance.seen.has(name))).toEqual([]);
  await ask('PATCH', `${root}/config/auth`, Object.fromEntries(Object.keys(texts).map((name) => [name, null])));
});

/** What a schema says of a value. */
function createTaker(document: Json) {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  return (schema: Json, value: unknown) =>
    ajv.validate(schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema, value);
}

test('drafts have the members that are described, with those types, and no others', async () => {
  const { document, ask } = await serve();
  const takes = createTaker(document);
  const values = [null, 'de', '', 'link_page', 'ana@x.test', 5, [], {}, { a: 5 }, { Data: {} }];
  for (const path of [render, send]) {
    const { schema } = document.paths[path.replace(ref, '{ref}')].post.requestBody.content['application/json'];
    const known = { email: 'recovery', ...(path === send && { to: 'ana@x.test' }) };
    const { properties } = schema.$ref ? document.components.schemas.EmailDraft : schema;
    const bodies = [
      ...[...Object.keys(properties), 'unknown', '__proto__'].flatMap((name) =>
        values.map((value) => ({ ...known, [name]: value })),
      ),
      ...[{}, { to: 'ana@x.test' }, [], 'text', 5, null],
    ];
    for (const body of bodies) {
      const { status } = await ask('POST', path, body);
      // A layout needs its content, which a schema does not tell.
      const { layout = null } = Object(body) as { readonly layout?: unknown };
      const isTaken = takes(schema, body) && (path === render || !layout);
      expect([path, body, status]).toEqual([path, body, isTaken ? 200 : 400]);
    }
  }
});

test('filters of lists and ids take the words, numbers and formats that are described, and no others', async () => {
  const { document, ask } = await serve();
  const takes = createTaker(document);
  const values = [
    ...['', '0', '1', '7', '200', '201', '-1', '1.5', '01', '1e2', ' 1', 'x', '9'.repeat(18), '9'.repeat(19)],
    ...['sent', 'SENT', 'sent,failed', 'queued', 'bounced', 'recovery', 'email', 'a'.repeat(64), 'A'.repeat(64)],
    ...['11111111-1111-4111-8111-111111111111', '11111111-1111-4111-8111-11111111111', '%00', '%27'],
  ];
  for (const name of ['deliveries', 'suppressed']) {
    const { parameters } = document.paths[`/v1/projects/{ref}/emails/${name}`].get;
    for (const { name: filter, schema, allowEmptyValue } of parameters.filter(
      (parameter: Json) => parameter.in === 'query',
    ))
      for (const value of values) {
        const { status } = await ask('GET', `${root}/emails/${name}?${filter}=${value}`);
        const given = schema.type === 'integer' && /^\d+$/.test(value) ? Number(value) : decodeURIComponent(value);
        const isTaken = takes(schema, given) || (allowEmptyValue && value === '');
        expect([filter, value, status]).toEqual([filter, value, isTaken ? 200 : 400]);
      }
  }
});
