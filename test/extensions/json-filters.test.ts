/** Rows are filtered by what JSON columns hold, and JSON fields answer parts (extension `json_filters`). */
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { bindSlots } from '../../src/graphql/compile/input/bind-slot.ts';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table doc (id int primary key, body jsonb, raw json, whole jsonb not null default '{}');
  insert into doc (id, body, raw) values
    (1, '{"name": "Ana", "age": 30, "tags": ["a", "b"], "on": true, "at": {"city": "Bern", "zip": 3000}}', '{"b":1, "a": "x"}'),
    (2, '{"name": "Ben", "age": "30", "tags": [], "on": false, "at": null}', '"text"'),
    (3, '[1, 2, [3]]', '[1]'),
    (4, '"name"', 'null'),
    (5, 'null', null),
    (6, null, null),
    (7, '{"age": 30.0, "name": null, "at": {"city": "Oslo"}}', '{}');
  grant select, insert, update, delete on doc to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });
const all = [1, 2, 3, 4, 5, 6, 7];

/** Ids of the rows that meet the filter. */
async function docs(
  filter: string,
  variables: Record<string, unknown> = {},
  declared = '',
): Promise<readonly number[]> {
  const query = `query ${declared} { docCollection(filter: ${filter}) { edges { node { id } } } }`;
  const { docCollection } = await execution.data('anon', query, { variables });
  return docCollection.edges.map(({ node }: { node: { id: number } }) => node.id);
}

/** Rows that meet the filter, and rows that meet its opposite; of all others it is unknown. */
type Case = readonly [filter: string, ids: readonly number[], others: readonly number[]];

async function check([filter, ids, others]: Case) {
  expect(await docs(`{body: ${filter}}`)).toEqual(ids);
  expect(await docs(`{not: {body: ${filter}}}`)).toEqual(others);
}

const here = [1, 2, 3, 4, 5, 7];
const but = (...ids: number[]) => here.filter((id) => !ids.includes(id));

describe('operators', () => {
  test.each<Case>([
    ['{contains: "{\\"age\\": 30}"}', [1, 7], but(1, 7)],
    ['{contains: "{\\"at\\": {\\"city\\": \\"Bern\\"}}"}', [1], but(1)],
    ['{contains: "{\\"tags\\": [\\"b\\"]}"}', [1], but(1)],
    ['{contains: "{\\"tags\\": []}"}', [1, 2], but(1, 2)],
    // An array contains a plain value, at the top alone.
    ['{contains: "2"}', [3], but(3)],
    ['{contains: "[[3]]"}', [3], but(3)],
    ['{contains: "3"}', [], here],
    ['{contains: "{\\"tags\\": \\"b\\"}"}', [], here],
    ['{contains: "null"}', [5], but(5)],
    ['{contains: "{}"}', [1, 2, 7], but(1, 2, 7)],
    ['{contains: null}', [], []],
    ['{containedBy: "[1, 2, 3, [3, 4]]"}', [3], but(3)],
    ['{containedBy: "{\\"age\\": 30, \\"name\\": null, \\"at\\": {\\"city\\": \\"Oslo\\"}, \\"x\\": 1}"}', [7], but(7)],
    ['{containedBy: null}', [], []],
    ['{eq: "[1, 2, [3]]"}', [3], but(3)],
    ['{eq: "{\\"at\\": {\\"city\\": \\"Oslo\\"}, \\"name\\": null, \\"age\\": 30}"}', [7], but(7)],
    ['{eq: "null"}', [5], but(5)],
    ['{eq: null}', [], []],
    ['{is: NULL}', [6], here],
    ['{is: NOT_NULL}', here, [6]],
    ['{hasKey: "age"}', [1, 2, 7], but(1, 2, 7)],
    // A text is its only key.
    ['{hasKey: "name"}', [1, 2, 4, 7], but(1, 2, 4, 7)],
    ['{hasKey: "city"}', [], here],
    ['{hasKey: null}', [], []],
    ['{hasAllKeys: ["age", "tags"]}', [1, 2], but(1, 2)],
    ['{hasAllKeys: "tags"}', [1, 2], but(1, 2)],
    ['{hasAllKeys: []}', here, []],
    ['{hasAllKeys: null}', [], []],
    ['{hasAnyKey: ["tags", "none"]}', [1, 2], but(1, 2)],
    ['{hasAnyKey: []}', [], here],
    ['{hasAnyKey: null}', [], []],
    ['{contains: "{\\"age\\": 30}", hasKey: "tags"}', [1], but(1)],
  ])('%s', async (...each) => check(each));

  test.each([
    '{}',
    'null',
    '{at: null}',
    '{at: []}',
    '{at: [{path: ["a"]}]}',
    '{at: {path: "a", text: null, json: {}}}',
  ])('%s is no condition', async (filter) => {
    expect(await docs(`{body: ${filter}}`)).toEqual(all);
    expect(await docs(`{not: {body: ${filter}}}`)).toEqual(all);
  });
});

