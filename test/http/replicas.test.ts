/**
 * Read replicas: queries go to a real streaming replica, mutations to the primary, and whoever has just written reads his own
 * writes. Replay is paused to hold the replica where it is, so that nothing depends on how fast it follows.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { primaryPosition } from '../../src/postgres/pool/replicas.ts';
import { createSystemPool } from '../../src/postgres/system/run-system.ts';
import { createLogger } from '../../src/shared/logger.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { installAuthTables, testAuth } from '../support/auth-service.ts';
import { openBrowser } from '../support/browser.ts';
import { startForwarder } from '../support/forwarder.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { overEvents, overSocket, type Result } from '../support/live.ts';
import { recordChanges } from '../support/live-record.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { type ReplicatedServers, startReplicatedServers } from '../support/replica.ts';
import { atEnd, type WhenOver } from '../support/when-over.ts';

const schema = `
  create role anon; create role authenticated; create role service_role bypassrls;
  create role authenticator login noinherit password 'test';
  grant anon, authenticated, service_role to authenticator;
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text);
  create table scratch (id int primary key);
  create unlogged table fleeting (id int primary key);
  insert into fleeting values (1);
  create table access_log (id int generated always as identity primary key);
  create table watched (id int primary key);
  insert into watched values (1);
  alter table watched enable row level security;
  create function log_access() returns boolean language plpgsql security definer as
    'begin insert into public.access_log default values; return true; end';
  create policy logged on watched using (log_access());
  create function server() returns text language sql stable as
    $$ select case when pg_is_in_recovery() then 'replica' else 'primary' end $$;
  create table counted (id int primary key, n int not null);
  insert into counted values (1, 0);
  create function _answered_by(counted) returns text language sql stable as 'select public.server()';
  create function read_slowly() returns text language plpgsql stable as $$
    begin
      perform from public.scratch;
      perform pg_sleep(20) where pg_is_in_recovery();
      return public.server();
    end $$;
  grant usage on schema public to anon;
  grant select, insert, update, delete on note, scratch, fleeting, watched, counted to anon;
`;

const watch = `select set_config('pgreflect.login_role', 'authenticator', false);
  ${readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8')}`;

let servers: ReplicatedServers;
beforeAll(async () => {
  servers = await startReplicatedServers(`${schema}; ${watch}`);
  atEnd(() => servers.stop());
});

/** An hour: nothing is too old, so that a replica which does not follow is used all the same. */
const patient = { maxReplicaLagMs: 3_600_000 };

/** Starts a gateway; the replica is in use. */
async function start(given: Partial<Config>, whenOver?: WhenOver): Promise<TestGateway> {
  const readReplicaUrls = [servers.replica.urlAs('authenticator', 'test')];
  const gateway = await testGateway(servers.primary, { readReplicaUrls, schemaPollMs: 3_600_000, ...given }, whenOver);
  await eventually(() => dataOf(gateway, server), { server: 'replica' });
  return gateway;
}

let patientGateway: TestGateway | undefined;

/** The gateway of the tests that need no options of their own; the replica is in use. */
async function usual(): Promise<TestGateway> {
  patientGateway ??= await start(patient, atEnd);
  const gateway = patientGateway;
  await eventually(() => dataOf(gateway, server), { server: 'replica' });
  return gateway;
}

const server = '{ server }';
const insert = (id: number, body: string) =>
  `mutation { insertIntoNoteCollection(objects: [{id: ${id}, body: "${body}"}]) { affectedCount } }`;
const bodyOf = (id: number) => `{ server, noteByPk(id: ${id}) { body } }`;

/** Asks until the answer is as expected; the test's own limit of time ends what never becomes so. */
async function eventually(find: () => Promise<unknown>, expected: unknown): Promise<void> {
  while (JSON.stringify(await find()) !== JSON.stringify(expected)) await sleep(20);
}

/** What the log says. */
async function lineOf(observation: Observation): Promise<string> {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const logger = await createLogger({ level: 'info', format: 'json', slowMs: 1000, stream });
  logger.observe(observation);
  return lines.join('');
}

const dataOf = async (gateway: TestGateway, query: string, headers = {}) =>
  (await gateway.ask(query, { headers })).body.data;

