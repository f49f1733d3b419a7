/**
 * A mutation is one transaction and one flight: root fields run in document order, each sees the ones before it, and any
 * failure undoes all of them.
 */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';
import { startRecordingProxy, through } from '../support/recording-proxy.ts';

const database = await createDatabase(fixture('mutation-library.sql'));
const proxy = await startRecordingProxy(database.url);
const library = await startExecution(through(proxy, database), { schemas: ['lib'] });
const run = (query: string, variables: Record<string, unknown> = {}) => library.run('anon', query, { variables });
const data = (query: string, variables: Record<string, unknown> = {}) => library.data('anon', query, { variables });
const marks = async () =>
  (
    await database.query<{ shelf_mark: string }>(
      "select shelf_mark from lib.volume where shelf_mark like 'N%' order by 1",
    )
  ).map(({ shelf_mark }) => shelf_mark);
const insert = (...names: string[]) =>
  `insertIntoVolumeCollection(objects: [${names.map((name) => `{shelfMark: "${name}"}`)}]) { affectedCount }`;

beforeEach(async () => {
  await database.query("delete from lib.volume where shelf_mark like 'N%'");
});

describe('several root fields', () => {
  test('several root fields are answered in document order, with their aliases and type names', async () => {
    const { body } = await library.answer(
      'anon',
      `mutation { b: ${insert('N1')} __typename a: ${insert('N2', 'N3')} }`,
    );
    expect(body).toBe('{"data":{"b":{"affectedCount":1},"__typename":"Mutation","a":{"affectedCount":2}}}');
  });

  test('see what the ones before them did', async () => {
    const query = `mutation {
      a: ${insert('N1')}
      b: updateVolumeCollection(set: {title: "B", shelfMark: "N2"}, filter: {shelfMark: {eq: "N1"}}) { affectedCount }
      c: insertIntoLoanCollection(objects: {patronId: 1, shelfMark: "N2", seq: 1}) { records { volume { title loanCollection { totalCount } } } }
      d: insertIntoLoanCollection(objects: {patronId: 1, shelfMark: "N2", seq: 2}) { records { volume { title loanCollection { totalCount } } } }
      e: deleteFromVolumeCollection(filter: {shelfMark: {eq: "N2"}}) { records { title loanCollection { totalCount } } }
      f: deleteFromVolumeCollection(filter: {shelfMark: {eq: "N2"}}) { affectedCount } }`;
    expect(await data(query)).toEqual({
      a: { affectedCount: 1 },
      b: { affectedCount: 1 },
      c: { records: [{ volume: { title: 'B', loanCollection: { totalCount: 0 } } }] },
      d: { records: [{ volume: { title: 'B', loanCollection: { totalCount: 1 } } }] },
      e: { records: [{ title: 'B', loanCollection: { totalCount: 2 } }] },
      f: { affectedCount: 0 },
    });
  });

  test('several root fields may come from fragments on the mutation type', async () => {
    const query = `mutation M { ...First ... on Mutation { b: ${insert('N2')} } ... { c: ${insert('N3')} } }
      fragment First on Mutation { a: insertIntoVolumeCollection(objects: {shelfMark: "N1"}) { ...Count } }
      fragment Count on VolumeInsertResponse { affectedCount }`;
    expect(await data(query)).toEqual({ a: { affectedCount: 1 }, b: { affectedCount: 1 }, c: { affectedCount: 1 } });
  });

  test('several root fields merge when they are the same field, and then write once', async () => {
    const query =
      'mutation { x: insertIntoVolumeCollection(objects: {shelfMark: "N1"}) { affectedCount } x: insertIntoVolumeCollection(objects: {shelfMark: "N1"}) { records { title } } }';
    expect(await data(query)).toEqual({ x: { affectedCount: 1, records: [{ title: 'Untitled' }] } });
  });

  test('that are left out by @skip do not run', async () => {
    const query = `mutation ($no: Boolean!) { a: ${insert('N1').replace(' {', ' @include(if: $no) {')} b: ${insert('N2')} }`;
    expect(await data(query, { no: false })).toEqual({ b: { affectedCount: 1 } });
    expect(await marks()).toEqual(['N2']);
  });
});

describe('a failure undoes all', () => {
  const bad = {
    'a constraint': 'insertIntoVolumeCollection(objects: {shelfMark: "QA-1"}) { affectedCount }',
    'a check constraint':
      'insertIntoLoanCollection(objects: {patronId: 1, shelfMark: "QA-3", seq: 1, fee: "-1"}) { affectedCount }',
    atMost: 'updateVolumeCollection(set: {title: "x"}) { affectedCount }',
    'a value the database cannot read':
      'insertIntoVolumeCollection(objects: {shelfMark: "N9", acquiredOn: "never"}) { affectedCount }',
    'an empty list of objects': 'insertIntoVolumeCollection(objects: []) { affectedCount }',
    'a string that is too long': `insertIntoVolumeCollection(objects: {shelfMark: "N9", title: "${'x'.repeat(41)}"}) { affectedCount }`,
    'a bad nested page':
      'insertIntoVolumeCollection(objects: {shelfMark: "N9"}) { records { loanCollection(first: -1) { totalCount } } }',
  };

  test.each(Object.entries(bad))('when it is %s, in the first, a middle or the last field', async (_name, field) => {
    const fields = [
      [field, insert('N1'), insert('N2')],
      [insert('N1'), field, insert('N2')],
      [insert('N1'), insert('N2'), field],
    ];
    for (const [index, list] of fields.entries()) {
      const body = await run(`mutation { ${list.map((text, at) => `f${at}: ${text}`).join(' ')} }`);
      expect(body.data).toBeNull();
      expect(body.errors).toHaveLength(1);
      expect(body.errors[0].path).toEqual([`f${index}`]);
      expect(await marks()).toEqual([]);
    }
  });

  test('only one error is told, however many fields are wrong', async () => {
    const body = await run(
      'mutation { a: insertIntoVolumeCollection(objects: []) { affectedCount } b: updateVolumeCollection(set: {}) { affectedCount } }',
    );
    expect(body).toMatchObject({
      data: null,
      errors: [{ message: 'At least one record must be provided to objects', path: ['a'] }],
    });
    expect(body.errors).toHaveLength(1);
  });

  test('when the statement takes too long', async () => {
    await database.query(`
      create or replace function lib.dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(5); return new; end';
      create trigger dawdle before insert on lib.volume for each row when (new.shelf_mark = 'N slow') execute function lib.dawdle()`);
    const hasty = await startExecution(database, { schemas: ['lib'], statementTimeoutMs: 1000 });
    // The time is that of the statements, not of the connection.
    await vi.waitFor(() => hasty.data('anon', '{ __typename }'));
    const body = await hasty.run('anon', `mutation { a: ${insert('N1')} b: ${insert('N slow')} }`);
    expect(body).toMatchObject({ data: null, errors: [{ extensions: { code: 'TIMEOUT', sqlstate: '57014' } }] });
    expect(await marks()).toEqual([]);
  });
});