describe('matches', () => {
  test.each<Case>([
    // A path finds something.
    ['{matches: "$.tags[*] ? (@ == \\"b\\")"}', [1], but(1)],
    ['{matches: "$.on"}', [1, 2], but(1, 2)],
    ['{matches: "$.**.city"}', [1, 7], but(1, 7)],
    ['{matches: "$.at.zip ? (@ > 2999)"}', [1], but(1)],
    ['{matches: "$[2][0]"}', [3], but(3)],
    ['{matches: "($.age)"}', [1, 2, 7], but(1, 2, 7)],
    ['{matches: "$.\\"name\\" ? (exists(@ ? (@ starts with \\"A\\")))"}', [1], but(1)],
    ['{matches: "($.age == 30).type()"}', here, []],
    // A predicate is true.
    ['{matches: "$.age == 30"}', [1, 7], but(1, 7)],
    ['{matches: "($.age == 30)"}', [1, 7], but(1, 7)],
    ['{matches: "strict $.age == 30"}', [1, 7], but(1, 7)],
    ['{matches: "!($.age == 30)"}', [3, 4, 5], [1, 2, 7]],
    ['{matches: "$.on == true"}', [1], but(1)],
    ['{matches: "exists($.tags[1])"}', [1], but(1)],
    ['{matches: "$.name like_regex \\"^b\\" flag \\"i\\""}', [2], but(2)],
    ['{matches: "$.name starts with \\"A\\" || $.at.city == \\"Oslo\\""}', [1, 7], but(1, 7)],
    ['{matches: "($.age > \\"a\\") is unknown"}', [1, 7], but(1, 7)],
    // What cannot be applied is no match, and its opposite is one.
    ['{matches: "strict $.tags"}', [1, 2], but(1, 2)],
    ['{matches: "$.name.double()"}', [], here],
    ['{matches: "$.age + 1"}', [1, 7], but(1, 7)],
    ['{matches: null}', [], []],
  ])('%s', async (...each) => check(each));

  test('a predicate and a path have a statement each, whatever their values', async () => {
    const query = 'query ($p: String) { docCollection(filter: {body: {matches: $p}}) { edges { node { id } } } }';
    const texts = async (...paths: string[]) => {
      const statements = await Promise.all(paths.map((p) => execution.statements('anon', query, { variables: { p } })));
      return new Set(statements.map(([statement]) => statement!.text));
    };
    const [found, met] = [await texts('$.a', '$.b[*] ? (@ > 1)', '$.'), await texts('$.a == 1', '$.b > 2 && $.c < 3')];
    expect([found.size, met.size]).toEqual([1, 1]);
    expect([...found][0]).toContain('operator(pg_catalog.@?) $1::"pg_catalog"."jsonpath"');
    expect([...met][0]).toContain('operator(pg_catalog.@@) $1::"pg_catalog"."jsonpath"');
    expect(await docs('{body: {matches: $p}}', { p: '$.age == 30' }, '($p: String)')).toEqual([1, 7]);
  });

  test.each([
    ['$.a >', 'syntax error at end of jsonpath input'],
    ['@.a', '@ is not allowed in root expressions'],
    ['last', 'LAST is allowed only in array subscripts'],
    ['$ ? (@ like_regex "(")', 'invalid regular expression: parentheses () not balanced'],
    ['$ ? (@ like_regex "a" flag "k")', 'invalid input syntax for type jsonpath'],
    ['$ ? (@ like_regex "a" flag "x")', 'XQuery "…" flag (expanded regular expressions) is not implemented'],
    ['', 'invalid input syntax for type jsonpath: ""'],
    ['"\\ud800"', 'invalid input syntax for type jsonpath'],
    ['$.x == $y', 'A JSON path has no variables here. Write the values into the path.'],
    ['$.**.a.**', 'A JSON path has "**" at most once.'],
  ])('%s is refused, and the answer says where', async (path, message) => {
    for (const [query, variables, place] of [
      [
        `{ docCollection(filter: {body: {matches: ${JSON.stringify(path)}}}) { edges { node { id } } } }`,
        {},
        'filter.body.matches',
      ],
      [
        'query ($p: String) { docCollection(filter: {body: {matches: $p}}) { edges { node { id } } } }',
        { p: path },
        '$p',
      ],
      [
        `mutation ($p: String) { deleteFromDocCollection(filter: {body: {matches: $p}}) { affectedCount } }`,
        { p: path },
        '$p',
      ],
    ] as const) {
      const { errors } = await execution.run('anon', query, { variables });
      const field = query.includes('mutation') ? 'deleteFromDocCollection' : 'docCollection';
      expect(errors).toMatchObject([{ message, path: [field], extensions: { code: 'BAD_USER_INPUT' } }]);
      if (!/^(invalid regular|XQuery)/.test(message)) expect(errors[0].extensions.input).toBe(place);
    }
  });

  test('a date that is compared with a time of another zone is refused', async () => {
    const path = '"2020-01-01".datetime() < "2020-01-01 00:00:00+00".datetime()';
    const query = `{ docCollection(filter: {body: {matches: ${JSON.stringify(path)}}}) { edges { node { id } } } }`;
    const { errors } = await execution.run('anon', query);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', input: 'filter.body.matches' } }]);
  });
});

