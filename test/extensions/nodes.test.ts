/** The rows of a connection without their edges (extension `reads`). */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create table shelf (id int primary key);
  create table book (id int primary key, shelf_id int references shelf, title text);
  insert into shelf values (1), (2);
  insert into book select n, 1 + n % 2, 'book ' || n from generate_series(1, 5) n;
  create view loose as select 1 as id union all select null union all select 2;
  comment on view loose is '@graphql({"primary_key_columns": ["id"]})';
  comment on table book is '@graphql({"totalCount": {"enabled": true}})';
  comment on schema public is '@graphql({"inflect_names": true})';
  create table call (id int);
  create function loud(b book) returns text volatile language sql as $$ insert into call values (b.id); select upper(b.title) $$;
  create function books() returns setof book volatile language sql as 'insert into call values (0); select * from book';
  grant select on all tables in schema public to anon;
  grant insert on call to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });
const page = async (selection: string, root = 'bookCollection') =>
  (await execution.data('anon', `{ ${root} { ${selection} } }`))[root.split('(')[0]!];

test('nodes are the rows of the edges, in every kind of page', async () => {
  const pages = ['(first: 2)', '(last: 2)', '(first: 2, offset: 1)', '(first: 2, after: "WzJd")', '(first: 0)', ''];
  for (const given of [...pages, '(orderBy: [{title: DescNullsLast}], first: 3)', '(distinctOn: [shelfId])']) {
    const info = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
    const { edges, ...rest } = await page(`edges { node { id title } } ${info} totalCount`, `bookCollection${given}`);
    const rows = edges.map(({ node }: { node: object }) => node);
    expect(await page(`nodes { id title } ${info} totalCount`, `bookCollection${given}`)).toEqual({
      nodes: rows,
      ...rest,
    });
    expect(await page('nodes { id title }', `bookCollection${given}`)).toEqual({ nodes: rows });
    expect(await page('edges { cursor } nodes { id title }', `bookCollection${given}`)).toMatchObject({ nodes: rows });
  }
});

test('nodes are read as rows, as edges are', async () => {
  const layoutOf = async (selection: string) => {
    const [statement] = await execution.statements('anon', `{ bookCollection(first: 2) { ${selection} } }`);
    return { text: statement!.text, pieces: statement!.layout!.pieces.length };
  };
  const info = 'pageInfo { hasNextPage } totalCount';
  const nodes = await layoutOf(`nodes { id title } ${info}`);
  expect(nodes).toEqual(await layoutOf(`edges { node { id title } } ${info}`));
  expect(nodes.pieces).toBeGreaterThan(1);
});

test('nodes may be selected several times, merged, and with related rows in them', async () => {
  const nested =
    '{ shelfCollection { a: nodes { id } b: nodes { bookCollection(first: 1) { nodes { id } nodes { title } } } } }';
  expect(await execution.data('anon', nested)).toEqual({
    shelfCollection: {
      a: [{ id: 1 }, { id: 2 }],
      b: [
        { bookCollection: { nodes: [{ id: 2, title: 'book 2' }] } },
        { bookCollection: { nodes: [{ id: 1, title: 'book 1' }] } },
      ],
    },
  });
});

test('nodes leave out what is no edge, and call nothing for the row after the page', async () => {
  expect(await page('nodes { id }', 'looseCollection')).toEqual({ nodes: [{ id: 1 }, { id: 2 }] });
  const called = await execution.data(
    'anon',
    'mutation { books(first: 2) { nodes { loud } pageInfo { hasNextPage } } }',
  );
  expect(called.books).toEqual({ nodes: [{ loud: 'BOOK 1' }, { loud: 'BOOK 2' }], pageInfo: { hasNextPage: true } });
  expect(await database.query('select id from call order by id')).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
});

test('nodes cost what edges cost', async () => {
  const of = (selection: string) =>
    `{ shelfCollection { ${selection.replace('…', `bookCollection { ${selection.replace('…', 'id')} }`)} } }`;
  for (const selection of ['nodes { … }', 'edges { node { … } }']) {
    const small = await startExecution(database, { limits: { maxCost: 900 } });
    expect((await small.errors('anon', of(selection)))[0]).toContain('930');
  }
});

test('nodes are there with the extension alone', async () => {
  const plain = await startExecution(database, { extensions: ['writes'] });
  expect((await plain.errors('anon', '{ bookCollection { nodes { id } } }'))[0]).toContain(
    'Cannot query field "nodes"',
  );
});
