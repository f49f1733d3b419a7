/**
 * Functions that try to keep a role, or to leave something on the connection: the next root field and the next caller on the
 * same connection find nothing of it.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { serviceKey, token } from '../support/http.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(fixture('attack-connection-state.sql'));
  gateway = await testGateway(database, { poolSize: 1, schemaPollMs: 600_000 }, atEnd);
});

/** One connection, so that the next caller certainly gets that of the last. */
let gateway: TestGateway;

const bearer = async (claims: Readonly<Record<string, unknown>>) => ({
  authorization: `Bearer ${await token({ role: 'authenticated', ...claims })}`,
});

/** What a caller finds who comes after others: names, settings, locks, temporary tables, defaults of transactions. */
const look = '{ whoami firstNote accountCollection { totalCount edges { node { owner } } } }';
const clean = {
  data: {
    whoami: 'authenticator|anon|anon|"public"|none|0|f|off|read committed',
    firstNote: 'first note',
    accountCollection: { totalCount: 0, edges: [] },
  },
};

async function backends(): Promise<readonly number[]> {
  const sql = `select pid from pg_stat_activity where datname = current_database() and application_name = 'pgreflect'`;
  return (await database.query<{ pid: number }>(sql)).map(({ pid }) => pid);
}

describe('what a function leaves on the connection is not there for the next caller, whether it was called by', () => {
  const doors = {
    'a mutation': 'mutation { litter }',
    'a query function that calls it': '{ litterQuietly }',
    'a computed field': '{ noteCollection { edges { node { litterBeside } } } }',
    'a policy': '{ fencedCollection { edges { node { id } } } }',
    'a view': '{ litteredCollection { edges { node { id leftBehind } } } }',
    'a query that fails afterwards': '{ litterAndFail }',
    'a mutation that fails afterwards': 'mutation { litter failNow }',
  };
  test.each(Object.entries(doors))('%s', async (_door, operation) => {
    expect((await gateway.ask(look)).body).toEqual(clean);
    const [before] = await backends();
    const { body } = await gateway.ask(operation);
    if (operation.includes('ail')) expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    else expect(body.errors).toBeUndefined();
    expect((await gateway.ask(look)).body).toEqual(clean);
    expect((await gateway.ask('{ whoami }', { headers: await bearer({ sub: 'ann' }) })).body.data.whoami).toBe(
      'authenticator|authenticated|authenticated|"public"|none|0|f|off|read committed',
    );
    expect(await backends()).toEqual([before]);
  });
});

test('the last value of a sequence that a write has used is not there for the next caller', async () => {
  const ask = async () => (await gateway.ask('{ lastCounted }')).body;
  expect(await ask()).toEqual({ data: { lastCounted: null } });
  const write = 'mutation { insertIntoCountedCollection(objects: [{line: "x"}]) { affectedCount } }';
  const { body } = await gateway.ask(write, { headers: await bearer({ sub: 'ann' }) });
  expect(body).toEqual({ data: { insertIntoCountedCollection: { affectedCount: 1 } } });
  expect(await ask()).toEqual({ data: { lastCounted: null } });
});

test('temporary tables cost one repeated flight, then the connection is cleaned each time', async () => {
  await gateway.ask('{ litterQuietly }');
  for (let round = 0; round < 3; round++) {
    expect((await gateway.ask(look)).body).toEqual(clean);
    expect((await gateway.ask('{ litterQuietly }')).body).toEqual({ data: { litterQuietly: 1 } });
  }
  expect((await gateway.ask(look)).body).toEqual(clean);
});

test('a function that makes transactions read only costs its connection, and the next mutation writes', async () => {
  await gateway.ask('mutation { spoil }');
  const write = 'mutation { updateAccountCollection(filter: {id: {eq: 1}}, set: {owner: "ann"}) { affectedCount } }';
  const { body } = await gateway.ask(write, { headers: await bearer({ sub: 'ann' }) });
  expect(body).toEqual({ data: { updateAccountCollection: { affectedCount: 1 } } });
  expect((await gateway.ask(look)).body).toEqual(clean);
});

describe('the next root field of a mutation runs as the caller, though a function has changed', () => {
  test.each([
    'escapeByLocalSetting',
    'escapeBySessionSetting',
    'escapeBySetRole',
    'escapeByResetRole',
    'escapeByNone',
    'escapeByClaims',
    'escapeByPath',
  ])('%s', async (field) => {
    const steal = 'updateAccountCollection(set: {secret: "stolen"}, atMost: 10) { affectedCount records { secret } }';
    const { body } = await gateway.ask(`mutation { ${field} ${steal} again: ${field} probe }`);
    expect(body.errors).toBeUndefined();
    expect(body.data.updateAccountCollection).toEqual({ affectedCount: 0, records: [] });
    expect(body.data.probe).toMatch(/^authenticator\|anon\|anon\|"public"\|/);
    expect(await database.query('select secret from account order by id')).toEqual([
      { secret: 'secret of ann' },
      { secret: 'secret of bob' },
    ]);
    expect((await gateway.ask(look)).body).toEqual(clean);
  });

  test('the role, and cannot read what the caller may not see', async () => {
    const { body } = await gateway.ask('mutation { escapeBySetRole readVault }');
    expect(body).toMatchObject({ data: null, errors: [{ extensions: { code: 'PERMISSION_DENIED' } }] });
    expect((await gateway.ask('mutation { readVault }', { key: serviceKey })).body.data).toEqual({
      readVault: 'code of the vault',
    });
  });
});

test('the failed root field is still the one that is named, with settings between the fields', async () => {
  const fields = 'a: litter b: updateAccountCollection(set: {secret: "x"}, filter: {}) { affectedCount }';
  const { body } = await gateway.ask(`mutation { ${fields} c: failNow }`);
  expect(body).toMatchObject({ data: null, errors: [{ message: 'division by zero' }] });
  expect(body.errors).toHaveLength(1);
});

describe('a function that meddles with prepared statements', () => {
  test('by deallocating all of them costs no other request its answer', async () => {
    for (let round = 0; round < 3; round++) expect((await gateway.ask(look)).body).toEqual(clean);
    expect((await gateway.ask('mutation { preparePoison(name: "") }')).body).toEqual({ data: { preparePoison: 1 } });
    for (let round = 0; round < 3; round++) expect((await gateway.ask(look)).body).toEqual(clean);
  });

  test('by preparing one under a name of the gateway costs no other request its answer', async () => {
    for (let round = 0; round < 3; round++) await gateway.ask(look);
    const names: string[] = (await gateway.ask('mutation { preparedNames }')).body.data.preparedNames.split(' ');
    expect(names.length).toBeGreaterThan(1);
    const other = await testGateway(database, { poolSize: 1, schemaPollMs: 600_000 });
    for (const name of names) {
      await other.ask('mutation ($name: String!) { preparePoison(name: $name) }', { variables: { name } });
    }
    for (let round = 0; round < 3; round++) expect((await other.ask(look)).body).toEqual(clean);
  });
});
