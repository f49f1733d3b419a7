/**
 * Clients that speak HTTP badly, slowly or not at all: each gets one clear answer, nobody is served what another asked for, and no
 * connection or memory stays with who does nothing.
 */
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey, operation, testServer } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { rawClient, statusesIn } from '../support/raw-client.ts';

const path = 'POST /graphql/v1 HTTP/1.1\r\n';
const usual = `host: a\r\napikey: ${anonKey}\r\ncontent-type: application/json\r\n`;
const hello = operation('{ hello }');

function post(body: string, more = ''): string {
  return `${path}${usual}${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

describe('A request that is no HTTP, or two at once, gets one refusal and is served to nobody', () => {
  const smuggled = 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n';
  test.each([
    [
      'a length and chunks',
      `${path}${usual}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ['two lengths', `${path}${usual}content-length: 5\r\ncontent-length: 6\r\n\r\n${hello}`],
    ['a list of lengths', `${path}${usual}content-length: 5, 5\r\n\r\n${hello}`],
    ['a signed length', `${path}${usual}content-length: +5\r\n\r\n${hello}`],
    [
      'chunks that are not the last encoding',
      `${path}${usual}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      'an encoding that only looks like chunks',
      `${path}${usual}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      'a folded header',
      `${path}${usual}transfer-encoding:\r\n chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ['a blank before the colon', `${path}${usual}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['bare line feeds', `${path}${usual}x: y\ncontent-length: 0\n\n${smuggled}`],
    ['a bare carriage return', `${path}${usual}x: y\rcontent-length: 0\r\n\r\n${smuggled}`],
    ['NUL in a header', `${path}${usual}x: a\0b\r\n\r\n`],
    ['NUL in the path', `GET /a\0b HTTP/1.1\r\nhost: a\r\n\r\n`],
    ['a chunk size that is no number', `${path}${usual}transfer-encoding: chunked\r\n\r\n0x4\r\nabcd\r\n0\r\n\r\n`],
    ['chunks without line ends', `${path}${usual}transfer-encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n${smuggled}`],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', Buffer.from('16030100c8010000c40303', 'hex')],
    ['two hosts', `${path}${usual}host: b\r\ncontent-length: 0\r\n\r\n`],
    ['no host', 'GET /health HTTP/1.1\r\n\r\n'],
  ])('%s', async (_what, bytes) => {
    const server = await testServer();
    const client = await rawClient(await server.listen(), bytes);
    await client.until(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\n\{.*\}/);
    client.socket.end();
    const text = await client.closed;
    expect(statusesIn(text)).toEqual([400]);
    expect(text).toMatch(/\r\nx-content-type-options: nosniff\r\n/i);
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({
      errors: [{ extensions: { code: 'BAD_REQUEST' } }],
    });
    expect(server.calls).toEqual([]);
    expect(server.observations.filter((each) => each.kind === 'request' && each.path === '/smuggled')).toEqual([]);
  });

  test('two headers of one name are one value, and none of the two decides', async () => {
    const server = await testServer();
    const twice = `authorization: Bearer ${anonKey}\r\nauthorization: Bearer nonsense\r\n`;
    const client = await rawClient(await server.listen(), post(hello, `${twice}connection: close\r\n`));
    expect(statusesIn(await client.closed)).toEqual([401]);
  });

  test('headers of more than 64 kB', async () => {
    const server = await testServer();
    const client = await rawClient(await server.listen(), `${path}${usual}x: ${'y'.repeat(70_000)}\r\n\r\n`);
    expect(statusesIn(await client.closed)).toEqual([431]);
    expect(client.text()).toMatch(/nosniff/);
  });
});

test('Bytes behind a request that is being answered are never answered in its place', async () => {
  const server = await testServer();
  const client = await rawClient(await server.listen(), `${post(operation('{ slow }'))}nonsense\r\n\r\n`);
  expect(await client.closed).toBe('');
});

