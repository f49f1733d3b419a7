/**
 * Mutations that arrive together share a connection and one write, too. Each is a transaction of its own, runs exactly once, and
 * waits for no other: what keeps the others waiting is cancelled, and sent again once it is known to be undone.
 */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { DatabaseError } from '../../src/database/failure.ts';
import type { ApiPool } from '../../src/database/pool.ts';
import { type RunAsOptions, runAs } from '../../src/database/run-as.ts';
import { answersOf, callerOf, flightOf, makeShared, openPool } from '../support/flights.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recording-proxy.ts';

let database: TestDatabase;
let proxy: RecordingProxy;
let pool: ApiPool;
/** Another user of the database, who holds locks. */
let other: pg.Client;
beforeAll(async () => {
  database = await createDatabase(`
    create table visit (guest text, transaction text default pg_current_xact_id()::text, process int default pg_backend_pid());
    grant select, insert on visit to anon, authenticated;
    create function visit(guest text) returns text language plpgsql as $$
    begin
      insert into visit values (guest);
      -- While the test holds the lock.
      if guest like '% waits' then perform pg_advisory_xact_lock_shared(1); end if;
      if guest like '% fails' then raise 'no entry'; end if;
      if guest like '% dies' then perform die(); end if;
      -- As a foreign table does whose server is away.
      if guest like '% misses' then raise connection_failure; end if;
      if guest like '% sleeps' then perform pg_sleep(0.1); end if;
      if guest like '% sleeps 1 ms' then perform pg_sleep(0.001); end if;
      return guest;
    end $$;
    create function die() returns int language sql security definer
      as 'select 1 from (select pg_terminate_backend(pg_backend_pid(), 1000)) x';
    create sequence ticket;
    grant usage on sequence ticket to anon;
  `);
  proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
  other = new pg.Client({ connectionString: database.url });
  await other.connect();
});
afterAll(async () => {
  await other.end();
  await proxy.stop();
});
beforeEach(async () => {
  proxy.inspect(null);
  pool = openPool(proxy.url, { size: 8 });
  await database.query('delete from visit');
});

const visitText = 'select visit($1)';
const visit = (guest: string, more: Partial<RunAsOptions> = {}) =>
  runAs(pool, flightOf([{ text: visitText, values: [guest] }], { mutation: true, ...more }));
const makeVisitShared = async () => {
  await makeShared(proxy, () => visit('somebody'));
  await database.query('delete from visit');
};

async function guests(): Promise<string[]> {
  const rows = await database.query<{ guest: string }>(`select guest from visit where guest <> 'somebody' order by 1`);
  return rows.map(({ guest }) => guest);
}

/** Tries until the visits of so many guests were one flight: on a busy machine they may not seem quick enough at once. */
async function inOneFlight(names: readonly string[]): Promise<unknown[]> {
  return vi.waitFor(
    async () => {
      await makeVisitShared();
      const ends = await answersOf(names.map((name) => visit(name)));
      expect(proxy.flights()).toBe(1);
      return ends;
    },
    { timeout: 60_000 },
  );
}

