/** Many requests of many callers at once, each statement with its own way of doing harm to those that share its connection. */
import { expect } from 'vitest';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import { DatabaseError } from '../../src/postgres/database-error.ts';
import type { ApiPool } from '../../src/postgres/pool/pool.ts';
import { callerOf, flightOf } from '../support/flights.ts';
import type { RecordingProxy } from '../support/recording-proxy.ts';

/** What the statements call. */
export const harmfulFunctions = `
  create function die() returns int language sql security definer
    as 'select 1 from (select pg_terminate_backend(pg_backend_pid(), 1000)) x';
  create function litter() returns text language plpgsql as
    $$ begin create temporary table if not exists litter as select 1; return 'x'; end $$;
  create function chatter() returns text language plpgsql as $$ begin
    raise notice 'a notice';
    perform pg_notify('gossip', 'a notification'), set_config('TimeZone', 'Asia/Tokyo', false);
    execute 'listen gossip';
    return 'x';
  end $$;`;

const who = `concat_ws(' ', current_user, current_setting('request.jwt.claims')::json ->> 'sub',
  current_setting('statement_timeout'), nullif(current_setting('my.state', true), ''),
  to_regclass('pg_temp.litter'), $1::text)`;
const then = (harm: string) => `concat(${who}, left((${harm})::text, 0))`;
const harms = {
  'does none': who,
  'fails for some': then('1 / (length($1) % 3)'),
  'takes long for some': then(`case when $1 like '%52' then pg_sleep(0.03) end`),
  'has megabytes for some': `concat(${who}, case when $1 like '%73' then repeat('x', 2000000) end)`,
  'leaves a setting': then(`set_config('my.state', $1, false)`),
  'leaves a role and a limit': then(
    `set_config('role', 'service_role', false) || set_config('statement_timeout', '9999', false)`,
  ),
  'leaves a lock': then('pg_try_advisory_lock(1)'),
  'leaves a temporary table': then('litter()'),
  'sends notices, notifications and a changed parameter': then('chatter()'),
  'ends its connection for some': then(`case when $1 like '%99' then die() end`),
};
const kinds = Object.keys(harms) as (keyof typeof harms)[];

/** Sends so many requests, sixty at a time, each of which must get its own answer, or an error that its statement is made for. */
async function storm(pool: ApiPool, count: number): Promise<{ answered: number; failed: number }> {
  const ends = { answered: 0, failed: 0 };
  let next = 0;
  const one = async (number: number) => {
    const kind = kinds[number % kinds.length] as keyof typeof harms;
    const role = number % 3 === 0 ? 'anon' : 'authenticated';
    const user = `user${number % 40}`;
    const timeoutMs = 100_001 + 2 * (number % 100);
    const client = new AbortController();
    if (number % 31 === 0) setTimeout(() => client.abort(), number % 5);
    const options = flightOf([{ text: `select ${harms[kind]}`, values: [`number${number}`] }], {
      caller: { ...callerOf(role), claims: JSON.stringify({ sub: user }) },
      timeoutMs,
      requestTimeoutMs: number % 41 === 0 ? 10 : 0,
      isLight: true,
      mutation: number % 29 === 0,
      signal: client.signal,
    });
    try {
      const [answer] = await runAs(pool, options);
      expect(String(answer).replace(/x+$/, '')).toBe(`${role} ${user} ${timeoutMs}ms number${number}`);
      ends.answered += 1;
    } catch (problem) {
      if (!(problem instanceof DatabaseError)) throw problem;
      const expected = ['cancelled', 'timeout'];
      if (kind === 'fails for some') expected.push('statement');
      if (kind === 'ends its connection for some') expected.push('unavailable');
      expect(expected, `${kind}: ${problem.message}`).toContain(problem.kind);
      ends.failed += 1;
    }
  };
  const worker = async () => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: 60 }, worker));
  return ends;
}

/** Each gets its own answer, over fewer round trips than there are requests. @param proxy That of the pool, which is new. */
export async function expectOwnAnswers(pool: ApiPool, proxy: RecordingProxy, count: number): Promise<void> {
  proxy.reset();
  const ends = await storm(pool, count);
  expect(ends.answered + ends.failed).toBe(count);
  expect(ends.answered).toBeGreaterThan(count / 2);
  // Many of them shared a round trip.
  expect(proxy.roundTrips()).toBeLessThan(count);
}