describe('A method that no route has is 405', () => {
  const paths = [
    '/graphql/v1',
    '/auth/v1/user',
    '/v1/projects/x/config/auth',
    '/studio',
    '/studio/inbox',
    '/health',
    '/ready',
    '/metrics',
    '/none',
    '/',
  ];
  test.each(['QUERY', 'TRACE', 'PROPFIND', 'LINK', 'M-SEARCH', 'PURGE'])('%s, on every path', async (method) => {
    const server = await testServer();
    const origin = await server.listen();
    for (const each of paths) {
      const client = await rawClient(origin, `${method} ${each} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
      const text = await client.closed;
      expect([each, ...statusesIn(text)]).toEqual([each, 405]);
      expect(text).toMatch(/\r\nallow: GET, HEAD, POST/i);
      expect(text).toMatch(/\r\nx-content-type-options: nosniff\r\n/i);
    }
  });

  test('CONNECT', async () => {
    const client = await rawClient(await (await testServer()).listen(), 'CONNECT b:80 HTTP/1.1\r\nhost: b\r\n\r\n');
    expect(statusesIn(await client.closed)).toEqual([405]);
  });
});

test('An upgrade is ignored', async () => {
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: eA==\r\n';
  const client = await rawClient(await (await testServer()).listen(), post(hello, upgrade));
  await client.until(/^HTTP\/1\.1 200 [\s\S]*"hello world"/);
});

test.each([
  '/studio/assets/../../package.json',
  '/studio/assets/%2e%2e%2f%2e%2e%2fpackage.json',
  '/studio/assets/..%5c..%5cpackage.json',
  '//studio/assets/x',
  '/studio/assets/%00',
  '/studio/assets/%',
  '/%2e%2e/%2e%2e/etc/passwd',
  'http://b/etc/passwd',
])('The path %s leads nowhere', async (target) => {
  const client = await rawClient(
    await (await testServer()).listen(),
    `GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
  );
  expect(statusesIn(await client.closed)).toSatisfy(([status]) => status === 404 || status === 400);
  expect(client.text()).toMatch(/nosniff/);
});

describe('A client that has ended its side', () => {
  test('A client that has ended its side gets its answer', async () => {
    const server = await testServer();
    const client = await rawClient(await server.listen());
    client.socket.end(post(hello));
    expect(await client.closed).toMatch(/^HTTP\/1\.1 200 [\s\S]*"hello world"/);
  });

  test('A client that has ended its side gets an answer that takes a while, too', async () => {
    let answer = () => {};
    const late = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const server = await testServer(
      {},
      {
        executor: {
          isSubscription: async () => false,
          admits: () => true,
          notReady: () => null,
          busyMs: () => 0,
          execute: async () => {
            await late;
            return {
              body: '{"data":null}',
              executed: true,
              codes: [],
              operationName: null,
              documentHash: '',
              stages: { parseMs: 0, compileMs: 0, waitMs: 0, runMs: 0 },
            };
          },
        },
      },
    );
    const client = await rawClient(await server.listen());
    client.socket.end(post(hello));
    await client.until(/^HTTP\/1\.1 102 Processing\r\n\r\n/);
    answer();
    expect(await client.closed).toMatch(/HTTP\/1\.1 200 [\s\S]*\{"data":null\}$/);
  });
});

describe('A body that is too large', () => {
  const send = async (origin: string, head: string, body: Buffer) => {
    const client = await rawClient(origin, `${path}${usual}${head}\r\n`);
    // As clients do that read when they have sent everything.
    client.socket.pause();
    const isSent = await new Promise<boolean>((resolve) => client.socket.write(body, (problem) => resolve(!problem)));
    client.socket.resume();
    return { client, isSent };
  };
  const large = Buffer.alloc(8 * 1024 * 1024, 'x');
  const chunk = (bytes: Buffer) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n0\r\n\r\n')]);

  test.each([
    ['by its length', `content-length: ${large.length}\r\n`, large],
    ['by its length, on a connection that ends', `connection: close\r\ncontent-length: ${large.length}\r\n`, large],
    ['in chunks', 'transfer-encoding: chunked\r\n', chunk(large)],
    ['in chunks, on a connection that ends', 'connection: close\r\ntransfer-encoding: chunked\r\n', chunk(large)],
  ])('%s is 413, and the client hears of it however late it reads', async (_what, head, body) => {
    const server = await testServer();
    const origin = await server.listen();
    for (const type of ['', 'accept: text/event-stream\r\n']) {
      const { client, isSent } = await send(origin, `${type}${head}`, body);
      expect(isSent).toBe(true);
      await client.until(/^HTTP\/1\.1 413 [\s\S]*BODY_TOO_LARGE[\s\S]*\}/);
      expect(client.text()).toMatch(/nosniff/);
    }
    expect(server.calls).toEqual([]);
  });

  test('without an end is cut', async () => {
    const server = await testServer();
    const head = 'content-length: 1000000000\r\n';
    const { client, isSent } = await send(await server.listen(), head, Buffer.alloc(64 * 1024 * 1024));
    await client.closed;
    expect(isSent).toBe(false);
  });

  test('that is compressed is not unpacked', async () => {
    const server = await testServer();
    const head = 'content-encoding: gzip\r\nconnection: close\r\ncontent-length: 3\r\n';
    const { client } = await send(await server.listen(), head, Buffer.from('abc'));
    expect(statusesIn(await client.closed)).toEqual([415]);
  });
});

test('Expect: 100-continue is answered with 100, and any other expectation is refused', async () => {
  const server = await testServer();
  const origin = await server.listen();
  const client = await rawClient(
    origin,
    `${path}${usual}expect: 100-continue\r\ncontent-length: ${hello.length}\r\n\r\n`,
  );
  await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  client.socket.write(hello);
  await client.until(/HTTP\/1\.1 200 /);
  const other = await rawClient(origin, post(hello, 'expect: a miracle\r\n'));
  await other.until(/^HTTP\/1\.1 417 /);
});

const scripts = readdirSync(new URL('../../dist/studio-app/assets/', import.meta.url));
const script = scripts.find((name) => name.endsWith('.js'));

test.each([
  ['/graphql/v1/assets/..%2findex.html', '', 404],
  ['/graphql/v1/assets/..%2f..%2f..%2fpackage.json', '', 404],
  ['/graphql/v1/assets/%2e%2e/%2e%2e/%2e%2e/package.json', '', 404],
  ['/graphql/v1/assets/..', '', 404],
  ['/graphql/v1/assets//etc/passwd', '', 404],
  ['/graphql/v1/assets/%00', '', 400],
  [`/graphql/v1/assets/${script}`, 'range: bytes=999999999-\r\n', 400],
  [`/graphql/v1/assets/${script}`, 'if-match: "x"\r\n', 400],
])('What is no file, or no part of one, fills no log with errors: %s %s', async (path, header, status) => {
  const server = await testServer();
  const request = `GET ${path} HTTP/1.1\r\nhost: a\r\n${header}connection: close\r\n\r\n`;
  expect(statusesIn(await (await rawClient(await server.listen(), request)).closed)).toEqual([status]);
  expect(server.observations.map(({ kind }) => kind)).toEqual(['request']);
});

test('No control character for terminals gets into a log line', async () => {
  const server = await testServer();
  const origin = await server.listen();
  const bad = 'x-request-id: a\x1b[2Jb\r\nuser-agent: \x1b[2J\r\n';
  const path9b = Buffer.from(
    `GET /\x9b2J${'a'.repeat(9000)} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    'latin1',
  );
  for (const bytes of [
    path9b,
    post(JSON.stringify({ query: '{ hello }', operationName: 'a\n\x1b[2J' }), `${bad}connection: close\r\n`),
  ]) {
    await (await rawClient(await origin, bytes)).closed;
  }
  for (const observation of server.observations) {
    expect(JSON.stringify(observation)).toMatch(/^[ -~]*$/);
    expect(JSON.stringify(observation)).not.toMatch(/\\u00|\\n/);
    expect(JSON.stringify(observation).length).toBeLessThan(2000);
  }
});

test('Nor does one come to the terminal with the text of an error, which a function of the database chooses', async () => {
  const database = await createDatabase(`
    create function shout() returns int language plpgsql as $$ begin
      raise exception using errcode = 'XX000', message = E'a\x1b]0;b\x07\u009b2K\x1b[8mc\r\nd';
    end $$;
    grant usage on schema public to anon;
  `);
  const { ask, observations } = await testGateway(database);
  const { body } = await ask('mutation { shout }');
  expect(body.errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }]);
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const log = await createLogger({ level: 'debug', format: 'pretty', slowMs: 1000, stream });
  for (const observation of observations) log.observe(observation);
  expect(lines.join('')).toContain('\\u009b2K');
  expect(lines.join('').replaceAll(/\r?\n/g, '')).toMatch(/^\P{Cc}*$/u);
});