describe('parts', () => {
  const at = (path: string, conditions: string) => `{at: {path: ${path}, ${conditions}}}`;

  test.each<Case>([
    [at('["name"]', 'text: {eq: "Ana"}'), [1], [2]],
    [at('["name"]', 'text: {in: ["Ana", "Ben"], neq: "Ben"}'), [1], [2]],
    [at('["age"]', 'text: {eq: "30"}'), [1, 2], [7]],
    [at('["age"]', 'text: {startsWith: "30."}'), [7], [1, 2]],
    [at('["tags", "1"]', 'text: {regex: "^b$"}'), [1], []],
    [at('["tags", "-1"]', 'text: {eq: "b"}'), [1], []],
    [at('["tags"]', 'text: {eq: "[]"}'), [2], [1]],
    [at('["name"]', 'text: {is: NULL}'), [3, 4, 5, 6, 7], [1, 2]],
    [at('["name"]', 'text: {eq: null}'), [], []],
    [at('[]', 'text: {eq: "name"}'), [4], [1, 2, 3, 7]],
    // A number is compared where there is one; elsewhere that is false.
    [at('["age"]', 'number: {eq: "30"}'), [1, 7], [2, 3, 4, 5, 6]],
    [at('["age"]', 'number: {gt: "9", lt: "100"}'), [1, 7], [2, 3, 4, 5, 6]],
    [at('["age"]', 'number: {neq: "30"}'), [], all],
    [at('["age"]', 'number: {is: NULL}'), [], all],
    [at('["age"]', 'number: {is: NOT_NULL}'), [1, 7], [2, 3, 4, 5, 6]],
    [at('["at", "zip"]', 'number: {in: ["3000", "1"]}'), [1], [2, 3, 4, 5, 6, 7]],
    [at('["0"]', 'number: {eq: "1"}'), [3], [1, 2, 4, 5, 6, 7]],
    [at('["age"]', 'number: {eq: null}'), [], [2, 3, 4, 5, 6]],
    [at('["on"]', 'boolean: {eq: true}'), [1], [2, 3, 4, 5, 6, 7]],
    [at('["on"]', 'boolean: {eq: false}'), [2], [1, 3, 4, 5, 6, 7]],
    [at('["name"]', 'boolean: {eq: true}'), [], all],
    [at('["at"]', 'json: {contains: "{\\"city\\": \\"Bern\\"}"}'), [1], [2, 7]],
    [at('["at"]', 'json: {hasAnyKey: ["zip"]}'), [1], [2, 7]],
    [at('["at"]', 'json: {matches: "$.zip > 1"}'), [1], [2, 7]],
    [at('["at"]', 'json: {eq: "null"}'), [2], [1, 7]],
    [at('["at"]', 'json: {at: {path: ["city"], text: {eq: "Oslo"}}}'), [7], [1]],
    // Null where it is absent, and JSON null is answered as null, too; `json` tells the two apart.
    [at('["at"]', 'is: NULL'), [2, 3, 4, 5, 6], [1, 7]],
    [at('["at"]', 'is: NOT_NULL'), [1, 7], [2, 3, 4, 5, 6]],
    [at('["at"]', 'json: {is: NULL}'), [3, 4, 5, 6], [1, 2, 7]],
    ['{at: [{path: ["name"], text: {eq: "Ana"}}, {path: ["age"], number: {gte: "30"}}]}', [1], [2, 3, 4, 5, 6]],
    [at('["name"]', 'text: {like: "A%"}, json: {eq: "\\"Ana\\""}'), [1], [2, 7]],
  ])('%s', async (...each) => check(each));

  test('the path is a value: an element of a statement, no text of it', async () => {
    const filter = '{body: {at: [{path: $path, text: {eq: $text}}]}}';
    const declared = '($path: [String!]!, $text: String)';
    const query = `query ${declared} { docCollection(filter: ${filter}) { edges { node { id } } } }`;
    const of = async (path: string[], text: string) => {
      const given = { variables: { path, text } };
      return [
        (await execution.statements('anon', query, given))[0]!.text,
        await docs(filter, given.variables, declared),
      ];
    };
    const [[first, ana], [second, bern]] = [await of(['name'], 'Ana'), await of(['at', 'city'], 'Bern')];
    expect([ana, bern]).toEqual([[1], [1]]);
    expect(second).toBe(first);
    expect(first).toContain('operator(pg_catalog.#>>) $1::"pg_catalog"."text"[]');
    expect(
      await docs('{body: {at: $at}}', { at: [{ path: ['on'], boolean: { eq: true } }] }, '($at: [JSONPathFilter!])'),
    ).toEqual([1]);
  });

  test('a path is needed', async () => {
    expect(
      await execution.errors('anon', '{ docCollection(filter: {body: {at: {text: {eq: "a"}}}}) { edges { cursor } } }'),
    ).toEqual([
      'Expected value of type "JSONPathFilter" to include required field "path", found: { text: { eq: "a" } }.',
    ]);
    const lenient =
      'query ($p: [String!]) { docCollection(filter: {body: {at: {path: $p, text: {eq: "a"}}}}) { edges { cursor } } }';
    for (const variables of [{}, { p: null }]) {
      expect((await execution.run('anon', lenient, { variables })).errors[0].extensions.code).toBe('BAD_USER_INPUT');
    }
  });
});

