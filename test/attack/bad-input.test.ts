/**
 * Requests that are wrong, huge or hostile in form, over the network to a gateway on a real database: each gets a clear
 * error with a stable code, quickly, and the gateway goes on.
 */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { operation, serviceKey } from '../support/http.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';
import { expectNoDamage, expectNothingLeaked, nest, post } from './attack.ts';

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createDatabase(
    fixture('attack-victim.sql'),
    'grant usage on schema public to service_role; grant all on victim to service_role;',
  );
  const limits = { ...defaultConfig.limits, maxBodyBytes: 8 * 1024 * 1024 };
  gateway = await testGateway(database, { schemaPollMs: 600_000, limits }, atEnd);
});
afterEach(async () => {
  await expectNoDamage(gateway, database);
  // Nothing a client sends is a mistake of ours.
  expect(gateway.observations.filter(({ kind }) => kind === 'masked_error')).toEqual([]);
});

const selection = 'edges { node { id } }';
const many = (count: number, make: (index: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);
const filtered = 'query ($f: VictimFilter) { victimCollection(filter: $f) { edges { node { id } } } }';
const equal = (value: string) => `{ victimCollection(filter: {id: {eq: ${value}}}) { ${selection} } }`;

describe('a body that is', () => {
  test.each<[string, string | Uint8Array<ArrayBuffer>, number, string]>([
    ['no JSON', '{"query": "{ __typename }"', 400, 'BAD_REQUEST'],
    ['empty', '', 400, 'BAD_REQUEST'],
    ['an empty array', '[]', 400, 'BAD_REQUEST'],
    ['a string', '"{ __typename }"', 400, 'BAD_REQUEST'],
    ['without a document', '{"variables":{}}', 400, 'BAD_REQUEST'],
    ['with a document of another type', '{"query":{"a":1}}', 400, 'BAD_REQUEST'],
    ['not UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), 400, 'BAD_REQUEST'],
    ['JSON nested half a million deep', nest(500_000, '[', ']'), 400, 'BAD_REQUEST'],
    ['over the limit of its size', operation(`{ __typename } #${'x'.repeat(9_000_000)}`), 413, 'BODY_TOO_LARGE'],
    ['with variables of another type', '{"query":"{ __typename }","variables":[]}', 200, 'BAD_USER_INPUT'],
    ['with an operation name of another type', '{"query":"{ __typename }","operationName":1}', 200, 'BAD_USER_INPUT'],
  ])('%s is refused', async (_name, body, status, code) => {
    const reply = await post(gateway, body);
    expect([reply.status, reply.body.errors[0].extensions.code]).toEqual([status, code]);
    expectNothingLeaked(reply.text);
  });

  test('five megabytes of comment is read where the limit allows it, and refused by default', async () => {
    const body = operation(`{ victimCollection { ${selection} } } #${'x'.repeat(5_000_000)}`);
    expect((await post(gateway, body)).body.data).toEqual({ victimCollection: { edges: [{ node: { id: 1 } }] } });
    const usual = await testGateway(database, { schemaPollMs: 600_000 });
    expect((await post(usual, body)).status).toBe(413);
  });
});

describe('a document', () => {
  const boss = (levels: number) =>
    `{ victimCollection { edges { node ${nest(levels, '{ id boss ', ' }', '{ id }')} } } }`;
  const fragments = (count: number, body: (index: number) => string) =>
    `{ victimCollection { edges { node { ...f0 } } } } ${many(count, (index) => `fragment f${index} on Victim { ${body(index)} }`)}`;
  const refusals: readonly (readonly [string, string, string])[] = [
    ['that is empty', '', 'GRAPHQL_PARSE_FAILED'],
    ['that is no GraphQL', '{ victimCollection { ', 'GRAPHQL_PARSE_FAILED'],
    ['with a NUL', '{ a\u0000b: __typename }', 'GRAPHQL_PARSE_FAILED'],
    ['with an unfinished string', '{ echo(value: "x) }', 'GRAPHQL_PARSE_FAILED'],
    ['with an escape that is none', '{ echo(value: "\\q") }', 'GRAPHQL_PARSE_FAILED'],
    ['with half a surrogate pair', '{ echo(value: "\\ud800") }', 'GRAPHQL_PARSE_FAILED'],
    ['of 10,000 nested braces', nest(10_000, '{', '}'), 'GRAPHQL_PARSE_FAILED'],
    ['of 9,000 nested fields', nest(9000, '{a', '}'), 'LIMIT_EXCEEDED'],
    ['with 9,000 nested lists', `{ victimCollection(filter: {and: ${nest(9000, '[', ']')}}) { ${selection} } }`, 'LIMIT_EXCEEDED'],
    ['with 3,000 nested objects', `{ victimCollection(filter: ${nest(3000, '{not: ', '}', '{}')}) { ${selection} } }`, 'LIMIT_EXCEEDED'],
    ['of 200 levels of tables', boss(200), 'LIMIT_EXCEEDED'],
    ['of 2,000 levels of tables', boss(2000), 'LIMIT_EXCEEDED'],
    ['with 10,000 aliases', `{ ${many(10_000, (index) => `a${index}: __typename`)} }`, 'LIMIT_EXCEEDED'],
    ['with 600 aliases', `{ ${many(600, (index) => `a${index}: __typename`)} }`, 'LIMIT_EXCEEDED'],
    ['with 60 root fields', `{ ${many(60, (index) => `a${index}: __typename`)} }`, 'LIMIT_EXCEEDED'],
    ['whose fragments double 25 times', fragments(26, (index) => (index === 25 ? 'id' : `a: boss { ...f${index + 1} } b: boss { ...f${index + 1} }`)), 'LIMIT_EXCEEDED'],
    ['that repeats a field 9,000 times', `{ victimCollection { edges { node { ${'id '.repeat(9000)} } } } }`, 'LIMIT_EXCEEDED'],
    ['with a cycle of fragments', '{ victimCollection { ...f } } fragment f on VictimConnection { ...f }', 'GRAPHQL_VALIDATION_FAILED'],
    ['with 5,000 unknown fields', `{ ${many(5000, (index) => `x${index}`)} }`, 'GRAPHQL_VALIDATION_FAILED'],
    ['with a field that every object inherits', '{ constructor toString hasOwnProperty }', 'GRAPHQL_VALIDATION_FAILED'],
    ['with an argument that every object inherits', '{ echo(constructor: "x", value: "y") }', 'GRAPHQL_VALIDATION_FAILED'],
    ['with a key that every object inherits', equal('1').replace('id:', '__proto__:'), 'GRAPHQL_VALIDATION_FAILED'],
    ['with a value of another type', equal('"one"'), 'GRAPHQL_VALIDATION_FAILED'],
    ['with a number out of range', equal('99999999999999999999'), 'GRAPHQL_VALIDATION_FAILED'],
    ['with an unknown directive', '{ victimCollection @drop { edges { cursor } } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['with definitions of a schema', 'type Query { a: Int } { __typename }', 'GRAPHQL_VALIDATION_FAILED'],
    ['without an operation', 'fragment f on Victim { id }', 'OPERATION_NOT_FOUND'],
    ['of 3,000 operations without a choice', many(3000, (index) => `query q${index} { __typename }`), 'OPERATION_NOT_FOUND'],
    ['that subscribes', 'subscription { victimCollection { edges { cursor } } }', 'BAD_USER_INPUT'],
  ]; // biome-ignore format: a table
  test.each(refusals)('%s is refused', async (_name, query, code) => {
    const reply = await post(gateway, operation(query));
    expect([reply.status, [...new Set(reply.body.errors.map((error: Refusal) => error.extensions.code))]]).toEqual([
      200,
      [code],
    ]);
    expect(reply.body.data).toBeUndefined();
    expect(reply.text.length).toBeLessThan(30_000);
    expectNothingLeaked(reply.text);
  });

  test.each(refusals)(
    '%s is refused or answered for the service role too, and other requests are still answered',
    async (_name, query) => {
      const reply = await post(gateway, operation(query), { apikey: serviceKey });
      expect(reply.status).toBe(200);
      for (const error of reply.body.errors ?? []) expect(error.extensions.code).not.toBe('INTERNAL');
    },
  );

  test('whose fragments repeat themselves without anything new is answered', async () => {
    const query = fragments(31, (index) => (index === 30 ? 'id' : `...f${index + 1} ...f${index + 1}`));
    expect((await post(gateway, operation(query))).body.data).toEqual({
      victimCollection: { edges: [{ node: { id: 1 } }] },
    });
  });

  test('a document may use any name as an alias, those of every object too, of any length', async () => {
    const long = 'a'.repeat(10_000);
    const keys = ['__proto__', 'constructor', 'toString', 'select', 'null', 'x', 'e', 'n1', 'data', long];
    const inner = keys.map((key) => `${key}: body`).join(' ');
    const reply = await post(
      gateway,
      operation(`{ __proto__: victimCollection { then: edges { valueOf: node { ${inner} } } } }`),
    );
    const node = keys.map((key) => `"${key}":"seen by all"`).join(',');
    expect(reply.text.replaceAll(' ', '').replaceAll('seenbyall', 'seen by all')).toBe(
      `{"data":{"__proto__":{"then":[{"valueOf":{${node}}}]}}}`,
    );
  });
});

interface Refusal {
  readonly extensions: { readonly code: string };
}

describe('variables', () => {
  const refusals: readonly (readonly [string, string, string, string])[] = [
    ['nested 20,000 deep', filtered, `{"f":${nest(20_000, '{"not":', '}', '{}')}}`, 'LIMIT_EXCEEDED'],
    ['nested 100,000 deep', filtered, `{"f":${nest(100_000, '{"not":', '}', '{}')}}`, 'LIMIT_EXCEEDED'],
    ['with a key that every object inherits', filtered, '{"f":{"__proto__":{"eq":1},"constructor":{"eq":2}}}', 'BAD_USER_INPUT'],
    ['of a type that is none of the declared', filtered, '{"f":{"id":{"eq":{"$gt":0}}}}', 'BAD_USER_INPUT'],
    ['with a list for a number', filtered, '{"f":{"id":{"eq":[1]}}}', 'BAD_USER_INPUT'],
    ['with a number that is infinite', filtered, '{"f":{"id":{"eq":1e400}}}', 'BAD_USER_INPUT'],
    ['with a number of 900,000 digits', filtered, `{"f":{"id":{"eq":${'9'.repeat(900_000)}}}}`, 'BAD_USER_INPUT'],
    ['with a NUL', 'query ($s: String!) { echo(value: $s) }', '{"s":"a\\u0000b"}', 'BAD_USER_INPUT'],
    ['with half a surrogate pair', 'query ($s: String!) { echo(value: $s) }', '{"s":"\\ud800"}', 'BAD_USER_INPUT'],
    ['that are missing', 'query ($s: String!) { echo(value: $s) }', '{}', 'BAD_USER_INPUT'],
    ['named like what every object inherits', 'query ($__proto__: Int, $constructor: Int) { addUp(a: $__proto__, b: $constructor) }', '{"constructor":2}', 'BAD_USER_INPUT'],
    ['with a broken expression', 'query ($f: VictimFilter) { victimCollection(filter: $f) { edges { cursor } } }', '{"f":{"body":{"regex":"["}}}', 'BAD_USER_INPUT'],
    ['with a date that is none', filtered, '{"f":{"at":{"eq":"2026-02-30T00:00:00Z"}}}', 'BAD_USER_INPUT'],
    ['with a UUID that is none', filtered, '{"f":{"token":{"eq":"\' or true --"}}}', 'BAD_USER_INPUT'],
    ['with a value no enum has', filtered, '{"f":{"state":{"eq":"angry"}}}', 'BAD_USER_INPUT'],
    ['with a decimal that overflows', 'query ($s: BigFloat) { victimCollection(filter: {size: {eq: $s}}) { edges { cursor } } }', '{"s":"1e130000"}', 'BAD_USER_INPUT'],
  ]; // biome-ignore format: a table
  test.each(refusals)('%s are refused', async (_name, query, variables, code) => {
    const reply = await post(gateway, `{"query":${JSON.stringify(query)},"variables":${variables}}`);
    expect([reply.status, reply.body.errors[0].extensions.code]).toEqual([200, code]);
    expect(reply.body.data ?? null).toBeNull();
    expect(reply.text.length).toBeLessThan(5000);
    expectNothingLeaked(reply.text);
  });

  test('of 34,000 filters in one list are refused, of 3,000 answered', async () => {
    const query = 'query ($l: [VictimFilter!]) { victimCollection(filter: {or: $l}) { edges { node { id } } } }';
    const list = (length: number) => ({ l: Array.from({ length }, (_, index) => ({ id: { eq: index, gt: 0 } })) });
    expect((await gateway.ask(query, { variables: list(3000) })).body.data.victimCollection.edges).toHaveLength(1);
    const { body } = await gateway.ask(query, { variables: list(34_000) });
    expect(body.errors[0].extensions.code).toBe('LIMIT_EXCEEDED');
  });
});

describe('variables of the usual size', () => {
  test('with 66,000 conditions are refused, and other requests are answered meanwhile', async () => {
    const variables = { f: { or: Array.from({ length: 66_000 }, () => ({ id: { eq: 1 } })) } };
    const others = Array.from({ length: 20 }, (_, a) => gateway.ask(`{ addUp(a: ${a}, b: 1) }`));
    const { body } = await gateway.ask(filtered, { variables });
    expect(body.errors[0].extensions).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 'inputs' });
    const answers = (await Promise.all(others)).map((reply) => reply.body);
    expect(answers).toEqual(answers.map((_, a) => ({ data: { addUp: a + 1 } })));
  });

  test('with very many unknown keys are refused without a search for the nearest name of each', async () => {
    const f = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`k${index}`, 1]));
    const start = process.cpuUsage();
    const { body } = await gateway.ask(filtered, { variables: { f } });
    const { user } = process.cpuUsage(start);
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    // Of a processor, whatever else it has to do: a tenth of a second; to look for the nearest name for each would take minutes.
    expect(user / 1000).toBeLessThan(20_000);
  });
});

