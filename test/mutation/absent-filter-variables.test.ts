/** `--absent-filter-variables refuse`: a write whose filter lacks a variable fails, instead of changing more rows. */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table author (id int primary key, name text);
  create table book (id int primary key, title text, author_id int references author);
  insert into author values (1, 'Ann');
  insert into book values (1, 'a', 1), (2, 'b', 1);
  grant all on all tables in schema public to anon;
`);
const strict = await startExecution(database, { absentFilterVariables: 'refuse' });
const usual = await startExecution(database);
const titles = async () =>
  (await database.query<{ title: string }>('select title from book order by id')).map(({ title }) => title);

beforeEach(() => database.query(`update book set title = chr(96 + id)`));

const refused = [
  ['an update', '($id: Int)', 'updateBookCollection(set: {title: "x"}, filter: {id: {eq: $id}}, atMost: 9)'],
  ['a delete', '($id: Int)', 'deleteFromBookCollection(filter: {and: [{id: {eq: $id}}]}, atMost: 9)'],
  ['the whole filter', '($id: BookFilter)', 'updateBookCollection(set: {title: "x"}, filter: $id, atMost: 9)'],
  [
    'a list of updates',
    '($id: Int)',
    'updateManyBookCollection(updates: [{set: {title: "x"}, filter: {id: {eq: $id}}, atMost: 9}])',
  ],
  [
    'a write of related rows',
    '($id: Int)',
    `updateAuthorCollection(set: {name: "B", bookCollection:
      {update: [{set: {title: "x"}, filter: {id: {eq: $id}}, atMost: 9}]}}, filter: {id: {eq: 1}})`,
  ],
  [
    'a conflict',
    '($id: String)',
    `insertIntoBookCollection(objects: [{id: 1, title: "x"}], onConflict:
      {constraint: book_pkey, updateColumns: [title], filter: {title: {eq: $id}}})`,
  ],
] as const;

describe.each(refused)('a filter in %s', (_, declared, field) => {
  const query = (select: string) => `mutation ${declared} { ${field} ${select} }`;

  test('an absent variable is refused, and nothing is written', async () => {
    const answer = await strict.run('anon', query('{ affectedCount }'));
    expect(answer).toEqual({
      errors: [
        {
          message:
            'Variable "$id" is absent. It stands in a filter that chooses the rows of a write, which would be more without it.',
          extensions: { code: 'BAD_USER_INPUT', hint: expect.stringContaining('Send a value') },
        },
      ],
    });
    expect(await titles()).toEqual(['a', 'b']);
  });

  test('null chooses none or is no condition, as without the option', async () => {
    const [strictly, usually] = [
      await strict.run('anon', query('{ __typename }'), { variables: { id: null } }),
      await usual.run('anon', query('{ __typename }'), { variables: { id: null } }),
    ];
    expect(strictly).toEqual(usually);
  });
});

test('by default, an absent variable in a filter is no condition', async () => {
  const query = `mutation ($id: Int) { ${refused[0][2]} { affectedCount } }`;
  expect(await usual.data('anon', query)).toEqual({ updateBookCollection: { affectedCount: 2 } });
});

test('a variable with a default, and one outside of filters of writes, may be absent', async () => {
  const query = `mutation ($id: Int = 2, $title: String, $most: Int, $of: Int) {
    updateBookCollection(set: {title: $title, authorId: 1}, filter: {id: {eq: $id}}, atMost: $most)
      { records { author { bookCollection(filter: {id: {eq: $of}}) { edges { node { id } } } } } } }`;
  expect(await strict.data('anon', query)).toEqual({
    updateBookCollection: {
      records: [{ author: { bookCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] } } }],
    },
  });
});

test('a variable of another operation, and one that is only in a fragment', async () => {
  const document = `query Read($id: Int) { bookCollection(filter: {id: {eq: $id}}) { edges { node { id } } } }
    mutation Write($id: Int) { ...Parts }
    fragment Parts on Mutation { deleteFromBookCollection(filter: {id: {eq: $id}}, atMost: 9) { affectedCount } }`;
  expect(await strict.run('anon', document, { operationName: 'Read' })).not.toHaveProperty('errors');
  expect(await strict.errors('anon', document, { operationName: 'Write' })).toEqual([
    expect.stringContaining('Variable "$id" is absent'),
  ]);
  expect(await titles()).toEqual(['a', 'b']);
});
