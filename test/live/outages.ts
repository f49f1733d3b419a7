/**
 * Subscribers of the stock clients while servers crash and connections break: they come back by themselves, see no older state,
 * and get the last one after each outage.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { expect } from 'vitest';
import WebSocket from 'ws';
import { createDatabase, type RestartableDatabase, startGateway } from '../storm/world.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { anonKey, secret } from '../support/http.ts';
import type { Result } from '../support/live.ts';
import { defaultRoles } from '../support/usual-roles.ts';
import type { WhenOver } from '../support/when-over.ts';

/** What clients talk to. */
interface Servers {
  readonly database: RestartableDatabase;
  readonly gateway: Awaited<ReturnType<typeof startGateway>>;
  /** Between the clients and the gateway. */
  readonly way: Forwarder;
}

/** Things that happen; each is over, and everything serves again, when its promise resolves. */
export const outages: Readonly<Record<string, (servers: Servers) => Promise<void>>> = {
  async 'the database crashes'({ database }) {
    await database.stopDatabase('immediate');
    await database.startDatabase();
  },
  async 'connections break'({ way }) {
    way.cut();
  },
  async 'the database restarts'({ database }) {
    await database.stopDatabase('fast');
    await sleep(2000);
    await database.startDatabase();
  },
  async 'the gateway is killed'({ gateway }) {
    await gateway.end('SIGKILL');
    await sleep(500);
    await gateway.start();
  },
  async 'the gateway restarts'({ gateway }) {
    await gateway.end('SIGTERM');
    await gateway.start();
  },
  async 'nobody is reached for a while'({ way }) {
    const { target } = way;
    way.target = null;
    way.cut();
    await sleep(3000);
    way.target = target;
  },
};

/** Subscribes with a client that comes back by itself. @returns Ends it. */
export type Subscribe = (url: string, query: string, next: (result: Result) => void) => () => unknown;

/** The client of graphql-ws as docs/live-queries.md has it, with shorter pauses. */
export const overStockSocket: Subscribe = (url, query, next) => {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql/v1`,
    webSocketImpl: WebSocket,
    connectionParams: { apikey: anonKey },
    shouldRetry: () => true,
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: () => sleep(200),
  });
  const fail = (problem: unknown) => next({ problem });
  let isOver = false;
  const leave = client.subscribe({ query }, { next, error: fail, complete: () => isOver || fail('complete') });
  return () => {
    isOver = true;
    leave();
  };
};

const schema = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table counted (id int primary key, n int not null);
  insert into counted values (1, 0);
  grant usage on schema public to anon; grant select on counted to anon;
`;

/** Lets one outage after the other happen; checks after each. */
export async function runOutages(
  names: readonly string[],
  subscribers: readonly Subscribe[],
  whenOver: WhenOver,
): Promise<void> {
  const database = await createDatabase(whenOver);
  await database.query(`${defaultRoles}; ${schema}`);
  const env = { DATABASE_URL: database.urlAs('authenticator'), PGREFLECT_JWT_SECRET: secret };
  const more = ['--schemas', 'public', '--live-interval-ms', '100'];
  const gateway = await startGateway(env, whenOver, { health: '/ready', more });
  const way = await startForwarder();
  way.target = new URL(gateway.url);
  const heard: number[][] = [];
  const problems: unknown[] = [];
  for (const subscribe of subscribers) {
    const counts: number[] = [];
    heard.push(counts);
    const query = 'subscription { row: countedByPk(id: 1) { n } }';
    const end = subscribe(`http://127.0.0.1:${way.port}`, query, (result) => {
      if (typeof result.data?.row?.n === 'number') counts.push(result.data.row.n);
      else problems.push(result);
    });
    whenOver(async () => void (await end()));
  }
  const change = async () => {
    const [row] = await database.query<{ n: number }>('update counted set n = n + 1 returning n');
    for (const counts of heard) while (counts.at(-1) !== row!.n && problems.length === 0) await sleep(20);
  };
  await change();
  for (const name of names) {
    await outages[name]!({ database, gateway, way });
    await change();
    await change();
  }
  expect(problems).toEqual([]);
  for (const counts of heard) expect(counts).toEqual([...counts].sort((one, other) => one - other));
}