test('mutations of the same moment are one flight, each a transaction of its own', async () => {
  expect(await inOneFlight(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
  const rows = await database.query<{ transaction: string; process: number }>('select transaction, process from visit');
  expect(new Set(rows.map(({ transaction }) => transaction)).size).toBe(3);
  expect(new Set(rows.map(({ process }) => process)).size).toBe(1);
});

test('where commits take long, as they do on a disk, each flies alone', async () => {
  const slow = () => visit('a sleeps 1 ms');
  await vi.waitFor(
    async () => {
      await makeShared(proxy, slow);
      for (let time = 0; time < 10; time += 1) await Promise.all([slow(), slow(), slow()]);
      proxy.reset();
      await Promise.all([slow(), slow()]);
      expect(proxy.flights()).toBe(2);
    },
    { timeout: 60_000 },
  );
});

test('one that fails is undone, and no other', async () => {
  expect(await inOneFlight(['a', 'b fails', 'c'])).toEqual(['a', 'statement', 'c']);
  expect(await guests()).toEqual(['a', 'c']);
});

test('mutations and queries share with each other', async () => {
  const count = () => runAs(pool, flightOf(['select count(*) from visit']));
  await makeShared(proxy, count);
  await vi.waitFor(
    async () => {
      await makeVisitShared();
      const ends = await answersOf([visit('a'), count(), visit('b'), count()]);
      expect(proxy.flights()).toBe(1);
      expect(ends).toEqual(['a', '1', 'b', '2']);
    },
    { timeout: 60_000 },
  );
});

describe('what one leaves in the session is gone', () => {
  const write = { mutation: true };
  const ask = (text: string, value: string, more: Partial<RunAsOptions> = {}) =>
    runAs(pool, flightOf([{ text, values: [value] }], more));
  const leave = () =>
    ask(`select concat(set_config('my.state', $1, false), nextval('ticket'), pg_advisory_lock(7))`, 'left', write);
  /** Fails with `really` where no ticket has been drawn in the session. */
  const look = (really: string, more: Partial<RunAsOptions> = {}) =>
    ask(
      `select coalesce(current_setting('my.state', true), '') || case when $1 = '' then '' else lastval()::text end
        || (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())`,
      really,
      more,
    );
  const divide = (by: string) => ask('select (1 / $1::int)::text', by);
  beforeEach(async () => {
    pool = openPool(proxy.url, { size: 1 });
    await makeShared(proxy, leave);
    await makeShared(proxy, () => look(''));
    await makeShared(proxy, () => divide('1'));
  });

  test.each([
    ['a mutation behind it', write],
    ['a query behind it', {}],
  ])('before %s', async (_, more) => {
    const [, ...others] = await answersOf([leave(), look('', more), leave(), look('really', more)]);
    expect([others[0], others[2]]).toEqual(['0', 'statement']);
  });

  test.each([
    ['a mutation', write],
    ['a query', {}],
  ])('before %s behind a query that fails', async (_, more) => {
    const [, broken, last] = await answersOf([leave(), divide('0'), look('really', more)]);
    expect([broken, last]).toEqual(['statement', 'statement']);
  });

  test('where the position of the log was asked for in between', async () => {
    let position = '';
    const onPosition = (found: string) => {
      position = found;
    };
    await runAs(pool, flightOf([`select nextval('ticket')`], { ...write, onPosition }));
    expect(position).not.toBe('');
    expect(await answersOf([look('really')])).toEqual(['statement']);
  });

  test('what its transactions begin with', async () => {
    const spoil = (value: string) => ask(`select set_config('default_transaction_read_only', $1, false)`, value, write);
    const draw = () => ask(`select nextval('ticket')::text || $1`, '', write);
    await makeShared(proxy, () => spoil('off'));
    await makeShared(proxy, draw);
    const [spoilt, ...others] = await answersOf([spoil('on'), draw(), draw()]);
    expect(spoilt).toBe('on');
    expect(others).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)]);
  });
});

