/** What to write instead of the forms of other APIs stands beside the message of a mistake. */
import { expect, test } from 'vitest';
import { processorMs } from '../../src/management/templates/rendering-time.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create table category (id int primary key, name text);
  create table person (id int primary key);
  create type size as enum ('small', 'large', 'extra large');
  create table product (id int primary key, name text, price numeric, code uuid, made timestamptz, tags text[], size size, data jsonb, in_stock int, category_id int references category,
    search tsvector, spots point[], number serial, label text generated always as (upper(name)) stored);
  create function far(product, x int) returns int language sql stable as 'select abs($1.id - x)';
  comment on table product is '@graphql({"aggregate": {"enabled": true}})';
  comment on function far is '@graphql({"order": true})';
  create function search_products(word text) returns setof product language sql stable as 'select * from product where name = word';
  create function hit(id int) returns int language sql as 'select 1';
  revoke execute on function hit from public;
  grant execute on function hit to anon;
  grant usage on schema public to anon, authenticated;
  grant select on category to authenticated;
  grant all on all tables in schema public to anon;
`);
const execution = await startExecution(database);
const local = await startExecution(database, { showHints: true });
// With introspection, messages suggest names of their own.
const open = await startExecution(database, { introspection: 'always' });

const hintsOf = async (query: string, variables = {}, asked = execution) => {
  const { errors } = await asked.run('anon', query, { variables });
  return errors.map((error: { extensions: { hint?: string } }) => error.extensions.hint);
};
const where = (filter: string) => `{ productCollection(filter: ${filter}) { edges { cursor } } }`;
const by = (order: string) => `{ productCollection(orderBy: ${order}) { edges { cursor } } }`;

const directions = 'Directions are AscNullsFirst, AscNullsLast, DescNullsFirst and DescNullsLast.';
test.each([
  [where('{ name: "x" }'), 'Name the comparison: name: { eq: "x" }.'],
  [where('{ id: [1, 2] }'), 'Name the comparison: id: { in: [1, 2] }.'],
  [where('{ tags: ["x"] }'), 'Name the comparison: tags: { eq: ["x"] }.'],
  [where('{ or: [{ name: "x" }] }'), 'Name the comparison: name: { eq: "x" }.'],
  [where('"x"'), 'Name the column and the comparison: filter: { COLUMN: { eq: VALUE } }.'],
  [where('{ id: { _eq: 1 } }'), 'IntFilter has eq, gt, gte, in, is, lt, lte and neq.'],
  [
    where('{ search: { matches: "tent" } }'),
    'TextSearchFilter has websearch, plain, phrase, query, config, eq and is.',
  ],
  [
    'mutation { insertIntoproductCollection(objects: [], onConflict: { constraint: product_pkey, update: [name] }) { affectedCount } }',
    'productOnConflict has constraint, updateColumns and filter.',
  ],
  [
    'mutation { updateproductCollection(set: { data: { a: 1 } }) { affectedCount } }',
    'Send the text of the JSON, such as "{\\"a\\": 1}".',
  ],
  [where('{ name: { eq: OPEN } }'), 'Send a string: "OPEN".'],
  [where('{ price: { in: [9.99, 1] } }'), 'Send a string: "9.99".'],
  [where('{ code: { eq: 1 } }'), 'Send a string: "1".'],
  [
    'query ($d: DateTime) { productCollection(filter: { made: { eq: $d } }) { edges { cursor } } }',
    'The type is called Datetime here.',
  ],
  [
    'query ($d: [uuid!]!) { productCollection(filter: { code: { in: $d } }) { edges { cursor } } }',
    'The type is called UUID here.',
  ],
  [by('{ name: desc }'), `Write orderBy: [{ name: DescNullsLast }]. ${directions}`],
  [by('[{ name: ASC }]'), `Write orderBy: [{ name: AscNullsLast }]. ${directions}`],
  [by('name_DESC'), 'Name the column and the direction: orderBy: [{ COLUMN: DescNullsLast }].'],
  [by('{ category: AscNullsLast }'), 'Name the column and the direction: category: { COLUMN: AscNullsLast }.'],
  [by('{ searchRank: DescNullsLast }'), 'Say what is searched: searchRank: { websearch: "WORDS" }.'],
  [where('{ search: "tent" }'), 'Say what is searched: search: { websearch: "tent" }.'],
  [where('{ category: "x" }'), 'Name the column and the comparison: category: { COLUMN: { eq: VALUE } }.'],
  [where('{ or: ["x"] }'), 'Name the column and the comparison: or: [{ COLUMN: { eq: VALUE } }].'],
  ['{ productCollection { groups(by: [size]) { count } } }', 'Name the column: by: [{ column: size }].'],
  [
    '{ productCollection(page: 2) { edges { cursor } } }',
    'There are no page numbers. The next page begins after the endCursor of the page before: after: "CURSOR". offset skips rows.',
  ],
  ['{ node(id: "x") { nodeId } }', 'The argument is called nodeId here.'],
  [
    'mutation { insertIntoproductCollection(objects: { id: 1 }) { id } }',
    'The written rows are in records: records { id }.',
  ],
  ['mutation { deleteFromproductCollection { returning { id } } }', 'The written rows are in records: records { … }.'],
  ['{ productCollection(limit: 1) { edges { cursor } } }', 'The argument is called first here.'],
  ['{ productCollection(where: {}) { edges { cursor } } }', 'The argument is called filter here.'],
  ['{ productCollection { name } }', 'Rows are nodes of edges: edges { node { name } }.'],
  [
    '{ productCollection { totalCount } }',
    'The comment of a table switches totalCount on: @graphql({"totalCount": {"enabled": true}}).',
  ],
  ['{ productCollection { items { name } } }', 'Rows are nodes of edges: edges { node { … } }.'],
  ['{ productCollection { edges { name } } }', 'The row is the node of the edge: node { name }.'],
  [
    'mutation { updateproductCollection(increment: { in_stock: 1 }) { affectedCount } }',
    'Write set: {} beside increment.',
  ],
])('%s gets the hint: %s', async (query, hint) => {
  expect(await hintsOf(query)).toContain(hint);
});

test('what a hint says to write is valid', async () => {
  for (const query of [
    where('{ name: { eq: "x" }, id: { in: [1, 2] }, tags: { eq: ["x"] } }'),
    by('[{ name: DescNullsLast }]'),
    'mutation { updateproductCollection(set: {}, increment: { in_stock: 1 }) { affectedCount } }',
  ]) {
    expect(await execution.errors('anon', query), query).toEqual([]);
  }
});

test('a message that suggests a name has no hint beside it', async () => {
  for (const query of [
    where('{ nam: { eq: "x" } }'),
    where('{ size: { eq: SMALL } }'),
    '{ productCollection { edge { cursor } } }',
  ]) {
    const { errors } = await open.run('anon', query);
    expect(errors[0].message, query).toContain('Did you mean');
    expect(errors[0].extensions.hint, query).toBeUndefined();
  }
});

test('the first three mistakes of a document have hints', async () => {
  const hint = expect.stringMatching(/^Name the comparison: (\w+): \{ eq: "\1" \}\.$/);
  const given = await hintsOf(where('{ name: "name", code: "code", price: "price", id: "id" }'));
  expect(given).toEqual([hint, hint, hint, undefined]);
});

test('errors of variables have the same hints', async () => {
  const query =
    'query ($filter: productFilter, $order: [productOrderBy!]) { productCollection(filter: $filter, orderBy: $order) { edges { cursor } } }';
  expect(await hintsOf(query, { filter: { name: 'x' } })).toEqual(['Name the comparison: name: { eq: "x" }.']);
  expect(await hintsOf(query, { filter: { price: { eq: 9.99 } } })).toEqual(['Send a string: "9.99".']);
  expect(await hintsOf(query, { filter: { id: [1, 2] } })).toEqual(['Name the comparison: id: { in: [1, 2] }.']);
  const mixed = { filter: { or: [{ id: { _eq: 1, eq: 'x', _in: 2 } }, { name: { eq: true } }], tags: ['x'] } };
  const operators = 'IntFilter has eq, gt, gte, in, is, lt, lte and neq.';
  expect((await hintsOf(query, mixed)).toSorted()).toEqual(
    ['Name the comparison: tags: { eq: ["x"] }.', operators, undefined, undefined, undefined].toSorted(),
  );
  expect(await hintsOf(query, { order: 'name_DESC' })).toEqual([
    'Name the column and the direction: orderBy: [{ COLUMN: DescNullsLast }].',
  ]);
  expect(await hintsOf(query, { order: [{ name: 'desc' }] })).toEqual([
    `Write orderBy: [{ name: DescNullsLast }]. ${directions}`,
  ]);
});

test.each([
  ['{ products { name } }', 'productCollection'],
  ['{ product(id: 1) { name } }', 'productCollection'],
  ['{ allProducts { name } }', 'productCollection'],
  ['{ categories { name } }', 'categoryCollection'],
  ['{ people { id } }', 'personCollection'],
  ['{ product_by_pk(id: 1) { name } }', 'productByPk'],
  ['{ getProduct(id: 1) { name } }', 'productByPk'],
  ['{ productByPk(id: 1) { inStock } }', 'in_stock'],
  ['mutation { createProduct { id } }', 'insertproduct'],
  ['mutation { insert_product { id } }', 'insertIntoproductCollection'],
  ['mutation { insertIntoProductCollection { id } }', 'insertIntoproductCollection'],
  ['mutation { update_product { id } }', 'updateproductCollection'],
  ['mutation { deleteCategory { id } }', 'deleteFromcategoryCollection'],
])('%s gets a hint with the name in this schema, where hints or introspection are on', async (query, meant) => {
  expect(await hintsOf(query, {}, local)).toContain(`Did you mean "${meant}"?`);
  expect((await hintsOf(query)).filter((hint?: string) => hint !== undefined)).toEqual([]);
});

test.each([
  [
    '{ hit(id: 1) }',
    '"hit" is a field of Mutation, because its function is volatile. If it only reads, declare it stable.',
  ],
  [
    '{ insertIntoproductCollection(objects: []) { affectedCount } }',
    '"insertIntoproductCollection" is a field of Mutation.',
  ],
  ['mutation { search_products(word: "x") { edges { cursor } } }', '"search_products" is a field of Query.'],
  ['mutation { productCollection { edges { cursor } } }', '"productCollection" is a field of Query.'],
])('%s gets a hint with the type of operation that has the field', async (query, hint) => {
  expect(await hintsOf(query, {}, local)).toEqual([hint]);
  expect(await hintsOf(query, {}, open)).toEqual([hint]);
  expect(await hintsOf(query)).toEqual([undefined]);
});

test.each([
  'mutation { searchProduct { edges { cursor } } }',
  'mutation { getProduct { id } }',
  '{ createProduct { id } }',
  '{ deleteProduct { id } }',
])('%s gets no hint with a field that does something else', async (query) => {
  expect(await hintsOf(query, {}, local)).toEqual([undefined]);
});

test('the hint has the collection where the message suggests another name', async () => {
  expect(await hintsOf('{ products { name } }', {}, open)).toEqual(['Did you mean "productCollection"?']);
  expect(await hintsOf('{ productsCollection { edges { cursor } } }', {}, open)).toEqual([undefined]);
});

test('the error of a mutation says that the role may write nothing', async () => {
  const { errors } = await execution.run('authenticated', 'mutation { createProduct { id } }');
  expect(errors[0].extensions.hint).toBe(
    'The role writes nothing that it reads: grant SELECT, and INSERT, UPDATE or DELETE, on a table, or EXECUTE on a volatile function.',
  );
});

test.each([
  [where('{ inStock: { eq: 1 } }'), 'Did you mean "in_stock"?'],
  [by('[{ inStock: AscNullsLast }]'), 'Did you mean "in_stock"?'],
  [where('{ spots: { contains: ["(1,2)"] } }'), 'Columns of the type [Opaque] have no filter.'],
  [by('[{ data: AscNullsLast }]'), 'Columns of the type JSON have no order.'],
  [by('{ far: DescNullsLast }'), 'Give the arguments: far: { x: …, direction: DescNullsLast }.'],
  [
    'mutation { insertIntoproductCollection(objects: { id: 1, label: "x" }) { affectedCount } }',
    '"label" takes no value here: the database fills it ("generated always"), or the role has no privilege to write it.',
  ],
  [
    'mutation { updateproductCollection(set: { number: 2 }) { affectedCount } }',
    '"number" is a generated key. No update changes it.',
  ],
  ['{ categoryCollection { edges { node { products { edges { cursor } } } } } }', 'Did you mean "productCollection"?'],
])('%s gets a hint with what the input has, where hints or introspection are on', async (query, hint) => {
  expect(await hintsOf(query, {}, local)).toEqual([hint]);
  expect(await hintsOf(query)).toEqual([undefined]);
});

test('the hint has the values of an enum, and the labels to write as strings, where hints or introspection are on', async () => {
  const query = where('{ size: { eq: HUGE } }');
  expect(await hintsOf(query, {}, local)).toEqual(['size has small and large. Write "extra large" as a string.']);
  expect(await hintsOf(query)).toEqual([undefined]);
  expect(await local.errors('anon', where('{ size: { eq: "extra large" } }'))).toEqual([]);
});

test('a long value in an error message does not slow the search for a hint', async () => {
  const query =
    'query ($filter: productFilter, $order: [productOrderBy!]) { productCollection(filter: $filter, orderBy: $order) { edges { cursor } } }';
  const startMs = processorMs();
  const values = [' at .', 'Expected value of type "x" to be an object, found: '].map((text) =>
    text.repeat(200_000 / text.length),
  );
  for (const value of values) {
    expect(await hintsOf(query, { filter: value })).toEqual([
      'Name the column and the comparison: filter: { COLUMN: { eq: VALUE } }.',
    ]);
    expect(await hintsOf(query, { filter: { id: { eq: value } } })).toEqual([undefined]);
  }
  expect(processorMs() - startMs).toBeLessThan(3000);
});

test('a long value is not repeated, and what nothing resembles gets no hint', async () => {
  expect(await hintsOf(where(`{ name: "${'x'.repeat(100)}" }`))).toEqual(['Name the comparison: name: { eq: … }.']);
  expect(await hintsOf('{ weather { name } }', {}, local)).toEqual([undefined]);
  expect(await hintsOf('{ __type(name: "product") { nme } }', {}, local)).toEqual([undefined]);
});