test('a json column can be filtered by null alone', async () => {
  expect(await docs('{raw: {is: NULL}}')).toEqual([5, 6]);
  expect(await docs('{raw: {is: NOT_NULL}}')).toEqual([1, 2, 3, 4, 7]);
  expect(
    await execution.errors('anon', '{ docCollection(filter: {raw: {contains: "1"}}) { edges { cursor } } }'),
  ).toEqual([
    'Expected value of type "JSONIsFilter" not to include unknown field "contains", found: { contains: "1" }.',
  ]);
});

describe('a JSON field answers the part at a path', () => {
  const parts = async (field: string, id: number, variables = {}) => {
    const query = `query ($at: [String!]) { docCollection(filter: {id: {eq: ${id}}}) { edges { node { ${field} } } } }`;
    const { docCollection } = await execution.data('anon', query, { variables });
    return docCollection.edges[0].node;
  };

  test('as text, null where there is none', async () => {
    expect(
      await parts(
        'city: body(at: ["at", "city"]) zip: body(at: ["at", "zip"]) tag: body(at: ["tags", "-1"]) at: body(at: "at") x: body(at: ["x", "y"]) body(at: []) b: raw(at: ["a"])',
        1,
      ),
    ).toEqual({
      city: 'Bern',
      zip: '3000',
      tag: 'b',
      at: '{"zip": 3000, "city": "Bern"}',
      x: null,
      body: '{"at": {"zip": 3000, "city": "Bern"}, "on": true, "age": 30, "name": "Ana", "tags": ["a", "b"]}',
      b: 'x',
    });
    expect(await parts('body(at: ["at"]) whole(at: ["x"])', 2)).toEqual({ body: null, whole: null });
    expect(await parts('body(at: ["a"]) raw(at: ["a"])', 6)).toEqual({ body: null, raw: null });
  });

  test('of a variable, which may be null', async () => {
    expect(await parts('body(at: $at) all: body', 4, { at: null })).toEqual({ body: 'name', all: 'name' });
    expect(await parts('body(at: $at)', 4)).toEqual({ body: 'name' });
    expect(await parts('body(at: $at)', 3, { at: ['2', '0'] })).toEqual({ body: '3' });
  });

  test('in every place of a row', async () => {
    const insert =
      'mutation { insertIntoDocCollection(objects: [{id: 8, body: "{\\"a\\": [1]}"}]) { records { a: body(at: ["a", "0"]) body } } }';
    expect((await execution.data('anon', insert)).insertIntoDocCollection.records).toEqual([
      { a: '1', body: '{"a": [1]}' },
    ]);
    const update =
      'mutation { updateDocCollection(set: {body: "{\\"a\\": 2}"}, filter: {body: {hasKey: "a"}}) { affectedCount records { body(at: "a") } } }';
    expect((await execution.data('anon', update)).updateDocCollection).toEqual({
      affectedCount: 1,
      records: [{ body: '2' }],
    });
    const byPk =
      '{ docByPk(id: 8) { body(at: "a") } docCollection(last: 1) { totalCount: __typename pageInfo { hasNextPage } edges { cursor node { nodeId body(at: "a") other: body(at: "b") } } } }';
    const { docByPk, docCollection } = await execution.data('anon', byPk);
    expect(docByPk).toEqual({ body: '2' });
    expect(docCollection.edges[0].node).toMatchObject({ body: '2', other: null });
    const remove =
      'mutation { deleteFromDocCollection(filter: {body: {at: {path: ["a"], number: {eq: "2"}}}}) { records { id } } }';
    expect((await execution.data('anon', remove)).deleteFromDocCollection.records).toEqual([{ id: 8 }]);
  });
});