describe('one that waits for a lock', () => {
  beforeEach(async () => {
    await makeVisitShared();
    await other.query('select pg_advisory_lock(1)');
  });
  const unlock = () => other.query('select pg_advisory_unlock(1)');
  /** The ones behind it have been answered. */
  const waitsAlone = () => vi.waitFor(async () => expect(await guests()).toEqual(['b', 'c']), { timeout: 5000 });

  test('keeps nobody waiting behind it, and every one runs once', async () => {
    const waiting = answersOf([visit('a waits')]);
    expect(await answersOf([visit('b'), visit('c')])).toEqual(['b', 'c']);
    expect(await guests()).toEqual(['b', 'c']);
    await unlock();
    expect(await waiting).toEqual(['a waits']);
    expect(await guests()).toEqual(['a waits', 'b', 'c']);
  });

  test('is undone when its client leaves, and those behind it are not', async () => {
    const client = new AbortController();
    const left = answersOf([visit('a waits', { signal: client.signal })]);
    const behind = answersOf([visit('b'), visit('c')]);
    setImmediate(() => setImmediate(() => client.abort()));
    expect(await behind).toEqual(['b', 'c']);
    expect(await left).toEqual(['cancelled']);
    await unlock();
    expect(await guests()).toEqual(['b', 'c']);
  });

  test('one behind it whose time is over is cancelled when its turn comes', async () => {
    const waiting = answersOf([visit('a waits')]);
    const behind = answersOf([visit('b'), visit('c waits', { requestTimeoutMs: 15 })]);
    expect(await behind).toEqual(['b', 'timeout']);
    await unlock();
    expect(await waiting).toEqual(['a waits']);
    expect(await guests()).toEqual(['a waits', 'b']);
  });

  test('one behind it whose client leaves: what is answered is what has happened', async () => {
    const client = new AbortController();
    const waiting = answersOf([visit('a waits')]);
    const behind = answersOf([visit('b', { signal: client.signal })]);
    setTimeout(() => client.abort(), 5);
    const [b] = await behind;
    await unlock();
    expect(await waiting).toEqual(['a waits']);
    expect(['b', 'cancelled']).toContain(b);
    expect(await guests()).toEqual(b === 'b' ? ['a waits', 'b'] : ['a waits']);
  });

  test('its time limit holds, and begins with the request', async () => {
    const ends = await answersOf([visit('a waits', { requestTimeoutMs: 300 }), visit('b')]);
    expect(ends).toEqual(['timeout', 'b']);
    await unlock();
    expect(await guests()).toEqual(['b']);
  });

  test('once, and it is still taken for quick', async () => {
    await unlock();
    await vi.waitFor(
      async () => {
        pool = openPool(proxy.url, { size: 8 });
        await makeVisitShared();
        await other.query('select pg_advisory_lock(1)');
        const waiting = answersOf([visit('a waits'), visit('b'), visit('c')]);
        await waitsAlone();
        await unlock();
        expect(await waiting).toEqual(['a waits', 'b', 'c']);
        proxy.reset();
        await answersOf([visit('d'), visit('e')]);
        expect(proxy.flights()).toBe(1);
      },
      { timeout: 60_000 },
    );
  });

  test('one that is not known to be quick any more flies alone', async () => {
    for (let time = 0; time < 2; time += 1) {
      const client = new AbortController();
      const ends = answersOf([visit('a waits', { signal: client.signal }), visit('b'), visit('c')]);
      setTimeout(() => client.abort(), 200);
      expect(await ends).toEqual(['cancelled', 'b', 'c']);
    }
    await unlock();
    proxy.reset();
    await answersOf([visit('d'), visit('e')]);
    // More where a connection had to be opened.
    expect(proxy.flights()).toBeGreaterThan(1);
  });
});

test('a connection that the server ends: those behind it have not run, and run once', async () => {
  await makeVisitShared();
  expect(await answersOf([visit('a'), visit('b dies'), visit('c'), visit('d')])).toEqual([
    'a',
    'unavailable',
    'c',
    'd',
  ]);
  expect(await guests()).toEqual(['a', 'c', 'd']);
});

test('a connection that is lost on the way: nothing is sent again, and each says that it may have happened', async () => {
  await vi.waitFor(
    async () => {
      proxy.inspect(null);
      await makeVisitShared();
      proxy.inspect((from) => (from === 'server' ? 'cut' : 'pass'));
      const ends = await Promise.allSettled([visit('a'), visit('b'), visit('c')]);
      for (const end of ends) {
        expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', maybeCommitted: true } });
      }
    },
    { timeout: 60_000 },
  );
  await vi.waitFor(async () => expect(await guests()).toEqual(['a', 'b', 'c']));
});

