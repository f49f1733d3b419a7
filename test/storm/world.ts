/**
 * What the clients of a storm talk to, all of it real. Here two gateways on one PostgreSQL with one mail server, each of which can
 * be stopped, killed and started again while everything else goes on; test/cluster has another world.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/postgres/embedded/embedded-server.ts';
import { type Running, runProcess, startCommand } from '../commands/run-command.ts';
import type { Random } from '../property/random.ts';
import { findFreePort } from '../support/free-port.ts';
import { secret } from '../support/http.ts';
import { type ReceivedMessage, startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';
import type { WhenOver } from '../support/when-over.ts';
import type { Ledger } from './ledger.ts';
import { disturbances } from './weather.ts';

/** Where clients and emails believe the service to be; `World.fetch` knows where it is. */
export const publicUrl = 'http://gateway.test';

/** When emails are handed over: before the answer to who asked for them, or after it (`mailer_delivery`). */
export type Delivery = 'direct' | 'queue';

/** What the clients of a storm talk to. */
export interface World extends Pick<MailServers, 'emailsTo' | 'recipients'> {
  readonly delivery: Delivery;
  /** How long a request whose answer is lost can still be on its way, in milliseconds. */
  readonly restMs: number;
  /** What happens to it, by name; each is over, and everything serves again, when its promise resolves. */
  readonly disturbances: Readonly<Record<string, (random: Random) => Promise<void>>>;
  /** Sends a request to a gateway; where there is a choice, `pick` decides to which. */
  fetch(pick: <T>(items: readonly T[]) => T, ...request: Parameters<typeof fetch>): Promise<Response>;
  /** Runs SQL as superuser; fails while the database is away. */
  query<T>(sql: string, values?: readonly unknown[]): Promise<readonly T[]>;
  /** What the gateways logged that is worth a look: warnings and worse. */
  complaints(): readonly string[];
  /** The storm is over: whatever else went on in this world ends, and is judged. */
  finish(ledger: Ledger): Promise<void>;
}

/** One of the processes. */
interface GatewayProcess {
  /** Whether a load balancer would send requests there. */
  readonly isUp: () => boolean;
  /** Ends it by a signal and waits for its end; requests in flight are cut by SIGKILL and finished after SIGTERM. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Starts it again, at the same place. */
  start(): Promise<void>;
}

/** A message as it was parsed: in hours there are many. */
type KeptMessage = Omit<ReceivedMessage, 'raw'>;

/** Mail servers of which one after the other has the same port. */
export interface MailServers {
  readonly port: number;
  /** All messages to an address that any mail server of this port has received so far, in the order in which they came. */
  emailsTo(address: string): readonly KeptMessage[];
  /** The addresses that have received anything. */
  recipients(): readonly string[];
  /** Forgets the messages. */
  forgetEmails(): void;
  /** The mail server of the moment. */
  smtp(): TestSmtpServer;
  stopSmtp(): Promise<void>;
  startSmtp(): Promise<void>;
}

/** Two gateways on one PostgreSQL with one mail server, each of which can be stopped, killed and started again. */
export interface Servers extends MailServers, Pick<RestartableDatabase, 'stopDatabase' | 'startDatabase' | 'query'> {
  readonly gateways: readonly GatewayProcess[];
}

/** Run by a superuser, it has the database note its changes (checks.ts). */
export const ledgerSql = readFileSync(new URL('ledger.sql', import.meta.url), 'utf8');

const databaseName = 'postgres';