test('JSON filters work on related rows, and on domains', async () => {
  await createSchema(
    database,
    'linked',
    `
    comment on schema linked is '@graphql({"inflect_names": true})';
    create domain settings as jsonb check (jsonb_typeof(value) = 'object');
    create table owner (id int primary key, settings settings);
    create table pet (id int primary key, owner_id int references owner, data jsonb);
    insert into owner values (1, '{"theme": {"dark": true}}'), (2, '{}'), (3, null);
    insert into pet values (1, 1, '{"kind": "cat"}'), (2, 1, '{"kind": "dog"}'), (3, 2, '{"kind": "cat"}'), (4, 3, null);
    grant select on owner, pet to anon;
  `,
  );
  const on = await startExecution(database, { schemas: ['linked'] });
  const ids = async (collection: string, filter: string) => {
    const data = await on.data('anon', `{ ${collection}(filter: ${filter}) { edges { node { id } } } }`);
    return data[collection].edges.map(({ node }: Json) => node.id);
  };
  expect(
    await ids('petCollection', '{owner: {settings: {at: {path: ["theme", "dark"], boolean: {eq: true}}}}}'),
  ).toEqual([1, 2]);
  expect(await ids('petCollection', '{not: {owner: {settings: {matches: "$.theme.dark == true"}}}}')).toEqual([3, 4]);
  expect(
    await ids('ownerCollection', '{petCollection: {every: {data: {contains: "{\\"kind\\": \\"cat\\"}"}}}}'),
  ).toEqual([2]);
  expect(await ids('ownerCollection', '{settings: {hasKey: "theme", contains: "{}"}}')).toEqual([1]);
  expect(await ids('ownerCollection', '{not: {settings: {matches: "$.x.double() > 1"}}}')).toEqual([1, 2]);
});

