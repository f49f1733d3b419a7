/**
 * Patterns that would keep the database busy, or fill its memory: back references of regular expressions, in every syntax that
 * PostgreSQL knows, and JSON paths that multiply what they find, do not reach it.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { serviceKey } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table item (id int primary key, body text, data jsonb);
    insert into item values (1, 'abab'), (2, 'a.1'), (3, E'a\\\\1'), (4, repeat('ab', 2000) || 'x');
    update item set data = jsonb_build_object('body', body);
    grant usage on schema public to anon, service_role;
    grant select, update on item to anon, service_role;
  `);
  gateway = await testGateway(database, {}, atEnd);
});

const query = (operator: string) =>
  `query ($p: String) { itemCollection(filter: {body: {${operator}: $p}}, orderBy: [{id: AscNullsLast}]) { edges { node { id } } } }`;

const refused = { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] };

test.each([
  '^(ab)\\1$',
  '(?:(a)(b))\\2',
  '((((((((((a))))))))))\\10',
  '***:(a|b)+\\1',
  '(?b)\\(a\\)\\1',
  '***:(?bi)\\(a\\)\\1',
  '(?e)(a)\\1',
  '(?x)(a) # \\\n\\1',
  '(?#\\)(a)\\1',
  '(a)\\c\\\\1',
  '[\\](a)\\1',
  '([^\\\\])\\1',
  '(?n)(a)\\1*',
])('%s is refused', async (p) => {
  for (const operator of ['regex', 'iregex']) {
    expect((await gateway.ask(query(operator), { variables: { p } })).body).toMatchObject(refused);
  }
});

test('wherever it stands: in the document, within other filters, of a change', async () => {
  const literal = String.raw`"(a)\\1"`;
  for (const document of [
    `{ itemCollection(filter: {body: {regex: ${literal}}}) { edges { node { id } } } }`,
    `{ itemCollection(filter: {not: {or: [{id: {eq: 1}}, {and: [{body: {iregex: ${literal}}}]}]}}) { edges { node { id } } } }`,
    `mutation { updateItemCollection(set: {body: "x"}, atMost: 9, filter: {body: {regex: ${literal}}}) { affectedCount } }`,
  ]) {
    expect((await gateway.ask(document)).body).toMatchObject(refused);
  }
  expect(await database.query("select id from item where body = 'x'")).toEqual([]);
});

test('repetitions that PostgreSQL cannot write out are the caller’s mistake', async () => {
  const { body } = await gateway.ask(query('regex'), { variables: { p: '(a{1,200}){1,200}' } });
  expect(body.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(body.errors[0].message).toContain('The regular expression is too large');
});

const byPath = 'query ($p: String) { itemCollection(filter: {data: {matches: $p}}) { edges { node { id } } } }';

describe('in a JSON path', () => {
  // PostgreSQL reads escapes in names and keywords, too.
  const evil = [
    '$.body like_regex "^(ab)\\\\1$"',
    '$.body like_regex "^(ab)\\u005c1$"',
    '$.body like_regex "^(ab)\\u{5C}1$"',
    '$.body like_regex "^(ab)\\x5c1$"',
    '$.body like_regex "^(ab)\\\\\\u0031$"',
    '$.body l\\u0069ke_regex "^(ab)\\\\1$"',
    '$.body l\\ike_regex "^(ab)\\\\1$"',
    '$.body \\x6cike\\u005fregex "^(ab)\\u005C1$" flag "i"',
    '$ ? (@.body like_regex "^(ab)\\\\1$")',
    '$.body /* */ like_regex /* */ "^(ab)\\\\1$"',
  ];

  test.each(evil)('%s is refused', async (p) => {
    expect((await gateway.ask(byPath, { variables: { p } })).body).toMatchObject(refused);
    const inPart = byPath.replace('matches: $p', 'at: {path: [], json: {at: {path: [], json: {matches: $p}}}}');
    expect((await gateway.ask(inPart, { variables: { p } })).body).toMatchObject(refused);
    // They are what they look like.
    const found = { data: { itemCollection: { edges: [{ node: { id: 1 } }] } } };
    expect((await gateway.ask(byPath, { variables: { p }, key: serviceKey })).body).toEqual(found);
  });

  test('without a back reference is answered', async () => {
    const ids = async (p: string) => {
      const { body } = await gateway.ask(byPath, { variables: { p } });
      return body.data.itemCollection.edges.map(({ node }: { node: { id: number } }) => node.id);
    };
    expect(await ids('$.body like_regex "^a[.]1$"')).toEqual([2]);
    expect(await ids('$.body == "a\\u002e1"')).toEqual([2]);
    expect(await ids('$."b\\u006fdy" starts with "abab"')).toEqual([1, 4]);
  });
});

