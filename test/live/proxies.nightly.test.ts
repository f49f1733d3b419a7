/**
 * Live queries behind nginx and HAProxy, with the configuration of docs/live-queries.md. Needs both programs and `openssl`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startTarget, type Target } from '../bench/src/processes.ts';
import { findFreePort } from '../support/free-port.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { type Heard, overEvents, overSocket, type Result } from '../support/live.ts';
import { createDatabase } from '../support/postgres.ts';
import { overStockSocket } from './outages.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table counted (id int primary key, n int not null);
  insert into counted values (1, 0);
  grant select on counted to anon;
`);
const query = 'subscription { row: countedByPk(id: 1) { n } }';
const rowOf = ({ data }: Result): number => data.row.n;
const page = readFileSync(new URL('../../docs/live-queries.md', import.meta.url), 'utf8');

/** A block of the page. */
function blockOf(language: string): string {
  return new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page)![1]!;
}

const directory = mkdtempSync(join(tmpdir(), 'pgreflect-proxies-'));
const port = await findFreePort();
const gatewayPort = await findFreePort();
const { NODE_TLS_REJECT_UNAUTHORIZED: verified } = process.env;

beforeAll(() => {
  // The certificate is our own.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const made = [
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '1',
    '-subj',
    '/CN=localhost',
    '-keyout',
    'key',
    '-out',
    'cert',
  ];
  execFileSync('openssl', ['req', '-x509', ...made], { cwd: directory, stdio: 'ignore' });
  const [key, certificate] = ['key', 'cert'].map((name) => readFileSync(join(directory, name), 'utf8'));
  writeFileSync(join(directory, 'api.pem'), `${certificate}${key}`);
});
afterAll(() => {
  if (verified === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = verified;
  rmSync(directory, { recursive: true });
});

/** A text of the page for this machine. */
function adapt(text: string): string {
  return text
    .replaceAll(/\b443\b/g, String(port))
    .replaceAll('127.0.0.1:54321', `127.0.0.1:${gatewayPort}`)
    .replaceAll(/\/etc\/(?:haproxy|nginx)\/(\S+?)(?=[;\s])/g, `${directory}/$1`);
}

const path = [process.env.PATH, '/usr/sbin', '/usr/local/sbin'].join(delimiter);

async function start(program: string, config: string, given: readonly string[]): Promise<Target> {
  const file = join(directory, `${program}.conf`);
  writeFileSync(file, config);
  const target = await startTarget({ name: program, program, arguments: [...given, file], env: { PATH: path }, port });
  onTestFinished(() => target.stop());
  for (;;) {
    if (target.failure() !== null) throw new Error(`${program} has ended:\n${target.failure()}`);
    if (await fetch(`https://localhost:${port}/health`).catch(() => null)) return target;
    await sleep(50);
  }
}

const startNginx = (text = blockOf('nginx')) =>
  start(
    'nginx',
    `daemon off; pid ${directory}/nginx.pid; error_log stderr; events {}
    http { access_log off; ssl_certificate ${directory}/cert; ssl_certificate_key ${directory}/key; ${adapt(text)} }`,
    ['-c'],
  );
const startHaproxy = () => start('haproxy', adapt(blockOf('haproxy')), ['-W', '-db', '-f']);

const startGateway = () => testGateway(database, { port: gatewayPort, liveIntervalMs: 100, drainTimeoutMs: 2000 });
const change = () => database.query('update counted set n = n + 1 returning n').then(([row]) => row!.n as number);

async function expectNext(heard: Heard, n: number): Promise<void> {
  while (rowOf(await heard.next()) !== n);
}

describe.each([
  ['nginx', startNginx, 'SIGHUP'],
  ['HAProxy', startHaproxy, 'SIGUSR2'],
] as const)('behind %s', (_name, startProxy, reload) => {
  const url = `https://localhost:${port}`;

  test('changes arrive at once, also after a minute of silence and over HTTP/2, and who leaves has left', async () => {
    const gateway = await startGateway();
    await startProxy();
    const { live } = gateway.graphql;
    const open = [overEvents(url, { query }), overSocket(url, { query }), overHttp2(url)];
    const last = await change();
    for (const heard of open) await expectNext(heard, last);
    await sleep(65_000);
    const later = await change();
    for (const heard of open) await expectNext(heard, later);
    expect(live.state().subscriptions).toBe(3);
    for (const heard of open) heard.stop();
    await vi.waitFor(() => expect(live.state().subscriptions).toBe(0), { timeout: 10_000 });
  });

  test('a reload of the proxy ends nothing', async () => {
    await startGateway();
    const proxy = await startProxy();
    const open = [overEvents(url, { query }), overSocket(url, { query })];
    for (const heard of open) await heard.next();
    process.kill(proxy.pid, reload);
    await sleep(3000);
    const last = await change();
    for (const heard of [...open, overEvents(url, { query })]) await expectNext(heard, last);
  });

  test('clients come back when the gateway restarts', async () => {
    const first = await startGateway();
    await startProxy();
    const events = overEvents(url, { query });
    await events.next();
    let seen = -1;
    const problems: unknown[] = [];
    const end = overStockSocket(url, query, (result) => {
      if (result.data) seen = rowOf(result);
      else problems.push(result);
    });
    onTestFinished(() => void end());
    await vi.waitFor(() => expect(seen).toBeGreaterThanOrEqual(0));
    await first.stop();
    // Not `complete`: the client of graphql-sse subscribes again.
    expect(String(await events.end)).toMatch(/terminated|without the event complete/);
    await startGateway();
    const last = await change();
    await vi.waitFor(() => expect(seen).toBe(last), { timeout: 30_000 });
    expect(problems).toEqual([]);
  });
});

test('behind nginx with `proxy_pass` alone, event streams work and WebSockets do not', async () => {
  await startGateway();
  await startNginx(`server { listen ${port} ssl; location / { proxy_pass http://127.0.0.1:${gatewayPort}; } }`);
  const url = `https://localhost:${port}`;
  const heard = overEvents(url, { query });
  await heard.next();
  await expectNext(heard, await change());
  expect(await overSocket(url, { query }).end).not.toBe('complete');
});

/** Subscribes over HTTP/2. */
function overHttp2(url: string): Heard {
  const session = connectHttp2(url, { rejectUnauthorized: false });
  const body = JSON.stringify({ query });
  const stream = session.request({
    ':method': 'POST',
    ':path': '/graphql/v1',
    apikey: anonKey,
    accept: 'text/event-stream',
    'content-type': 'application/json',
  });
  stream.end(body);
  const results: Result[] = [];
  let text = '';
  stream.setEncoding('utf8').on('data', (data: string) => {
    text += data;
    for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n')) {
      const found = /^data: (.+)$/m.exec(text.slice(0, at));
      text = text.slice(at + 2);
      if (found) results.push(JSON.parse(found[1]!));
    }
  });
  let taken = 0;
  return {
    results,
    end: new Promise(() => {}),
    stop: () => session.destroy(),
    async next() {
      while (results.length <= taken) await sleep(10);
      taken += 1;
      return results[taken - 1];
    },
  };
}