/** Holds the replica where it is until the test is over, or until it is let go. */
async function pauseReplay(): Promise<() => Promise<void>> {
  const resume = async () => void (await servers.replica.query('select pg_wal_replay_resume()'));
  await servers.replica.query('select pg_wal_replay_pause()');
  const state = async () => (await servers.replica.query('select pg_get_wal_replay_pause_state() as state'))[0];
  await eventually(state, { state: 'paused' });
  onTestFinished(resume);
  return resume;
}

describe('the server that answers', () => {
  test('queries go to the replica, mutations to the primary', async () => {
    const gateway = await usual();
    const { body } = await gateway.ask(insert(1, 'written'));
    expect(body).toEqual({ data: { insertIntoNoteCollection: { affectedCount: 1 } } });
    await eventually(() => dataOf(gateway, bodyOf(1)), { server: 'replica', noteByPk: { body: 'written' } });
  });

  test('several replicas take turns, and a server that is no replica of this database is not used', async () => {
    const urls = [servers.replica, servers.primary].map((each) => each.urlAs('authenticator', 'test'));
    const gateway = await start({ ...patient, readReplicaUrls: urls });
    expect(gateway.observations).toContainEqual({ kind: 'replica_used', replica: 1 });
    expect(gateway.observations).toContainEqual({
      kind: 'replica_left_out',
      replica: 2,
      reason: 'not_a_replica',
    });
    for (let round = 0; round < 3; round += 1) expect(await dataOf(gateway, server)).toEqual({ server: 'replica' });
  });

  test('a query that writes is answered by the primary', async () => {
    const gateway = await usual();
    const counted = () => servers.primary.query('select count(*)::int as n from access_log');
    const [before] = (await counted()) as [{ n: number }];
    for (let round = 1; round <= 2; round += 1) {
      const data = await dataOf(gateway, '{ watchedCollection { edges { node { id } } } }');
      expect(data).toEqual({ watchedCollection: { edges: [{ node: { id: 1 } }] } });
      expect(await counted()).toEqual([{ n: before.n + round }]);
    }
    expect(await dataOf(gateway, server)).toEqual({ server: 'replica' });
  });

  test('a query of what is not replicated is answered by the primary', async () => {
    const gateway = await usual();
    for (let round = 1; round <= 2; round += 1) {
      const data = await dataOf(gateway, '{ server, fleetingCollection { edges { node { id } } } }');
      expect(data).toEqual({ server: 'primary', fleetingCollection: { edges: [{ node: { id: 1 } }] } });
    }
  });

  test('a query that conflicts with the replay of the log is answered by the primary', async () => {
    const gateway = await usual();
    const answer = dataOf(gateway, '{ readSlowly }');
    const sleeping = () =>
      servers.replica.query(`select count(*)::int as n from pg_stat_activity where wait_event = 'PgSleep'`);
    await eventually(sleeping, [{ n: 1 }]);
    await servers.primary.query('truncate scratch');
    expect(await answer).toEqual({ readSlowly: 'primary' });
  });
});

