/**
 * Emails through the HTTP APIs of mail services: each is a real server here that wants what the service's documentation says, and
 * answers as it does.
 */
import { createHash, createHmac } from 'node:crypto';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { type AuthValues, checkAuthConfig, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { EmailError } from '../../src/email/transport/email-error.ts';
import { createServiceTransport, type MailServiceName } from '../../src/email/transport/services/service-transport.ts';
import { sampleMessage } from '../support/email.ts';
import { type HookReply, type HookRequest, startHookServer } from '../support/hook-server.ts';

const key = 'AKIDEXAMPLE:the/key+of=ours';
const values: AuthValues = {
  mailer_reply_to: 'help@mail.test',
  smtp_headers: '{"X-Shop": ["42"]}',
  smtp_sender_name: 'Shop "Ä"',
  mailer_subjects_recovery: 'Täst {{ .Token }}',
};
const html = expect.stringContaining('<html');
const text = expect.stringContaining('012345');
const automatic = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All', 'X-Shop': '42' };

/** Answers of a service: who it lets in, what it takes, and its refusals as documented. */
interface Documented {
  readonly path: string;
  isAllowed(request: HookRequest): boolean;
  readonly taken: HookReply;
  readonly id: string;
  /** What a good request has. */
  check(request: HookRequest): void | Promise<void>;
  readonly refusals: readonly (readonly [HookReply, EmailError['code']])[];
}

const services: Readonly<Record<MailServiceName, Documented>> = {
  postmark: {
    path: '/email',
    isAllowed: ({ headers }) => headers['x-postmark-server-token'] === key,
    taken: {
      body: {
        To: 'to@mail.test',
        SubmittedAt: '2026-01-01T00:00:00Z',
        MessageID: 'b7bc2f4a',
        ErrorCode: 0,
        Message: 'OK',
      },
    },
    id: 'b7bc2f4a',
    check: ({ payload }) =>
      expect(payload).toEqual({
        From: '"Shop \\"Ä\\"" <shop@mail.test>',
        To: 'to@mail.test',
        Subject: 'Täst 012345',
        HtmlBody: html,
        TextBody: text,
        ReplyTo: 'help@mail.test',
        TrackOpens: false,
        TrackLinks: 'None',
        Headers: Object.entries(automatic).map(([Name, Value]) => ({ Name, Value })),
      }),
    refusals: [
      [
        { status: 422, body: { ErrorCode: 406, Message: 'You tried to send to to@mail.test, inactive.' } },
        'recipient_refused',
      ],
      [{ status: 422, body: { ErrorCode: 300, Message: "Error parsing 'To'" } }, 'recipient_refused'],
      [{ status: 422, body: { ErrorCode: 400, Message: 'Sender signature not found' } }, 'sender_refused'],
      [{ status: 422, body: { ErrorCode: 412, Message: 'Pending approval' } }, 'try_later'],
      [{ status: 401, body: { ErrorCode: 10, Message: 'No Account or Server API tokens' } }, 'login_refused'],
    ],
  },
  resend: {
    path: '/emails',
    isAllowed: ({ headers }) => headers.authorization === `Bearer ${key}`,
    taken: { body: { id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794' } },
    id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794',
    check: ({ payload, headers }) => {
      expect(headers['idempotency-key']).toMatch(/^[\w-]+@mail\.test$/);
      expect(payload).toEqual({
        from: '"Shop \\"Ä\\"" <shop@mail.test>',
        to: ['to@mail.test'],
        subject: 'Täst 012345',
        html,
        text,
        reply_to: 'help@mail.test',
        headers: automatic,
      });
    },
    refusals: [
      [{ status: 401, body: { statusCode: 401, name: 'missing_api_key', message: '' } }, 'login_refused'],
      [{ status: 403, body: { statusCode: 403, name: 'invalid_api_key', message: '' } }, 'login_refused'],
      [{ status: 403, body: { statusCode: 403, name: 'validation_error', message: 'not verified' } }, 'sender_refused'],
      [{ status: 422, body: { statusCode: 422, name: 'invalid_from_address', message: '' } }, 'sender_refused'],
      [{ status: 422, body: { statusCode: 422, name: 'missing_required_field', message: '' } }, 'message_refused'],
      [{ status: 409, body: { statusCode: 409, name: 'concurrent_idempotent_requests', message: '' } }, 'try_later'],
      [{ status: 429, body: { statusCode: 429, name: 'daily_quota_exceeded', message: '' } }, 'try_later'],
    ],
  },
  sendgrid: {
    path: '/v3/mail/send',
    isAllowed: ({ headers }) => headers.authorization === `Bearer ${key}`,
    taken: { status: 202, headers: { 'x-message-id': '14c5d75ce93.dfd.64b469' }, body: '' },
    id: '14c5d75ce93.dfd.64b469',
    check: ({ payload }) =>
      expect(payload).toEqual({
        personalizations: [{ to: [{ email: 'to@mail.test' }] }],
        from: { email: 'shop@mail.test', name: 'Shop "Ä"' },
        reply_to: { email: 'help@mail.test' },
        subject: 'Täst 012345',
        headers: automatic,
        content: [
          { type: 'text/plain', value: text },
          { type: 'text/html', value: html },
        ],
        tracking_settings: { click_tracking: { enable: false, enable_text: false }, open_tracking: { enable: false } },
      }),
    refusals: [
      [
        { status: 401, body: { errors: [{ message: 'The provided authorization grant is invalid', field: null }] } },
        'login_refused',
      ],
      [{ status: 403, body: { errors: [{ message: 'The from address', field: 'from' }] } }, 'sender_refused'],
      [
        { status: 400, body: { errors: [{ message: 'x', field: 'personalizations.0.to.0.email' }] } },
        'recipient_refused',
      ],
      [{ status: 413, body: { errors: [{ message: 'too large', field: null }] } }, 'message_refused'],
    ],
  },
  ses: {
    path: '/v2/email/outbound-emails',
    isAllowed: (request) => request.headers.authorization === awsAuthorization(request),
    taken: { body: { MessageId: '010001-ab' } },
    id: '010001-ab',
    async check({ payload }) {
      const { FromEmailAddress, Destination, Content } = payload;
      expect([FromEmailAddress, Destination]).toEqual(['shop@mail.test', { ToAddresses: ['to@mail.test'] }]);
      const parsed = await PostalMime.parse(Buffer.from(Content.Raw.Data, 'base64'));
      expect(parsed).toMatchObject({ subject: 'Täst 012345', text, html });
      expect(parsed.replyTo).toMatchObject([{ address: 'help@mail.test' }]);
      expect(parsed.headers.find(({ key: name }) => name === 'x-shop')?.value).toBe('42');
    },
    refusals: [
      [{ status: 403, body: { __type: 'SignatureDoesNotMatch', message: '' } }, 'login_refused'],
      [
        { status: 400, headers: { 'x-amzn-errortype': 'MessageRejected:http://x' }, body: { message: '' } },
        'message_refused',
      ],
      [
        { status: 400, headers: { 'x-amzn-errortype': 'MailFromDomainNotVerifiedException' }, body: {} },
        'sender_refused',
      ],
      [{ status: 400, headers: { 'x-amzn-errortype': 'SendingPausedException' }, body: {} }, 'try_later'],
      [{ status: 429, headers: { 'x-amzn-errortype': 'TooManyRequestsException' }, body: {} }, 'try_later'],
    ],
  },
};

const names = Object.keys(services) as MailServiceName[];

async function startService(name: MailServiceName, timeoutMs = 5000) {
  const server = await startHookServer(null);
  const { path, isAllowed, taken } = services[name];
  server.answer((request) => {
    if (request.path !== path) return { status: 404 };
    return isAllowed(request) ? taken : { status: 401, body: {} };
  });
  const transport = createServiceTransport({ name, apiKey: key, url: `${server.url}/` }, { timeoutMs });
  return { server, transport };
}

const refusal = (sending: Promise<unknown>): Promise<EmailError> =>
  sending.then(
    () => Promise.reject(new Error('it was sent')),
    (error) => error,
  );

test.each(names)(
  '%s takes a message as it documents them, with text, headers and the address for replies',
  async (name) => {
    const { server, transport } = await startService(name);
    const receipt = await transport.send(sampleMessage(values));
    expect(receipt).toEqual({
      state: 'sent',
      answer: expect.stringMatching(/^HTTP 20[02]$/),
      messageId: services[name].id,
    });
    const [request] = server.requests;
    expect(request).toBeDefined();
    await services[name].check(request as HookRequest);
  },
);

test.each(names)('what %s refuses is told apart, and the message of the error has no address', async (name) => {
  const { server, transport } = await startService(name);
  for (const [reply, code] of services[name].refusals) {
    server.answer(reply);
    const error = await refusal(transport.send(sampleMessage(values)));
    expect(error).toBeInstanceOf(EmailError);
    expect([reply, error.code]).toEqual([reply, code]);
    expect(`${error.message} ${error.answer}`).not.toMatch(/to@mail|AKIDEXAMPLE/);
    expect(error.answer).toContain(`HTTP ${reply.status}`);
  }
});

test.each(names)('%s that is unreachable, slow, faulty or moved is tried again later', async (name) => {
  const { server, transport } = await startService(name, 300);
  const replies: readonly (HookReply | null)[] = [
    { status: 500, body: '<html>' },
    { status: 503, body: {} },
    { status: 301, headers: { location: '/elsewhere' }, body: '' },
    { status: 200, body: 'x'.repeat(100_000) },
    null,
  ];
  for (const reply of replies) {
    server.answer(reply);
    expect(['try_later', 'unreachable', 'timed_out']).toContain(
      (await refusal(transport.send(sampleMessage(values)))).code,
    );
  }
  expect(server.requests.every(({ path }) => path === services[name].path)).toBe(true);
  await server.stop();
  expect(await refusal(transport.send(sampleMessage(values)))).toMatchObject({ code: 'unreachable' });
});

test.each(names)('%s gets no email for several recipients, nor with characters of headers', async (name) => {
  const { server, transport } = await startService(name);
  for (const to of [
    'to@mail.test, evil@x.test',
    'to@mail.test;evil@x.test',
    'A <evil@x.test>',
    'a@x.test\r\nBcc: b@x.test',
  ]) {
    await expect(transport.send({ ...sampleMessage(values), to })).rejects.toThrow('address of the recipient');
  }
  expect(server.requests).toEqual([]);
});

test.each(names)('values that users choose add no header, recipient or member to a request to %s', async (name) => {
  const { server, transport } = await startService(name);
  const chosen = `x\r\nBcc: evil@x.test\r\n\r\n"},"to":"evil@x.test","a":{"\u202e\ud800${'é'.repeat(50_000)}`;
  const texts = { mailer_subjects_recovery: 'Hi {{ .Data.name }}', mailer_templates_recovery_text: '{{ .Data.name }}' };
  const message = sampleMessage({ ...values, ...texts }, { userMetadata: { name: chosen } });
  expect([message.subject.length < 999, /[\p{Cc}\u202e\ud800]/u.test(message.subject)]).toEqual([true, false]);
  await transport.send(message);
  const [request] = server.requests as [HookRequest];
  const plain = sampleMessage(values);
  await transport.send(plain);
  const shape = (json: unknown): unknown => {
    if (Array.isArray(json)) return json.map(shape);
    if (typeof json !== 'object' || json === null) return typeof json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, shape(value)]));
  };
  expect(shape(request.payload)).toEqual(shape((server.requests[1] as HookRequest).payload));
  const raw = (request.payload as { Content?: { Raw: { Data: string } } }).Content?.Raw.Data;
  if (raw === undefined) return;
  const { to, bcc, headers } = await PostalMime.parse(Buffer.from(raw, 'base64'));
  expect([to, bcc]).toMatchObject([[{ address: 'to@mail.test' }], undefined]);
  expect(headers.map(({ key: header }) => header)).not.toContain('bcc');
});

