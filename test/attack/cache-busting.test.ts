/**
 * Clients that never send the same thing twice: memory and prepared statements stay bounded, and others are answered and find
 * what they need as often as before: their documents parsed, their statements prepared.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey, operation, token } from '../support/http.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recording-proxy.ts';
import { atEnd } from '../support/when-over.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let database: TestDatabase;
let proxy: RecordingProxy;
/** One for all floods: what an earlier one has left in the caches is there when the next one comes. */
let gateway: TestGateway;
beforeAll(async () => {
  database = await createDatabase(
    fixture('attack-victim.sql'),
    `create function statements() returns bigint stable language sql as
       $$ select count(*) from pg_catalog.pg_prepared_statements $$;
     create table neighbour (id int primary key);
     insert into neighbour values (1);
     grant select on neighbour to anon;`,
  );
  proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
  proxy.inspect((from, packet) => {
    if (from === 'client' && packet.includes('neighbour')) prepared += 1;
    return 'pass';
  });
  const config = { databaseUrl: proxy.url, schemaPollMs: 600_000, poolSize: 1, poolWaitMs: 10_000 };
  gateway = await testGateway(database, config, atEnd);
});
afterAll(() => proxy.stop());

/** Live memory in MB. */
function heap(): number {
  collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

interface Request {
  readonly query: string;
  readonly variables?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What another client asks for; the text of its statement is told from all others by the name of the table. */
const ordinary = '{ neighbourCollection { edges { node { id } } } }';

/** Documents that were parsed and validated since the start, and times that the other client's statement was prepared. */
async function work(): Promise<{ readonly documents: number; readonly prepared: number }> {
  const found = (await gateway.readMetrics()).pgreflect_graphql_document_lookups_total;
  return { documents: found?.find(({ labels }) => labels[0] === 'miss')?.value ?? 0, prepared };
}
let prepared = 0;

/** Sends `count` different requests, or more, four at a time, while another client asks so often for something ordinary. */
async function flood(
  count: number,
  make: (index: number) => Request | Promise<Request>,
  fewest: number,
): Promise<{ readonly answered: number; readonly documents: number }> {
  const url = `${gateway.url}/graphql/v1`;
  let next = 0;
  let done = false;
  let good = 0;
  const documents = new Set<string>();
  const attacker = async () => {
    while (next < count || good < fewest) {
      const { query, variables, headers } = await make(next++);
      documents.add(query);
      const response = await fetch(url, {
        method: 'POST',
        headers: { apikey: anonKey, 'content-type': 'application/json', ...headers },
        body: operation(query, { variables }),
      });
      await response.arrayBuffer();
    }
  };
  const neighbour = async () => {
    while (!done) {
      const { status, body } = await gateway.ask(ordinary);
      expect([status, body]).toEqual([200, { data: { neighbourCollection: { edges: [{ node: { id: 1 } }] } } }]);
      good += 1;
      await wait(10);
    }
  };
  const friend = neighbour();
  await Promise.all(Array.from({ length: 4 }, attacker));
  done = true;
  await friend;
  return { answered: good, documents: documents.size };
}

const node = (fields: string) => `{ victimCollection(first: 1) { edges { node { ${fields} } } } }`;
const filtered = 'query ($l: [VictimFilter!]) { victimCollection(filter: {or: $l}) { edges { node { id } } } }';

/** Columns whose presence in a filter, and how they are asked for, is another shape: 6,561 of them. */
const columns = ['owner', 'body', 'size', 'state', 'tags', 'data', 'at', 'token'];
/** Each choice of them is another statement: 512 of them. */
const fields = [...columns, 'limited'];
function shape(index: number): object {
  const asked = columns.map((name, at) => [name, Math.floor(index / 3 ** at) % 3] as const).filter(([, how]) => how > 0);
  return Object.fromEntries([['id', { is: 'NOT_NULL' }], ...asked.map(([name, how]) => [name, { is: how === 1 ? 'NULL' : 'NOT_NULL' }])]);
} // biome-ignore format: see below

/** The limit of named statements of a connection; fields that come again would have more. */
const maxStatements = 250;

describe('requests that are never the same: different', () => {
  const floods: readonly (readonly [string, number, (index: number) => Request | Promise<Request>])[] = [
    ['documents', 75, (index) => ({ query: `${node('id body')} # ${index}` })],
    ['aliases', 75, (index) => ({ query: node(`a${index}: id b${index}: body`) })],
    ['operation names', 75, (index) => ({ query: `query q${index} ${node('id')}` })],
    ['literals', 75, (index) => ({ query: `{ victimCollection(filter: {id: {eq: ${index}}}) { edges { node { id } } } }` })],
    ['limits', 75, (index) => ({ query: `{ victimCollection(first: ${index + 1}) { edges { node { id } } } }` })],
    ['refused documents', 75, (index) => ({ query: `{ unknown${index} { x } }` })],
    ['malformed documents', 75, (index) => ({ query: `{ broken${index}` })],
    ['shapes of variables', 75, (index) => ({ query: filtered, variables: { l: [shape(index)] } })],
    ['shapes of variables that come again', 300, (index) => ({ query: filtered, variables: { l: [shape(500 + (index % 150))] } })],
    ['fields that come again', 600, (index) => ({ query: node(['id', ...fields.filter((_, at) => ((index % 300) >> at) & 1)].join(' ')) })],
    ['lengths of a list', 25, (index) => ({ query: filtered, variables: { l: Array.from({ length: 100 + index }, () => ({ id: { eq: 1 } })) } })],
    ['tokens', 75, async (index) => ({ query: node('id'), headers: { authorization: `Bearer ${await token({ role: 'authenticated', sub: `${index}`, filler: 'x'.repeat(500) })}` } })],
    ['wrong tokens', 75, (index) => ({ query: node('id'), headers: { authorization: `Bearer wrong.${index}.token` } })],
    ['large documents', 50, (index) => ({ query: node(Array.from({ length: 400 }, (_, number) => `f${index}x${number}: id`).join(' ')) })],
  ]; // biome-ignore format: a table
  test.each(floods)('%s fill neither memory nor connections', async (name, count, make) => {
    await flood(10, (index) => make(count + index), 0);
    const before = heap();
    const workBefore = await work();
    expect(workBefore.prepared).toBeGreaterThan(0);
    const { answered, documents } = await flood(count, make, 10);
    const after = await work();
    (gateway.observations as unknown[]).length = 0;
    // The cache of documents has room for so many large ones.
    expect(heap() - before).toBeLessThan(name === 'large documents' ? 40 : 20);
    // But for one time in five, the other client finds its document parsed and its statement prepared.
    expect(after.documents - workBefore.documents - documents).toBeLessThanOrEqual(answered / 5);
    expect(after.prepared - workBefore.prepared).toBeLessThanOrEqual(answered / 5);
    const { body } = await gateway.ask('{ statements }');
    expect(Number(body.data.statements)).toBeLessThanOrEqual(maxStatements);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  });
});