describe('reading your own writes', () => {
  test('a query that brings the position of a write is answered by a server that has seen it', async () => {
    const gateway = await usual();
    const resume = await pauseReplay();
    const { headers } = await gateway.ask(insert(10, 'mine'));
    const position = headers.get('pgreflect-lsn') ?? '';
    expect(position).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
    expect(headers.get('access-control-expose-headers')).toMatch(/, pgreflect-lsn$/);

    expect(await dataOf(gateway, bodyOf(10))).toEqual({ server: 'replica', noteByPk: null });
    const seen = { server: 'primary', noteByPk: { body: 'mine' } };
    expect(await dataOf(gateway, bodyOf(10), { 'pgreflect-lsn': position })).toEqual(seen);

    await resume();
    const replicated = { server: 'replica', noteByPk: { body: 'mine' } };
    await eventually(() => dataOf(gateway, bodyOf(10), { 'pgreflect-lsn': position }), replicated);
  });

  test('a browser sends the position back in a cookie, without code of the page', async () => {
    const gateway = await start({ maxReplicaLagMs: 5000, externalUrl: 'https://api.app.test' });
    await pauseReplay();
    const cookie = (await gateway.ask(insert(11, 'mine'))).headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^pgreflect-lsn=[0-9A-F]+\/[0-9A-F]+; Path=\/graphql\/v1; Max-Age=6; HttpOnly; SameSite=Strict; Secure$/,
    );
    const [pair = ''] = cookie.split(';');
    const seen = { server: 'primary', noteByPk: { body: 'mine' } };
    expect(await dataOf(gateway, bodyOf(11), { cookie: `theme=dark; ${pair}; a=b` })).toEqual(seen);
  });

  test('the newer of header and cookie counts, and a mutation that failed has no position', async () => {
    const gateway = await usual();
    await pauseReplay();
    const later = (await gateway.ask(insert(12, 'later'))).headers.get('pgreflect-lsn');
    const headers = { 'pgreflect-lsn': '0/1', cookie: `pgreflect-lsn=${later}` };
    expect(await dataOf(gateway, bodyOf(12), headers)).toMatchObject({ server: 'primary' });
    const failed = await gateway.ask(insert(12, 'again'));
    expect(failed.body.errors[0].extensions.code).toBe('CONSTRAINT_VIOLATION');
    expect([failed.headers.get('pgreflect-lsn'), failed.headers.get('set-cookie')]).toEqual([null, null]);
  });

  test('a position ahead of all servers, as one of a primary that is no more may be, is answered by the primary', async () => {
    const gateway = await usual();
    const ahead = { 'pgreflect-lsn': 'FFFFFFFF/0' };
    for (let round = 0; round < 3; round += 1)
      expect(await dataOf(gateway, server, ahead)).toEqual({ server: 'primary' });
    expect(await dataOf(gateway, server)).toEqual({ server: 'replica' });
  });

  test('a header that is no position is refused, a cookie that is none is not: who has it often cannot change it', async () => {
    const gateway = await usual();
    for (const value of ['x', '1', '0/', '0/123456789', '0/1 0/2', 'pgreflect']) {
      const { status, body } = await gateway.ask(server, { headers: { 'pgreflect-lsn': value } });
      expect([value, status, body.errors[0].message]).toEqual([
        ...[value, 400],
        'The header "pgreflect-lsn" must be a position as an answer gives it, such as "16/B374D848".',
      ]);
      expect(await dataOf(gateway, server, { cookie: `pgreflect-lsn=${value}` })).toEqual({ server: 'replica' });
    }
  });

  test('in a browser a page of the same origin needs no code for it, and one of another origin sends the header back', async () => {
    const gateway = await usual();
    await pauseReplay();
    const browser = await openBrowser();
    const page = await browser.newPage();
    await page.goto(`${gateway.url}/health`);
    const ask = { url: `${gateway.url}/graphql/v1`, apikey: anonKey };
    const own = await page.evaluate(writeAndRead, { ...ask, write: insert(13, 'own'), read: bodyOf(13) });
    // A page cannot read the cookie.
    expect(own).toEqual({ data: { server: 'primary', noteByPk: { body: 'own' } }, cookies: '' });

    await page.goto(`http://localhost:${gateway.port}/health`);
    const other = { ...ask, write: insert(14, 'other'), read: bodyOf(14) };
    expect(await page.evaluate(writeAndRead, other)).toMatchObject({ data: { server: 'replica', noteByPk: null } });
    const again = { ...ask, write: insert(15, 'again'), read: bodyOf(15), header: 'pgreflect-lsn' };
    expect(await page.evaluate(writeAndRead, again)).toMatchObject({
      data: { server: 'primary', noteByPk: { body: 'again' } },
    });
  });
});

