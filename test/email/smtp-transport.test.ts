/**
 * Sending over SMTP to a real server: what arrives, how connections are secured and used, and what every failure says.
 */
import { networkInterfaces } from 'node:os';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { EmailError } from '../../src/email/transport/email-error.ts';
import { shownAnswer } from '../../src/email/transport/smtp-failure.ts';
import type { SmtpSettings } from '../../src/email/transport/smtp-settings.ts';
import { createSmtpTransport, type SmtpTransportOptions } from '../../src/email/transport/smtp-transport.ts';
import type { EmailTransport } from '../../src/email/transport/transport.ts';
import { processorMs } from '../../src/management/templates/rendering-time.ts';
import { unrestrictedEgress } from '../../src/shared/egress/egress.ts';
import { sampleMessage, sampleUrl } from '../support/email.ts';
import { findFreePort } from '../support/free-port.ts';
import { startSmtpServer, trustTestAuthority } from '../support/smtp-server.ts';

beforeAll(() => trustTestAuthority());

const noon = { now: () => Date.parse('2026-11-21T12:00:00Z') };

function connect(
  port: number,
  changes: Partial<SmtpSettings> = {},
  options: SmtpTransportOptions = {},
): EmailTransport {
  const settings = {
    host: 'localhost',
    port,
    implicitTls: false,
    login: null,
    dkim: null,
    greetingName: 'db.test',
    ...changes,
  };
  const transport = createSmtpTransport(settings, { clock: noon, timeoutMs: 60_000, ...options });
  onTestFinished(() => transport.stop());
  return transport;
}

