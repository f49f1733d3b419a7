/**
 * What user code makes large costs the gateway nothing: rows, errors, notices and settings of many megabytes are refused
 * by their announced length, and the process lives.
 */
import { Agent, request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { createSystemPool } from '../../src/postgres/system/run-system.ts';
import { gatewayProcess } from '../support/gateway-process.ts';
import { anonKey, operation } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';

const large = 60_000_000;
const allowedGrowth = 40 * 1024 * 1024;

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table item (id int primary key, body text);
  insert into item select g, repeat('x', 10) from generate_series(1, 3) g;
  create view giant as select 1 as id, repeat('x', ${large}) as body;
  comment on view giant is '@graphql({"primary_key_columns": ["id"]})';
  create function large_error() returns int language plpgsql as
    $$ begin raise exception 'ü%', repeat('ä', ${large / 2}) using errcode = 'P0001', detail = 'd', hint = 'h'; end $$;
  create function large_notice() returns int language plpgsql as
    $$ begin raise notice '%', repeat('x', ${large}); return 7; end $$;
  create function large_setting() returns int language plpgsql as
    $$ begin perform set_config('search_path', repeat('x', ${large}), false); return 7; end $$;
  create function large_text() returns text language sql as $$ select repeat('x', ${large}) $$;
  create table note (id int primary key, body text);
  insert into note values (1, repeat('x', 1000000)), (2, repeat(chr(1), 3000000));
  grant usage on schema public to anon;
  grant select on item, giant to anon;
  grant select, update on note to anon;
`);

const gateway = await gatewayProcess(database, { poolSize: 1, statementTimeoutMs: 60_000 }, afterAll);
const items = { data: { itemCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }, { node: { id: 3 } }] } } };
const tooLarge = { errors: [{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'max-response-bytes' } }] };
const select = '{ itemCollection { edges { node { id } } } }';

test.each([
  ['a row', '{ giantCollection { edges { node { id body } } } }', tooLarge],
  ['a text that a function returns', 'mutation { largeText }', tooLarge],
  ['the message of an error', 'mutation { largeError }', { errors: [{ extensions: { sqlstate: 'P0001' } }] }],
  ['a notice', 'mutation { largeNotice }', { data: { largeNotice: 7 } }],
  ['a setting', 'mutation { largeSetting }', { data: { largeSetting: 7 } }],
])(
  '%s of 60 MB is not kept in memory, and the next request is served',
  { timeout: 120_000 },
  async (_, query, answer) => {
    expect(await gateway.ask(select)).toEqual(items);
    const before = await gateway.peakBytes();
    expect(await gateway.ask(query)).toMatchObject(answer);
    expect((await gateway.peakBytes()) - before).toBeLessThan(allowedGrowth);
    expect(await gateway.ask(select)).toEqual(items);
  },
);

const fields = (count: number, of: string) => Array.from({ length: count }, (_, at) => `a${at}: ${of}`).join(' ');
const touch = (count: number, id: number) =>
  `updateNoteCollection(set: {id: ${id}}, filter: {id: {eq: ${id}}}) { records { ${fields(count, 'body')} } }`;

test.each([
  ['A column as hundreds of fields', `{ noteByPk(id: 1) { ${fields(400, 'body')} } }`, {}],
  ['A text with an escape for each character', '{ noteByPk(id: 2) { body } }', {}],
  ['A written column as hundreds of fields', `mutation { ${touch(400, 1)} }`, { outcome: 'committed' }],
  [
    'An answer below the limit for each of many fields',
    `mutation { ${fields(40, touch(10, 1))} }`,
    { outcome: 'committed' },
  ],
])('%s takes no more memory than one answer may', { timeout: 120_000 }, async (_, query, extensions) => {
  const before = await gateway.peakBytes();
  const { errors } = await gateway.ask(query);
  expect(errors).toMatchObject([{ extensions: { limit: 'max-response-bytes', ...extensions } }]);
  expect((await gateway.peakBytes()) - before).toBeLessThan(2 * allowedGrowth);
  expect(await gateway.ask(select)).toEqual(items);
});

test('a row that is too long ends a statement of our own, and the next one is served', async () => {
  const pool = createSystemPool({
    connectionString: database.url,
    size: 1,
    waitMs: 60_000,
    applicationName: 'test',
    maxMessageBytes: 1_000_000,
    onError: () => {},
  });
  const giant = "select repeat('x', 2000000) as text";
  await expect(pool.query(giant)).rejects.toMatchObject({ kind: 'too_large' });
  await expect(pool.query(`${giant} where $1`, [true])).rejects.toMatchObject({ kind: 'too_large' });
  expect(await pool.query('select 1 as one')).toEqual([{ one: 1 }]);
  await pool.stop();
});

test('many connections with large headers and bodies of every length are remembered up to a bound', async () => {
  const agents = Array.from({ length: 100 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const ask = (agent: Agent, length: number) =>
    new Promise<number>((resolve, reject) => {
      const headers = { apikey: anonKey, 'content-type': 'application/json', 'x-large': 'x'.repeat(14_000) };
      const sent = request(`${gateway.url}/graphql/v1`, { agent, method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject).end(`${operation('{ itemByPk(id: 1) { id } }')}${' '.repeat(length)}`);
    });
  for (const agent of agents) await ask(agent, 0);
  const before = await gateway.keptBytes();
  for (let length = 0; length < 32; length += 2) await Promise.all(agents.map((agent) => ask(agent, length)));
  expect((await gateway.keptBytes()) - before).toBeLessThan(16 * 1024 * 1024);
  for (const agent of agents) agent.destroy();
});