describe('a replica that is not well', () => {
  test('a replica that is not well is not used while it is too far behind, and used again when it has caught up', async () => {
    const gateway = await start({ maxReplicaLagMs: 100 });
    const resume = await pauseReplay();
    await gateway.ask(insert(30, 'new'));
    await eventually(() => dataOf(gateway, bodyOf(30)), { server: 'primary', noteByPk: { body: 'new' } });
    await resume();
    await eventually(() => dataOf(gateway, bodyOf(30)), { server: 'replica', noteByPk: { body: 'new' } });
  });

  test('a replica that is not well is not behind while its primary is idle, even where the log ends at the edge of a page', async () => {
    const ends = async () => {
      await servers.primary.query('select pg_switch_wal()');
      const [end] = await servers.primary.query<{ position: string; inserted: string; written: string }>(
        `select o.position, pg_current_wal_insert_lsn() as inserted, pg_current_wal_lsn() as written
         from (${primaryPosition}) o`,
      );
      // The header of the page is counted in here, 0x28 bytes, and nobody has written since.
      return end?.inserted.endsWith('000028') && end.written.endsWith('000000') ? end.position === end.written : null;
    };
    await eventually(ends, true);
  });

  test('that is away is replaced by the primary, without an error, and used again when it is back', async () => {
    const gateway = await start({ maxReplicaLagMs: 60_000 });
    await servers.replica.stop();
    expect(await dataOf(gateway, server)).toEqual({ server: 'primary' });
    expect(gateway.observations).toContainEqual({ kind: 'replica_left_out', replica: 1, reason: 'away' });
    await servers.startReplica();
    await eventually(() => dataOf(gateway, server), { server: 'replica' });
  });
});

describe('while no standby confirms a commit', () => {
  const waitForStandby = async (name: string | null) => {
    const { primary } = servers;
    const change = name === null ? 'reset synchronous_standby_names' : `set synchronous_standby_names = '${name}'`;
    await primary.query(`alter system ${change}`);
    await primary.query('select pg_reload_conf()');
  };
  beforeEach(async () => {
    const { primary } = servers;
    await waitForStandby('away');
    const holding = `select count(*) > 0 as waits from pg_stat_activity where wait_event = 'SyncRep'`;
    let id = 100;
    await eventually(
      async () => {
        id += 1;
        void primary.query(`insert into note values (${id}, 'waits')`).catch(() => {});
        return (await primary.query(holding))[0];
      },
      { waits: true },
    );
  });
  afterEach(async () => {
    await waitForStandby(null);
    await servers.primary.query('delete from note where id >= 98');
  });
  const stored = () => servers.primary.query('select id from note where id = 99');

  test('a mutation is answered at the time limit as one whose end is unknown, and not seen before it is confirmed', async () => {
    const gateway = await start({ ...patient, statementTimeoutMs: 500, poolSize: 2 });
    expect((await gateway.ask(insert(99, 'waits, too'))).body).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'TIMEOUT', outcome: 'unknown' } }],
    });
    // Longer than until a server that does not answer a cancel request is given up.
    await sleep(6000);
    expect(await stored()).toEqual([]);
    await waitForStandby(null);
    await eventually(stored, [{ id: 99 }]);
    expect((await gateway.ask(insert(98, 'after it'))).body.errors).toBeUndefined();
  });

  test('a statement of the gateway itself that is given up is not seen before it is confirmed', async () => {
    const pool = createSystemPool({
      connectionString: servers.primary.url,
      size: 1,
      waitMs: 5000,
      applicationName: 'test',
      answerWithinMs: 300,
      // Only so it is known that no pooler is between, and the process can be ended.
      preparedStatements: true,
      onError: () => {},
    });
    onTestFinished(() => pool.stop());
    await expect(pool.query("insert into public.note values (99, 'waits, too')")).rejects.toMatchObject({
      maybeCommitted: true,
    });
    await sleep(1000);
    expect(await stored()).toEqual([]);
    await waitForStandby(null);
    await eventually(stored, [{ id: 99 }]);
  });
});

