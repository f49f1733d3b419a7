/**
 * Regular expressions that would keep the database busy: back references, in every syntax that PostgreSQL knows, do not reach it.
 */
import { beforeAll, expect, test } from 'vitest';
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
    create table item (id int primary key, body text);
    insert into item values (1, 'abab'), (2, 'a.1'), (3, E'a\\\\1'), (4, repeat('ab', 2000) || 'x');
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

test('what looks like one and is none has another form, and everything else is a pattern as before', async () => {
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
