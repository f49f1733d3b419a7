/**
 * Long values in rows within rows, selected many times: PostgreSQL makes their JSON, and fails before it is large.
 */
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { testGateway } from '../support/gateway.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table part (id int primary key, of_id int references part, body text, number numeric, data jsonb, texts text[], bytes bytea,
    escaped text, large text, tree jsonb);
  comment on table part is '@graphql({"aggregate": {"enabled": true}})';
  create index on part (of_id);
  insert into part select n, 1, repeat(n::text || 'x', 15000), ('1e' || 131000 - n)::numeric, to_jsonb(repeat('x', 30000)),
    array_fill(repeat('x', 1000), array[30]), convert_to(repeat('x', 30000), 'UTF8'), repeat(e'\\x01', 30000)
    from generate_series(1, 30) n;
  update part set large = repeat('large ', 200000), tree = jsonb_build_object('a', repeat('large ', 200000)) where id = 1;
  create function process() returns int stable language sql as 'select pg_catalog.pg_backend_pid()';
  comment on function process is '@graphql({"name": "process"})';
  create function parts() returns setof part stable language sql as 'select * from part';
  create function copy(part) returns text stable language sql as 'select $1.large';
  create function bodies(out body text, out copy text) returns setof record stable language sql as 'select body, body from part';
  grant usage on schema public to anon;
  grant select, update on all tables in schema public to anon;
`);

const gateway = await testGateway(database, { poolSize: 1, poolWaitMs: 60_000 }, afterAll);

const times = (count: number, field: string) => Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ');
const within = (inner: string, first = 30) => `partCollection(first: ${first}) { edges { node { ${inner} } } }`;
const ofOne = (inner: string) => `{ ${within(`of { ${inner} }`, 1)} }`;

const columns = ['body', 'number', 'data', 'texts', 'bytes', 'escaped'];

/** Each would be tens of megabytes at least, some of them gigabytes. */
const attacks: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    columns.map((column) => [`a column: ${column}`, `{ ${within(within(times(100, column)), 1)} }`]),
  ),
  'text of control characters': ofOne(times(480, 'escaped')),
  'rows with texts of control characters': `{ ${within(within(times(17, 'escaped')), 1)} }`,
  'three levels': `{ ${within(within(`of { ${within(times(5, 'body'))} }`), 1)} }`,
  'lists side by side': `{ ${within(times(60, within('body')), 1)} }`,
  'root fields': `{ ${times(10, within(times(45, 'body')))} }`,
  'rows of rows': `{ ${within(within(`of { ${times(100, 'body')} }`), 1)} }`,
  'rows of a function': `{ a: parts(first: 30) { edges { node { ${times(100, 'body')} } } } b: parts { edges { node { id } } } }`,
  'a row with one column many times': ofOne(times(400, 'large')),
  'a row under long names': ofOne(times(400, 'large').replaceAll(/a(?=\d+:)/g, 'a'.repeat(60))),
  'a row with one part many times': ofOne(times(200, 'tree(at: "a")')),
  'a flat row with one part many times': `{ ${within(times(400, 'tree(at: "a")'), 1)} }`,
  'a row with one function many times': ofOne(times(400, 'copy')),
  'a flat row with one function many times': `{ ${within(times(400, 'copy'), 1)} }`,
  cursors: `{ ${within(`partCollection(orderBy: [{ body: AscNullsLast }]) { edges { ${times(100, 'cursor')} } }`, 1)} }`,
  'cursors of the root': `{ partCollection(orderBy: [{ body: AscNullsLast }]) { edges { ${times(100, 'cursor')} node { of { id } } } } }`,
  'cursors of pages': `{ ${within(`of { partCollection(orderBy: [{ body: AscNullsLast }]) { pageInfo { ${times(20, 'endCursor')} } } }`)} }`,
  aggregates: `{ ${within(`of { partCollection { aggregate { max { ${times(20, 'body')} } } } }`)} }`,
  groups: `{ ${within(`partCollection { groups(by: { column: body }) { key { ${times(100, 'body')} } } }`, 1)} }`,
  'what a mutation has written': `mutation { updatePartCollection(set: { ofId: 1 }, filter: { id: { eq: 2 } }, atMost: 30) { records { of { ${times(400, 'large')} } } } }`,
};

const answerTooLarge = { errors: [{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'max-response-bytes' } }] };

const currentProcess = async (): Promise<number> => (await gateway.ask('{ process }')).body.data.process;

/** The one connection of the gateway is now one to a server process that has done nothing else. */
async function newProcess(): Promise<number> {
  const before = await currentProcess();
  await database.query('select pg_terminate_backend($1)', [before]);
  await expect.poll(currentProcess).not.toBe(before);
  return currentProcess();
}

test.each(Object.entries(attacks))(
  'A server process takes less than eight times the limit of the answer for %s',
  async (_name, query) => {
    const attacked = await newProcess();
    const most = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${attacked}/status`, 'utf8'))![1]) / 1024;
    const before = most();
    const { body } = await gateway.ask(query);
    expect(body).toMatchObject(answerTooLarge);
    expect(most() - before).toBeLessThan(8 * 16);
  },
);

test('Long values in related rows are answered, as long as the answer is within its limit', async () => {
  const query = `{ ${within(within('id body data texts of { id body }'), 1)} }`;
  const stored = await database.query('select id, body, data, texts from part order by id');
  const first = await database.query('select id, body from part where id = 1');
  const node = (row: Record<string, unknown>) => ({
    ...row,
    data: JSON.stringify(row.data).slice(1, -1),
    of: first[0],
  });
  const nodes = stored.map((row) => ({ node: node(row) }));
  // The second time, long objects are counted from the start.
  for (const _ of ['first', 'second']) {
    const { data } = (await gateway.ask(query)).body;
    expect(data.partCollection.edges[0].node.partCollection.edges).toEqual(nodes);
  }
});

test('The row after a page does not count for the limit', async () => {
  const small = await testGateway(database, { limits: { ...defaultConfig.limits, maxResponseBytes: 2_000_000 } });
  const node = `node { id of { large } }`;
  const page = `partCollection(first: 1, orderBy: [{ id: AscNullsLast }]) { edges { ${node} } pageInfo { hasNextPage } }`;
  const expected = {
    edges: [{ node: { id: 1, of: { large: 'large '.repeat(200_000) } } }],
    pageInfo: { hasNextPage: true },
  };
  expect((await small.ask(`{ ${page} }`)).body).toEqual({ data: { partCollection: expected } });
  expect((await small.ask(`{ ${within(page, 1)} }`)).body.data.partCollection.edges[0].node.partCollection).toEqual(
    expected,
  );
});

test('A mutation whose answer has long related values writes once; where the answer would be too large, too', async () => {
  await database.query(
    'create table visit (id int generated always as identity primary key, part_id int references part); grant select, insert on visit to anon',
  );
  await gateway.reload();
  const write = (selected: string) =>
    gateway.ask(
      `mutation { insertIntoVisitCollection(objects: [{ partId: 1 }]) { records { part { ${selected} } } } }`,
    );
  expect((await write('large')).body.errors).toBeUndefined();
  const count = async () => (await database.query('select count(*)::int as n from visit'))[0]?.n;
  expect(await count()).toBe(1);
  expect((await write(times(400, 'large'))).body).toMatchObject({
    errors: [{ extensions: { limit: 'max-response-bytes', outcome: 'committed' } }],
  });
  expect(await count()).toBe(2);
});