describe('other servers', () => {
  let others: ReplicatedServers;
  beforeAll(async () => {
    others = await startReplicatedServers(schema);
    atEnd(() => others.stop());
  });

  test('with another database in the place of the primary nothing is asked of the replicas of the one before', async () => {
    const way = await startForwarder();
    way.target = new URL(servers.primary.url);
    const login = new URL(servers.primary.urlAs('authenticator', 'test'));
    login.port = String(way.port);
    const gateway = await start({ ...patient, databaseUrl: login.href, schemaPollMs: 200 });
    const moveTo = (target: string) => {
      way.target = new URL(target);
      way.cut();
    };

    moveTo(others.primary.url);
    await eventually(() => dataOf(gateway, server), { server: 'primary' });
    // Also after some more looks at it, and whatever else has been read again by then.
    await sleep(2000);
    for (let round = 0; round < 10; round += 1) expect(await dataOf(gateway, server)).toEqual({ server: 'primary' });

    moveTo(servers.primary.url);
    await eventually(() => dataOf(gateway, server), { server: 'replica' });
  });

  test('after a failover a server that has not followed it is not asked, although its log is longer', async () => {
    const own = others;
    await own.replica.query('select pg_promote()');
    await own.primary.query(`insert into note select n, 'on the old timeline' from generate_series(100, 20000) n`);
    const old = await own.demotePrimary();
    const readReplicaUrls = [old.urlAs('authenticator', 'test')];
    const gateway = await testGateway(own.replica, { readReplicaUrls, schemaPollMs: 3_600_000, ...patient });
    const { headers } = await gateway.ask(insert(1, 'written'));
    const position = { 'pgreflect-lsn': headers.get('pgreflect-lsn') ?? '' };
    const answer = { server: 'primary', noteByPk: { body: 'written' } };
    expect(await dataOf(gateway, bodyOf(1), position)).toEqual(answer);
    expect(await dataOf(gateway, bodyOf(1))).toEqual(answer);
    const seen = gateway.observations.find(({ kind }) => kind === 'replica_left_out');
    expect(seen).toMatchObject({ kind: 'replica_left_out', replica: 1, reason: 'behind' });
    const fix = seen?.kind === 'replica_left_out' ? seen.fix : undefined;
    const [version] = await own.replica.query<{ is16: boolean }>(
      `select current_setting('server_version_num')::int >= 160000 as "is16"`,
    );
    expect(fix).toBe(version?.is16 ? 'grant pg_read_all_stats to authenticator with inherit true' : undefined);
    expect(await lineOf(seen!)).toContain(version?.is16 ? `To know at once: ${fix};` : '"reason":"behind"');
  });
});

test('the login sees which timeline a replica follows after the grant that the log names', async ({ skip }) => {
  const timeline = async () => {
    const client = new pg.Client({ connectionString: servers.replica.urlAs('authenticator', 'test') });
    await client.connect();
    const { rows } = await client.query('select received_tli as timeline from pg_stat_wal_receiver');
    await client.end();
    return rows;
  };
  await eventually(timeline, [{ timeline: null }]);
  onTestFinished(async () => void (await servers.primary.query('revoke pg_read_all_stats from authenticator')));
  // Without more words, it is of no use to a login that inherits nothing.
  await servers.primary.query('grant pg_read_all_stats to authenticator');
  const member = `select pg_has_role('authenticator', 'pg_read_all_stats', 'member') as is`;
  await eventually(() => servers.replica.query(member), [{ is: true }]);
  expect(await timeline()).toEqual([{ timeline: null }]);
  const [version] = await servers.primary.query<{ is16: boolean }>(
    `select current_setting('server_version_num')::int >= 160000 as "is16"`,
  );
  if (!version!.is16) return skip();
  await servers.primary.query('grant pg_read_all_stats to authenticator with inherit true');
  await eventually(timeline, [{ timeline: 1 }]);
});

describe('the model is as fresh as the server that answers', () => {
  test('a change that the replica has replayed is noticed by the query that meets it', async () => {
    const gateway = await start(patient);
    expect(await dataOf(gateway, '{ server, noteByPk(id: 0) { body } }')).toEqual({
      server: 'replica',
      noteByPk: null,
    });
    await servers.primary.query('alter table note rename column body to text');
    onTestFinished(async () => void (await servers.primary.query('alter table note rename column text to body')));
    const columns = () =>
      servers.replica.query(
        `select count(*)::int as n from pg_attribute where attrelid = 'note'::regclass and attname = 'text'`,
      );
    await eventually(columns, [{ n: 1 }]);
    const { body } = await gateway.ask('{ server, noteByPk(id: 0) { body } }');
    expect(body.errors[0].message).toContain('Cannot query field "body"');
  });

  test('a replica that has not replayed what the model was made from is not asked', async () => {
    const gateway = await start(patient);
    const resume = await pauseReplay();
    await servers.primary.query(`alter table note add column colour text default 'red'`);
    onTestFinished(async () => void (await servers.primary.query('alter table note drop column colour')));
    expect(await dataOf(gateway, server)).toEqual({ server: 'replica' });
    await gateway.ask(insert(40, 'coloured'));
    expect(await dataOf(gateway, '{ server, noteByPk(id: 40) { colour } }')).toEqual({
      server: 'primary',
      noteByPk: { colour: 'red' },
    });
    await resume();
    await eventually(() => dataOf(gateway, '{ server, noteByPk(id: 40) { colour } }'), {
      server: 'replica',
      noteByPk: { colour: 'red' },
    });
  });
});

