/** Queries by GET: the members of a request as parameters of the URL. */
import { describe, expect, test } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { anonKey, operation, type Reply, serviceKey, type TestServer, testServer, token } from '../support/http.ts';

const get = (server: TestServer, parameters: Readonly<Record<string, string>>, more = {}): Promise<Reply> =>
  server.send({ method: 'GET', url: `/graphql/v1?${new URLSearchParams(parameters)}`, ...more });
const hello = { query: '{ hello }' };

describe('queries by GET', () => {
  test('a query by GET has document, variables and operation name in the URL', async () => {
    const server = await testServer();
    const reply = await get(server, {
      query: 'query a($n: String) { hello(name: $n) } query b { hello }',
      variables: '{"n":"ü+ &","big":9007199254740993}',
      operationName: 'a',
      extensions: '{}',
      other: 'x',
    });
    expect([reply.status, reply.text]).toEqual([200, '{"data":{"hello":"hello ü+ &"}}']);
    const [call] = server.calls;
    expect([call?.request.variables?.big, call?.context.queriesOnly]).toEqual([9007199254740993n, true]);
    expect(call?.caller).toMatchObject({ role: 'anon', method: 'GET', path: '/graphql/v1' });
  });

  test('a query by GET is answered as JSON of the type that the client accepts', async () => {
    const server = await testServer();
    for (const [accept, type] of [
      ['application/graphql-response+json', 'application/graphql-response+json'],
      ['text/event-stream', 'application/json'],
      ['*/*', 'application/json'],
    ]) {
      const reply = await get(server, hello, { headers: { accept } });
      expect([reply.status, reply.headers['content-type']]).toEqual([200, `${type}; charset=utf-8`]);
    }
    const page = await get(server, hello, { key: null, headers: { accept: 'text/html,*/*;q=0.8' } });
    expect(page.headers['content-type']).toContain('text/html');
  });

  test('a malformed URL is refused', async () => {
    const server = await testServer({ limits: { ...defaultConfig.limits, maxBodyBytes: 500 } });
    const ask = async (url: string) => {
      const { status, json } = await server.send({ method: 'GET', url: `/graphql/v1${url}` });
      return [status, json().errors?.[0]?.message];
    };
    expect(await ask('')).toEqual([400, 'The URL must have the parameter "query".']);
    expect(await ask('?query=')).toEqual([400, 'The URL must have the parameter "query".']);
    expect(await ask('?query={hello}&query={slow}')).toEqual([400, 'The URL has the parameter "query" twice.']);
    expect(await ask('?query={hello}&variables={')).toEqual([400, 'The parameter "variables" is not valid JSON.']);
    expect(await ask('?query=%ff')).toEqual([400, 'The URL is not valid UTF-8 in percent encoding.']);
    expect(await ask('?extensions={"persistedQuery":{}}')).toEqual([400, 'PersistedQueryNotSupported']);
    expect(await ask('?query={hello}&variables=[]')).toEqual([200, 'variables must be an object']);
    expect(await ask(`?query=[{"query":"{hello}"}]`)).toEqual([200, expect.stringContaining('Syntax Error')]);
    expect(await ask(`?query={hello}&x=${'x'.repeat(500)}`)).toEqual([413, 'The URL exceeds --max-body-bytes.']);
    expect(server.calls.map(({ request }) => request.query)).toEqual([null, '[{"query":"{hello}"}]']);
  });

  test('a query by GET needs a key, and without one it must not come from a page of another origin', async () => {
    expect((await get(await testServer(), hello, { key: null })).status).toBe(401);
    const open = await testServer({ requireApiKey: false, corsOrigins: ['https://app.test'] });
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await get(open, hello, { key: null, headers })).status;
    const foreign = [
      { origin: 'https://foreign.test', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
      { origin: 'null', 'sec-fetch-mode': 'cors' },
      // An image, a frame, a link, and an image where the browser says nothing, as over plain HTTP.
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      { referer: 'https://app.test/' },
      { 'content-type': 'text/plain' },
    ];
    expect(await Promise.all(foreign.map(status))).toEqual(foreign.map(() => 400));
    expect(open.calls).toEqual([]);
    const own = [
      { origin: 'https://app.test', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
      { origin: 'https://app.test' },
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
      // What the fetch of Node sends.
      { 'sec-fetch-mode': 'cors' },
      { 'content-type': 'application/json' },
      { apikey: anonKey },
    ];
    expect(await Promise.all(own.map(status))).toEqual(own.map(() => 200));
  });

  test('a query by GET without a key runs for every page where every origin may read the answer', async () => {
    const open = await testServer({ requireApiKey: false });
    const headers = { origin: 'https://any.test', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    const { status, headers: answered } = await get(open, hello, { key: null, headers });
    expect([status, answered['access-control-allow-origin']]).toEqual([200, '*']);
  });

  test('a query by GET counts for the rate limit', async () => {
    const server = await testServer({ rateLimit: 1 });
    expect((await get(server, hello)).status).toBe(200);
    expect((await get(server, hello)).status).toBe(429);
  });
});

describe('caches', () => {
  const cached = (reply: Reply) => reply.headers['cache-control'];

  test('caches may store nothing by default', async () => {
    const reply = await get(await testServer(), hello);
    expect([cached(reply), reply.headers.vary]).toEqual([
      'no-store',
      'Accept, Authorization, apikey, pgreflect-lsn, Accept-Encoding',
    ]);
  });

  test('caches may store what the anon role gets without a token, for as long as the option says', async () => {
    const server = await testServer({ getMaxAge: 60, corsOrigins: ['https://app.test'] });
    const reply = await get(server, hello);
    expect(cached(reply)).toBe('public, max-age=60');
    const vary = reply.headers.vary?.split(', ').map((name) => name.toLowerCase());
    expect(vary).toEqual(expect.arrayContaining(['accept', 'authorization', 'apikey', 'accept-encoding', 'origin']));
  });

  test('what caches store is no answer to a caller who asks for its own writes', async () => {
    const replicated = await testServer({ getMaxAge: 60, readReplicaUrls: ['postgresql://nobody@127.0.0.1:1/none'] });
    const { headers } = await get(replicated, hello);
    expect(headers.vary?.split(', ')).toEqual(expect.arrayContaining(['pgreflect-lsn', 'Cookie']));
  });

  test('caches store no answer of another role, of a token, of POST, with an error, or after a write', async () => {
    const server = await testServer({ getMaxAge: 60 });
    const user = await token({ role: 'anon', sub: 'a', exp: Math.floor(Date.now() / 1000) + 600 });
    const others = [
      await get(server, hello, { key: serviceKey }),
      await get(server, hello, { headers: { authorization: `Bearer ${user}` } }),
      await get(server, hello, { headers: { authorization: `Bearer ${serviceKey}` } }),
      await get(server, hello, { headers: { authorization: `Bearer ${anonKey}` } }),
      await get(server, hello, { headers: { 'pgreflect-lsn': '16/B374D848' } }),
      await get(server, { query: '{ nothing }' }),
      await get(server, { query: '{ hello }', operationName: 'TIMEOUT' }),
      await get(server, hello, { key: 'wrong' }),
      await server.send({ body: operation('{ hello }') }),
    ];
    expect(others.map(cached)).toEqual(others.map(() => 'no-store'));
  });
});
