/** What happens on the wire beside requests and answers: clients that leave, bytes that are no HTTP, masking, the log. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import type { RequestObservation } from '../../src/shared/observation.ts';
import { untraced } from '../../src/shared/trace/span.ts';
import { anonKey, operation, testServer } from '../support/http.ts';

test.each(['application/json', 'application/graphql+json'])(
  'a client that goes away aborts its request (%s)',
  async (type) => {
    const server = await testServer();
    const origin = await server.listen();
    const client = httpRequest(`${origin}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': type },
    });
    client.on('error', () => {});
    client.end(operation('{ slow }'));
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    const signal = server.calls[0]?.context.signal;
    expect(signal?.aborted).toBe(false);
    client.destroy();
    await vi.waitFor(() => expect(signal?.aborted).toBe(true));
    await vi.waitFor(() => expect(server.observations.at(-1)).toMatchObject({ kind: 'request', aborted: true }));
  },
);

test('a finished request is never aborted, even on a connection that stays open', async () => {
  const server = await testServer();
  const origin = await server.listen();
  for (let round = 0; round < 3; round += 1) {
    const response = await fetch(`${origin}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json' },
      body: operation('{ hello }'),
    });
    await response.text();
  }
  await wait(20);
  expect(server.calls.map(({ context }) => context.signal?.aborted)).toEqual([false, false, false]);
});

test('bytes that are no HTTP get an error body, and the server continues', async () => {
  const server = await testServer();
  const origin = new URL(await server.listen());
  const socket = connect(Number(origin.port), origin.hostname);
  socket.end('this is not HTTP\r\n\r\n');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'close');
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(JSON.parse(body)).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
  expect((await server.send({ body: operation('{ hello }') })).status).toBe(200);
});

test('the log says once that Realtime is not here, because a client of WebSockets reads no answer', async () => {
  const server = await testServer();
  const { hostname, port } = new URL(await server.listen());
  const said = () => server.observations.filter(({ kind }) => kind === 'warning');
  const ask = async (path: string, headers: Readonly<Record<string, string>>) => {
    const client = httpRequest({ hostname, port, path, headers });
    client.end();
    const [response] = await once(client, 'response');
    response.resume();
    return response.statusCode;
  };
  const upgrade = { connection: 'Upgrade', upgrade: 'WebSocket', 'sec-websocket-version': '13' };
  const path = `/realtime/v1/websocket?apikey=${anonKey}`;
  expect(await ask('/elsewhere', upgrade)).toBe(404);
  expect(await ask(path, {})).toBe(404);
  expect(said()).toEqual([]);
  for (let round = 0; round < 3; round += 1) expect(await ask(path, upgrade)).toBe(404);
  expect(said()).toEqual([
    {
      kind: 'warning',
      message: 'A client asked for Realtime of Supabase, which is not part of pgreflect.',
      hint: 'Remove supabase.channel() from the client; its subscriptions fail with a transport failure.',
    },
  ]);
});

test('an internal error is masked; the log has it under the id that the client sees', async () => {
  const executor = {
    isSubscription: async () => false,
    admits: () => true,
    notReady: () => null,
    busyMs: () => 0,
    execute: () => Promise.reject(new Error('secret detail')),
  };
  const server = await testServer({}, { executor });
  const reply = await server.send({ body: operation('{ hello }') });
  const error = reply.json().errors?.[0];
  expect(reply.text).not.toContain('secret detail');
  expect(error?.extensions.code).toBe('INTERNAL');
  const masked = server.observations.find(({ kind }) => kind === 'masked_error');
  expect(masked).toMatchObject({
    id: error?.extensions.id,
    error: expect.objectContaining({ message: 'secret detail' }),
  });
});

test('a request is one observation with role, operation, document, stages and size', async () => {
  const server = await testServer();
  await server.send({
    url: '/graphql/v1?apikey=hidden',
    headers: { 'x-request-id': 'r1' },
    body: operation('query greeting { hello }', { operationName: 'greeting' }),
  });
  expect(server.observations).toEqual([
    {
      kind: 'request',
      requestId: 'r1',
      span: expect.anything(),
      method: 'POST',
      path: '/graphql/v1',
      route: '/graphql/v1',
      status: 200,
      address: '127.0.0.1',
      role: 'anon',
      operationName: 'greeting',
      operationType: null,
      documentHash: 'abc',
      codes: [],
      stages: { authenticateMs: expect.any(Number), parseMs: 1, compileMs: 2, waitMs: 0, runMs: 3, serializeMs: 0 },
      attempt: null,
      totalMs: expect.any(Number),
      bytes: '{"data":{"hello":"hello world"}}'.length,
      aborted: false,
      shed: false,
      fromStudio: false,
    } satisfies RequestObservation,
  ]);
});

test('a refused request is observed with its code', async () => {
  const server = await testServer();
  await server.send({ key: null, body: operation('{ hello }') });
  expect(server.observations).toMatchObject([{ status: 401, role: null, codes: ['UNAUTHENTICATED'] }]);
});

test('the log has slow requests at warn, probes at debug, and refusals under load together', async () => {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const { observe } = await createLogger({ level: 'info', format: 'json', slowMs: 100, stream });
  const request: RequestObservation = {
    kind: 'request',
    requestId: 'r1',
    span: untraced.begin('POST', 'server'),
    method: 'POST',
    path: '/graphql/v1',
    route: '/graphql/v1',
    status: 200,
    address: '192.0.2.1',
    role: 'anon',
    operationName: null,
    operationType: null,
    documentHash: 'h',
    codes: [],
    stages: { authenticateMs: 0.12345, parseMs: 0, compileMs: 0, waitMs: 0, runMs: 1, serializeMs: 0 },
    attempt: null,
    totalMs: 2,
    bytes: 10,
    aborted: false,
    shed: false,
    fromStudio: false,
  };
  observe(request);
  observe({ ...request, totalMs: 100 });
  observe({ ...request, path: '/health' });
  observe({ ...request, status: 503 });
  observe({ ...request, status: 503, shed: true });
  observe({ kind: 'requests_shed', count: 7 });
  observe({ kind: 'masked_error', id: 'e1', requestId: 'r1', error: new Error('inside') });
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    ['info', 'request'],
    ['warn', 'slow request'],
    ['warn', 'request'],
    ['info', 'request'],
    ['warn', 'requests refused within a second: overloaded'],
    ['error', 'masked error'],
  ]);
  expect(lines[0]).toMatchObject({ id: 'r1', role: 'anon', document: 'h', authenticateMs: 0.123, bytes: 10 });
  expect(lines[4]).toMatchObject({ count: 7 });
  expect(lines[5]).toMatchObject({ id: 'e1', err: { message: 'inside', stack: expect.any(String) } });
});

test('the log is readable on a terminal', async () => {
  const lines: string[] = [];
  const { observe } = await createLogger({
    level: 'info',
    format: 'pretty',
    slowMs: 100,
    stream: { write: (line) => void lines.push(line) },
  });
  observe({
    kind: 'listening',
    url: 'http://localhost:54321',
    took: { loadMs: 1, schemaMs: 2, authMs: 3, serverMs: 4 },
  });
  await vi.waitFor(() => expect(lines.join('')).toMatch(/INFO.*listening .*"url":"http:\/\/localhost:54321"/));
});

test('the terminal of a local project has one line for each request of a program, and none for what its pages ask', async () => {
  const lines = new Map<boolean, string[]>();
  for (const isLocal of [true, false]) {
    const written: string[] = [];
    const stream = { write: (line: string) => void written.push(line) };
    const { observe } = await createLogger({ level: 'info', format: 'pretty', slowMs: 60_000, isLocal, stream });
    const server = await testServer({ localProject: true });
    await server.send({ body: operation('{ hello }') });
    await server.send({ method: 'GET', url: '/studio/assets/none.js' });
    await server.send({ method: 'GET', url: '/v1/projects/none/config/auth', headers: { 'x-pgreflect-studio': '1' } });
    await server.send({ method: 'OPTIONS', url: '/graphql/v1', headers: { origin: 'http://localhost:3000' } });
    await vi.waitFor(() => expect(server.observations.filter(({ kind }) => kind === 'request')).toHaveLength(4));
    for (const observation of server.observations) observe(observation);
    await vi.waitFor(() => expect(written.join('')).toContain('POST /graphql/v1 200'));
    lines.set(isLocal, written.join('').trimEnd().split('\n'));
  }
  expect(lines.get(true)).toEqual([expect.stringMatching(/INFO.*: POST \/graphql\/v1 200 {2}[\d.]+ ms {2}anon$/)]);
  expect(lines.get(false)).toHaveLength(4);
});

test('GraphiQL is served to browsers and loads nothing from elsewhere; its files are below its path, and kept', async () => {
  const server = await testServer({ exampleOperations: ['{ hello }', 'query second { hello }'] });
  const page = await server.send({ method: 'GET', key: null, headers: { accept: 'text/html' } });
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; /);
  expect(page.text).toContain('<title>GraphiQL - pgreflect</title>');
  const files = [...page.text.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="?([^"\s>]+)/g)].map(([, path]) => path);
  expect(files.filter((path) => !path?.startsWith('/graphql/v1/assets/'))).toEqual([]);
  expect(page.text).toContain('query second { hello }');
  expect(page.text).not.toContain(anonKey);
  const file = await server.send({ method: 'GET', key: null, url: files[0] ?? '' });
  expect([file.status, file.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
  expect((await server.send({ method: 'HEAD', key: null, headers: { accept: 'text/html' } })).status).toBe(200);
});

test('a local project has its key filled into GraphiQL, as harmless text', async () => {
  const server = await testServer({}, { graphiqlApiKey: '</script><b>$&' });
  const page = await server.send({ method: 'GET', key: null, headers: { accept: 'text/html' } });
  expect(page.text).toContain('"apiKey":"\\u003c/script>\\u003cb>$&"');
});

test('a local project tells its key to names of this machine and to its own alone, not to names pointed at it', async () => {
  const server = await testServer({ externalUrl: 'https://Shop.test' }, { graphiqlApiKey: 'the key' });
  const keyFor = async (host: string) => {
    const page = await server.send({ method: 'GET', key: null, headers: { accept: 'text/html', host } });
    return /"apiKey":(null|"[^"]*")/.exec(page.text)?.[1];
  };
  const own = [
    'localhost:54321',
    'LOCALHOST',
    '127.0.0.1:54321',
    '[::1]:54321',
    'app.localhost',
    'shop.test',
    'SHOP.test',
  ];
  for (const host of own) expect(await keyFor(host), host).toBe('"the key"');
  const foreign = [
    'evil.test:54321',
    'localhost.evil.test',
    '127.0.0.1.evil.test',
    'notlocalhost',
    'shop.test.evil.test',
    'shop.test:1',
  ];
  for (const host of foreign) expect(await keyFor(host), host).toBe('null');
});
