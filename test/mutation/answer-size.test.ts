/**
 * A mutation is never undone for the size of its answer: whatever makes its JSON, what was written stays, and an answer over the limit
 * becomes an error that says so. All root fields together have one limit.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const limit = 20_000;

let database: TestDatabase;
let execution: TestExecution;
beforeAll(async () => {
  database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true, "max_rows": 1000})';
    create table parent (id int primary key, body text, mark text);
    create table child (id int primary key, parent_id int not null references parent deferrable initially deferred);
    create function mark_all() returns setof parent language sql as $$ update parent set mark = 'seen' returning * $$;
    grant all on parent, child to anon;
  `);
  execution = await startExecution(database, { maxResponseBytes: limit });
});
beforeEach(() =>
  database.query(`truncate parent, child; insert into parent select g, repeat('x', 900) from generate_series(1, 30) g`),
);

const run = (query: string, variables = {}) => execution.run('anon', query, { variables });
const numberOf = async (condition: string) =>
  (await database.query(`select count(*)::int as n from parent where ${condition}`))[0]!.n;
const extensions = { code: 'LIMIT_EXCEEDED', limit: 'max-response-bytes', outcome: 'committed' };
const committed = { path: ['a'], extensions };

const rows = 'records { id body }';
const text = `affectedCount ${rows} parents: records { childCollection { edges { node { id } } } }`;
const objects = (count: number) => Array.from({ length: count }, (_, at) => ({ id: 100 + at, body: 'y'.repeat(900) }));
const nested = (count: number) =>
  objects(count).map((object) => ({ ...object, childCollection: { insert: [{ id: object.id }] } }));
const updates = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ set: { mark: 'seen' }, filter: { id: { eq: at + 1 } } }));

const insert = (selected: string, more = '') =>
  `mutation ($o: [ParentInsertInput!]!) { a: insertIntoParentCollection(objects: $o${more}) { ${selected} } }`;
const update = (selected: string) =>
  `mutation ($m: Int!) { a: updateParentCollection(set: {mark: "seen"}, filter: {id: {lte: $m}}, atMost: 100) { ${selected} } }`;
const updateMany = (selected: string) =>
  `mutation ($u: [ParentUpdateEntry!]!) { a: updateManyParentCollection(updates: $u) { ${selected} } }`;
const remove = `mutation { a: deleteFromParentCollection(atMost: 100) { ${rows} } }`;
const upsert = ', onConflict: {constraint: parent_pkey}';
const call = `mutation ($m: Int!) { a: markAll(first: $m) { edges { node { id body } } } }`;

describe.each([
  ['an insert, of rows', insert(rows), objects, 'body like $$y%$$'],
  ['an insert, as one text', insert(text), objects, 'body like $$y%$$'],
  ['an insert with related rows, of rows', insert(rows), nested, 'body like $$y%$$'],
  ['an insert with related rows, as one text', insert(text), nested, 'body like $$y%$$'],
  ['an upsert, of rows', insert(rows, upsert), objects, 'body like $$y%$$'],
  ['an upsert, as one text', insert(text, upsert), objects, 'body like $$y%$$'],
  ['an update', update(rows), null, 'mark = $$seen$$'],
  ['a list of updates, of rows', updateMany(rows), updates, 'mark = $$seen$$'],
  ['a list of updates, as one text', updateMany(text), updates, 'mark = $$seen$$'],
])('The answer of %s', (_, query, make, written) => {
  const variables = (count: number) => ({ m: count, o: make?.(count), u: make?.(count) });

  test('the answer is given where it fits', async () => {
    const { data, errors } = await run(query, variables(5));
    expect(errors).toBeUndefined();
    expect([data.a].flat().flatMap(({ records }) => records)).toHaveLength(5);
  });

  test('the answer says that all is committed where it does not', async () => {
    const body = await run(query, variables(30));
    expect(body).toMatchObject({ data: null, errors: [committed] });
    expect(body.errors).toHaveLength(1);
    expect(await numberOf(written)).toBe(30);
  });
});

test('So does that of a delete', async () => {
  expect(await run(remove)).toMatchObject({ data: null, errors: [committed] });
  expect(await numberOf('true')).toBe(0);
});

test('So does that of a function that writes', async () => {
  expect((await run(call, { m: 2 })).data.a.edges).toHaveLength(2);
  expect(await run(call, { m: 30 })).toMatchObject({ data: null, errors: [committed] });
  expect(await numberOf('mark = $$seen$$')).toBe(30);
});

test('Root fields have one limit together, and all are committed', async () => {
  const field = (key: string, from: number, to: number) =>
    `${key}: updateParentCollection(set: {mark: "seen"}, filter: {id: {gte: ${from}, lte: ${to}}}, atMost: 100) { ${rows} }`;
  expect((await run(`mutation { ${field('a', 1, 12)} }`)).errors).toBeUndefined();
  const body = await run(`mutation { ${field('b', 1, 12)} ${field('a', 13, 24)} ${field('c', 25, 30)} }`);
  expect(body).toMatchObject({ data: null, errors: [committed] });
  expect(await numberOf('mark = $$seen$$')).toBe(30);
});

test('What fails at the end fails all the same, and so does more than atMost', async () => {
  const orphan = 'b: insertIntoChildCollection(objects: [{id: 1, parentId: 999}]) { affectedCount }';
  const query = update(text).replace(/}$/, `${orphan} }`);
  const { errors } = await run(query, { m: 30 });
  expect(errors).toMatchObject([{ extensions: { code: 'CONSTRAINT_VIOLATION' } }]);
  expect(errors[0].extensions).not.toHaveProperty('outcome');
  const bounded = await run(update(text).replace('atMost: 100', 'atMost: 29'), { m: 30 });
  expect(bounded.errors).toMatchObject([{ message: 'update impacts too many records' }]);
  expect(await numberOf('mark = $$seen$$')).toBe(0);
});
