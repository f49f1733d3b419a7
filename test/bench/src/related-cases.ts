/**
 * Reads over related rows and by what is in them: filters, orders, groups, JSON, texts, the first of equal rows; on the tables of sql/related.sql.
 */
import type { BenchCase, Operation, Variables } from './cases.ts';
import { spread } from './read-cases.ts';

/** An answer of one collection, from the rows that a query of its own gives in their order. */
const edgesOf = (field: string, rows: string) =>
  `select concat('{"${field}":{"edges":[', string_agg(concat('{"node":', row_to_json(r), '}'), ','), ']}}') from (${rows}) r`;

/** A page of a collection, as JSON and without. */
const pageByHand = (field: string, rows: string) => ({ handwritten: edgesOf(field, rows), bare: rows });

const byName = (name: string) => ({
  variables: (n: number) => ({ n: `${name} ${n}` }),
  parameters: ({ n }: Variables) => [String(n)],
});
const byValue = { variables: (n: number) => ({ n }), parameters: ({ n }: Variables) => [String(n)] };

const toOneFilter: Operation = {
  ...byName('City'),
  ours: `query ($n: String!) { itemCollection(first: 20, filter: {author: {city: {name: {eq: $n}}}})
    { edges { node { id title } } } }`,
  postgraphile: `query ($n: String!) { allItems(first: 20, filter: {authorByAuthorId: {cityByCityId: {name: {equalTo: $n}}}})
    { edges { node { rowId title } } } }`,
  ...pageByHand(
    'itemCollection',
    `select i.id, i.title from related.city c join related.author a on a.city_id = c.id join related.item i on i.author_id = a.id
    where c.name = $1::text order by i.id limit 20`,
  ),
};

const someFilter: Operation = {
  ...byName('Author'),
  ours: `query ($n: String!) { itemCollection(first: 20,
    filter: {reviewCollection: {some: {replyCollection: {some: {author: {eq: $n}}}}}}) { edges { node { id title } } } }`,
  postgraphile: `query ($n: String!) { allItems(first: 20,
    filter: {reviewsByItemId: {some: {repliesByReviewId: {some: {author: {equalTo: $n}}}}}}) { edges { node { rowId title } } } }`,
  ...pageByHand(
    'itemCollection',
    `select i.id, i.title from related.item i where i.id in (
      select v.item_id from related.reply p join related.review v on v.id = p.review_id where p.author = $1::text)
    order by i.id limit 20`,
  ),
};

const toOneOrder: Operation = {
  variables: () => ({}),
  parameters: () => [],
  ours: `{ itemCollection(first: 20, orderBy: [{author: {name: AscNullsLast}}])
    { edges { node { id title } } } }`,
  postgraphile: `{ allItems(first: 20, orderBy: [AUTHOR_BY_AUTHOR_ID__NAME_ASC]) { edges { node { rowId title } } } }`,
  ...pageByHand(
    'itemCollection',
    `select i.id, i.title from related.author a join related.item i on i.author_id = a.id
    order by a.name, i.id limit 20`,
  ),
};

const ofCity = `select a.id, a.name from related.author a where a.city_id = c.id
  order by (select count(*) from related.item i where i.author_id = a.id) desc, a.id limit 10`;

const countOrder: Operation = {
  ...byValue,
  ours: `query ($n: Int!) { cityByPk(id: $n) { id name
    authorCollection(first: 10, orderBy: [{itemCollection: {count: DescNullsLast}}]) { edges { node { id name } } } } }`,
  postgraphile: `query ($n: Int!) { cityByRowId(rowId: $n) { rowId name
    authorsByCityId(first: 10, orderBy: [ITEMS_BY_AUTHOR_ID__COUNT_DESC, PRIMARY_KEY_ASC]) { edges { node { rowId name } } } } }`,
  handwritten: `select row_to_json(d)::text from (select (select row_to_json(r) from (select c.id, c.name, (
      select row_to_json(x) from (select coalesce(json_agg(e), '[]') as edges from (select n as node from (${ofCity}) n) e) x
    ) as "authorCollection" from related.city c where c.id = $1::int) r) as "cityByPk") d`,
  bare: `select c.id, c.name, a.id, a.name from related.city c left join lateral (${ofCity}) a on true where c.id = $1::int`,
};

/** About the middle of the sums of a month, so that every second one has less. */
const leastSum = 208_000;
const months = `select date_trunc('month', i.published_at, 'UTC') as k, sum(i.score) as s from related.item i where i.kind = $1::int
  group by 1 having sum(i.score) >= ${leastSum} order by 1`;