/** Code and message of the failure. */
async function failure(work: Promise<unknown>): Promise<EmailError> {
  const error: unknown = await work.then(
    () => new Error('it was sent'),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(EmailError);
  return error as EmailError;
}

describe('a message that arrives', () => {
  test.each([false, true])(
    'a message that arrives goes to the checked address, under the name of its certificate (TLS first: %s)',
    async (implicitTls) => {
      const server = await startSmtpServer({ tls: implicitTls ? 'implicit' : 'starttls' });
      const asked: string[] = [];
      const resolve = async (host: string) => {
        asked.push(host);
        return '127.0.0.1';
      };
      // Another look-up would find nothing at this name.
      const send = (host: string) =>
        connect(server.port, { host, implicitTls }, { egress: { ...unrestrictedEgress, resolve } }).send(
          sampleMessage(),
        );
      await send('localhost');
      expect([server.messages.map(({ encrypted }) => encrypted), asked]).toEqual([[true], ['localhost']]);
      expect(await failure(send('smtp.x.test'))).toMatchObject({ code: 'tls_failed' });
      await server.stop();
      expect(await failure(send('smtp.x.test'))).toMatchObject({
        code: 'unreachable',
        message: expect.stringContaining('(ECONNREFUSED)'),
      });
    },
  );

  test.each([
    ['email-smtp.eu-central-1.amazonaws.com', 'Ok 010701890f5d-1c2d-000000', '010701890f5d-1c2d-000000'],
    ['email-smtp-fips.us-east-1.amazonaws.com', 'Ok 010701890f5d-1c2d-000000', '010701890f5d-1c2d-000000'],
    ['email-smtp.eu-central-1.amazonaws.com', 'Ok, thanks', null],
    ['email-smtp.eu-central-1.amazonaws.com.evil.test', 'Ok 010701890f5d-1c2d-000000', null],
    ['smtp.x.test', 'Ok 010701890f5d-1c2d-000000', null],
  ])('through %s, which says %j, has the id %j', async (host, words, messageId) => {
    const server = await startSmtpServer({ tls: 'none' });
    server.behave({ kind: 'accept', words });
    const egress = { ...unrestrictedEgress, resolve: async () => '127.0.0.1' };
    const transport = connect(server.port, { host }, { egress, allowUnencrypted: true });
    expect(await transport.send(sampleMessage())).toMatchObject({ messageId });
  });

  test('a message that arrives has its text and its HTML, the sender, one recipient, the date, an id, and says that a program sent it', async () => {
    const server = await startSmtpServer();
    const content = '<p>Zwölf Boxkämpfer = 12 €, <a href="{{ .ConfirmationURL }}">weiter</a></p>';
    const message = sampleMessage({ mailer_templates_recovery_content: content, mailer_reply_to: 'help@mail.test' });
    await connect(server.port).send(message);

    const [received] = server.messages;
    expect(received?.parsed).toMatchObject({
      from: { name: 'Shop', address: 'shop@mail.test' },
      to: [{ name: '', address: 'to@mail.test' }],
      replyTo: [{ name: '', address: 'help@mail.test' }],
      messageId: message.messageId,
      date: '2026-11-21T12:00:00.000Z',
      attachments: [],
      text: `Zwölf Boxkämpfer = 12 €, weiter\n<${sampleUrl}>\n`,
      html: expect.stringContaining('<p>Zwölf Boxkämpfer = 12 €, <a href='),
    });
    expect(received?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(received?.raw).toMatch(/^X-Auto-Response-Suppress: All\r$/m);
    // Readers show the last part that they can.
    expect(received?.raw).toMatch(
      /^Content-Type: multipart\/alternative;[\s\S]*^Content-Type: text\/plain; charset=UTF-8\r$[\s\S]*^Content-Type: text\/html; charset=UTF-8\r$/im,
    );
  });

  test('a message that arrives has the text part of its own template as it was rendered, whatever users put into it', async () => {
    const server = await startSmtpServer();
    const own = '.\nDear {{ .Data.name }},\n\n--\n{{ .ConfirmationURL }}\n';
    const name = '\r\n--_NmP--\r\nContent-Type: text/html\r\n\r\n<b>A & B</b>\0\x1b[31m\u0085\ud800';
    const message = sampleMessage({ mailer_templates_recovery_text: own }, { userMetadata: { name } });
    await connect(server.port).send(message);
    const [received] = server.messages;
    const shown = '\n--_NmP--\nContent-Type: text/html\n\n<b>A & B</b>[31m\ufffd';
    expect(received?.parsed.text).toBe(`.\nDear ${shown},\n\n--\n${sampleUrl}\n\n`);
    expect(received?.parsed.html).toContain('Reset your password');
    expect(received?.parsed.attachments).toEqual([]);
    expect(received?.raw.match(/^Content-Type: text\/html; charset=UTF-8\r$/gm)).toHaveLength(1);
  });

  test('a message that arrives is HTML alone where it shows no text, or is too long to be read whole', async () => {
    const server = await startSmtpServer();
    for (const content of ['<img src="https://app.test/a.png">', `<p>${'x '.repeat(60_000)}</p>`]) {
      await connect(server.port).send(sampleMessage({ mailer_templates_recovery_content: content }));
    }
    expect(server.messages.map(({ parsed }) => parsed.text)).toEqual([undefined, undefined]);
  });

  test('a message that arrives is as Supabase Auth sends it where the configuration says so', async () => {
    const server = await startSmtpServer();
    const content = '<p>Zwölf Boxkämpfer = 12 €</p>';
    const values = { mailer_compatible: true, mailer_templates_recovery_text: 'not sent' };
    const message = sampleMessage({ ...values, mailer_templates_recovery_content: content });
    await connect(server.port).send(message);

    const [received] = server.messages;
    expect(received).toMatchObject({ sender: 'shop@mail.test', recipients: ['to@mail.test'], clientName: 'db.test' });
    expect(received?.parsed).toMatchObject({
      from: { name: 'Shop', address: 'shop@mail.test' },
      to: [{ name: '', address: 'to@mail.test' }],
      subject: 'Reset your password',
      date: '2026-11-21T12:00:00.000Z',
      messageId: message.messageId,
      html: expect.stringContaining('<p>Zwölf Boxkämpfer = 12 €</p>'),
      attachments: [],
    });
    expect(received?.parsed.text).toBeUndefined();
    expect(received?.raw.replace(message.messageId, '<ID>')).toBe(
      [
        'Content-Transfer-Encoding: quoted-printable',
        'Subject: Reset your password',
        'From: Shop <shop@mail.test>',
        'To: to@mail.test',
        'Message-ID: <ID>',
        'Date: Sat, 21 Nov 2026 12:00:00 +0000',
        'MIME-Version: 1.0',
        'Content-Type: text/html; charset=UTF-8',
        '',
        '<p>Zw=C3=B6lf Boxk=C3=A4mpfer =3D 12 =E2=82=AC</p>',
        '',
      ].join('\r\n'),
    );
  });

  test('a message that arrives has names and subjects as RFC 2047 words where they are not ASCII', async () => {
    const server = await startSmtpServer();
    const subject = 'Grüße an Łukasz 😀, bitte bestätigen Sie die Änderung Ihrer Adresse – heute noch';
    await connect(server.port).send(
      sampleMessage({ mailer_subjects_recovery: subject, smtp_sender_name: 'Bücher "Ö"' }),
    );
    const [received] = server.messages;
    expect(received?.parsed.subject).toBe(subject);
    expect(received?.parsed.from?.name).toBe('Bücher "Ö"');
    expect(received?.raw).toMatch(/^Subject: =\?UTF-8\?Q\?/m);
    expect(received?.raw).toMatch(/^From: =\?UTF-8\?Q\?/m);
    expect(received?.raw.split('').every((character) => character < '\x80')).toBe(true);
  });

  test.each([
    ['one long word', 'x'.repeat(998)],
    ['words that look encoded', '=?UTF-8?Q?evil?= =?iso-8859-1?Q?x?='],
    ['quotes, commas and angle brackets', 'A "b", c <d@mail.test>; e: f (g) \\h'],
    ['a long address', `For ${'a'.repeat(64)}@${'b'.repeat(63)}.test & more`],
  ])(
    'a message that arrives has a subject of %s as it was, in lines of at most 78 characters',
    async (_name, subject) => {
      const server = await startSmtpServer();
      await connect(server.port).send(sampleMessage({ mailer_subjects_recovery: subject }));
      const [received] = server.messages;
      expect(received?.parsed.subject).toBe(subject);
      const head = received?.raw.split('\r\n\r\n', 1)[0] ?? '';
      expect(Math.max(...head.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
    },
  );

  test('a message that arrives has lines that begin with a dot, long lines and bare line ends as they were written', async () => {
    const server = await startSmtpServer();
    const body = `.\n..\n.x\r\n${'y'.repeat(5000)}\rz \nend `;
    await connect(server.port).send(sampleMessage({ mailer_templates_recovery_content: body }));
    const [received] = server.messages;
    expect(received?.parsed.html?.replace(/\r\n?/g, '\n').trimEnd()).toBe(body.replace(/\r\n?/g, '\n').trimEnd());
    expect(Math.max(...(received?.raw.split('\r\n').map((line) => line.length) ?? []))).toBeLessThanOrEqual(78);
  });

  test.each([0, 1, 75, 76, 77, 10_000, 1_000_000])(
    'a message that arrives may have a body of %i bytes',
    async (size) => {
      const server = await startSmtpServer();
      const body = `<p>${'é'.repeat(size / 2)}</p>`;
      await connect(server.port).send(sampleMessage({ mailer_templates_recovery_content: body }));
      expect(server.messages[0]?.parsed.html?.trimEnd()).toBe(body);
    },
  );

  test('a message that arrives carries the extra headers', async () => {
    const server = await startSmtpServer();
    await connect(server.port).send(
      sampleMessage({ smtp_headers: '{"X-PM-TrackLinks":["None"],"X-Kind":["$messageType"]}' }),
    );
    expect(server.messages[0]?.raw).toMatch(/^X-PM-TrackLinks: None\r\nX-Kind: recovery\r$/im);
  });

  test.each([
    ['X-SMTPAPI', '{"filters":{"clicktrack":{"settings":{"enable":0}}}}'],
    ['X-SMTPAPI', '{"filters":{"clicktrack":{"settings":{"enable":0}},"opentrack":{"settings":{"enable":0}}}}'],
    ['List-Unsubscribe', `<https://app.test/unsubscribe?token=${'0123456789abcdef'.repeat(6)}>, <mailto:off@app.test>`],
    ['Reply-To', `reply+${'0123456789abcdef'.repeat(4)}@inbound.app.test`],
    ['reply-to', '"Help, Desk" <help@app.test>, other@app.test'],
    ['References', `<${'0123456789abcdef'.repeat(6)}@app.test> <b@app.test>`],
  ])('a message that arrives carries the extra header %s as %s', async (name, value) => {
    const server = await startSmtpServer();
    await connect(server.port).send(sampleMessage({ smtp_headers: JSON.stringify({ [name]: [value] }) }));
    const lines = (server.messages[0]?.raw ?? '').replace(/\r\n(?=[ \t])/g, '').split('\r\n');
    const found = lines.filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
    expect(found.map((line) => line.slice(name.length + 2))).toEqual([value]);
  });

  test('a message that arrives carries names that are not ASCII in addresses of extra headers', async () => {
    const server = await startSmtpServer();
    const smtp_headers = JSON.stringify({ 'reply-to': ['Zoë Grün <help@app.test>'] });
    await connect(server.port).send(sampleMessage({ smtp_headers }));
    expect(server.messages[0]?.raw).toMatch(/^Reply-To: =\?UTF-8\?Q\?Zo=C3=AB_Gr=C3=BCn\?= <help@app\.test>\r$/m);
  });
});

describe('connections', () => {
  test('connections are used again, and replaced when the server has closed them', async () => {
    const server = await startSmtpServer();
    const transport = connect(server.port);
    for (let round = 0; round < 20; round += 1) await transport.send(sampleMessage());
    expect(server.connections()).toBe(1);

    server.cutConnections();
    await transport.send(sampleMessage());
    expect(server.messages).toHaveLength(21);
    expect(server.connections()).toBe(2);
  });

  test('connections are five at most, however many messages there are', async () => {
    const server = await startSmtpServer();
    const transport = connect(server.port);
    server.behave({ kind: 'delay', ms: 20 });
    await Promise.all(Array.from({ length: 40 }, () => transport.send(sampleMessage())));
    expect(server.messages).toHaveLength(40);
    expect(server.connections()).toBe(5);
  });

  test('connections stay good after the server has refused one message', async () => {
    const server = await startSmtpServer();
    const transport = connect(server.port);
    await transport.send(sampleMessage());
    server.behave({ kind: 'refuse', at: 'recipient', code: 550, text: '5.1.1 no such user' });
    await failure(transport.send(sampleMessage()));
    server.behave({ kind: 'accept' });
    await transport.send(sampleMessage());
    expect(server.messages).toHaveLength(2);
    expect(server.connections()).toBe(1);
  });

  test('finish what they are doing when the transport stops, and nothing is sent after that', async () => {
    const server = await startSmtpServer();
    const transport = connect(server.port);
    server.behave({ kind: 'delay', ms: 300 });
    const sent = transport.send(sampleMessage());
    await transport.stop();
    await sent;
    expect(server.messages).toHaveLength(1);
    expect((await failure(transport.send(sampleMessage()))).code).toBe('stopped');
  });
});

/** Another machine, as far as the transport can know; not every machine has one. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

describe('encryption', () => {
  test('encryption is used whenever the server offers it', async () => {
    const server = await startSmtpServer({ tls: 'starttls' });
    await connect(server.port).send(sampleMessage());
    expect(server.messages[0]?.encrypted).toBe(true);
  });

  test('encryption is not needed where the server has none and is on this machine', async () => {
    const server = await startSmtpServer({ tls: 'none' });
    await connect(server.port).send(sampleMessage());
    expect(server.messages[0]?.encrypted).toBe(false);
  });

  test.skipIf(outside === undefined)('encryption is needed for links and codes that leave this machine', async () => {
    const host = outside as string;
    const server = await startSmtpServer({ tls: 'none', address: host });
    const error = await failure(connect(server.port, { host }).send(sampleMessage()));
    expect(error.code).toBe('tls_failed');
    expect(error.message).toContain('--allow-unencrypted-mail');
    expect(server.messages).toEqual([]);
    await connect(server.port, { host }, { allowUnencrypted: true }).send(sampleMessage());
    expect(server.messages).toHaveLength(1);
  });

  test('encryption can begin with the first byte', async () => {
    const server = await startSmtpServer({ tls: 'implicit' });
    await connect(server.port, { implicitTls: true }).send(sampleMessage());
    expect(server.messages[0]?.encrypted).toBe(true);
  });

  test.each([
    ['starttls', false],
    ['implicit', true],
  ] as const)('(%s) fails where the certificate is for another name, and nothing is sent', async (tls, implicitTls) => {
    const server = await startSmtpServer({ tls, isElsewhere: true });
    const { code, message } = await failure(connect(server.port, { implicitTls }).send(sampleMessage()));
    expect(code).toBe('tls_failed');
    expect(message).toContain('Its certificate must be valid for smtp_host');
    expect(server.messages).toEqual([]);
  });

  test.each([
    ['starttls', false],
    ['implicit', true],
  ] as const)('(%s) fails where nobody vouches for the certificate', async (tls, implicitTls) => {
    const server = await startSmtpServer({ tls });
    trustTestAuthority(false);
    onTestFinished(() => trustTestAuthority());
    expect((await failure(connect(server.port, { implicitTls }).send(sampleMessage()))).code).toBe('tls_failed');
    expect(server.messages).toEqual([]);
  });

  test('encryption fails where the server speaks it from the first byte and the configuration does not', async () => {
    const server = await startSmtpServer({ tls: 'implicit' });
    const error = await failure(connect(server.port, {}, { timeoutMs: 1000 }).send(sampleMessage()));
    expect(['timed_out', 'unreachable', 'connection_lost']).toContain(error.code);
  });

  test('encryption fails where the configuration wants it from the first byte and the server does not speak it', async () => {
    const server = await startSmtpServer();
    const error = await failure(connect(server.port, { implicitTls: true }).send(sampleMessage()));
    expect(error.code).toBe('tls_failed');
  });
});

describe('logging in', () => {
  const login = { user: 'postmaster', password: 'correct horse' };

  test.each(['PLAIN', 'LOGIN', 'CRAM-MD5'] as const)('logging in is possible with %s', async (method) => {
    const server = await startSmtpServer({ login, authMethods: [method] });
    await connect(server.port, { login }).send(sampleMessage());
    expect(server.messages[0]).toMatchObject({ user: 'postmaster', encrypted: true });
  });

  test('a wrong password is an error that does not contain it', async () => {
    const server = await startSmtpServer({ login });
    const wrong = { ...login, password: 'battery staple' };
    const error = await failure(connect(server.port, { login: wrong }).send(sampleMessage()));
    expect(error.code).toBe('login_refused');
    expect(error.message).toBe(
      `The mail server localhost:${server.port} rejected the login (535 5.7.8). Check smtp_user and smtp_pass.`,
    );
    expect(error.answer).toMatch(/^535 5\.7\.8 .*\(Check smtp_user and smtp_pass\.\)$/);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('battery');
  });

  test('happens without encryption only on this machine', async () => {
    const server = await startSmtpServer({ tls: 'none', login });
    await connect(server.port, { login, host: '127.0.0.1' }).send(sampleMessage());
    expect(server.messages[0]).toMatchObject({ user: 'postmaster', encrypted: false });
  });

  test.skipIf(outside === undefined)('never sends the password in the clear to another machine', async () => {
    const host = outside as string;
    const server = await startSmtpServer({ tls: 'none', login, address: host });
    const transport = connect(server.port, { login, host }, { allowUnencrypted: true });
    expect((await failure(transport.send(sampleMessage()))).code).toBe('tls_failed');
    expect(server.logins()).toBe(0);
  });
});

describe('failures', () => {
  test.each([
    ['sender', 550, 'sender_refused', 'rejected the sender (550 5.7.1). Check smtp_admin_email.'],
    ['recipient', 550, 'recipient_refused', 'rejected the recipient (550 5.7.1).'],
    ['recipient', 450, 'recipient_later', 'asked to retry this recipient later (450 5.7.1).'],
    ['recipient', 421, 'try_later', 'asked to retry later (421 5.7.1).'],
    ['message', 554, 'message_refused', 'rejected the message (554 5.7.1).'],
    ['message', 451, 'try_later', 'asked to retry later (451 5.7.1).'],
  ] as const)('a server that refuses the %s with %i gives %s', async (at, code, expected, text) => {
    const server = await startSmtpServer();
    server.behave({ kind: 'refuse', at, code, text: '5.7.1 to@mail.test http://link 012345' });
    const error = await failure(connect(server.port).send(sampleMessage()));
    expect(error.code).toBe(expected);
    // Nothing of what the server said but its numbers: it may repeat codes and links.
    expect(error.message).toBe(`The mail server localhost:${server.port} ${text}`);
  });

  test('a server that is not there is unreachable, and the same message gets through when it is back', async () => {
    // Nobody else is given this port meanwhile.
    const server = await startSmtpServer({ port: await findFreePort() });
    const { port } = server;
    const transport = connect(port);
    await server.stop();
    const error = await failure(transport.send(sampleMessage()));
    expect(error).toMatchObject({ code: 'unreachable' });
    expect(error.message).toBe(
      `The mail server localhost:${port} is unreachable (ECONNREFUSED). Check smtp_host and smtp_port, and whether the server is running.`,
    );
    const back = await startSmtpServer({ port });
    await transport.send(sampleMessage());
    expect(back.messages).toHaveLength(1);
  });

  test('a name that does not exist is unreachable', async () => {
    const error = await failure(connect(25, { host: 'mail.invalid' }).send(sampleMessage()));
    expect(error.code).toBe('unreachable');
  });

  test('a server that hangs up in the middle of the content gives connection_lost, and nothing arrives twice', async () => {
    const server = await startSmtpServer();
    const transport = connect(server.port);
    server.behave({ kind: 'drop', at: 'data' });
    const big = sampleMessage({ mailer_templates_recovery_content: 'x'.repeat(500_000) });
    expect((await failure(transport.send(big))).code).toBe('connection_lost');
    expect(server.messages).toEqual([]);
    server.behave({ kind: 'accept' });
    await transport.send(big);
    expect(server.messages).toHaveLength(1);
  });

  test('the same on a connection that was used before', async () => {
    const server = await startSmtpServer();
    const transport = connect(server.port);
    await transport.send(sampleMessage());
    server.behave({ kind: 'drop', at: 'data' });
    expect((await failure(transport.send(sampleMessage()))).code).toBe('connection_lost');
    expect(server.messages).toHaveLength(1);
  });

  test('a server that hangs up before it greets is an error within a moment', async () => {
    const server = await startSmtpServer();
    server.behave({ kind: 'drop', at: 'connect' });
    const error = await failure(connect(server.port).send(sampleMessage()));
    expect(['connection_lost', 'unreachable']).toContain(error.code);
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  test('a server that takes too long is given up at the time limit, waiting for a connection included', async () => {
    const server = await startSmtpServer();
    server.behave({ kind: 'wait', until: new Promise(() => {}) });
    const transport = connect(server.port, {}, { timeoutMs: 1000 });
    // Many more than there are connections.
    const results = await Promise.all(Array.from({ length: 150 }, () => failure(transport.send(sampleMessage()))));
    expect(new Set(results.map(({ code }) => code))).toEqual(new Set(['timed_out']));

    server.behave({ kind: 'accept' });
    await vi.waitFor(() => transport.send(sampleMessage()));
  });

  test('a message over the size that the server takes is refused', async () => {
    const server = await startSmtpServer({ maxBytes: 10_000 });
    const big = sampleMessage({ mailer_templates_recovery_content: 'x'.repeat(50_000) });
    expect((await failure(connect(server.port).send(big))).code).toBe('message_refused');
    expect(server.messages).toEqual([]);
  });

  test.each([
    'a@mail.test, b@mail.test',
    'a@mail.test\r\nRCPT TO:<b@mail.test>',
    '<a@mail.test>',
    'a@b@mail.test',
    'a mail.test',
    '',
  ])('the recipient %j is refused before the server hears of it', async (to) => {
    const server = await startSmtpServer();
    const message = { ...sampleMessage(), to };
    expect((await failure(connect(server.port).send(message))).code).toBe('recipient_refused');
    expect(server.connections()).toBe(0);
  });
});

test('an answer that quotes the link, or its token alone, shows neither', () => {
  const token = '5d41402abc4b2a76b9719d911017c592ae2d7f8c9b1e4f6a7c3d5e8f';
  for (const quoted of [`x.test/auth/v1/verify?token=${token}&type=recovery`, `pkce_${token}`, `(${token})`, token]) {
    const shown = shownAnswer(`554 5.7.1 blocked ${quoted} as spam`, 'ana@x.test');
    expect(shown).toBe('554 5.7.1 blocked [link] as spam');
  }
});

test.each([
  ['=?UTF-8?Q?123456_ist_dein_Best=C3=A4tigungscode?=', '=?UTF-8?Q?[number]_ist_dein_Best=C3=A4tigungscode?='],
  ['=?UTF-8?Q?=E3=83=89=EF=BC=9A123456?=', '=?UTF-8?Q?=E3=83=89=EF=BC=9A[number]?='],
  ['queued as 4Zx123456y', 'queued as 4Zx123456y'],
  ['<ana.lovelace>: no such user', '[address] no such user'],
  ['ANA.Lovelace... User unknown', '[address] User unknown'],
  ['ana.lovelace%40x.test is full', '[address] is full'],
  ['ana is no user', 'ana is no user'],
])('an answer of a server that quotes a code or a recipient shows neither: %s', (quoted, shown) => {
  expect(shownAnswer(`550 5.1.1 ${quoted}`, 'ana.lovelace@x.test')).toBe(`550 5.1.1 ${shown}`);
});

test('a very long answer of a server is read in one go', () => {
  const startMs = processorMs();
  for (const piece of [')', '(', '1', '=9A', '@', ' ', 'a'])
    shownAnswer(`550 ${piece.repeat(300_000)}x`, 'ana.lovelace@x.test');
  expect(processorMs() - startMs).toBeLessThan(3000);
});