describe('what a role may not see', async () => {
  await createSchema(
    database,
    'hidden',
    `
    create table note (id int primary key, body jsonb, pin jsonb);
    grant select (id, body) on note to anon; grant select on note to authenticated;
  `,
  );
  const on = await startExecution(database, { schemas: ['hidden'], introspection: 'always' });
  test('what a role may not see is no entry', async () => {
    const entries = async (role: string) => {
      const { __type } = await on.data(role, '{ __type(name: "noteFilter") { inputFields { name } } }');
      return __type.inputFields.map(({ name }: { name: string }) => name);
    };
    expect(await entries('anon')).toEqual(['id', 'nodeId', 'and', 'or', 'not', 'body']);
    expect(await entries('authenticated')).toEqual(['id', 'nodeId', 'and', 'or', 'not', 'body', 'pin']);
    expect(await on.errors('anon', '{ noteCollection(filter: {pin: {is: NULL}}) { edges { cursor } } }')).toEqual([
      expect.stringContaining('"pin"'),
    ]);
  });
});

describe('names', async () => {
  await createSchema(
    database,
    'named',
    `
    comment on schema named is '@graphql({"inflect_names": true})';
    create table shelf (id int primary key);
    create table book (id int primary key, shelf_id int references shelf, shelf jsonb, "not" jsonb, note jsonb, raw json);
    create table "JSONPath" (id int primary key, body jsonb);
    create table "JSONIsFilter" (id int primary key);
    grant select on all tables in schema named to anon;
  `,
  );
  const on = await startExecution(database, { schemas: ['named'], introspection: 'always' });
  const entries = async (type: string) => {
    const { __type } = await on.data('anon', `{ __type(name: "${type}") { inputFields { name type { name } } } }`);
    return __type.inputFields.map(({ name, type }: Json) => `${name} ${type.name}`);
  };

  test('that are there without them stay', async () => {
    expect(await entries('BookFilter')).toEqual([
      ...['id IntFilter', 'shelfId IntFilter', 'nodeId IDFilter', 'and null', 'or null', 'not BookFilter'],
      // The entry of the relationship comes first, and JSONIsFilter is a table.
      ...['shelf ShelfFilter', 'note JSONFilter'],
    ]);
    expect(await entries('JSONPathFilter')).toEqual([
      ...['id IntFilter', 'nodeId IDFilter', 'and null', 'or null', 'not JSONPathFilter', 'body JSONFilter'],
    ]);
    // Without `at`, which would need a type that has another meaning here.
    expect(await entries('JSONFilter')).toEqual([
      ...[
        'containedBy JSON',
        'contains JSON',
        'eq JSON',
        'hasAllKeys null',
        'hasAnyKey null',
        'hasKey String',
        'is FilterIs',
        'matches String',
      ],
    ]);
  });

  test('that are taken are reported', async () => {
    const omissions = await modelReader(database).omissions(['named']);
    const reasons = omissions.map(({ reason, fix }) => `${reason} ${fix}`).join('\n');
    for (const column of ['shelf', 'not']) {
      expect(reasons).toContain(
        `Table named.book has no filter by its column "${column}": the filter has another entry of that name.`,
      );
    }
    expect(reasons).toContain(
      'Nothing has a type "JSONPathFilter" of the extensions: table named."JSONPath" has that name already. comment on',
    );
    expect(reasons).toContain(
      'Nothing has a type "JSONIsFilter" of the extensions: table named."JSONIsFilter" has that name already. comment on',
    );
  });
});

test('without the extension nothing of it is there', async () => {
  const none = await startExecution(database, { introspection: 'always', extensions: [] });
  const { __schema } = await none.data(
    'anon',
    '{ __schema { types { name fields { name args { name } } inputFields { name } } } }',
  );
  expect(__schema.types.map(({ name }: Json) => name).filter((name: string) => /^JSON.+/.test(name))).toEqual([]);
  const type = (name: string) => __schema.types.find((each: Json) => each.name === name);
  expect(type('DocFilter').inputFields.map(({ name }: Json) => name)).toEqual(['id', 'nodeId', 'and', 'or', 'not']);
  expect(type('Doc').fields.find(({ name }: Json) => name === 'body').args).toEqual([]);
});

