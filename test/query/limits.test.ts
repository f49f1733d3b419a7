/**
 * Limits of a request: each refusal names the limit and the option that raises it, and nothing is run.
 */
import { describe, expect, test, vi } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { openReader } from './reader.ts';

const limited = await openReader(['query-library.sql', 'query-functions.sql'], {
  limits: { maxDepth: 3, maxAliases: 4, maxTokens: 200, maxCost: 1000, maxRootFields: 2 },
  maxResponseBytes: 1000,
});
const { run, errors } = limited;

async function expectRefusal(query: string, limit: string, message: RegExp, variables?: Record<string, unknown>) {
  const body = await run(query, variables);
  expect(body).not.toHaveProperty('data');
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0].message).toMatch(message);
  expect(body.errors[0].extensions).toMatchObject({ code: 'LIMIT_EXCEEDED', limit });
  if (limit in hints) expect(body.errors[0].extensions.hint).toMatch(hints[limit as keyof typeof hints]);
}

/** What needs less. */
const hints = {
  'max-cost': /"first"/,
  'max-root-fields': /"updateMany…"/,
  'max-aliases': /"in"/,
  'max-tokens': /variables/,
};

describe('a request is refused', () => {
  test('when it leads through more tables than allowed, also through fragments', async () => {
    const allowed = '{ patronByPk(id: 1) { loanCollection { edges { node { volume { title } } } } } }';
    expect(await errors(allowed)).toEqual([]);
    const deep =
      '{ patronByPk(id: 1) { loanCollection { edges { node { volume { ...f } } } } } } fragment f on Volume { loanCollection { edges { cursor } } }';
    await expectRefusal(deep, 'max-depth', /4 levels of tables.*limit of 3.*--max-depth/);
  });

  test('when it has more aliases than allowed', async () => {
    expect(await errors('{ a: __typename b: __typename }')).toEqual([]);
    await expectRefusal(
      '{ patronByPk(id: 1) { a: id b: id c: id d: id e: id } }',
      'max-aliases',
      /5 aliases.*--max-aliases/,
    );
  });

  test('when it has more tokens than allowed', async () => {
    await expectRefusal(`{ ${'__typename '.repeat(300)} }`, 'max-tokens', /200.*--max-tokens/);
  });

  test('when it has more root fields than allowed', async () => {
    expect(await errors('{ patronByPk(id: 1) { id } __typename }')).toEqual([]);
    await expectRefusal(
      '{ patronByPk(id: 1) { id } a: __typename b: __typename }',
      'max-root-fields',
      /3 root fields.*--max-root-fields/,
    );
  });

  test('when its pages could have more rows than allowed, counted with the sizes of its variables', async () => {
    const query = `query ($n: Int) { patronCollection(first: $n) { edges { node {
      loanCollection(first: $n) { edges { cursor } } other: loanCollection(first: $n) { totalCount } } } } }`;
    expect(await errors(query, { n: 20 })).toEqual([]);
    await expectRefusal(query, 'max-cost', /1275 rows at most.*limit of 1000.*--max-cost/, { n: 25 });
    await expectRefusal(query, 'max-cost', /1830 rows at most/, { n: null });
  });

  test('a limit does not count a field that is refused anyway', async () => {
    const body = await run(`{
      __typename
      patronCollection { edges { node { loanCollection { edges { node { seq } } } a: loanCollection(first: -1) { totalCount } b: loanCollection { totalCount } } } }
    }`);
    expect(body).toMatchObject({ data: { __typename: 'Query' }, errors: [{ path: ['patronCollection'] }] });
    const deep = `{ __typename patronByPk(id: 1) { loanCollection { edges { node { volume { loanCollection {
      edges { node { patron { loanCollection(first: -1) { totalCount } } } } } } } } } } }`;
    expect(await run(deep)).toMatchObject({ data: { __typename: 'Query' }, errors: [{ path: ['patronByPk'] }] });
  });

  test('when its answer is larger than allowed, and none of it is sent', async () => {
    const fields = 'fullName shout names nodeId openLoans { edges { node { nodeId shelfMark } } }';
    expect(await errors(`{ patronByPk(id: 1) { ${fields} } }`)).toEqual([]);
    const body = await run(
      `{ patronCollection(first: 5) { edges { cursor node { ${fields} sponsor { ${fields} } } } } }`,
    );
    expect(body.data).toBeNull();
    expect(body.errors).toMatchObject([
      {
        message: 'The answer is larger than the limit of 1000 bytes. Ask for less, or page.',
        extensions: { code: 'LIMIT_EXCEEDED', limit: 'max-response-bytes' },
      },
    ]);
  });

  test('when it takes too long', async () => {
    await limited.database.query(
      "create function lib.slow() returns int stable language plpgsql as 'begin perform pg_sleep(5); return 1; end'",
    );
    const hasty = await startExecution(limited.database, { schemas: ['lib'], statementTimeoutMs: 1000 });
    const isThere = () => hasty.data('anon', '{ __typename }');
    await vi.waitFor(isThere);
    expect(await hasty.run('anon', '{ slow }')).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'TIMEOUT', sqlstate: '57014' } }],
    });
    await vi.waitFor(isThere);
  });
});

test.each([
  ['50ms', '50ms'],
  ['50000us', '50ms'],
  ['.5s', '500ms'],
  [' 1.5 s ', '1500ms'],
  ['1e3', '1s'],
  ['0x1F4', '500ms'],
  ['+700', '700ms'],
  ['+0x1F4', '500ms'],
  ['0.01min', '600ms'],
  // No limit of its own, or one that is larger than that of the gateway.
  ['0', '8s'],
  ['1h', '8s'],
])('a role with statement_timeout = %j has the limit %s', async (setting, limit) => {
  const database = await createDatabase(
    `create function limit_now() returns text language sql stable as $$ select current_setting('statement_timeout') $$`,
  );
  await database.query(`alter role anon in database ${database.name} set statement_timeout = '${setting}'`);
  const execution = await startExecution(database, { statementTimeoutMs: 8000 });
  expect(await execution.data('anon', '{ limit_now }')).toEqual({ limit_now: limit });
});

test('a document with hundreds of levels is refused, also without limits', async () => {
  const deep = `${'{ a '.repeat(500)}${'}'.repeat(500)}`;
  expect(await limited.execution.run('anon', deep)).not.toHaveProperty('data');
  const unlimited = await openReader(['query-library.sql'], { limits: null });
  expect(await unlimited.run(deep)).not.toHaveProperty('data');
  const nested = `{ volumeCollection(filter: ${'{not: '.repeat(2000)}{}${'}'.repeat(2000)}) { edges { cursor } } }`;
  expect(await unlimited.run(nested)).toHaveProperty(['errors']);
});

test('a function that a query calls writes, unless --read-only-queries forbids it', async () => {
  const writing =
    "create sequence lib.marks; create function lib.mark() returns bigint stable language plpgsql as 'begin return nextval(''lib.marks''); end'; grant usage on sequence lib.marks to anon";
  const free = await openReader(['query-library.sql', writing]);
  expect(await free.ask('{ mark }')).toEqual({ mark: '1' });
  const readOnly = await openReader(['query-library.sql', writing], { readOnlyQueries: true });
  expect(await readOnly.run('{ mark }')).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'READ_ONLY', sqlstate: '25006' } }],
  });
});