test('accounts are not read from a standby, to which a router may lead for a moment: nobody is signed out', async () => {
  await installAuthTables(servers.primary);
  const way = await startForwarder();
  const leadTo = (server: TestDatabase) => {
    way.target = new URL(server.url);
    way.cut();
  };
  leadTo(servers.primary);
  const through = new URL(servers.primary.url);
  through.port = String(way.port);
  const auth = await testAuth(servers.primary, {}, { adminDatabaseUrl: through.href });
  const resume = await pauseReplay();
  const email = 'ann@example.test';
  await auth.ask('/otp', { email });
  const { code: token } = await auth.message(email);
  const { body: session } = await auth.ask('/verify', { type: 'email', email, token });
  const user = async () => (await auth.ask('/user', undefined, { token: session.access_token })).status;
  expect(await user()).toBe(200);
  leadTo(servers.replica);
  // The first may be cut off with its connection.
  for (const _ of ['cut off', 'a new connection', 'another one']) expect(await user()).toBe(503);
  const { status, headers } = await auth.ask('/otp', { email });
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  leadTo(servers.primary);
  await eventually(user, 200);
  await resume();
});

const commits = 12;

test.each(['default', 'exact'])(
  'live queries on replicas get each commit, also where a replica does not replay it, and never go back (%s mode)',
  async (mode) => {
    const query = 'subscription { row: countedByPk(id: 1) { n answeredBy } }';
    await servers.primary.query('update counted set n = 0');
    if (mode === 'exact') await recordChanges(servers.primary);
    const gateway = await start({
      ...patient,
      liveIntervalMs: mode === 'exact' ? 60_000 : 20,
      liveMinIntervalMs: 20,
      livePollMs: 10,
    });
    const rowOf = ({ data }: Result): { readonly n: number; readonly answeredBy: string } => data.row;
    /** What somebody gets who comes now. */
    const ask = async () => {
      const heard = overEvents(gateway.url, { query });
      const row = rowOf(await heard.next());
      heard.stop();
      return row;
    };
    const open = [overEvents(gateway.url, { query }), overSocket(gateway.url, { query })];
    if (mode === 'exact') await expect.poll(() => gateway.graphql.live.state().exactGroups).toBe(2);
    const answeredBy = new Set<string>();
    for (let n = 1; n <= commits; n += 1) {
      await servers.replica.query(`select pg_wal_replay_${n % 3 === 0 ? 'pause' : 'resume'}()`);
      await servers.primary.query('update counted set n = n + 1');
      const row = await ask();
      expect(row.n).toBe(n);
      answeredBy.add(row.answeredBy);
      for (const heard of open) while (rowOf(await heard.next()).n !== n);
    }
    await servers.replica.query('select pg_wal_replay_resume()');
    await eventually(ask, { n: commits, answeredBy: 'replica' });
    for (const { results } of open) {
      const counts = results.map((result) => rowOf(result).n);
      expect(counts).toEqual([...counts].sort((one, other) => one - other));
    }
    expect(answeredBy).toContain('primary');
  },
);

interface PageWork {
  readonly url: string;
  readonly apikey: string;
  readonly write: string;
  readonly read: string;
  /** Name of the header that the page brings back. */
  readonly header?: string;
}

/** Runs in the page. */
async function writeAndRead({ url, apikey, write, read, header }: PageWork): Promise<unknown> {
  const send = (query: string, more: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { apikey, 'content-type': 'application/json', ...more },
      body: JSON.stringify({ query }),
    });
  const { headers } = await send(write);
  const brought = header === undefined ? {} : { [header]: headers.get(header) ?? '' };
  const { data } = await (await send(read, brought)).json();
  return { data, cookies: document.cookie };
}
