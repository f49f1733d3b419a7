/** Several columns in one entry of an order: they count as they stand (docs/filters.md, "Order"). */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create table shelf (id int primary key, room text);
  create table book (id int primary key, shelf_id int references shelf, title text, pages int);
  comment on table book is '@graphql({"aggregate": {"enabled": true}})';
  insert into shelf values (1, 'a'), (2, 'a'), (3, 'b');
  insert into book values (1, 1, 'x', 3), (2, 2, 'y', 1), (3, 3, 'x', 1), (4, 1, 'y', 2);
  grant select on shelf, book to anon;
`);
const execution = await startExecution(database, {});

async function books(orderBy: string, declared = '', variables: Record<string, unknown> = {}, on = execution) {
  const query = `query ${declared} { bookCollection(orderBy: ${orderBy}) { nodes { id } edges { cursor } } }`;
  const { bookCollection } = await on.data('anon', query, { variables });
  return bookCollection.nodes.map(({ id }: { id: number }) => id).join('');
}

const [byTitle, byPages] = ['3124', '3241'];

test('in the document', async () => {
  expect(await books('{title: AscNullsLast, pages: AscNullsLast}')).toBe(byTitle);
  expect(await books('{pages: AscNullsLast, title: AscNullsLast}')).toBe(byPages);
  expect(await books('[{pages: AscNullsLast, title: AscNullsLast}]')).toBe(byPages);
  expect(await books('{pages: $d, title: $d}', '($d: OrderByDirection)', { d: 'AscNullsLast' })).toBe(byPages);
  expect(await books('{shelf: {room: DescNullsLast, id: AscNullsLast}, pages: AscNullsLast}')).toBe('3412');
});

test('in variables, and in the defaults of variables', async () => {
  const [title, pages] = [{ title: 'AscNullsLast' }, { pages: 'AscNullsLast' }];
  for (const [declared, given] of [
    ['[bookOrderBy!]', (o: object) => [o]],
    ['bookOrderBy', (o: object) => o],
  ] as const) {
    expect(await books('$o', `($o: ${declared})`, { o: given({ ...title, ...pages }) })).toBe(byTitle);
    expect(await books('$o', `($o: ${declared})`, { o: given({ ...pages, ...title }) })).toBe(byPages);
  }
  expect(await books('$o', '($o: [bookOrderBy!] = [{pages: AscNullsLast, title: AscNullsLast}])')).toBe(byPages);
  expect(await books('$o', '($o: bookOrderBy! = {pages: AscNullsLast, title: "AscNullsLast"})')).toBe(byPages);
  const related = { o: { shelf: { room: 'DescNullsLast', id: 'AscNullsLast' }, ...pages } };
  expect(await books('$o', '($o: bookOrderBy)', related)).toBe('3412');
  // A variable beside it that needs to be told what is wrong does not change it.
  const query = 'query ($o: bookOrderBy, $f: bookFilter) { bookCollection(orderBy: $o, filter: $f) { nodes { id } } }';
  expect(await execution.errors('anon', query, { variables: { o: { ...pages, nothing: 1 } } })).toHaveLength(1);
});

test('related rows and groups are ordered alike', async () => {
  const query =
    '{ shelfCollection(orderBy: {bookCollection: {max: {title: DescNullsLast}, count: AscNullsLast}}) { nodes { id } } }';
  expect((await execution.data('anon', query)).shelfCollection.nodes).toEqual([{ id: 2 }, { id: 1 }, { id: 3 }]);
  const other = query.replace(
    'max: {title: DescNullsLast}, count: AscNullsLast',
    'count: AscNullsLast, max: {title: DescNullsLast}',
  );
  expect((await execution.data('anon', other)).shelfCollection.nodes).toEqual([{ id: 2 }, { id: 3 }, { id: 1 }]);
});

test('equal orders are one statement, and pages follow the order', async () => {
  const query =
    'query ($o: bookOrderBy, $c: Cursor) { bookCollection(orderBy: $o, first: 2, after: $c) { edges { cursor node { id } } } }';
  const textOf = async (o: object) => (await execution.statements('anon', query, { variables: { o } }))[0]!.text;
  const [one, other] = [
    { pages: 'AscNullsLast', title: 'AscNullsLast' },
    { title: 'AscNullsLast', pages: 'AscNullsLast' },
  ];
  expect(await textOf({ ...one })).toBe(await textOf({ ...one }));
  expect(await textOf(one)).not.toBe(await textOf(other));
  const first = (await execution.data('anon', query, { variables: { o: one } })).bookCollection.edges;
  const rest = await execution.data('anon', query, { variables: { o: one, c: first[1].cursor } });
  expect([...first, ...rest.bookCollection.edges].map(({ node }: { node: { id: number } }) => node.id).join('')).toBe(
    byPages,
  );
});

test('without the extension they count as the columns of the table do', async () => {
  const plain = await startExecution(database, { extensions: [] });
  const query =
    'query ($o: bookOrderBy) { a: bookCollection(orderBy: {pages: AscNullsLast, title: AscNullsLast}) { edges { node { id } } } b: bookCollection(orderBy: [$o]) { edges { node { id } } } }';
  const { a, b } = await plain.data('anon', query, {
    variables: { o: { pages: 'AscNullsLast', title: 'AscNullsLast' } },
  });
  const ids = ({ edges }: { edges: { node: { id: number } }[] }) => edges.map(({ node }) => node.id).join('');
  expect([ids(a), ids(b)]).toEqual([byTitle, byTitle]);
});
