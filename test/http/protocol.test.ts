/** GraphQL over HTTP by both handlers: what a request may look like and which status it gets. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import type { Code } from '../../src/shared/errors.ts';
import { anonKey, operation, testServer } from '../support/http.ts';

const json = 'application/json';
const graphqlResponse = 'application/graphql-response+json';

/** One handler is our own, the other yoga's; the same request must mean the same to both. */
const handlers = [
  ['application/json', json],
  ['application/graphql+json', 'application/graphql+json'],
] as const;

for (const [handler, contentType] of handlers) {
  describe(`a request as ${handler}`, () => {
    const headers = { 'content-type': contentType };

    test('a request is answered with the data, as JSON', async () => {
      const { send } = await testServer();
      const reply = await send({ headers, body: operation('{ hello }') });
      expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect(reply.text).toBe('{"data":{"hello":"hello world"}}');
    });

    test('a request may carry variables and an operation name', async () => {
      const { send, calls } = await testServer();
      const body = operation('query a($n: String) { hello(name: $n) } query b { hello }', {
        variables: { n: 'you' },
        operationName: 'a',
        extensions: { ignored: true },
      });
      const reply = await send({ headers, body });
      expect(reply.json()).toEqual({ data: { hello: 'hello you' } });
      expect(calls[0]?.request.operationName).toBe('a');
    });

    test('with the hash of a query alone is refused in the words by which clients send the query after it', async () => {
      const { send } = await testServer();
      const extensions = { persistedQuery: { version: 1, sha256Hash: 'ab' } };
      const reply = await send({ headers, body: JSON.stringify({ operationName: null, variables: {}, extensions }) });
      expect([reply.status, reply.json()]).toMatchObject([
        400,
        { errors: [{ message: 'PersistedQueryNotSupported', extensions: { code: 'BAD_REQUEST' } }] },
      ]);
      const whole = await send({ headers, body: operation('{ hello }', { extensions }) });
      expect(whole.json()).toEqual({ data: { hello: 'hello world' } });
    });

    test('that cannot be executed is 200 as application/json and 400 as application/graphql-response+json', async () => {
      const { send } = await testServer();
      const body = operation('{ nothing }');
      const old = await send({ headers, body });
      const modern = await send({ headers: { ...headers, accept: graphqlResponse }, body });
      expect([old.status, modern.status]).toEqual([200, 400]);
      expect(modern.headers['content-type']).toBe(`${graphqlResponse}; charset=utf-8`);
      expect(modern.text).toBe(old.text);
    });

    test('that was executed is 200 as application/graphql-response+json', async () => {
      const { send } = await testServer();
      const reply = await send({
        headers: { ...headers, accept: `${graphqlResponse}, ${json};q=0.9` },
        body: operation('{ hello }'),
      });
      expect([reply.status, reply.headers['content-type']]).toEqual([200, `${graphqlResponse}; charset=utf-8`]);
    });

    test.each([
      ['text that is no JSON', '{"query": '],
      ['an empty body', ' '],
      ['an empty list', '[]'],
      ['lists in a list', '[[{"query":"{ hello }"}]]'],
      ['a list with null', '[{"query":"{ hello }"},null]'],
      ['a string', '"{ hello }"'],
      ['null', 'null'],
      ['an object without query', '{"variables":{}}'],
      ['a query that is no string', '{"query":7}'],
    ])('with %s is 400 BAD_REQUEST whatever the answer type', async (_what, body) => {
      const { send, calls } = await testServer();
      for (const accept of [json, graphqlResponse]) {
        const reply = await send({ headers: { ...headers, accept }, body });
        expect(reply.status).toBe(400);
        expect(reply.json().errors?.[0]?.extensions.code).toBe('BAD_REQUEST');
      }
      expect(calls).toEqual([]);
    });

    test.each([
      ['an empty body', ' ', 'It is empty. Send {"query": "…"}.'],
      ['single quotes', `{'query':'{ hello }'}`, 'Put names and strings in double quotes'],
      ['a line break', '{"query":"{\n hello }"}', 'Write line breaks in strings as \\n.'],
    ])('with %s says what JSON needs', async (_what, body, hint) => {
      const { send } = await testServer();
      const reply = await send({ headers, body });
      expect(reply.json().errors?.[0]?.extensions.hint).toContain(hint);
    });

    test('with variables that are no object gets the message that clients know, as a GraphQL error', async () => {
      const { send } = await testServer();
      for (const variables of [[], [1], 'x', 7, true]) {
        const reply = await send({ headers, body: operation('{ hello }', { variables }) });
        expect(reply.status).toBe(200);
        expect(reply.json()).toEqual({
          errors: [{ message: 'variables must be an object', extensions: { code: 'BAD_USER_INPUT' } }],
        });
      }
      const modern = await send({
        headers: { ...headers, accept: graphqlResponse },
        body: operation('{ hello }', { variables: [] }),
      });
      expect(modern.status).toBe(400);
    });

    test('a request may have null for variables and operation name', async () => {
      const { send } = await testServer();
      const reply = await send({ headers, body: operation('{ hello }', { variables: null, operationName: null }) });
      expect(reply.json()).toEqual({ data: { hello: 'hello world' } });
    });

    test('a request keeps integers that JavaScript cannot hold, and leaves other numbers and strings alone', async () => {
      const { send, calls } = await testServer();
      const body = `{"query":"{ hello }","variables":{"big":9223372036854775807,"low":-9007199254740993,"list":[{"n":12345678901234567890}],
        "safe":9007199254740991,"float":0.12345678901234566,"exponent":1e22,"text":"9223372036854775807"}}`;
      const reply = await send({ headers, body });
      expect(reply.status).toBe(200);
      expect(calls[0]?.request.variables).toEqual({
        big: 9223372036854775807n,
        low: -9007199254740993n,
        list: [{ n: 12345678901234567890n }],
        safe: 9007199254740991,
        float: 0.12345678901234566,
        exponent: 1e22,
        text: '9223372036854775807',
      });
    });

    test('a request may begin with a byte order mark', async () => {
      const { send } = await testServer();
      expect((await send({ headers, body: `\ufeff${operation('{ hello }')}` })).status).toBe(200);
    });

    test('that is not UTF-8 is refused', async () => {
      const { send } = await testServer();
      const body = Buffer.concat([
        Buffer.from('{"query":"{ hello(name: \\"'),
        Buffer.from([0xff]),
        Buffer.from('\\") }"}'),
      ]);
      const reply = await send({ headers, body });
      expect(reply.status).toBe(400);
      expect(reply.json().errors?.[0]?.message).toBe('The request body is not valid UTF-8.');
    });

    test('over the limit is 413', async () => {
      const { send, calls } = await testServer();
      const reply = await send({ headers, body: operation(`{ hello }${' '.repeat(5_000_000)}`) });
      expect(reply.status).toBe(413);
      expect(reply.json().errors?.[0]?.extensions.code).toBe('BODY_TOO_LARGE');
      expect(calls).toEqual([]);
    });

    test.each([
      ['UNAVAILABLE', 503],
      ['ROLE_NOT_ALLOWED', 403],
      ['INTERNAL', 200],
      ['TIMEOUT', 200],
    ] satisfies [Code, number][])('answered with %s has status %i', async (code, status) => {
      const { send } = await testServer();
      const reply = await send({ headers, body: operation('{ hello }', { operationName: code }) });
      expect(reply.status).toBe(status);
      expect(reply.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
      expect(reply.json().errors?.[0]?.extensions.code).toBe(code);
    });
  });
}

describe('media types', () => {
  test.each([undefined, 'text/plain', 'application/xml', 'application/json; charset=utf-16', 'nonsense'])(
    'content type %s is 415',
    async (contentType) => {
      const { listen } = await testServer();
      const response = await fetch(`${await listen()}/graphql/v1`, {
        method: 'POST',
        headers: { apikey: anonKey, ...(contentType !== undefined && { 'content-type': contentType }) },
        body: new TextEncoder().encode(operation('{ hello }')),
      });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }] });
    },
  );

  test('JSON that curl sends as a form is refused with the header to send', async () => {
    const { send } = await testServer();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const body of [
      operation('{ hello }'),
      ` ${operation('query ($a: Int) { hello }', { variables: { a: 1 } } as never)}`,
    ]) {
      const reply = await send({ headers, body });
      expect(reply.status).toBe(400);
      expect(reply.json()).toMatchObject({
        errors: [{ extensions: { code: 'BAD_REQUEST', hint: 'Send the header "Content-Type: application/json".' } }],
      });
    }
    const none = await send({ headers: { 'content-type': 'text/plain' }, body: operation('{ hello }') });
    expect(none.json()).toMatchObject({
      errors: [{ extensions: { hint: expect.stringContaining('application/json') } }],
    });
  });

  test('a compressed request body is 415', async () => {
    const { send } = await testServer();
    expect((await send({ headers: { 'content-encoding': 'gzip' }, body: operation('{ hello }') })).status).toBe(415);
  });

  test.each(['application/json;charset=UTF-8', 'APPLICATION/JSON', 'application/json; charset="utf-8"'])(
    '%s is JSON',
    async (contentType) => {
      const { send } = await testServer();
      expect((await send({ headers: { 'content-type': contentType }, body: operation('{ hello }') })).status).toBe(200);
    },
  );

  test('the bare document may be sent as application/graphql', async () => {
    const { send } = await testServer();
    const reply = await send({ headers: { 'content-type': 'application/graphql' }, body: '{ hello }' });
    expect(reply.json()).toEqual({ data: { hello: 'hello world' } });
  });

  test('a form may be sent, its variables as JSON', async () => {
    const { send, calls } = await testServer();
    const form = new URLSearchParams({
      query: 'query ($n: String) { hello(name: $n) }',
      variables: '{"n":"form","big":9007199254740993}',
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await send({ headers, body: form.toString() });
    expect(reply.json()).toEqual({ data: { hello: 'hello form' } });
    expect(calls[0]?.request.variables?.big).toBe(9007199254740993n);
    expect((await send({ headers, body: 'query=%7Bhello%7D&variables=%7B' })).status).toBe(400);
  });

  test('a multipart form may be sent, files are refused', async () => {
    const { listen } = await testServer();
    const url = `${await listen()}/graphql/v1`;
    const post = async (fields: Record<string, string>): Promise<[number, unknown]> => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      const response = await fetch(url, { method: 'POST', headers: { apikey: anonKey }, body: form });
      return [response.status, await response.json()];
    };
    expect(await post({ operations: operation('{ hello }') })).toEqual([200, { data: { hello: 'hello world' } }]);
    expect((await post({ operations: operation('{ hello }'), map: '{"0":["variables.file"]}' }))[0]).toBe(400);
    expect((await post({ other: 'x' }))[0]).toBe(400);
  });

  test('a form without a header of its own is refused: any web page could have sent it', async () => {
    const { send, calls } = await testServer({ requireApiKey: false });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await send({ key: null, headers, body: 'query=%7Bhello%7D' })).status).toBe(415);
    expect(calls).toEqual([]);
  });

  test('an event stream carries the answer as one event and then completes', async () => {
    const { listen } = await testServer();
    const response = await fetch(`${await listen()}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': json, accept: 'text/event-stream' },
      body: operation('{ hello }'),
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const text = await response.text();
    expect(text).toContain('event: next\ndata: {"data":{"hello":"hello world"}}\n\n');
    expect(text).toContain('event: complete\n');
  });

  test('multipart/mixed carries the answer as one part', async () => {
    const { send } = await testServer();
    const reply = await send({ headers: { accept: 'multipart/mixed' }, body: operation('{ hello }') });
    expect(reply.headers['content-type']).toMatch(/^multipart\/mixed; *boundary=/);
    expect(reply.text).toContain('{"data":{"hello":"hello world"}}');
  });

  test.each([
    ['*/*', json],
    ['text/html', json],
    ['application/*', json],
    [`${json};q=0.5, ${graphqlResponse}`, graphqlResponse],
    [`${graphqlResponse};q=0, ${json};q=0.1`, json],
    [`${json}, ${graphqlResponse};q=0.9`, json],
  ])('Accept: %s is answered as %s', async (accept, expected) => {
    const { send } = await testServer();
    const reply = await send({ headers: { accept }, body: operation('{ hello }') });
    expect(reply.headers['content-type']).toBe(`${expected}; charset=utf-8`);
  });
});

describe('methods and paths', () => {
  test('HEAD has the headers of GET', async () => {
    const { send } = await testServer();
    const url = '/graphql/v1?query={hello}';
    const [get, head] = [await send({ method: 'GET', url }), await send({ method: 'HEAD', url })];
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(get.bytes.length)]);
  });

  test.each(['*', ['https://app.test']] as const)(
    'pages of other origins than %s read no page',
    async (corsOrigins) => {
      const { send } = await testServer({ corsOrigins });
      const origin = 'https://app.test';
      const get = (accept: string) => send({ method: 'GET', url: '/graphql/v1', headers: { accept, origin } });
      const { headers } = await get('text/html');
      expect(headers['content-type']).toMatch('text/html');
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
      // The answers of the API keep theirs.
      expect((await get('application/json')).headers['access-control-allow-origin']).toBeDefined();
      const answer = await send({ headers: { origin }, body: operation('{ hello }') });
      expect(answer.headers['access-control-allow-origin']).toBeDefined();
    },
  );

  test.each(['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])('%s is 405 and names the methods', async (method) => {
    const { send } = await testServer();
    const reply = await send({ method, body: '{}' });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
    expect(reply.json().errors?.[0]?.extensions.code).toBe('METHOD_NOT_ALLOWED');
  });

  test('a slash at the end is 404 and the message names the right path', async () => {
    const { send } = await testServer();
    for (const method of ['GET', 'POST']) {
      const reply = await send({
        method,
        url: '/graphql/v1/?x=1',
        ...(method === 'POST' && { body: operation('{ hello }') }),
      });
      expect(reply.status).toBe(404);
      expect(reply.json().errors?.[0]?.message).toBe(
        'Nothing is served at this path. The GraphQL API is at "/graphql/v1", without the slash at the end.',
      );
    }
  });

  test('the root names what there is', async () => {
    const names = async (managementApiEnabled: boolean) => {
      const reply = await (await testServer({ managementApiEnabled })).send({ method: 'GET', url: '/' });
      return ['/graphql/v1', '/studio'].filter((path) => reply.json().errors?.[0]?.message.includes(`"${path}"`));
    };
    expect([await names(true), await names(false)]).toEqual([['/graphql/v1', '/studio'], ['/graphql/v1']]);
  });

  test('any other path is 404 with the same format of body', async () => {
    const { send } = await testServer();
    const reply = await send({ method: 'GET', url: '/nowhere' });
    expect([reply.status, reply.json().errors?.[0]?.extensions.code]).toEqual([404, 'NOT_FOUND']);
  });

  test('a path that cannot be decoded is 400 with the same format of body, and observed', async () => {
    const { send, observations } = await testServer();
    const reply = await send({ method: 'GET', url: '/%zz?token=secret', headers: { 'x-request-id': 'mine' } });
    expect([reply.status, reply.json().errors?.[0]?.extensions.code]).toEqual([400, 'BAD_REQUEST']);
    expect(reply.headers).toMatchObject({ 'x-request-id': 'mine', 'cache-control': 'no-store' });
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    const observed = {
      kind: 'request',
      requestId: 'mine',
      path: '/%zz',
      route: null,
      status: 400,
      codes: ['BAD_REQUEST'],
    };
    await vi.waitFor(() => expect(observations).toContainEqual(expect.objectContaining(observed)));
  });
});

describe('headers of the answer', () => {
  test('no answer may be stored', async () => {
    const { send } = await testServer();
    expect((await send({ body: operation('{ hello }') })).headers['cache-control']).toBe('no-store');
    expect((await send({ body: '[' })).headers['cache-control']).toBe('no-store');
  });

  test('a harmless X-Request-Id is taken over, others are replaced', async () => {
    const { send, calls } = await testServer();
    const ask = async (id: string): Promise<string | undefined> =>
      (await send({ headers: { 'x-request-id': id }, body: operation('{ hello }') })).headers['x-request-id'];
    expect(await ask('req-1:a.b_c')).toBe('req-1:a.b_c');
    expect(calls[0]?.context.requestId).toBe('req-1:a.b_c');
    const uuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
    for (const bad of ['a b', 'x'.repeat(129), '"quoted"', '<script>', '\u001b[31m'])
      expect(await ask(bad)).toMatch(uuid);
  });

  test('an id comes back with errors too', async () => {
    const { send } = await testServer();
    const reply = await send({ key: null, headers: { 'x-request-id': 'me' }, body: operation('{ hello }') });
    expect([reply.status, reply.headers['x-request-id']]).toEqual([401, 'me']);
  });

  test('large answers are compressed when asked for, small ones are not', async () => {
    const { send } = await testServer();
    const ask = (count: number, encoding: string) =>
      send({ headers: { 'accept-encoding': encoding }, body: operation(`{ rows(count: ${count}) }`) });
    const plain = await ask(500, 'identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    const gzipped = await ask(500, 'gzip, deflate, br');
    expect(gzipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(gzipped.bytes).toString()).toBe(plain.text);
    const brotli = await ask(5000, 'gzip, br');
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.bytes).toString()).toBe((await ask(5000, 'gzip;q=0')).text);
    expect((await ask(5, 'gzip')).headers['content-encoding']).toBeUndefined();
  });

  test('Server-Timing tells the stages where it is on', async () => {
    const on = await testServer({ serverTiming: true });
    const timing = (await on.send({ body: operation('{ hello }') })).headers['server-timing'];
    expect(timing).toMatch(
      /^authenticate;dur=\d+\.\d{3}, parse;dur=1\.000, compile;dur=2\.000, wait;dur=0\.000, run;dur=3\.000$/,
    );
    const off = await testServer();
    expect((await off.send({ body: operation('{ hello }') })).headers['server-timing']).toBeUndefined();
  });
});

describe('CORS', () => {
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'apikey' };

  test('any origin may ask, without credentials, with whatever headers its libraries add', async () => {
    const { send } = await testServer();
    const asked = 'apikey, traceparent, x-apollo-operation-name';
    const headers = { origin: 'https://app.test', ...preflight, 'access-control-request-headers': asked };
    const reply = await send({ method: 'OPTIONS', key: null, headers });
    expect(reply.status).toBe(204);
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': asked,
      vary: 'Access-Control-Request-Headers',
    });
    expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
  });

  test('an operator names the headers that may be sent', async () => {
    const { send } = await testServer({ corsHeaders: ['apikey', 'content-type'] });
    const headers = { origin: 'https://app.test', ...preflight, 'access-control-request-headers': 'traceparent' };
    const reply = await send({ method: 'OPTIONS', key: null, headers });
    expect(reply.headers['access-control-allow-headers']).toBe('apikey, content-type');
  });

  test.each(['constructor', '__proto__', 'toString/v1'])('/%s is a path like any other', async (path) => {
    const { send } = await testServer();
    const reply = await send({ method: 'GET', url: `/${path}` });
    expect(reply.status).toBe(404);
    expect(reply.json().errors?.[0]?.message).toMatch(/^Nothing is served at this path\./);
  });

  test.each([
    ['rest/v1/film?select=*', 'The REST API'],
    ['storage/v1/object/photos', 'Storage'],
    ['functions/v1/hello', 'The service Edge Functions'],
  ])('pages can read that %s is not here, and where GraphQL is', async (path, service) => {
    const { send } = await testServer();
    const reply = await send({ method: 'GET', url: `/${path}`, headers: { origin: 'https://app.test' } });
    expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([404, '*']);
    expect(reply.json().message).toBe(
      `${service} of Supabase is not part of pgreflect. Ask the GraphQL API at "/graphql/v1".`,
    );
  });

  test('answers and errors are readable across origins', async () => {
    const { send } = await testServer();
    const headers = { origin: 'https://app.test' };
    const good = await send({ headers, body: operation('{ hello }') });
    const refused = await send({ key: null, headers, body: operation('{ hello }') });
    const missing = await send({ method: 'GET', url: '/nowhere', headers });
    for (const reply of [good, refused, missing]) expect(reply.headers['access-control-allow-origin']).toBe('*');
  });

  test('with a list only its origins may ask', async () => {
    const { send } = await testServer({ corsOrigins: ['https://a.test', 'https://b.test'] });
    const allowed = async (origin: string) =>
      (await send({ headers: { origin }, body: operation('{ hello }') })).headers['access-control-allow-origin'];
    expect(await allowed('https://b.test')).toBe('https://b.test');
    expect(await allowed('https://evil.test')).toBeUndefined();
  });

  test('OPTIONS that is no preflight is answered as well', async () => {
    const { send } = await testServer();
    expect((await send({ method: 'OPTIONS', key: null })).status).toBe(204);
  });
});

describe('rate limit', () => {
  test('rate limit counts per user and says when to come back', async () => {
    const { token } = await import('../support/http.ts');
    const { send } = await testServer({ rateLimit: 2 });
    const as = async (sub: string) =>
      send({
        headers: { authorization: `Bearer ${await token({ role: 'authenticated', sub })}` },
        body: operation('{ hello }'),
      });
    expect([(await as('a')).status, (await as('a')).status, (await as('b')).status]).toEqual([200, 200, 200]);
    const refused = await as('a');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.json().errors?.[0]?.extensions.code).toBe('RATE_LIMITED');
    expect((await as('b')).status).toBe(200);
  });

  test('rate limit counts callers without a user by address', async () => {
    const { send } = await testServer({ rateLimit: 1 });
    expect((await send({ body: operation('{ hello }') })).status).toBe(200);
    expect((await send({ body: operation('{ hello }') })).status).toBe(429);
  });
});

describe('health', () => {
  test('/health and /ready answer without a key', async () => {
    const { send } = await testServer();
    expect((await send({ method: 'GET', url: '/health', key: null })).json()).toEqual({ status: 'ok' });
    expect((await send({ method: 'GET', url: '/ready', key: null })).json()).toEqual({ status: 'ready' });
  });

  test('/ready is 503 with the reason while requests cannot be answered', async () => {
    const executor = {
      isSubscription: async () => false,
      admits: () => true,
      notReady: () => 'The database is not responding.',
      busyMs: () => 0,
      execute: () => Promise.reject(new Error('unused')),
    };
    const { send } = await testServer({}, { executor });
    const reply = await send({ method: 'GET', url: '/ready', key: null });
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, '1']);
    expect(reply.json()).toEqual({ status: 'unavailable', reason: 'The database is not responding.' });
    expect((await send({ method: 'GET', url: '/health', key: null })).status).toBe(200);
  });
});

test('the bare address leads a browser to the studio, or to the addresses where there is none; a program gets the error', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const { send } = await testServer({ managementApiEnabled: true });
  const page = { method: 'GET', url: '/', key: null, headers: { accept } };
  const led = await send(page);
  expect([led.status, led.headers.location, led.headers.vary]).toEqual([302, '/studio', 'Accept']);
  for (const other of [{}, { accept: 'application/json' }, { accept: '*/*' }]) {
    const reply = await send({ ...page, headers: other });
    expect([reply.status, reply.json().errors?.[0]?.message]).toEqual([
      404,
      'Nothing is served at this path. The GraphQL API is at "/graphql/v1". The studio is at "/studio".',
    ]);
  }
  const { send: without } = await testServer({ managementApiEnabled: false });
  const listed = await without(page);
  expect([listed.status, listed.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(listed.text).toContain('href="/graphql/v1"');
});
