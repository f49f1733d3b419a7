/** Callers are cached by their headers: who asked before says nothing about who asks now, unless every header is the same. */
import { Agent, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { anonKey, operation, serviceKey, type TestServer, testServer, token } from '../support/http.ts';

/** Sends a request over the only socket; the status, and the caller that the database would be told. */
async function openSocket(server: TestServer) {
  const origin = await server.listen();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ports = new Set<number | undefined>();
  const send = (headers: Readonly<Record<string, string>>, query = '{ hello }') =>
    new Promise<{ status: number; role: string | null; headers: string | null }>((resolve, reject) => {
      const before = server.calls.length;
      const sent = request(
        `${origin}/graphql/v1`,
        { agent, method: 'POST', headers: { 'content-type': 'application/json', apikey: anonKey, ...headers } },
        (response) => {
          ports.add(response.socket.localPort);
          response.resume().on('end', () => {
            const caller = server.calls.length > before ? server.calls.at(-1)?.caller : undefined;
            resolve({
              status: response.statusCode ?? 0,
              role: caller?.role ?? null,
              headers: caller?.headers ?? null,
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(operation(query));
    });
  return { send, sockets: () => ports.size };
}

test('another key, another token, no token: each request of a socket has its own caller', async () => {
  const { send, sockets } = await openSocket(await testServer());
  const user = await token({ sub: 'd0f3b8a0-0000-4000-8000-000000000001', role: 'authenticated' });
  const roles = [];
  for (const headers of [{}, { authorization: `Bearer ${user}` }, { apikey: serviceKey }, {}, {}]) {
    roles.push((await send(headers)).role);
  }
  expect(roles).toEqual(['anon', 'authenticated', 'service_role', 'anon', 'anon']);
  expect(sockets()).toBe(1);
});

test('a wrong key is refused on a socket that was just used with a right one, and the right one still works', async () => {
  const { send } = await openSocket(await testServer());
  const statuses = [];
  for (const headers of [{}, { apikey: `${anonKey}x` }, { authorization: 'Bearer nonsense' }, {}])
    statuses.push((await send(headers)).status);
  expect(statuses).toEqual([200, 401, 401, 200]);
});

test('a token that expires is refused on the socket where it was accepted', async () => {
  let now = Date.now();
  const server = await testServer({}, { clock: { now: () => now } });
  const { send } = await openSocket(server);
  const ends = Math.floor(now / 1000) + 60;
  const bearer = await token({ sub: 'a', role: 'authenticated', exp: ends });
  const headers = { authorization: `Bearer ${bearer}` };
  expect([(await send(headers)).status, (await send(headers)).status]).toEqual([200, 200]);
  now += 2 * 60_000;
  expect((await send(headers)).status).toBe(401);
});

test('the database is told the headers of this request, without the length of its body', async () => {
  const { send } = await openSocket(await testServer());
  const told = [];
  for (const [value, query] of [
    ['a', '{ hello }'],
    ['a', '{ hello hello }'],
    ['b', '{ hello }'],
    ['a', '{ hello }'],
  ] as const) {
    const { headers } = await send({ 'x-tenant': value }, query);
    const { 'x-tenant': tenant, 'content-length': length } = JSON.parse(headers ?? '{}') as Record<string, string>;
    told.push([tenant, length]);
  }
  expect(told).toEqual(['a', 'a', 'b', 'a'].map((tenant) => [tenant, undefined]));
});

test('headers that differ only in where a value ends are two callers', async () => {
  const { send } = await openSocket(await testServer());
  const told = [];
  for (const headers of [
    { 'x-a': '1', 'x-b': '2' },
    { 'x-a': '1\t5 1 x-b2', 'x-c': '3' },
  ]) {
    const { 'x-a': value } = JSON.parse((await send(headers as Record<string, string>)).headers ?? '{}');
    told.push(value);
  }
  expect(told).toEqual(['1', '1\t5 1 x-b2']);
});
