/**
 * A mail server that speaks real SMTP with TLS and log-in, keeps what it gets, and misbehaves when told to.
 *
 * Its certificate is for `localhost` and `127.0.0.1`, signed by an authority that only these tests trust.
 */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';

const read = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');

/** Makes this process trust the test server's certificate, as `NODE_EXTRA_CA_CERTS` would, or no longer. */
export function trustTestAuthority(trusted: boolean = true): void {
  setDefaultCACertificates([...getCACertificates('bundled'), ...(trusted ? [read('authority.pem')] : [])]);
}

/** What it does with the next messages. */
type Behaviour =
  /** With these words behind 250, where a service has its own. */
  | { readonly kind: 'accept'; readonly words?: string }
  /** Answers the recipient, the sender or the whole message with this code. */
  | {
      readonly kind: 'refuse';
      readonly at: 'sender' | 'recipient' | 'message';
      readonly code: number;
      readonly text: string;
      /** These recipients alone. */
      readonly recipients?: RegExp;
    }
  /** Waits before it takes the message. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Takes the message when this has come. */
  | { readonly kind: 'wait'; readonly until: Promise<unknown> }
  /** Cuts the connection: before the greeting, or while the content of a message is coming in. */
  | { readonly kind: 'drop'; readonly at: 'connect' | 'data' };

/** A message that arrived. */
export interface ReceivedMessage {
  readonly sender: string;
  readonly recipients: readonly string[];
  /** As it came, one character a byte. */
  readonly raw: string;
  /** Read by a parser that has nothing to do with the one that wrote it. */
  readonly parsed: Email;
  readonly encrypted: boolean;
  readonly user: string | null;
  /** What the client called itself. */
  readonly clientName: string;
  readonly connection: string;
  /** When its last byte had come, in milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** How it is set up. */
export interface SmtpServerOptions {
  readonly tls?: 'none' | 'starttls' | 'implicit';
  /** Presents a certificate for another name. */
  readonly isElsewhere?: boolean;
  /** Address to listen on; `127.0.0.1` where nothing is said. */
  readonly address?: string;
  readonly login?: { readonly user: string; readonly password: string };
  readonly authMethods?: readonly ('PLAIN' | 'LOGIN' | 'CRAM-MD5')[];
  /** Bytes of a message that it takes at most. */
  readonly maxBytes?: number;
  /** 0: a free one. */
  readonly port?: number;
}

/** The server. */
export interface TestSmtpServer {
  readonly port: number;
  readonly messages: readonly ReceivedMessage[];
  /** The messages that it has kept, which it forgets. */
  take(): readonly ReceivedMessage[];
  /** Connections that were opened so far. */
  readonly connections: () => number;
  /** Messages that have come in whole and wait for an answer. */
  readonly held: () => number;
  /** Logins that were tried so far. */
  readonly logins: () => number;
  behave(behaviour: Behaviour): void;
  /** Closes the connections that are open at the moment; new ones are welcome. */
  cutConnections(): void;
  stop(): Promise<void>;
}

/** Starts it; it stops when the test has ended, or with `afterAll` when those of the file have. */
export async function startSmtpServer(
  options: SmtpServerOptions = {},
  whenOver: (end: () => Promise<void>) => void = onTestFinished,
): Promise<TestSmtpServer> {
  const { tls = 'starttls', login, authMethods = ['PLAIN', 'LOGIN', 'CRAM-MD5'], maxBytes, port = 0 } = options;
  const messages: ReceivedMessage[] = [];
  let behaviour: Behaviour = { kind: 'accept' };
  let opened = 0;
  let held = 0;
  let logins = 0;
  const refusal = (at: 'sender' | 'recipient' | 'message', address = ''): Error | null =>
    behaviour.kind === 'refuse' && behaviour.at === at && (behaviour.recipients?.test(address) ?? true)
      ? Object.assign(new Error(behaviour.text), { responseCode: behaviour.code })
      : null;

  const server: SMTPServer = new SMTPServer({
    secure: tls === 'implicit',
    cert: read(options.isElsewhere === true ? 'elsewhere.pem' : 'server.pem'),
    key: read('server-key.pem'),
    disabledCommands: [...(tls === 'starttls' ? [] : ['STARTTLS']), ...(login === undefined ? ['AUTH'] : [])],
    authMethods: [...authMethods],
    allowInsecureAuth: true,
    ...(maxBytes !== undefined && { size: maxBytes }),
    onConnect(session, done) {
      opened += 1;
      if (behaviour.kind === 'drop' && behaviour.at === 'connect') cut(session.id);
      else done();
    },
    onAuth(auth, _session, done) {
      logins += 1;
      const right =
        auth.username === login?.user &&
        (auth.method === 'CRAM-MD5' ? auth.validatePassword(login?.password ?? '') : auth.password === login?.password);
      if (right) done(null, { user: auth.username ?? '' });
      else done(Object.assign(new Error('5.7.8 Wrong login'), { responseCode: 535 }));
    },
    onMailFrom: (_address, _session, done) => done(refusal('sender')),
    onRcptTo: ({ address }, _session, done) => done(refusal('recipient', address)),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (behaviour.kind === 'drop' && behaviour.at === 'data') cut(session.id);
      });
      stream.on('end', async () => {
        const receivedAt = Date.now();
        held += 1;
        if (behaviour.kind === 'delay') await sleep(behaviour.ms);
        if (behaviour.kind === 'wait') await behaviour.until;
        held -= 1;
        const problem = stream.sizeExceeded
          ? Object.assign(new Error('5.3.4 Too large'), { responseCode: 552 })
          : refusal('message');
        if (problem !== null) return done(problem);
        const raw = Buffer.concat(chunks);
        messages.push({
          sender: (session.envelope.mailFrom as { address: string }).address,
          recipients: session.envelope.rcptTo.map(({ address }) => address),
          raw: raw.toString('latin1'),
          parsed: await PostalMime.parse(raw),
          encrypted: session.secure,
          user: session.user ?? null,
          clientName: String(session.hostNameAppearsAs),
          connection: session.id,
          receivedAt,
        });
        done(null, behaviour.kind === 'accept' ? behaviour.words : undefined);
      });
    },
  });
  // A client that goes away in the middle is what some tests are about.
  server.on('error', () => {});

  function cut(id: string | null): void {
    for (const connection of server.connections) {
      if (id === null || connection.id === id)
        (connection as unknown as { _socket: { destroy(): void } })._socket.destroy();
    }
  }

  await new Promise<void>((resolve) => server.listen(port, options.address ?? '127.0.0.1', resolve));
  let closed: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    closed ??= new Promise((resolve) => {
      server.close(() => resolve());
      cut(null);
    });
    return closed;
  };
  whenOver(stop);
  return {
    port: (server.server.address() as AddressInfo).port,
    messages,
    take: () => messages.splice(0),
    connections: () => opened,
    held: () => held,
    logins: () => logins,
    behave(next) {
      behaviour = next;
    },
    cutConnections: () => cut(null),
    stop,
  };
}
