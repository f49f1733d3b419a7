/**
 * A gateway that is asked for more than its database can serve: refused are those who would wait in vain, at once and before
 * anything is done for them; everything else is as ever.
 */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { holdFunction, takeLock, untilHeld } from '../support/busy.ts';
import { type GatewayReply, testGateway } from '../support/gateway.ts';
import { anonKey, operation, serviceKey } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(
    holdFunction,
    'create table note (id int primary key); grant select on note to anon, service_role',
  );
});

/** One client on one socket, whose caller the gateway knows from the request before. */
function openSocket(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ports = new Set<number | undefined>();
  const headers = { 'content-type': 'application/json', apikey: anonKey, 'x-request-id': 'mine' };
  const ask = (query: string) =>
    new Promise<{ status: number | undefined; id: unknown; retryAfter: unknown; origin: unknown }>(
      (resolve, reject) => {
        const sent = request(`${url}/graphql/v1`, { agent, method: 'POST', headers }, (response) => {
          ports.add(response.socket.localPort);
          const { 'x-request-id': id, 'retry-after': retryAfter } = response.headers;
          const origin = response.headers['access-control-allow-origin'];
          response.resume().on('end', () => resolve({ status: response.statusCode, id, retryAfter, origin }));
        });
        sent.on('error', reject).end(operation(query));
      },
    );
  return { ask, sockets: () => ports.size };
}

test('a request for which there is no room in the queue gets 503 with Retry-After, until the others have been served', async () => {
  const gateway = await testGateway(database, { poolSize: 1, poolWaitMs: 10_000, metricsPort: 0 });
  const pool = async () => {
    const metrics = await gateway.readMetrics();
    const value = (name: 'waiting_requests' | 'refused_total') =>
      metrics[`pgreflect_pool_${name}`]?.find(({ labels }) => labels[0] === 'api')?.value ?? 0;
    return { waiting: value('waiting_requests'), refused: value('refused_total') };
  };
  const isRefused = ({ status }: GatewayReply) => status === 503;
  const query = '{ noteCollection { edges { node { id } } } }';
  const socket = openSocket(gateway.url);
  expect(await socket.ask(query)).toMatchObject({ status: 200 });
  const release = await takeLock(database, 1);
  const held = gateway.ask('{ hold(lock: 1) }');
  await untilHeld(database, 1);

  // 100 requests may wait for each connection.
  let refusals = 0;
  const late = Array.from({ length: 110 }, async () => {
    const reply = await gateway.ask('{ hold(lock: 1) }');
    if (isRefused(reply)) refusals += 1;
    return reply;
  });
  while (refusals + (await pool()).waiting < 110) await sleep(5);
  expect(refusals).toBe(10);

  const { status, headers, body } = await gateway.ask('this is not GraphQL');
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect(body).toEqual({
    errors: [
      {
        message: 'All database connections are busy. Try again in a moment.',
        extensions: { code: 'UNAVAILABLE' },
      },
    ],
  });
  // With a body that nobody reads.
  const refusal = { status: 503, id: 'mine', retryAfter: '1', origin: '*' };
  expect(await socket.ask(`${query} # ${'-'.repeat(500_000)}`)).toEqual(refusal);
  expect((await gateway.ask(query, { key: 'wrong' })).status).toBe(401);
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  expect(await pool()).toEqual({ waiting: 100, refused: refusals + 2 });

  const other = gateway.ask(query, { key: serviceKey });
  await release();
  const empty = { data: { noteCollection: { edges: [] } } };
  expect([(await held).body, (await other).body]).toEqual([{ data: { hold: 'held' } }, empty]);
  const served = (await Promise.all(late)).filter((reply) => !isRefused(reply));
  for (const reply of served) expect(reply.body).toEqual({ data: { hold: 'held' } });
  expect((await gateway.ask(query)).body).toEqual(empty);
  expect(await socket.ask(query)).toMatchObject({ status: 200 });
  expect(socket.sockets()).toBe(1);

  const refused = gateway.observations.filter((each) => each.kind === 'request' && each.shed);
  expect(refused).toHaveLength(refusals + 2);
  const known = { requestId: 'mine', role: 'anon', status: 503, codes: ['UNAVAILABLE'], address: '127.0.0.1' };
  expect(refused.at(-1)).toMatchObject(known);
  const told = () => gateway.observations.map((each) => (each.kind === 'requests_shed' ? each.count : 0));
  const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0);
  await vi.waitFor(() => expect(sum(told())).toBe(refusals + 2));
});