/** The signature that AWS computes of what has arrived: IAM User Guide, "Create a signed AWS API request". */
function awsAuthorization({ headers, path, payload }: HookRequest): string {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const hmac = (secret: string | Buffer, text: string) => createHmac('sha256', secret).update(text).digest();
  const time = String(headers['x-amz-date']);
  const [id, ...secret] = key.split(':');
  const signed = ['content-type', 'host', 'x-amz-date'];
  const lines = signed.map((name) => `${name}:${headers[name]}\n`).join('');
  const canonical = ['POST', path, '', lines, signed.join(';'), hash(JSON.stringify(payload))].join('\n');
  const scope = [time.slice(0, 8), 'us-east-1', 'ses', 'aws4_request'];
  const signing = scope.reduce<string | Buffer>(hmac, `AWS4${secret.join(':')}`);
  const signature = hmac(signing, ['AWS4-HMAC-SHA256', time, scope.join('/'), hash(canonical)].join('\n'));
  const parts = [`Credential=${id}/${scope.join('/')}`, `SignedHeaders=${signed.join(';')}`];
  return `AWS4-HMAC-SHA256 ${parts.join(', ')}, Signature=${signature.toString('hex')}`;
}

test('a service needs its key', () => {
  const problems = (given: AuthValues) => checkAuthConfig(layerAuthConfig(given));
  expect(problems({ mailer_transport: 'resend' })).toEqual(['mailer_transport resend needs mailer_api_key']);
  expect(problems({ mailer_transport: 'ses', mailer_api_key: 'AKID' })).toEqual([
    'mailer_api_key must be ACCESS_KEY_ID:SECRET_ACCESS_KEY for ses',
  ]);
  expect(problems({ mailer_transport: 'ses', mailer_api_key: 'AKID:secret' })).toEqual([]);
});
