/**
 * `update…` and `deleteFrom…`: which rows they write, how `atMost` guards them, and what comes back.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

const database = await createDatabase(fixture('mutation-library.sql'));
const library = await startExecution(database, { schemas: ['lib'] });
const ask = (query: string, variables: Record<string, unknown> = {}) => library.run('anon', query, { variables });
const data = (query: string, variables: Record<string, unknown> = {}) => library.data('anon', query, { variables });
const titles = async () =>
  (await database.query<{ title: string }>('select title from lib.volume order by shelf_mark')).map(
    ({ title }) => title,
  );
const original = ['Logic', 'Sets', 'Graphs'];

beforeEach(async () => {
  await database.query(`
    delete from lib.loan;
    delete from lib.volume;
    delete from lib.patron where id > 3;
    update lib.patron set full_name = case id when 1 then 'Ada' when 2 then 'Bo' else 'Cy' end, sponsor_id = nullif(id, 3) - 1 where id <> 1;
    insert into lib.volume (shelf_mark, title, tags) values ('QA-1', 'Logic', '{math}'), ('QA-2', 'Sets', '{}'), ('QA-3', 'Graphs', '{}');
    insert into lib.loan values (1, 'QA-1', 1, '2024-06-30', 1.50, 'out'), (1, 'QA-2', 1, null, 2.00, 'returned')`);
});

describe('an update', () => {
  test('an update sets what the object names in the rows of the filter', async () => {
    const query = `mutation { updateVolumeCollection(set: {title: "New", tags: ["a", null]}, filter: {shelfMark: {eq: "QA-2"}}) {
      affectedCount records { shelfMark title tags acquiredOn } } }`;
    expect(await data(query)).toEqual({
      updateVolumeCollection: {
        affectedCount: 1,
        records: [{ shelfMark: 'QA-2', title: 'New', tags: ['a', null], acquiredOn: '2020-02-02' }],
      },
    });
    expect(await titles()).toEqual(['Logic', 'New', 'Graphs']);
  });

  test('an update sets null for null, as a literal, a variable and inside a variable', async () => {
    const where = 'filter: {shelfMark: {eq: "QA-1"}}';
    const selection = '{ records { acquiredOn } }';
    const none = { updateVolumeCollection: { records: [{ acquiredOn: null }] } };
    const reset = () => database.query("update lib.volume set acquired_on = '2020-02-02'");
    expect(await data(`mutation { updateVolumeCollection(set: {acquiredOn: null}, ${where}) ${selection} }`)).toEqual(
      none,
    );
    await reset();
    const byValue = `mutation ($d: Date) { updateVolumeCollection(set: {acquiredOn: $d}, ${where}) ${selection} }`;
    expect(await data(byValue, { d: null })).toEqual(none);
    await reset();
    const whole = `mutation ($s: VolumeUpdateInput!) { updateVolumeCollection(set: $s, ${where}) ${selection} }`;
    expect(await data(whole, { s: { acquiredOn: null } })).toEqual(none);
  });

  test('an update leaves a column alone whose variable is absent', async () => {
    const query = `mutation ($t: String, $d: Date) { updateVolumeCollection(set: {title: $t, acquiredOn: $d}, filter: {shelfMark: {eq: "QA-1"}}) {
      records { title acquiredOn } } }`;
    expect(await data(query, { d: '2024-01-31' })).toEqual({
      updateVolumeCollection: { records: [{ title: 'Logic', acquiredOn: '2024-01-31' }] },
    });
  });

  test.each([
    ['an empty literal', '', '{}', {}],
    ['an empty variable', '($s: VolumeUpdateInput!)', '$s', { s: {} }],
    ['only absent variables', '($t: String)', '{title: $t}', {}],
  ])('with nothing left to set is refused: %s', async (_name, types, set, variables) => {
    const body = await ask(
      `mutation ${types} { updateVolumeCollection(set: ${set}, atMost: 9) { affectedCount } }`,
      variables,
    );
    const message = 'At least one mapping must be provided to set argument';
    expect(body).toMatchObject({ data: null, errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] });
    expect(await titles()).toEqual(original);
  });

  test('without `set` is a request error', async () => {
    expect(await ask('mutation { updateVolumeCollection(atMost: 9) { affectedCount } }')).not.toHaveProperty('data');
    const query = 'mutation ($s: VolumeUpdateInput) { updateVolumeCollection(set: $s, atMost: 9) { affectedCount } }';
    expect(await ask(query, { s: null })).not.toHaveProperty('data');
    expect(await ask(query)).not.toHaveProperty('data');
  });

  test('an update takes an integer variable for an integer column, and a whole number as text for a bigint', async () => {
    const query = `mutation ($n: Int!, $p: BigInt!) { updateLoanCollection(set: {seq: $n, patronId: $p}, filter: {shelfMark: {eq: "QA-1"}}) {
      records { seq patronId } } }`;
    expect(await data(query, { n: 7, p: '3' })).toEqual({
      updateLoanCollection: { records: [{ seq: 7, patronId: '3' }] },
    });
  });

  test.each([
    ['filter left out', ''],
    ['filter null', 'filter: null'],
    ['filter empty', 'filter: {}'],
    ['filter of empty parts', 'filter: {title: null, and: [], or: [{}], not: {}}'],
  ])('without conditions writes every row: %s', async (_name, filter) => {
    const query = `mutation { updateVolumeCollection(set: {title: "All"}, ${filter} atMost: 3) { affectedCount } }`;
    expect(await data(query)).toEqual({ updateVolumeCollection: { affectedCount: 3 } });
    expect(await titles()).toEqual(['All', 'All', 'All']);
  });

  test('an update takes compound filters, filters by node id and whole filters by variable', async () => {
    const set = async (filter: string, variables = {}, types = '') =>
      (
        await data(
          `mutation ${types} { x: updateVolumeCollection(set: {title: "Hit"}, filter: ${filter}, atMost: 3) { records { shelfMark } } }`,
          variables,
        )
      ).x.records.map(({ shelfMark }: { shelfMark: string }) => shelfMark);
    expect(
      (
        await set(
          '{or: [{title: {eq: "Logic"}}, {and: [{title: {startsWith: "G"}}, {not: {shelfMark: {eq: "QA-2"}}}]}]}',
        )
      ).toSorted(),
    ).toEqual(['QA-1', 'QA-3']);
    const nodeId = Buffer.from('["lib", "volume", "QA-2"]').toString('base64');
    expect(await set(`{nodeId: {eq: "${nodeId}"}}`)).toEqual(['QA-2']);
    expect(await set('$f', { f: { shelfMark: { in: ['QA-3'] } } }, '($f: VolumeFilter)')).toEqual(['QA-3']);
    expect(await set('{tags: {contains: "math"}}')).toEqual(['QA-1']);
  });

  test('an update is refused for a node id of another table', async () => {
    const nodeId = Buffer.from('["lib", "patron", 1]').toString('base64');
    const query = `mutation { updateVolumeCollection(set: {title: "x"}, filter: {nodeId: {eq: "${nodeId}"}}) { affectedCount } }`;
    expect(await ask(query)).toMatchObject({
      data: null,
      errors: [{ message: 'nodeId belongs to a different collection' }],
    });
  });

  test('without a match answers an empty list, under its alias', async () => {
    const query =
      'mutation { none: updateVolumeCollection(set: {title: "x"}, filter: {shelfMark: {eq: "?"}}) { affectedCount records { title } } }';
    expect(await data(query)).toEqual({ none: { affectedCount: 0, records: [] } });
    const typename =
      'mutation { updateVolumeCollection(set: {title: "x"}, filter: {shelfMark: {eq: "?"}}) { __typename } }';
    expect(await data(typename)).toEqual({ updateVolumeCollection: { __typename: 'VolumeUpdateResponse' } });
  });
});

describe('a delete', () => {
  test('a delete answers the rows as they were', async () => {
    const query =
      'mutation { deleteFromVolumeCollection(filter: {shelfMark: {eq: "QA-3"}}) { affectedCount records { nodeId shelfMark title tags } } }';
    const nodeId = Buffer.from('["lib", "volume", "QA-3"]').toString('base64');
    expect(await data(query)).toEqual({
      deleteFromVolumeCollection: {
        affectedCount: 1,
        records: [{ nodeId, shelfMark: 'QA-3', title: 'Graphs', tags: [] }],
      },
    });
    expect(await titles()).toEqual(['Logic', 'Sets']);
  });

  test('a delete takes a value by variable and a whole filter by variable', async () => {
    const byValue =
      'mutation ($m: String) { deleteFromVolumeCollection(filter: {shelfMark: {eq: $m}}) { affectedCount } }';
    expect(await data(byValue, { m: 'QA-3' })).toEqual({ deleteFromVolumeCollection: { affectedCount: 1 } });
    const whole = 'mutation ($f: VolumeFilter) { deleteFromVolumeCollection(filter: $f) { affectedCount } }';
    expect(await data(whole, { f: { title: { eq: 'Sets' } } })).toEqual({
      deleteFromVolumeCollection: { affectedCount: 1 },
    });
    expect(await titles()).toEqual(['Logic']);
  });

  test('with an operand of null matches nothing', async () => {
    const query =
      'mutation ($m: String) { deleteFromVolumeCollection(filter: {shelfMark: {eq: $m}}, atMost: 9) { affectedCount } }';
    expect(await data(query, { m: null })).toEqual({ deleteFromVolumeCollection: { affectedCount: 0 } });
    expect(await titles()).toEqual(original);
  });

  test('without a filter deletes every row that atMost allows', async () => {
    expect(await data('mutation { deleteFromVolumeCollection(atMost: 3) { affectedCount } }')).toEqual({
      deleteFromVolumeCollection: { affectedCount: 3 },
    });
    expect(await titles()).toEqual([]);
  });

  test('a delete counts the rows it names and not those that cascades take along', async () => {
    expect(
      await data('mutation { deleteFromVolumeCollection(filter: {shelfMark: {eq: "QA-1"}}) { affectedCount } }'),
    ).toEqual({
      deleteFromVolumeCollection: { affectedCount: 1 },
    });
    expect(await database.query('select * from lib.loan')).toHaveLength(1);
  });

  test('without a match answers an empty list', async () => {
    const query =
      'mutation { deleteFromVolumeCollection(filter: {shelfMark: {eq: "?"}}) { affectedCount records { title } } }';
    expect(await data(query)).toEqual({ deleteFromVolumeCollection: { affectedCount: 0, records: [] } });
  });
});

// What safeupdate would refuse fails the file: test/support/check-sent-statements.ts.
test('without conditions, an update or delete is no statement that the library safeupdate of Supabase refuses', async () => {
  for (const filter of ['', 'filter: null,', 'filter: {},', 'filter: {title: {eq: $absent}},', 'filter: {or: []},']) {
    const types = filter.includes('$') ? '($absent: String)' : '';
    const query = `mutation ${types} { updateVolumeCollection(set: {title: "x"}, ${filter} atMost: 9) { affectedCount } }`;
    expect(await data(query), filter).toEqual({ updateVolumeCollection: { affectedCount: 3 } });
  }
  expect(await data('mutation { deleteFromVolumeCollection(atMost: 9) { affectedCount } }')).toEqual({
    deleteFromVolumeCollection: { affectedCount: 3 },
  });
});

describe('atMost', () => {
  const update = (atMost: string, types = '') =>
    `mutation ${types} { updateVolumeCollection(set: {title: "x"} ${atMost}) { affectedCount } }`;
  const tooMany = {
    data: null,
    errors: [
      {
        message: 'update impacts too many records',
        extensions: { code: 'BAD_USER_INPUT', hint: 'atMost says how many rows may change: 1 if it is left out.' },
      },
    ],
  };

  test('atMost is 1 by default, and more rows undo the write', async () => {
    expect(await ask(update(''))).toMatchObject(tooMany);
    expect(await ask('mutation { deleteFromVolumeCollection { affectedCount } }')).toMatchObject({
      data: null,
      errors: [{ message: 'delete impacts too many records', path: ['deleteFromVolumeCollection'] }],
    });
    expect(await titles()).toEqual(original);
  });

  test('atMost may be given as a literal or a variable; an absent variable is 1', async () => {
    expect(await ask(update('atMost: 2'))).toMatchObject(tooMany);
    expect(await ask(update('atMost: $n', '($n: Int!)'), { n: 2 })).toMatchObject(tooMany);
    expect(await ask(update('atMost: $n', '($n: Int)'))).toMatchObject(tooMany);
    expect(await ask(update('atMost: $n', '($n: Int = 2)'))).toMatchObject(tooMany);
    expect(await titles()).toEqual(original);
    expect(await data(update('atMost: $n', '($n: Int = 2)'), { n: 3 })).toEqual({
      updateVolumeCollection: { affectedCount: 3 },
    });
  });

  test('of 0 succeeds only where nothing matches', async () => {
    expect(await ask(update('atMost: 0'))).toMatchObject(tooMany);
    expect(await data(update('filter: {title: {eq: "?"}}, atMost: 0'))).toEqual({
      updateVolumeCollection: { affectedCount: 0 },
    });
  });

  test('below 0 always fails', async () => {
    expect(await ask(update('filter: {title: {eq: "?"}}, atMost: -1'))).toMatchObject(tooMany);
    expect(await ask(update('filter: {title: {eq: "?"}}, atMost: $n', '($n: Int!)'), { n: -1 })).toMatchObject(tooMany);
  });

  test.each([
    ['null', 'atMost: null', '', {}],
    ['a string', 'atMost: "3"', '', {}],
    ['a fraction', 'atMost: 1.5', '', {}],
    ['null by variable', 'atMost: $n', '($n: Int)', { n: null }],
    ['a string by variable', 'atMost: $n', '($n: Int!)', { n: '3' }],
    ['more than 32 bits', 'atMost: 3000000000', '', {}],
  ])('atMost is a request error as %s', async (_name, atMost, types, variables) => {
    expect(await ask(update(atMost, types), variables)).not.toHaveProperty('data');
    expect(await titles()).toEqual(original);
  });

  test('atMost is a parameter: any number shares one statement', async () => {
    const text = async (n: number) =>
      (await library.statements('anon', update('atMost: $n', '($n: Int!)'), { variables: { n } }))[0]?.text;
    expect(await text(1)).toBe(await text(500));
  });

  test('atMost is not taken for exceeded because of a value that spells the error of the gateway', async () => {
    const query =
      'mutation { insertIntoLoanCollection(objects: {patronId: "pgreflect:at_most:9", shelfMark: "QA-1", seq: 1}) { affectedCount } }';
    const { errors } = await ask(query);
    expect(errors[0]).toMatchObject({
      message: 'invalid input syntax for type bigint: "pgreflect:at_most:9"',
      extensions: { code: 'BAD_USER_INPUT', sqlstate: '22P02', input: 'objects[0].patronId' },
    });
  });
});