describe('a connection that is lost right behind an error: those behind it may have happened, and are not sent again', () => {
  /** Cuts the connection behind the error with this SQLSTATE, when those behind it have had the time to run. */
  const cutBehind = (code: string) => {
    let isDone = false;
    proxy.inspect((from, packet) => {
      const at = from === 'server' && !isDone ? packet.indexOf(`\0C${code}\0`) : -1;
      if (at === -1) return 'pass';
      isDone = true;
      // The error begins before its code with the severity, in front of which are a code and a length.
      const start = packet.lastIndexOf('SERROR\0', at) - 5;
      return start + 1 + packet.readUInt32BE(start + 1);
    });
  };

  /** The first one fails, and its error is all that is answered. */
  const expectNotRepeated = async (first: () => Promise<unknown>, code: string, prepare = async () => {}) => {
    await vi.waitFor(
      async () => {
        proxy.inspect(null);
        await prepare();
        await makeVisitShared();
        cutBehind(code);
        const [, ...ends] = await Promise.allSettled([first(), visit('b'), visit('c')]);
        for (const end of ends) {
          expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', maybeCommitted: true } });
        }
      },
      { timeout: 60_000 },
    );
    const found = await guests();
    expect(new Set(found).size).toBe(found.length);
  };

  test('one that a user may raise, though it is named after lost connections', () =>
    expectNotRepeated(() => visit('a misses'), '08006'));

  test('one for which the first would be repeated', async () => {
    await database.query('create table menu (price int)');
    await database.query('grant select on menu to anon');
    const order = () => runAs(pool, flightOf(['select * from menu']));
    let type = 'int';
    await expectNotRepeated(order, '0A000', async () => {
      await makeShared(proxy, order);
      type = type === 'int' ? 'bigint' : 'int';
      await database.query(`alter table menu alter price type ${type}`);
    });
  });
});

test('two thousand mutations that wait, fail, end connections and are left: each has happened as it was answered', async () => {
  pool = openPool(proxy.url, { size: 4, waitMs: 60_000 });
  const harms = ['', '', '', '', '', ' fails', ' waits', ' sleeps', ' dies', ''];
  await other.query('select pg_advisory_lock(1)');
  let isHeld = true;
  const toggle = setInterval(() => {
    isHeld = !isHeld;
    void other.query(isHeld ? 'select pg_advisory_lock(1)' : 'select pg_advisory_unlock(1)');
  }, 30);
  const happened: string[] = [];
  const unknown: string[] = [];
  let next = 0;
  const one = async (number: number) => {
    const harm = number % 7 === 0 ? (harms[(number / 7) % harms.length] as string) : '';
    const guest = `guest ${number}${harm}`;
    const client = new AbortController();
    if (number % 11 === 0) setTimeout(() => client.abort(), number % 5);
    const options = { caller: callerOf(number % 3 === 0 ? 'anon' : 'authenticated'), signal: client.signal };
    const kinds = ['cancelled', ...(harm === ' fails' ? ['statement'] : [])];
    try {
      expect(await visit(guest, { ...options, requestTimeoutMs: number % 13 === 0 ? 15 : 0 })).toEqual([guest]);
      happened.push(guest);
    } catch (problem) {
      if (!(problem instanceof DatabaseError)) throw problem;
      if (number % 13 === 0) kinds.push('timeout');
      if (harm === ' dies') kinds.push('unavailable');
      expect(kinds, `${guest}: ${problem.message}`).toContain(problem.kind);
      if (problem.maybeCommitted) unknown.push(guest);
    }
  };
  const worker = async () => {
    while (next < 2000) await one(next++);
  };
  await Promise.all(Array.from({ length: 40 }, worker));
  clearInterval(toggle);
  await pool.stop();
  await other.query('select pg_advisory_unlock_all()');
  // Many of them shared a flight.
  expect(proxy.flights()).toBeLessThan(2000);
  expect(happened.length).toBeGreaterThan(1000);
  const found = await guests();
  expect(found.filter((guest) => !unknown.includes(guest))).toEqual(happened.sort());
  expect(new Set(found).size).toBe(found.length);
});
