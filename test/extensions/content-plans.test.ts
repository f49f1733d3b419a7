/**
 * Filters by what is in JSON, texts and arrays, 20 rows in the order of the key: where few rows meet them the index of the content has to
 * serve, where many do the order of the key. PostgreSQL tells by the value alone, and loses sight of it once a statement has run five times.
 */
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { bindSlots } from '../../src/graphql/compile/input/bind-slot.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(
  `comment on schema public is '@graphql({"inflect_names": true})';
  create table event (id int primary key, tenant int not null, data jsonb not null, tags text[] not null, search tsvector not null) with (fillfactor = 10);
  insert into event select n, n % 7, jsonb_build_object('n', n, 'kind', 'k' || n % 2000, 'even', n % 2 = 0),
    array['t' || n % 100, 'all'], to_tsvector('simple', 'words w' || n % 100 || ' x' || n % 3)
    from generate_series(1, 10000) n;
  create index on event using gin (data jsonb_path_ops);
  create index on event using gin (tags);
  create index on event using gin (search);
  -- PostgreSQL takes the share of a sample for that of the table: with a small sample, one hit by chance makes rare JSON frequent.
  alter table event alter data set statistics 1000;
  create table guarded (like event including all excluding indexes) with (fillfactor = 10);
  alter table guarded alter data set statistics 1000;
  insert into guarded select * from event order by tenant, id;
  alter table guarded add primary key (id);
  create index on guarded using gin (data jsonb_path_ops); create index on guarded using gin (tags); create index on guarded using gin (search);
  create index on guarded (tenant, id);
  alter table guarded enable row level security;
  create policy own on guarded to anon using (tenant = (select 1));
  grant select on event, guarded to anon, service_role;
  create function mode(event) returns text stable language sql as $$ select current_setting('plan_cache_mode') $$;
  create function mode(guarded) returns text stable language sql as $$ select current_setting('plan_cache_mode') $$`,
  'vacuum analyze',
);
const execution = await startExecution(database, {});
const client = new pg.Client(database.url);
await client.connect();
afterAll(() => client.end());

/** Blocks of 8 kB that the request reads for each value, after it has been made many times, planned as it is when it comes from outside. */
async function blocksRead(role: string, table: string, [type, filter, values]: Filter): Promise<readonly number[]> {
  const query = `query ($value: ${type}!) { collection: ${table}Collection(first: 20, filter: ${filter}) { edges { node { id mode } } } }`;
  const given = values.map((value) => ({ variables: { value } }));
  const [{ collection }, [statement]] = await Promise.all([
    execution.data(role, query, given[2]),
    execution.statements(role, query, given[2]),
  ]);
  await client.query(
    `reset role; deallocate all; set plan_cache_mode = ${collection.edges[0].node.mode}; set role ${role}`,
  );
  await client.query(`prepare filtered as ${statement!.text}`);
  const blocks: number[] = [];
  for (const { variables } of [...new Array(6).fill(given[0]!), ...given]) {
    const bound = bindSlots(statement!.slots, { variables, introspection: new Map(), countedBytes: 1_000_000 });
    const literals = bound.map((value) => client.escapeLiteral(String(value))).join();
    const { rows } = await client.query(`explain (analyze, buffers, format json) execute filtered (${literals})`);
    const { Plan } = rows[0]['QUERY PLAN'][0];
    blocks.push(Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']);
  }
  return blocks.slice(-values.length);
}

// Each with a value that few rows have, one that none has, and one that at least every second has.
type Filter = readonly [type: string, filter: string, values: readonly unknown[]];
const filters: readonly Filter[] = [
  ['JSON', '{data: {contains: $value}}', ['{"kind": "k11"}', '{"kind": "none"}', '{"even": true}']],
  ['String', '{data: {matches: $value}}', ['$.kind == "k11"', '$.kind == "none"', '$.even == true']],
  ['[String!]', '{tags: {contains: $value}}', [['t11'], ['none'], ['all']]],
  ['String', '{search: {websearch: $value, config: "simple"}}', ['w11', 'none', 'words']],
];

test.each(filters)('%s %s reads few blocks, whatever the value, however often it is asked', async (...filter) => {
  const blocks = {
    all: await blocksRead('anon', 'event', filter),
    passing: await blocksRead('service_role', 'guarded', filter),
    own: await blocksRead('anon', 'guarded', filter),
  };
  expect(Math.max(...blocks.all, ...blocks.passing)).toBeLessThan(300);
  // PostgreSQL looks into content only once the policy has passed the row: no more than the rows of the tenant, a seventh of the table.
  expect(Math.max(...blocks.own)).toBeLessThan(1000);
});
