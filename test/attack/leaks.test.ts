/**
 * Reading through errors: a message, its extensions and the log tell nothing of rows, columns and tables that the caller
 * may not see, nothing of SQL, and no secret of anybody.
 */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../../src/gateway.ts';
import { createLogger } from '../../src/shared/logger.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey, operation, secret, testConfig, token } from '../support/http.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';
import { expectNothingLeaked } from './attack.ts';

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createDatabase(fixture('attack-secrets.sql'));
  gateway = await testGateway(database, { schemaPollMs: 600_000 }, atEnd);
});

/** Values that only others may see. */
const secrets = ['secret-', '777', 'third@', 'hidden.example', 'column-secret', 'hidden-secret'];

function expectNoSecret(text: string, allowed: readonly string[] = []): void {
  // The id of an error may have any digits.
  const said = text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id');
  for (const each of secrets) if (!allowed.includes(each)) expect(said).not.toContain(each);
  expectNothingLeaked(text);
}

const insert = (fields: string) =>
  `mutation { insertIntoAccountCollection(objects: [{id: 50, email: "new@example.com", owner: "anon", ${fields}}]) { affectedCount } }`;

describe('an error does not show values of its row', () => {
  test.each<[string, string, string, string]>([
    ['a key that is taken', insert('').replace('50', '2'), 'CONSTRAINT_VIOLATION', '23505'],
    ['a unique value that is taken', insert('').replace('new@', 'anon@').replace('example.com', 'visible.example'), 'CONSTRAINT_VIOLATION', '23505'],
    ['a check', insert('balance: 5000'), 'CONSTRAINT_VIOLATION', '23514'],
    ['an exclusion', insert('during: "[12,13)"'), 'CONSTRAINT_VIOLATION', '23P01'],
    ['a foreign key', insert('parentId: 999'), 'CONSTRAINT_VIOLATION', '23503'],
    ['a value that is missing', 'mutation { insertIntoAccountCollection(objects: [{id: 60, email: null, owner: "anon"}]) { affectedCount } }', 'CONSTRAINT_VIOLATION', '23502'],
    ['a row for somebody else', 'mutation { insertIntoAccountCollection(objects: [{id: 70, email: "x", owner: "ann"}]) { records { id } } }', 'PERMISSION_DENIED', '42501'],
    ['a table behind a function', 'mutation { writeHidden }', 'CONSTRAINT_VIOLATION', '23505'],
    ['a column that may not be read', 'mutation { insertIntoPartlyCollection(objects: [{id: 2, secret: "column-secret"}]) { affectedCount } }', 'CONSTRAINT_VIOLATION', '23505'],
  ])('%s', async (_name, query, code, sqlstate) => {
    const before = await database.query('select count(*) from account');
    const { body } = await gateway.ask(query);
    expect(body.data).toBeNull();
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].extensions).toMatchObject({ code, sqlstate });
    expect(body.errors[0].extensions).not.toHaveProperty('detail');
    expectNoSecret(JSON.stringify(body));
    expect(await database.query('select count(*) from account')).toEqual(before);
  }); // biome-ignore format: a table

  test.each<[string, string, string, string]>([
    ['a constraint of a table behind a function', 'mutation { writeHidden }', 'CONSTRAINT_VIOLATION', '23505'],
    ['a foreign key of a hidden table', 'mutation { deleteFromParentCollection(filter: {id: {eq: 1}}) { affectedCount } }', 'CONSTRAINT_VIOLATION', '23503'],
    ['a hidden table between two visible ones', 'mutation { deleteFromParentCollection(filter: {id: {eq: 2}}) { affectedCount } }', 'CONSTRAINT_VIOLATION', '23503'],
    ['the table behind a view', 'mutation { insertIntoFrontCollection(objects: [{id: 1, note: "bad"}]) { affectedCount } }', 'CONSTRAINT_VIOLATION', '23514'],
    ['a column behind a view', 'mutation { insertIntoFrontCollection(objects: [{id: 1, note: null}]) { affectedCount } }', 'CONSTRAINT_VIOLATION', '23502'],
    ['a hidden column', 'mutation { insertIntoCheckedCollection(objects: [{id: 1, shown: "x"}]) { records { id } } }', 'CONSTRAINT_VIOLATION', '23502'],
    ['a check of a hidden column', 'mutation { insertIntoPriceCollection(objects: [{id: 1, shown: "bad"}]) { records { id } } }', 'CONSTRAINT_VIOLATION', '23514'],
    ['what a policy asks', '{ watchedCollection { totalCount: __typename edges { cursor } } }', 'PERMISSION_DENIED', '42501'],
    ['what a function asks', '{ askVault }', 'PERMISSION_DENIED', '42501'],
  ])('an error does not name what the role does not see: %s', async (_name, query, code, sqlstate) => {
    const { body } = await gateway.ask(query);
    expect(body.data).toBeNull();
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].extensions).toEqual({ code, sqlstate, id: expect.any(String) });
    expect(JSON.stringify(body)).not.toMatch(/vault|ledger|chain|base|hidden|kept/);
    const { id } = body.errors[0].extensions;
    expect(gateway.observations).toContainEqual(expect.objectContaining({ kind: 'masked_error', id }));
  }); // biome-ignore format: a table

  test.each([
    ['a function of its owner', '{ setting(name: "password") }', 'invalid input syntax for type integer: "…"', '22P02'],
    [
      'a policy',
      '{ levelledCollection { edges { node { id } } } }',
      'invalid input syntax for type integer: "…"',
      '22P02',
    ],
    ['a time zone', '{ settingAsZone(name: "password") }', 'time zone "…" not recognized', '22023'],
    ['a date of its own format', '{ settingAsDate(name: "password") }', 'invalid value "…"', '22007'],
  ])('an error does not quote a value that does not convert, behind %s', async (_place, query, message, sqlstate) => {
    const { body } = await gateway.ask(query);
    expectNoSecret(JSON.stringify(body));
    const { id } = body.errors[0].extensions;
    expect(body.errors).toMatchObject([
      {
        message,
        extensions: { code: 'BAD_USER_INPUT', sqlstate },
      },
    ]);
    expect(gateway.observations).toContainEqual(expect.objectContaining({ kind: 'masked_error', id }));
  });

  test('an error does not quote a value that the token has, or that is a part of what was sent', async () => {
    expect((await gateway.ask('{ setting(name: "timeout") }')).body).toEqual({ data: { setting: 30 } });
    const headers = { authorization: `Bearer ${await token({ role: 'authenticated', sub: 'number 7' })}` };
    const { body } = await gateway.ask('{ ownId }', { headers });
    expect(body.errors[0].message).toBe('invalid input syntax for type uuid: "…"');
  });

  test.each([
    ['23505', 'price_shown_key', '{id: 3, shown: "one"}, {id: 4, shown: "one"}'],
    ['23514', 'price_shown_check', '{id: 3, shown: ""}'],
    ['23514', 'price_shown_check', '{id: 3, shown: "x", nearId: 0}'],
    ['23503', 'price_near', '{id: 3, shown: "x", nearId: 99}'],
    ['23P01', 'price_near_once', '{id: 3, shown: "x", nearId: 3}, {id: 4, shown: "y", nearId: 3}'],
  ])('a constraint of columns that it sees is named, though the table has others: %s %s', async (sqlstate, constraint, objects) => {
    const { body } = await gateway.ask(`mutation { insertIntoPriceCollection(objects: [${objects}]) { affectedCount } }`);
    expect(body.errors[0].extensions).toEqual({ code: 'CONSTRAINT_VIOLATION', sqlstate, table: 'price', constraint });
    expect(body.errors[0].message).toContain(`"${constraint}"`);
  }); // biome-ignore format: a table

  test.each([
    ['23505', '{id: 3, shown: "A"}, {id: 4, shown: "a"}'],
    ['23505', '{id: 3, shown: "mod1"}, {id: 103, shown: "mod2"}'],
    ['23514', '{id: 9, shown: "whole"}'],
    ['23503', '{id: 3, shown: "of"}'],
    ['23P01', '{id: 3, shown: "alone1"}, {id: 4, shown: "alone2"}'],
  ])('a constraint of other columns, of expressions or of the row is not named: %s %s', async (sqlstate, objects) => {
    const { body } = await gateway.ask(
      `mutation { insertIntoPriceCollection(objects: [${objects}]) { affectedCount } }`,
    );
    const { id } = body.errors[0].extensions;
    expect(body.errors[0].extensions).toEqual({ code: 'CONSTRAINT_VIOLATION', sqlstate, id });
    expect(body.errors[0].message).not.toContain('price_');
  });

  test('what the author of a function says is not changed', async () => {
    const { body } = await gateway.ask('mutation { ownWords }');
    expect(body.errors).toMatchObject([
      { message: 'Only owners of vault.ledger may.', extensions: { code: 'PERMISSION_DENIED', sqlstate: '42501' } },
    ]);
  });

  test('a value of a column that may not be written is not told by its absence either', async () => {
    const { body } = await gateway.ask('{ partlyCollection { edges { node { secret } } } }');
    expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

describe('rows that may not be seen', () => {
  test('rows that may not be seen take no part in computing, counting or failing', async () => {
    const { body } = await gateway.ask(
      '{ ratioCollection { edges { node { value } } } parsedCollection { edges { node { value } } } }',
    );
    expect(body).toEqual({
      data: { ratioCollection: { edges: [{ node: { value: 100 } }] }, parsedCollection: { edges: [] } },
    });
    const all = await gateway.ask(
      '{ accountCollection { totalCount aggregate { count max { balance note } } pageInfo { hasNextPage } } a: peek(id: 2) b: peek(id: 99) }',
    );
    expect(all.body.data).toEqual({
      accountCollection: {
        totalCount: 1,
        aggregate: { count: 1, max: { balance: 10, note: 'visible' } },
        pageInfo: { hasNextPage: false },
      },
      a: null,
      b: null,
    });
  });

  test('rows that may not be seen cannot be told from rows that are not there', async () => {
    const id = (key: number) => Buffer.from(JSON.stringify(['public', 'account', key])).toString('base64');
    const ask = async (key: number) => {
      const query = `{ node(nodeId: "${id(key)}") { nodeId } accountByPk(id: ${key}) { id } accountCollection(filter: {id: {eq: ${key}}}) { totalCount edges { cursor } } }`;
      return JSON.stringify((await gateway.ask(query)).body);
    };
    expect(await ask(2)).toBe(await ask(99));
    const write = async (key: number) =>
      JSON.stringify(
        (
          await gateway.ask(
            `mutation { updateAccountCollection(filter: {id: {eq: ${key}}}, set: {balance: 5000}) { affectedCount } deleteFromAccountCollection(filter: {id: {eq: ${key}}}) { affectedCount } }`,
          )
        ).body,
      );
    expect(await write(2)).toBe(await write(99));
  });

  test('rows that may not be seen are not evaluated by a filter that fails on them', async () => {
    const { body } = await gateway.ask(
      '{ accountCollection(filter: {note: {regex: "secret-(.*)"}}, orderBy: [{balance: AscNullsLast}]) { totalCount } }',
    );
    expect(body).toEqual({ data: { accountCollection: { totalCount: 0 } } });
  });
});

describe('what a function raises', () => {
  test('what a function raises passes with detail and hint, because its author says it to the caller', async () => {
    const { body } = await gateway.ask('mutation { raiseAll }');
    expect(body.errors[0]).toMatchObject({
      message: 'what the author says',
      extensions: { code: 'RAISED', sqlstate: 'P0001', detail: 'the detail', hint: 'the hint' },
    });
  });

  test.each(['raiseStrange', 'broken'])('with another code is masked under an id (%s)', async (field) => {
    const { body } = await gateway.ask(`mutation { ${field} }`);
    expect(body.data).toBeNull();
    expect(body.errors[0]).toMatchObject({
      message: expect.stringMatching(/^(?:Unexpected error|The text of a function or trigger cannot work as it is)\./),
      extensions: { code: 'INTERNAL' },
    });
    expect(Object.keys(body.errors[0].extensions).sort()).toEqual(['code', 'id']);
    expectNoSecret(JSON.stringify(body));
    const masked = gateway.observations.filter(({ kind }) => kind === 'masked_error');
    expect(masked.at(-1)).toMatchObject({ id: body.errors[0].extensions.id });
  });
});

describe('suggestions', () => {
  test.each([
    '{ accountCollectio { edges { cursor } } }',
    '{ accountCollection { edges { node { emai } } } }',
    '{ accountCollection(filtr: {}) { edges { cursor } } }',
    '{ accountCollection(filter: {emai: {eq: "x"}}) { edges { cursor } } }',
    '{ accountCollection(orderBy: [{emai: AscNullsLast}]) { edges { cursor } } }',
    '{ accountCollection(orderBy: [{email: AscNullsLas}]) { edges { cursor } } }',
    'query ($f: AccountFilte) { accountCollection(filter: $f) { edges { cursor } } }',
    '{ accountCollection { ... on Accoun { id } } }',
  ])('name nothing where introspection is off: %s', async (query) => {
    const { body } = await gateway.ask(query);
    expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(body.errors.map((error: Error) => error.message).join()).not.toMatch(
      /did you mean|"accountCollection"|"email"|"filter"|"AscNullsLast"/i,
    );
  });

  test('name nothing for a variable either', async () => {
    const { body } = await gateway.ask(
      'query ($f: AccountFilter) { accountCollection(filter: $f) { edges { cursor } } }',
      { variables: { f: { emai: { eq: 'x' } } } },
    );
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    expect(JSON.stringify(body)).not.toMatch(/did you mean|"email/i);
  });

  test('never name what the role may not see, where introspection is on', async () => {
    const open = await testGateway(database, { schemaPollMs: 600_000, introspection: 'always' });
    for (const query of [
      '{ hiddenCollectio { edges { cursor } } }',
      '{ partlyCollection { edges { node { secre } } } }',
    ]) {
      const { body } = await open.ask(query);
      expect(JSON.stringify(body)).not.toMatch(/"(hiddenCollection|Hidden|secret)\\?"/);
    }
  });
});

describe('the log', () => {
  test('the log has no token, key, variable, header, SQL text or row, whatever happens', async () => {
    const lines: string[] = [];
    const { observe, flush } = await createLogger({
      level: 'trace',
      format: 'json',
      slowMs: 0,
      stream: { write: (line) => void lines.push(line) },
    });
    const seen: Observation[] = [];
    const observing = (observation: Observation) => {
      seen.push(observation);
      observe(observation);
    };
    const config = testConfig({
      databaseUrl: database.urlAs('authenticator', 'test'),
      schemas: ['public'],
      port: 0,
      schemaPollMs: 600_000,
    });
    const logged = await startGateway(config, { observe: observing });
    onTestFinished(() => logged.stop());
    const user = await token({ role: 'authenticated', sub: 'private-subject', email: 'private@claim.example' });
    const bodies = [
      operation('query ($s: String) { accountCollection(filter: {email: {eq: $s}}) { totalCount } }', {
        variables: { s: 'private-variable' },
      }),
      operation('{ accountCollection(filter: {email: {eq: "private-literal"}}) { totalCount } }'),
      operation('mutation { raiseStrange }'),
      operation('mutation { broken }'),
      operation('mutation { raiseAll }'),
      operation(insert('').replace('50', '2').replace('new@', 'private-email@')),
      operation(insert('note: "private-note", balance: 5000')),
      '{"query": "private-malformed',
      operation('{ privateUnknownField }'),
      operation('query a { __typename }', { operationName: 'private name\n\u001b[31m' }),
      operation('query a { __typename }', { operationName: `private${'x'.repeat(100_000)}` }),
    ];
    for (const body of bodies) {
      for (const authorization of [`Bearer ${user}`, 'Bearer private.wrong.token', `Bearer ${anonKey}`]) {
        await fetch(`${logged.url}/graphql/v1?apikey=private-parameter`, {
          method: 'POST',
          headers: {
            apikey: anonKey,
            authorization,
            'content-type': 'application/json',
            cookie: 'private-cookie',
            'x-private': 'private-header',
          },
          body,
        });
      }
    }
    flush();
    const text = lines.join('\n');
    expect(lines.length).toBeGreaterThan(bodies.length * 3);
    for (const hidden of [
      'private',
      user,
      anonKey,
      secret,
      'test@',
      'secret-person',
      'secret-note',
      'the detail',
      'secret-detail',
    ]) {
      expect(text).not.toContain(hidden);
    }
    expect(text).not.toMatch(/select |insert into|set_config|\$1/);
    expect(text).toMatch(/, in broken\(\) line \d+"/);
    expect(seen.some(({ kind }) => kind === 'masked_error')).toBe(true);
  });
});
