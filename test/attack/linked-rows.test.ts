/**
 * A tenant asks through junction tables, about JSON, searches and equal rows, to tell what is hidden from what is not there: a database whose
 * hidden rows, links, columns and tables are full answers as one that has none of them.
 */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const common = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table post (id int primary key, title text, kind text, data jsonb, words tsvector);
  create table tag (id int primary key, name text, weight int, data jsonb, words tsvector);
  create table post_tag (id int generated always as identity primary key, post_id int references post, tag_id int references tag, secret boolean not null default false);
  comment on table post_tag is '@graphql({"many_to_many": true})';
  comment on table post is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  comment on table tag is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  insert into post values (1, 'a', 'x', '{"n": 1, "s": "t", "deep": {"list": [1]}}', to_tsvector('simple', 'red fox')), (2, 'b', 'x', null, null), (3, null, null, '[]', '');
  insert into tag values (1, 'red', 5, '{"n": 5}', to_tsvector('simple', 'warm red')), (2, 'blue', null, '{}', null);
  insert into post_tag (post_id, tag_id) values (1, 1), (1, 1), (2, 1), (2, 2);
  grant select on post, tag, post_tag to anon;
  alter table post enable row level security; create policy visible on post to anon using (id < 100);
  alter table tag enable row level security; create policy visible on tag to anon using (id < 100);
  alter table post_tag enable row level security; create policy visible on post_tag to anon using (not secret);
`;
// What fails where it is cast, summed or matched, and what would come first, last or most often.
const secrets = `
  alter table post add pin jsonb, add pin_words tsvector;
  revoke select on post from anon; grant select (id, title, kind, data, words) on post to anon;
  create table note (id int primary key, body text);
  create table post_note (post_id int references post, note_id int references note, primary key (post_id, note_id));
  comment on table post_note is '@graphql({"many_to_many": true})';
  create table label (id int primary key); create table post_label (id int primary key, post_id int references post, label_id int references label);
  comment on table post_label is '@graphql({"many_to_many": true})'; grant select (id, post_id) on post_label to anon; grant select on label to anon;
  create schema hidden; create text search configuration hidden.secret (copy = pg_catalog.simple);
  insert into post (id, title, kind, data, words, pin) select 100 + n, '!' || n, case when n % 2 = 0 then 'x' else 'hidden' end,
    '{"n": "no number", "s": 1, "deep": "flat"}', to_tsvector('simple', 'red red red fox'), '{"a": 1}' from generate_series(1, 50) n;
  insert into tag select 100 + n, '!' || n, 2147483647, '{"n": 1e300}', to_tsvector('simple', 'red') from generate_series(1, 50) n;
  insert into post_tag (post_id, tag_id, secret) select p, t, true from generate_series(1, 3) p, generate_series(1, 2) t;
  insert into post_tag (post_id, tag_id) select p, 101 from generate_series(1, 3) p;
  insert into post_tag (post_id, tag_id) values (101, 1); insert into note values (1, 'ill'); insert into post_note values (1, 1);
  insert into label values (1); insert into post_label values (1, 1, 1);
  grant select on all tables in schema public to service_role;
`;
// The role sees these without the column of a foreign key.
const absences = `
  create table label (id int primary key); grant select on label to anon; insert into label values (1);
  create table post_label (id int primary key, post_id int references post); grant select on post_label to anon; insert into post_label values (1, 1);
