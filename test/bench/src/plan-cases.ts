/**
 * For each kind of plan an operation, and the SQL that a person would write for the same values: rows where the gateway makes the
 * JSON, JSON where PostgreSQL does.
 */

/** One kind of plan, on tables of sql/plans.sql. */
export interface PlanCase {
  readonly title: string;
  readonly ours: string;
  /** For so many items. */
  readonly variables: (items: number) => object;
  readonly byHand: string;
  readonly parameters: (items: number) => readonly number[];
}

const author = 7;
const ofAuthor = { variables: () => ({ n: author }), parameters: () => [author] };
const always = { variables: () => ({}), parameters: () => [] };
/** Four fifths of the way. */
const deep = (items: number) => items * 0.8;
const behind = {
  variables: (items: number) => ({ c: encode([deep(items)]) }),
  parameters: (items: number) => [deep(items)],
};

/** In the order of the table. */
export const planCases: readonly PlanCase[] = [
  {
    title: 'page, filtered and ordered',
    ...ofAuthor,
    ours: `query ($n: Int!) { itemCollection(first: 20, filter: {authorId: {eq: $n}}, orderBy: [{publishedAt: DescNullsLast}])
      { edges { node { id title score publishedAt } } } }`,
    byHand: `select i.id, i.title, i.score, to_json(i.published_at) from plans.item i
      where i.author_id = $1 order by i.published_at desc, i.id limit 20`,
  },
  {
    title: 'deep page by cursor',
    ...behind,
    ours: `query ($c: Cursor) { itemCollection(first: 20, after: $c)
      { edges { node { id title score } } pageInfo { hasNextPage } } }`,
    byHand: 'select i.id, i.title, i.score from plans.item i where i.id > $1 order by i.id limit 21',
  },
  {
    title: 'backward page by cursor',
    ...behind,
    ours: 'query ($c: Cursor) { itemCollection(last: 20, before: $c) { edges { node { id title score } } } }',
    byHand: 'select i.id, i.title, i.score from plans.item i where i.id < $1 order by i.id desc limit 20',
  },
  {
    title: 'nested to-many, 10 × 5 × 5',
    ...always,
    ours: `{ authorCollection(first: 10) { edges { node { id name itemCollection(first: 5) { edges { node { id title
      reviewCollection(first: 5) { edges { node { id body } } } } } } } } } }`,
    byHand: `select row_to_json(c) from (select coalesce(json_agg(e), '[]') as edges from (select r as node from (
      select a.id, a.name, (select row_to_json(c2) from (select coalesce(json_agg(e2), '[]') as edges from (select r2 as node from (
        select i.id, i.title, (select row_to_json(c3) from (select coalesce(json_agg(e3), '[]') as edges from (select r3 as node from (
          select v.id, v.body from plans.review v where v.item_id = i.id order by v.id limit 5) r3) e3) c3) as reviews
        from plans.item i where i.author_id = a.id order by i.id limit 5) r2) e2) c2) as items
      from plans.author a order by a.id limit 10) r) e) c`,
  },
  {
    title: 'to-one chain of 5, 20 rows',
    ...always,
    ours: `{ reviewCollection(first: 20) { edges { node { id item { title author { name city { name country { name
      region { name } } } } } } } } }`,
    byHand: `select json_agg(json_build_object('id', r.id, 'item', (
        select json_build_object('title', i.title, 'author', (
          select json_build_object('name', a.name, 'city', (
            select json_build_object('name', c.name, 'country', (
              select json_build_object('name', n.name, 'region', (
                select json_build_object('name', g.name) from plans.region g where g.id = n.region_id))
              from plans.country n where n.id = c.country_id))
            from plans.city c where c.id = a.city_id))
          from plans.author a where a.id = i.author_id))
        from plans.item i where i.id = r.item_id)))
      from (select r.id, r.item_id from plans.review r order by r.id limit 20) r`,
  },
  {
    title: 'filter with and, or, not',
    variables: () => ({ n: author, m: author + 2 }),
    parameters: () => [author, author + 2, 500],
    ours: `query ($n: Int!, $m: Int!) { itemCollection(first: 20,
      filter: {and: [{or: [{authorId: {eq: $n}}, {authorId: {eq: $m}}]}, {not: {score: {lt: 500}}}]})
      { edges { node { id title } } } }`,
    byHand: `select i.id, i.title from plans.item i
      where (i.author_id = $1 or i.author_id = $2) and not i.score < $3 order by i.id limit 20`,
  },
  {
    title: 'count with rows',
    ...ofAuthor,
    ours: `query ($n: Int!) { itemCollection(first: 20, filter: {authorId: {eq: $n}})
      { totalCount edges { node { id title } } } }`,
    byHand: `select c.n, i.id, i.title from (select count(*) as n from plans.item i where i.author_id = $1) c
      left join (select i.id, i.title from plans.item i where i.author_id = $1 order by i.id limit 20) i on true`,
  },
  {
    title: 'count alone',
    ...ofAuthor,
    ours: 'query ($n: Int!) { itemCollection(filter: {authorId: {eq: $n}}) { totalCount } }',
    byHand: 'select count(*) from plans.item i where i.author_id = $1',
  },
  {
    title: 'one row by key',
    variables: (items) => ({ n: deep(items) }),
    parameters: (items) => [deep(items)],
    ours: 'query ($n: Int!) { itemByPk(id: $n) { id title score } }',
    byHand: 'select i.id, i.title, i.score from plans.item i where i.id = $1',
  },
  {
    title: 'node',
    variables: (items) => ({ n: encode(['plans', 'item', deep(items)]) }),
    parameters: (items) => [deep(items)],
    ours: 'query ($n: ID!) { node(nodeId: $n) { ... on Item { id title score } } }',
    byHand: 'select i.id, i.title, i.score from plans.item i where i.id = $1',
  },
];

function encode(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64');
}