describe('with as many blocks as 100,000 rows have, indexes serve', async () => {
  // Not in the order of the key: reading by it must not look cheap, or chance in the statistics decides between two plans.
  await createSchema(
    database,
    'big',
    `
    create table event (id int primary key, tenant int not null, data jsonb not null, hashed jsonb not null) with (fillfactor = 10);
    insert into event select n, n % 10, data, data from (select n, jsonb_build_object('n', n, 'kind', 'k' || n % 250, 'x' || n % 1000, true) as data from generate_series(1, 10000) n order by n * 7919 % 10007) made;
    create index on event using gin (data);
    create index on event using gin (hashed jsonb_path_ops);
    create index on event ((data #>> '{kind}'));
    create table guarded with (fillfactor = 10) as select id, tenant, data from event; alter table guarded add primary key (id);
    create index on guarded using gin (data jsonb_path_ops); create index on guarded (tenant);
    alter table guarded enable row level security;
    create policy own on guarded to anon using (tenant = (select 1));
    grant select on event, guarded to anon, service_role;
  `,
  );
  await database.query('vacuum analyze');
  const on = await startExecution(database, { schemas: ['big'] });
  const client = new pg.Client(database.url);
  await client.connect();
  afterAll(() => client.end());

  /** Blocks of 8 kB that the statement of the operation reads, planned for its values or for any. */
  async function blocks(role: string, query: string, mode = 'force_custom_plan'): Promise<number> {
    const [statement] = await on.statements(role, query);
    const values = bindSlots(statement!.slots, { variables: {}, introspection: new Map(), countedBytes: 1_000_000 });
    const given = values.map((value) => client.escapeLiteral(String(value))).join();
    await client.query(`reset all; reset role; deallocate all; set role ${role}; set plan_cache_mode = ${mode}`);
    await client.query(`prepare filtered as ${statement!.text}`);
    const { rows } = await client.query(`explain (analyze, buffers, format json) execute filtered (${given})`);
    const { Plan } = rows[0]['QUERY PLAN'][0];
    return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
  }

  const count = async (role: string, query: string): Promise<number> => {
    const [collection] = Object.values(await on.data(role, query)) as { edges: unknown[] }[];
    return collection!.edges.length;
  };

  // A scan of all events reads thousands of blocks.
  test.each([
    ['contains', '{data: {contains: "{\\"n\\": 4711}"}}', 1],
    ['contains, jsonb_path_ops', '{hashed: {contains: "{\\"n\\": 4711}"}}', 1],
    ['hasKey', '{data: {hasKey: "x11"}}', 10],
    ['hasAllKeys', '{data: {hasAllKeys: ["n", "x11"]}}', 10],
    ['hasAnyKey', '{data: {hasAnyKey: ["x11", "x12"]}}', 20],
    ['matches, a path', '{data: {matches: "$ ? (@.n == 4711)"}}', 1],
    ['matches, a predicate', '{data: {matches: "$.n == 4711"}}', 1],
    ['matches, jsonb_path_ops', '{hashed: {matches: "$.n == 4711"}}', 1],
    ['a part, by an index on it', '{data: {at: {path: ["kind"], text: {eq: "k11"}}}}', 30],
  ])('%s', async (name, filter, rows) => {
    const query = `{ eventCollection(filter: ${filter}) { edges { node { id } } } }`;
    for (const role of ['anon', 'service_role']) {
      expect(await count(role, query)).toBe(rows);
      expect(await blocks(role, query), role).toBeLessThan(300);
    }
    // Without values PostgreSQL expects matches everywhere, and looks through rows in their order unless that is off. Which index is on
    // a part it knows with the path alone.
    if (!name.startsWith('a part')) {
      const mode = 'force_generic_plan; set enable_indexscan = off; set enable_seqscan = off';
      expect(await blocks('anon', query, mode)).toBeLessThan(300);
    }
  });

  test('a table with policies uses these indexes only where the role bypasses the policies', async () => {
    const query = '{ guardedCollection(filter: {data: {contains: "{\\"n\\": 4711}"}}) { edges { node { id } } } }';
    expect(await count('service_role', query)).toBe(1);
    expect(await blocks('service_role', query)).toBeLessThan(50);
    expect(await count('anon', query)).toBe(1);
    expect(await blocks('anon', query)).toBeGreaterThan(150);
  });
});