/** Limits that clients from one address would meet at once, and the notifications that are off without a word. */
export const authSettings: Readonly<Record<string, string>> = {
  PGREFLECT_SITE_URL: 'https://app.test',
  PGREFLECT_EXTERNAL_URL: publicUrl,
  PGREFLECT_SMTP_ADMIN_EMAIL: 'no-reply@app.test',
  PGREFLECT_SMTP_HEADERS: '{"x-kind":["$messageType"]}',
  PGREFLECT_SMTP_MAX_FREQUENCY: '0',
  // So that a reuse is one at once.
  PGREFLECT_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '0',
  PGREFLECT_RATE_LIMIT_EMAIL_SENT: '100000000',
  PGREFLECT_RATE_LIMIT_EMAIL_RECIPIENT: '0',
  PGREFLECT_RATE_LIMIT_OTP: '0',
  PGREFLECT_RATE_LIMIT_VERIFY: '0',
  PGREFLECT_RATE_LIMIT_TOKEN_REFRESH: '0',
  PGREFLECT_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '0',
  PGREFLECT_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true',
  PGREFLECT_MAILER_NOTIFICATIONS_EMAIL_CHANGED_ENABLED: 'true',
  PGREFLECT_MAILER_NOTIFICATIONS_MFA_FACTOR_ENROLLED_ENABLED: 'true',
  PGREFLECT_MAILER_NOTIFICATIONS_MFA_FACTOR_UNENROLLED_ENABLED: 'true',
};

/** Starts two gateways, one PostgreSQL and one mail server; all stop when it is over. */
export async function startWorld(delivery: Delivery, whenOver: WhenOver): Promise<World> {
  const database = await createDatabase(whenOver);
  const mailServers = await createMailServers(whenOver);
  const env = {
    ...authSettings,
    PGREFLECT_MAILER_DELIVERY: delivery,
    DATABASE_URL: database.urlAs('authenticator'),
    PGREFLECT_ADMIN_DATABASE_URL: database.urlAs('postgres'),
    PGREFLECT_JWT_SECRET: secret,
    PGREFLECT_TRUSTED_PROXIES: '127.0.0.1',
    PGREFLECT_SMTP_HOST: '127.0.0.1',
    PGREFLECT_SMTP_PORT: String(mailServers.port),
  };
  await prepare(env);
  await database.query(ledgerSql);
  const processes = await Promise.all([1, 2].map(() => startGateway(env, whenOver, { health: '/auth/v1/health' })));
  const servers: Servers = { ...database, ...mailServers, gateways: processes };
  const happenings = Object.entries(disturbances).map(
    ([name, happen]) => [name, (random: Random) => happen(servers, random)] as const,
  );
  return {
    ...database,
    ...mailServers,
    delivery,
    restMs: 1000,
    disturbances: Object.fromEntries(happenings),
    complaints: () => processes.flatMap((process) => process.complaints()),
    fetch(pick, input, init) {
      const up = processes.filter((process) => process.isUp());
      return send(pick(up.length > 0 ? up : processes).url, input, init);
    },
    async finish() {},
  };
}

/** Of all clients. A private one would be that of a proxy, and so of everybody. */
const clientAddress = '93.184.215.14';
/** The longest wait of a client, in milliseconds. */
const patienceMs = 30_000;

/** Sends a request for `publicUrl` to a server at `url`, which trusts us to name the client's address. */
export function send(url: string, ...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const headers = new Headers(init?.headers);
  headers.set('x-forwarded-for', clientAddress);
  const signal = AbortSignal.timeout(patienceMs);
  return fetch(String(input).replace(publicUrl, url), { ...init, headers, signal });
}

async function prepare(env: Readonly<Record<string, string>>): Promise<void> {
  const login = { PGREFLECT_LOGIN_PASSWORD: 'test' };
  const { code, out, err } = await runProcess(['init', '--auth'], { env: { ...env, ...login } });
  if (code !== 0) throw new Error(`The database could not be prepared:\n${out}${err}`);
}

/** A PostgreSQL of its own that can be stopped and started again, at the same place with the same data. */
export type RestartableDatabase = Awaited<ReturnType<typeof createDatabase>>;