describe('a cursor or a node id', () => {
  const encode = (text: string) => Buffer.from(text).toString('base64');
  const nonsense = [
    ['empty', ''],
    ['no base64', '%%%'],
    ['base64 of nothing that is JSON', encode('drop table victim')],
    ['JSON that is no list', encode('{"a":1}')],
    ['an empty list', encode('[]')],
    ['a list of lists', encode('[[1],[2]]')],
    ['a list nested deep', encode(nest(50_000, '[', ']'))],
    ['a list of 100,000', encode(`[${'1,'.repeat(100_000)}1]`)],
    ['an injection', encode(`["public","victim","1; drop table victim; --"]`)],
    ['one of a hidden table', encode('["public","hidden",1]')],
    ['one of a catalog table', encode('["pg_catalog","pg_authid",10]')],
    ['one of no table', encode('["public","nothing",1]')],
  ] as const;
  test.each(nonsense)('%s is refused with the same code', async (_name, text) => {
    const node = await gateway.ask('query ($id: ID!) { node(nodeId: $id) { nodeId } }', { variables: { id: text } });
    expect([node.status, node.body.errors[0].extensions.code]).toEqual([200, 'BAD_USER_INPUT']);
    expectNothingLeaked(JSON.stringify(node.body));
    const query = 'query ($c: Cursor) { victimCollection(after: $c) { edges { node { id } } } }';
    const page = await gateway.ask(query, { variables: { c: text } });
    if (page.body.errors) expect(page.body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    else expect(page.body.data.victimCollection.edges.length).toBeLessThan(2);
    expectNothingLeaked(JSON.stringify(page.body));
  });

  test('of a hidden table gets the same error as one of no table', async () => {
    const ask = async (table: string) => {
      const id = encode(`["public","${table}",1]`);
      const { body } = await gateway.ask('query ($id: ID!) { node(nodeId: $id) { nodeId } }', { variables: { id } });
      return JSON.stringify(body).replaceAll(table, 'TABLE');
    };
    expect(await ask('hidden')).toBe(await ask('nothing'));
  });
});

describe('headers', () => {
  test.each<[string, Record<string, string>, number, string]>([
    ['a key that is no token', { apikey: "' or 1 = 1 --" }, 401, 'UNAUTHENTICATED'],
    ['a key of 8,000 characters', { apikey: 'k'.repeat(8000) }, 401, 'UNAUTHENTICATED'],
    ['a token that is none', { authorization: 'Bearer a.b.c' }, 401, 'UNAUTHENTICATED'],
    ['a token of dots', { authorization: `Bearer ${'.'.repeat(5000)}` }, 401, 'UNAUTHENTICATED'],
    ['a content type that is none', { 'content-type': 'x/../../etc/passwd' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['an encoding that is none', { 'content-encoding': 'gzip, gzip, br' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ])('with %s are refused', async (_name, headers, status, code) => {
    const reply = await post(gateway, operation('{ __typename }'), headers);
    expect([reply.status, reply.body.errors[0].extensions.code]).toEqual([status, code]);
    for (const value of Object.values(headers)) expect(reply.text).not.toContain(value);
    expectNothingLeaked(reply.text);
  });

  test('that are more than the server takes end the connection with an answer', async () => {
    const reply = await post(gateway, operation('{ __typename }'), { 'x-filler': 'x'.repeat(70_000) });
    expect([reply.status, reply.body.errors[0].extensions.code]).toEqual([431, 'BAD_REQUEST']);
  });
});