`;
const [full, empty] = await Promise.all(
  [`${common} ${secrets}`, `${common} ${absences}`].map(async (sql) => startExecution(await createDatabase(sql), {})),
);

const selection =
  '{ totalCount pageInfo { hasNextPage hasPreviousPage } aggregate { count distinctCount { id } } edges { cursor node { id } } }';
const inTags = (collection: string) => `filter: {tagCollection: ${collection}}`;
const cursors = [[2, 1], ['red', 1], [null, 2]].map((elements) => btoa(JSON.stringify(elements))); // biome-ignore format: a list

const posts = [
  ...['some', 'every', 'none'].flatMap((kind) => [
    inTags(`{${kind}: {}}`),
    inTags(`{${kind}: {weight: {gt: 5}}}`),
    inTags(`{${kind}: {data: {at: {path: ["n"], number: {gt: "1"}}}}}`),
    inTags(`{${kind}: {words: {plain: "red", config: "simple"}}}`),
    inTags(`{${kind}: {postCollection: {some: {title: {startsWith: "!"}}}}}`),
  ]),
  ...[0, 1, 3].flatMap((count) => [
    inTags(`{aggregate: {count: {gte: ${count}}}}`),
    inTags(`{aggregate: {count: {eq: ${count}}}}`),
  ]),
  inTags('{aggregate: {sum: {weight: {gt: "5"}}}}'),
  inTags('{aggregate: {distinctCount: {name: {gte: 2}}}}'),
  inTags('{aggregate: {max: {name: {startsWith: "!"}}}}'),
  'filter: {postTagCollection: {some: {tag: {weight: {gt: 100}}}}}',
  'filter: {data: {at: {path: ["n"], number: {gt: "0"}}}}',
  'filter: {not: {data: {at: {path: ["n"], number: {lt: "0"}}}}}',
  'filter: {data: {matches: "$.n == \\"no number\\""}}',
  'filter: {not: {data: {contains: "{}"}}}',
  'filter: {data: {at: {path: ["deep", "list"], json: {contains: "1"}}}}',
  'filter: {words: {websearch: "red", config: "simple"}}',
  'filter: {words: {plain: "red", config: "secret"}}',
  'filter: {words: {plain: "red", config: "hidden"}}',
  'distinctOn: [kind]',
  'distinctOn: [kind], orderBy: [{title: AscNullsLast}]',
  'distinctOn: [title], last: 2',
  ...['tagCollection: {count: DescNullsLast}', 'tagCollection: {sum: {weight: DescNullsFirst}}', 'tagCollection: {min: {name: AscNullsFirst}}', 'title: AscNullsFirst'].flatMap((order) => [
    `orderBy: [{${order}}]`, `orderBy: [{${order}}], first: 1`, `orderBy: [{${order}}], last: 1`,
    ...cursors.map((cursor) => `orderBy: [{${order}}], after: "${cursor}"`),
  ]), // biome-ignore format: a list
  'orderBy: [{wordsRank: {plain: "red", config: "simple"}}], first: 2',
  // What the role may not select, or does not see.
  'filter: {pin: {hasKey: "a"}}',
  'filter: {pinWords: {plain: "a"}}',
  'orderBy: [{pinWordsRank: {plain: "a"}}]',
  'distinctOn: [pin]',
  'filter: {noteCollection: {some: {}}}',
  'filter: {labelCollection: {some: {}}}',
  'filter: {postNoteCollection: {none: {}}}',
  'orderBy: [{labelCollection: {count: AscNullsLast}}]',
];

test.each(posts)('nothing is told by %s', async (given) => {
  const isAsked = !/pin|note|label|config: "(secret|hidden)"/i.test(given);
  for (const operation of [
    `{ postCollection(${given}) ${selection} }`,
    `{ tagCollection { totalCount edges { node { id postCollection(${given}) ${selection} } } } }`,
    `{ postCollection(${given}) { groups(by: [{column: kind}], orderBy: [{count: DescNullsLast}]) { key { kind } count distinctCount { title } } } }`,
  ]) {
    const answer = await full!.run('anon', operation);
    expect(answer).toEqual(await empty!.run('anon', operation));
    // A refusal would be equal everywhere.
    const takesCursor = given.includes('after');
    if (isAsked && !takesCursor) expect(answer.errors, operation).toBeUndefined();
    if (!isAsked) expect(answer.errors, operation).toHaveLength(1);
  }
});

test.each([
  '{title: AscNullsLast}',
  '{tagCollection: {max: {name: DescNullsFirst}}}',
  '{wordsRank: {plain: "red", config: "simple"}}',
])('nothing is told by a cursor of %s, changed anywhere', async (orderBy) => {
  const query = `query ($c: Cursor) { postCollection(orderBy: [${orderBy}], after: $c) ${selection} }`;
  const { postCollection } = await full!.data('anon', query);
  const text = atob(postCollection.edges[0].cursor);
  const forged = [...text].flatMap((_, index) =>
    ['0', '"', 'x', '!', ']', '\\', '\0', ',', '-', 'é'].map(
      (letter) => text.slice(0, index) + letter + text.slice(index + 1),
    ),
  );
  const values = ['1e400', '9'.repeat(400), '"\\u0000"', '"\\ud800"', '{"a": 1}', '[1]', '1e999999', '""', 'NaN'];
  for (const elements of [...forged, ...values.map((value) => text.replace(/^\[[^,]*/, `[${value}`))]) {
    const variables = { c: Buffer.from(elements).toString('base64') };
    const [answer, other] = await Promise.all([full, empty].map((on) => on!.run('anon', query, { variables })));
    for (const error of [answer, other].flatMap((each) => each!.errors ?? [])) {
      expect(error.extensions.code, elements).toBe('BAD_USER_INPUT');
      // The place in the log of the message that is not shown.
      delete error.extensions.id;
    }
    expect(answer, elements).toEqual(other);
  }
});

test.each([
  '{ postCollection { edges { node { pin } } } }',
  '{ postCollection { edges { node { noteCollection { totalCount } } } } }',
  '{ postCollection { edges { node { labelCollection { totalCount } } } } }',
  '{ labelCollection { edges { node { postCollection { edges { cursor } } } } } }',
  '{ noteCollection { edges { cursor } } }',
  '{ postCollection { groups(by: {column: pin}) { count } aggregate { distinctCount { pinWords } } } }',
])('what is hidden is no field: %s', async (operation) => {
  const answer = await full!.run('anon', operation);
  expect(answer).toEqual(await empty!.run('anon', operation));
  expect(answer.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('a role that may see the rows finds them, so the questions can tell', async () => {
  const ids = async (role: string, given: string) =>
    (await full!.data(role, `{ postCollection(${given}) { edges { node { id } } } }`)).postCollection.edges.map(
      ({ node }: { node: { id: number } }) => node.id,
    );
  for (const given of [
    'filter: {tagCollection: {aggregate: {count: {eq: 3}}}}',
    'filter: {tagCollection: {some: {weight: {gt: 5}}}}',
  ]) {
    expect(await ids('anon', given)).toEqual([]);
    expect(await ids('service_role', given)).toEqual([1, 2, 3]);
  }
  expect(await ids('anon', 'orderBy: [{wordsRank: {plain: "red", config: "simple"}}], first: 1')).toEqual([1]);
  expect(await ids('service_role', 'orderBy: [{wordsRank: {plain: "red", config: "simple"}}], first: 1')).toEqual([
    101,
  ]);
});