const groups: Operation = {
  ...byValue,
  ours: `query ($n: Int!) { itemCollection(filter: {kind: {eq: $n}}) {
    groups(by: [{column: publishedAt, truncate: MONTH, timeZone: "UTC"}], having: {sum: {score: {gte: "${leastSum}"}}})
    { key { publishedAt } sum { score } } } }`,
  postgraphile: `query ($n: Int!) { allItems(condition: {kind: $n}) {
    groupedAggregates(groupBy: [PUBLISHED_AT_TRUNCATED_TO_MONTH], having: {sum: {score: {greaterThanOrEqualTo: ${leastSum}}}})
    { keys sum { score } } } }`,
  handwritten: `select concat('{"itemCollection":{"groups":[', string_agg(concat('{"key":{"publishedAt":', to_json(r.k),
    '},"sum":{"score":"', r.s, '"}}'), ','), ']}}') from (${months}) r`,
  bare: months,
};

// Collected before they are ordered: PostgreSQL takes 1 % for a match, and would walk along the key until it has 20.
const jsonContains: Operation = {
  variables: (n) => ({ j: JSON.stringify({ model: n }) }),
  parameters: ({ j }) => [String(j)],
  ours: `query ($j: JSON!) { itemCollection(first: 20, filter: {attributes: {contains: $j}})
    { edges { node { id title } } } }`,
  postgraphile: `query ($j: JSON!) { allItems(first: 20, filter: {attributes: {contains: $j}})
    { edges { node { rowId title } } } }`,
  postgraphileVariables: (n) => ({ j: { model: n } }),
  ...pageByHand(
    'itemCollection',
    `with m as materialized (select i.id, i.title from related.item i where i.attributes @> $1::jsonb)
    select m.id, m.title from m order by m.id limit 20`,
  ),
};

const rank: Operation = {
  variables: (n) => ({ t: `word${n}` }),
  parameters: ({ t }) => [String(t)],
  ours: `query ($t: String!) { itemCollection(first: 20, filter: {search: {websearch: $t, config: "simple"}},
    orderBy: [{searchRank: {websearch: $t, config: "simple"}}]) { edges { node { id title } } } }`,
  postgraphile: null,
  ...pageByHand(
    'itemCollection',
    `select i.id, i.title from related.item i where i.search @@ websearch_to_tsquery('simple', $1::text)
    order by ts_rank(i.search, websearch_to_tsquery('simple', $1::text)) desc, i.id limit 20`,
  ),
};

const distinct: Operation = {
  ...byValue,
  ours: `query ($n: Int!) { itemCollection(first: 20, filter: {authorId: {gte: $n}}, distinctOn: [authorId],
    orderBy: [{publishedAt: DescNullsLast}]) { edges { node { authorId id publishedAt } } } }`,
  postgraphile: null,
  ...pageByHand(
    'itemCollection',
    `select distinct on (i.author_id) i.author_id as "authorId", i.id, i.published_at as "publishedAt" from related.item i
    where i.author_id >= $1::int order by i.author_id, i.published_at desc, i.id limit 20`,
  ),
};

/** In the order of the table. */
export const relatedCases: readonly BenchCase[] = [
  { name: 'to-one-filter', title: 'filter by a to-one relationship, two deep', operations: [toOneFilter], values: spread(499, 1000) }, // biome-ignore format: one line each
  { name: 'some-filter', title: 'filter by some related rows, two deep', operations: [someFilter], values: spread(499, 4999) }, // biome-ignore format: one line each
  { name: 'to-one-order', title: 'order by a column of a to-one relationship', operations: [toOneOrder], values: [1] },
  { name: 'count-order', title: 'order by a count within a parent', operations: [countOrder], values: spread(499, 1000) }, // biome-ignore format: one line each
  { name: 'groups', title: 'groups of 10,000 rows by month, with having', operations: [groups], values: spread(97, 100) }, // biome-ignore format: one line each
  { name: 'json-contains', title: 'JSON that contains a value', operations: [jsonContains], values: spread(499, 999) }, // biome-ignore format: one line each
  { name: 'search-rank', title: 'text search by rank', operations: [rank], values: spread(499, 4999) },
  { name: 'distinct', title: 'the first of equal rows', operations: [distinct], values: spread(499, 19_000) },
];
