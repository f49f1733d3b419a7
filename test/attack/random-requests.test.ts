/**
 * Random requests of at most 64 kB, as anon: none keeps the one thread busy for long, nor fills this process or that of the
 * database. RANDOM_REQUESTS=N makes more of them, RANDOM_SEED=N others.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { createRandom } from '../property/random.ts';
import { testGateway } from '../support/gateway.ts';
import { maxHold, slowness } from '../support/held-loop.ts';
import { anonKey } from '../support/http.ts';
import { manyTables } from '../support/many-tables.ts';
import { createDatabase } from '../support/postgres.ts';
import { type RandomRequest, randomRequest } from './random-requests.ts';

const seed = Number(process.env.RANDOM_SEED ?? 33);
const requests = Number(process.env.RANDOM_REQUESTS ?? 50);
/** Where few requests are sent, the largest schema would take longer than all of them. */
const isShort = process.env.RANDOM_REQUESTS === undefined;
const maxMegabytes = 64;
/** So many times the limit, for the garbage collector and for neighbors that share the cores. */
const room = 3;

const sizes = [
  { tables: 10, maxMs: 100 },
  { tables: 400, maxMs: 100 },
  { tables: 1000, maxMs: 500 },
];
describe.each(isShort ? sizes.slice(0, 2) : sizes)('With $tables tables', async ({ tables, maxMs }) => {
  const database = await createDatabase(`${manyTables(tables)}
    grant insert, update, delete on all tables in schema public to anon;
    -- As a superuser: others see no memory.
    create function kept_bytes() returns bigint volatile security definer language sql as
      $$ select sum(total_bytes)::bigint from pg_catalog.pg_backend_memory_contexts $$;`);
  const gateway = await testGateway(database, { poolSize: 1 }, afterAll);
  const { schema } = (await gateway.graphql.reflector.role('anon', null))!.shared;
  const kept = async () => Number((await gateway.ask('mutation { keptBytes }')).body.data.keptBytes) / 1024 / 1024;
  const send = async ({ body, headers }: RandomRequest) => {
    const response = await fetch(`${gateway.url}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json', ...headers },
      body,
    });
    return { status: response.status, text: await response.text() };
  };

  test(`no random request is expensive (RANDOM_SEED=${seed} RANDOM_REQUESTS=${requests})`, async () => {
    const random = createRandom(seed + tables);
    const limitMs = maxMs * room * slowness();
    const found: unknown[] = [];
    const before = await kept();
    for (let count = 0; count < requests; count += 1) {
      const request = randomRequest(random.fork(), schema);
      let answered = '';
      // With more blanks each time: what is known of a document is none of its costs.
      const cost = async (blanks: number) => {
        const { rss } = process.memoryUsage();
        const ms = await maxHold(async () => {
          const body = request.body.replace('{"query":"', `{"query":"${' '.repeat(blanks)}`);
          const { status, text } = await send({ ...request, body });
          answered = `${status} ${text.slice(0, 300)}`;
        });
        return { ms, megabytes: (process.memoryUsage().rss - rss) / 1024 / 1024 };
      };
      let { ms, megabytes } = await cost(0);
      // Once more: the garbage of others is collected at any time, and what is made once for all requests is none of it.
      for (let again = 1; (ms > limitMs || megabytes > maxMegabytes) && again < 3; again += 1) {
        const next = await cost(again);
        ms = Math.min(ms, next.ms);
        megabytes = Math.min(megabytes, next.megabytes);
      }
      if (answered.startsWith('500') || ms > limitMs || megabytes > maxMegabytes)
        found.push({ count, ms, megabytes, answered, body: request.body.slice(0, 500), bytes: request.body.length });
    }
    expect(found).toEqual([]);
    expect((await kept()) - before).toBeLessThan(maxMegabytes);
  });
});