describe('the way to the database', () => {
  const roundTripsOf = async (query: string, variables: Record<string, unknown> = {}) => {
    await data('{ __typename }');
    proxy.reset();
    const body = await run(query, variables);
    return { roundTrips: proxy.roundTrips(), body };
  };

  test('the way to the database takes one round trip for one root field and for six', async () => {
    const one = await roundTripsOf(`mutation { ${insert('N1')} }`);
    expect(one).toEqual({ roundTrips: 1, body: { data: { insertIntoVolumeCollection: { affectedCount: 1 } } } });
    const six = Array.from({ length: 6 }, (_, n) => `f${n}: ${insert(`N6${n}`)}`).join(' ');
    expect((await roundTripsOf(`mutation { ${six} }`)).roundTrips).toBe(1);
  });

  test('the way to the database takes one round trip for a thousand objects', async () => {
    const o = Array.from({ length: 1000 }, (_, n) => ({
      shelfMark: `N${n}`,
      title: 'A title of some length',
      tags: ['a', 'b'],
    }));
    const query =
      'mutation ($o: [VolumeInsertInput!]!) { insertIntoVolumeCollection(objects: $o) { affectedCount records { shelfMark } } }';
    const { roundTrips: count, body } = await roundTripsOf(query, { o });
    expect(count).toBe(1);
    expect(
      body.data.insertIntoVolumeCollection.records.map(({ shelfMark }: { shelfMark: string }) => shelfMark),
    ).toEqual(o.map(({ shelfMark }) => shelfMark));
  });

  test('the way to the database takes one round trip for a mutation that fails, and for the next one on the same connection', async () => {
    const failing = `mutation { a: ${insert('N1')} b: updateVolumeCollection(set: {title: "x"}) { affectedCount } }`;
    expect((await roundTripsOf(failing)).roundTrips).toBe(1);
    expect((await roundTripsOf(failing)).roundTrips).toBe(1);
    expect((await roundTripsOf(`mutation { a: ${insert('N1')} }`)).roundTrips).toBe(1);
  });

  test('the way to the database sends no write for a mutation that is refused before SQL', async () => {
    await data('{ __typename }');
    let sent = '';
    proxy.inspect((from, packet) => {
      if (from === 'client') sent += packet.toString('latin1');
      return 'pass';
    });
    await run(`mutation { a: ${insert('N1')} b: insertIntoVolumeCollection(objects: []) { affectedCount } }`);
    proxy.inspect(null);
    expect(sent).not.toContain('insert into');
    expect(sent).not.toContain('N1');
  });

  test('that is lost before the answer leaves a mutation unrepeated and says that its end is unknown', async () => {
    proxy.inspect((from, packet) => (from === 'server' && packet.includes('N1') ? 'cut' : 'pass'));
    const body = await run(`mutation { ${insert('N1').replace('affectedCount', 'records { shelfMark }')} }`);
    proxy.inspect(null);
    expect(body).toMatchObject({
      data: null,
      errors: [
        {
          message: 'The connection to the database was lost; the mutation may or may not have been committed.',
          extensions: { code: 'UNAVAILABLE', outcome: 'unknown' },
        },
      ],
    });
    expect(await marks()).toEqual(['N1']);
  });

  test('that the server answers too late says that its end is unknown, and a query does not', async () => {
    const limited = await startExecution(through(proxy, database), { schemas: ['lib'], statementTimeoutMs: 1000 });
    await vi.waitFor(() => limited.data('anon', '{ __typename }'));
    proxy.inspect((from) => (from === 'server' ? 'drop' : 'pass'));
    const written = await limited.run('anon', `mutation { ${insert('N2')} }`);
    const read = await limited.run('anon', '{ volumeCollection { edges { node { shelfMark } } } }');
    proxy.inspect(null);
    const message =
      'The time limit passed before the database answered; the mutation may or may not have been committed.';
    expect(written).toMatchObject({
      data: null,
      errors: [{ message, extensions: { code: 'TIMEOUT', outcome: 'unknown' } }],
    });
    await vi.waitFor(async () => expect(await marks()).toContain('N2'));
    expect(read.errors[0].extensions.outcome).toBeUndefined();
  });
});