/** Starts one. */
export async function createDatabase(whenOver: WhenOver) {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-storm-'));
  // The server has an operating system user of its own.
  chmodSync(directory, 0o755);
  const options = {
    dataDirectory: join(directory, 'data'),
    password: 'test',
    port: await findFreePort(),
    // What the process of the server loses matters here, not what the machine loses.
    settings: { fsync: 'off', track_commit_timestamp: 'on', max_connections: '100' },
  };
  let server: EmbeddedServer = await startEmbeddedServer({ ...options, persistent: true });
  whenOver(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const urlAs = (user: string) => `postgresql://${user}:test@127.0.0.1:${options.port}/${databaseName}`;
  return {
    urlAs,
    async query<T>(text: string, values: readonly unknown[] = []): Promise<readonly T[]> {
      const client = new pg.Client({ connectionString: urlAs('postgres') });
      // An ended server is told by the query that fails.
      client.on('error', () => {});
      await client.connect();
      try {
        const result = values.length > 0 ? await client.query(text, [...values]) : await client.query(text);
        return result.rows as T[];
      } finally {
        await client.end();
      }
    },
    async stopDatabase(how: 'fast' | 'immediate') {
      if (how === 'immediate') {
        const [pid = ''] = readFileSync(join(options.dataDirectory, 'postmaster.pid'), 'utf8').split('\n');
        process.kill(Number(pid), 'SIGQUIT');
      }
      await server.stop();
    },
    async startDatabase() {
      server = await startEmbeddedServer({ ...options, persistent: true });
    },
  };
}

/** Starts one. @param address To listen on. */
export async function createMailServers(whenOver: WhenOver, address: string = '127.0.0.1'): Promise<MailServers> {
  const servers: TestSmtpServer[] = [];
  const start = async (port: number) => {
    const server = await startSmtpServer({ tls: 'none', address, port }, () => {});
    servers.push(server);
    return server;
  };
  const boxes = new Map<string, KeptMessage[]>();
  /** Puts what has come since the last look into the boxes. */
  const sorted = () => {
    for (const server of servers) {
      for (const { raw: _, ...message } of server.take()) {
        for (const recipient of message.recipients) boxes.set(recipient, [...(boxes.get(recipient) ?? []), message]);
      }
    }
    return boxes;
  };
  const { port } = await start(0);
  whenOver(async () => servers.at(-1)!.stop());
  return {
    port,
    smtp: () => servers.at(-1)!,
    emailsTo: (recipient: string) => sorted().get(recipient) ?? [],
    recipients: () => [...sorted().keys()],
    forgetEmails: () => sorted().clear(),
    stopSmtp: () => servers.at(-1)!.stop(),
    startSmtp: async () => void (await start(port)),
  };
}

/** Starts `pgreflect serve` on a free port, and waits until it answers on a path. */
export async function startGateway(
  env: Readonly<Record<string, string>>,
  whenOver: WhenOver,
  { health, more = [] }: { readonly health: string; readonly more?: readonly string[] },
) {
  const port = await findFreePort();
  const runs: Running[] = [];
  let isUp = false;
  const start = async () => {
    const args = ['serve', '--port', String(port), '--log-level', 'warn', '--log-format', 'json', ...more];
    const running = startCommand(args, { env }, whenOver);
    runs.push(running);
    await answers(`http://127.0.0.1:${port}${health}`, running);
    isUp = true;
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    isUp: () => isUp,
    start,
    async end(signal: 'SIGKILL' | 'SIGTERM') {
      isUp = false;
      runs.at(-1)!.signal(signal);
      await runs.at(-1)!.finished;
    },
    complaints: () =>
      runs.flatMap((running) =>
        running
          .text()
          .split('\n')
          .filter((line) => line !== ''),
      ),
  };
}

/** Waits until it serves. */
async function answers(url: string, running: Running): Promise<void> {
  let hasEnded = false;
  void running.finished.then(() => {
    hasEnded = true;
  });
  for (;;) {
    const reply = await fetch(url).catch(() => null);
    if (reply?.ok) return;
    if (hasEnded) throw new Error(`A gateway ended instead of serving:\n${running.text()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
