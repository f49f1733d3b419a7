/**
 * The reads: one row, rows, nested rows, many rows, a deep page, a count.
 */
import type { BenchCase, Operation, Variables } from './cases.ts';

/** `count` numbers from 1 to `ceiling`, spread out and never random. */
export const spread = (count: number, ceiling: number) =>
  Array.from({ length: count }, (_, n) => 1 + ((n * 7919) % ceiling));

const byValue = { variables: (n: number) => ({ n }), parameters: ({ n }: Variables) => [String(n)] };
const alwaysTheSame = { variables: () => ({}), parameters: () => [] };

/** One row by its key. */
export const oneRow: Operation = {
  ...byValue,
  ours: 'query ($n: Int!) { postByPk(id: $n) { id title score publishedAt } }',
  postgraphile: 'query ($n: Int!) { postByRowId(rowId: $n) { rowId title score publishedAt } }',
  handwritten: `select row_to_json(d)::text from (select (select row_to_json(r) from (
    select p.id, p.title, p.score, p.published_at as "publishedAt" from public.post p where p.id = $1::int) r) as "postByPk") d`,
  bare: 'select p.id, p.title, p.score, p.published_at from public.post p where p.id = $1::int',
};

const rows20: Operation = {
  ...byValue,
  ours: `query ($n: Int!) { postCollection(first: 20, filter: {accountId: {eq: $n}}, orderBy: [{publishedAt: DescNullsLast}])
    { edges { node { id title score publishedAt } } } }`,
  postgraphile: `query ($n: Int!) { allPosts(first: 20, condition: {accountId: $n}, orderBy: [PUBLISHED_AT_DESC])
    { edges { node { rowId title score publishedAt } } } }`,
  handwritten: `select concat('{"postCollection":{"edges":[', string_agg(concat('{"node":', row_to_json(r), '}'), ','), ']}}') from (
    select p.id, p.title, p.score, p.published_at as "publishedAt" from public.post p
    where p.account_id = $1::int order by p.published_at desc, p.id limit 20) r`,
  bare: `select p.id, p.title, p.score, p.published_at from public.post p
    where p.account_id = $1::int order by p.published_at desc, p.id limit 20`,
};

// Rows inside rows, with row_to_json only at the top: tried against json_build_object, text and arrays at each level.
const nested: Operation = {
  ...alwaysTheSame,
  ours: `{ accountCollection(first: 10) { edges { node { id name postCollection(first: 5) { edges { node { id title
    commentCollection(first: 5) { edges { node { id author body } } } } } } } } } }`,
  postgraphile: `{ allAccounts(first: 10) { edges { node { rowId name postsByAccountId(first: 5) { edges { node { rowId title
    commentsByPostId(first: 5) { edges { node { rowId author body } } } } } } } } } }`,
  handwritten: `select row_to_json(d)::text from (select row_to_json(c) as "accountCollection" from (
    select coalesce(json_agg(e), '[]') as edges from (select r as node from (
      select a.id, a.name, (select row_to_json(c2) from (
        select coalesce(json_agg(e2), '[]') as edges from (select r2 as node from (
          select p.id, p.title, (select row_to_json(c3) from (
            select coalesce(json_agg(e3), '[]') as edges from (select r3 as node from (
              select m.id, m.author, m.body from public.comment m where m.post_id = p.id order by m.id limit 5) r3) e3) c3
          ) as "commentCollection"
          from public.post p where p.account_id = a.id order by p.id limit 5) r2) e2) c2
      ) as "postCollection"
      from public.account a order by a.id limit 10) r) e) c) d`,
  bare: `select a.id, a.name, p.id, p.title, m.id, m.author, m.body
    from (select a.id, a.name from public.account a order by a.id limit 10) a
    left join lateral (select p.id, p.title from public.post p where p.account_id = a.id order by p.id limit 5) p on true
    left join lateral (select m.id, m.author, m.body from public.comment m where m.post_id = p.id order by m.id limit 5) m on true`,
};

// The answer as text, each row as JSON: 20 % less than json_agg, which looks up the types of every row twice.
const rows1000: Operation = {
  ...alwaysTheSame,
  ours: '{ commentCollection(first: 1000) { edges { node { id postId author body } } } }',
  postgraphile: '{ allComments(first: 1000) { edges { node { rowId postId author body } } } }',
  handwritten: `select '{"commentCollection":{"edges":[' || string_agg('{"node":' || row_to_json(r)::text || '}', ',') || ']}}' from (
    select m.id, m.post_id as "postId", m.author, m.body from public.comment m order by m.id limit 1000) r`,
  bare: 'select m.id, m.post_id, m.author, m.body from public.comment m order by m.id limit 1000',
};

const deepPage: Operation = {
  ...alwaysTheSame,
  ours: `query ($c: Cursor) { postCollection(first: 20, after: $c)
    { edges { node { id title score } } pageInfo { hasNextPage endCursor } } }`,
  postgraphile: `query ($c: Cursor) { allPosts(first: 20, after: $c)
    { edges { node { rowId title score } } pageInfo { hasNextPage endCursor } } }`,
  handwritten: `select row_to_json(d)::text from (select row_to_json(c) as "postCollection" from (
    select coalesce(json_agg(row_to_json(e)) filter (where r.n <= 20), '[]') as edges, json_build_object('hasNextPage', count(*) > 20,
      'endCursor', translate(encode(convert_to(jsonb_build_array(max(r.id) filter (where r.n <= 20))::text, 'UTF8'), 'base64'), E'\\n', '')) as "pageInfo"
    from (select p.id, p.title, p.score, row_number() over (order by p.id) as n from public.post p where p.id > 40000 order by p.id limit 21) r
    cross join lateral (select row_to_json(x) as node from (select r.id, r.title, r.score) x) e) c) d`,
  bare: 'select p.id, p.title, p.score from public.post p where p.id > 40000 order by p.id limit 21',
};

const count: Operation = {
  ...byValue,
  ours: 'query ($n: Int!) { postCollection(filter: {accountId: {eq: $n}}) { totalCount } }',
  postgraphile: 'query ($n: Int!) { allPosts(condition: {accountId: $n}) { totalCount } }',
  handwritten: `select row_to_json(d)::text from (select row_to_json(c) as "postCollection" from (
    select count(*) as "totalCount" from public.post p where p.account_id = $1::int) c) d`,
  bare: 'select count(*) from public.post p where p.account_id = $1::int',
};

/** In the order of the table. */
export const readCases: readonly BenchCase[] = [
  { name: 'one-row', title: 'one row by key', operations: [oneRow], values: spread(997, 50_000) },
  { name: 'rows-20', title: '20 rows, filtered and ordered', operations: [rows20], values: spread(499, 1000) },
  { name: 'nested', title: 'nested 10 × 5 × 5', operations: [nested], values: [1] },
  { name: 'rows-1000', title: '1,000 rows', operations: [rows1000], values: [1] },
  {
    name: 'deep-page',
    title: 'deep page, 20 rows behind 40,000',
    operations: [deepPage],
    values: [1],
    deepKey: 40_000,
  },
  { name: 'count', title: 'count of a filtered collection', operations: [count], values: spread(499, 1000) },
];