test('a JSON path that multiplies what it finds is refused, for the service role, too', async () => {
  for (const p of [
    '$.**.** == 1',
    'strict $.**./* */** ? (@ > 1)',
    '$ ? (exists(@.**) && exists(@.**{2 to last}))',
    '$.**[*].**',
  ]) {
    for (const key of [undefined, serviceKey]) {
      const { body } = await gateway.ask(byPath, { variables: { p }, ...(key && { key }) });
      expect(body).toMatchObject({
        errors: [{ message: 'A JSON path has "**" at most once.', extensions: { input: '$p' } }],
      });
    }
  }
  const once = await gateway.ask(byPath, { variables: { p: '$.** ? (@ == "a.1" || @ == "**.**")' } });
  expect(once.body).toEqual({ data: { itemCollection: { edges: [{ node: { id: 2 } }] } } });
});

test('reading a long path takes no longer than its length', async () => {
  for (const piece of ['/*', '"', '(', '\\', '$.a.', '"\\', '**', '$', '{', '* /']) {
    const p = piece.repeat(400_000 / piece.length);
    const { body } = await gateway.ask(byPath, { variables: { p } });
    expect(body.errors[0].extensions.code, piece).toMatch(/BAD_USER_INPUT|LIMIT_EXCEEDED/);
  }
});

test('a long path or pattern is read once, however often it is used', async () => {
  const use = async (operator: string, p: string, times: number) => {
    const document = `query ($p: String) { itemCollection(filter: {or: [${`{${operator}} `.repeat(times)}]}) { edges { node { id } } } }`;
    const { body } = await gateway.ask(document, { variables: { p } });
    return body.errors[0].extensions;
  };
  // Read each time, this would take minutes.
  const tooLong = { code: 'LIMIT_EXCEEDED', limit: 'text' };
  expect(await use('data: {matches: $p}', `$.a${'.b'.repeat(200_000)}`, 1500)).toEqual(tooLong);
  const escaped = `$.a ? (@ like_regex "${'\\x'.repeat(5000)}")`;
  expect(await use('data: {matches: $p}', escaped, 1500)).toMatchObject({ code: 'BAD_USER_INPUT' });
  // The same text, in both languages.
  expect(await use('data: {matches: $p}, body: {regex: $p}', '(a)\\1', 1)).toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('a pattern without a back reference is answered, also where it has the characters of one', async () => {
  const ids = async (p: string) => {
    const { body } = await gateway.ask(query('regex'), { variables: { p } });
    return body.data.itemCollection.edges.map(({ node }: { node: { id: number } }) => node.id);
  };
  expect(await ids('a[\\\\]1')).toEqual([3]);
  expect(await ids('^a\\.1$')).toEqual([2]);
  expect(await ids('\\d')).toEqual([2, 3]);
  expect(await ids('\\x31$')).toEqual([2, 3]);
});

test('the service role may refer back, and everybody where an operator has said so', async () => {
  const asked = [query('regex'), { variables: { p: '^(ab)\\1$' } }] as const;
  const found = { data: { itemCollection: { edges: [{ node: { id: 1 } }] } } };
  expect((await gateway.ask(asked[0], { ...asked[1], key: serviceKey })).body).toEqual(found);
  const open = await testGateway(database, { limits: { ...defaultConfig.limits, allowBackReferences: true } });
  expect((await open.ask(...asked)).body).toEqual(found);
});
