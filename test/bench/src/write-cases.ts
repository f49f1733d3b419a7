/**
 * The writes: insert, update and delete of one row, a function, a mix with reads, an insert and a list of updates of a hundred,
 * upserts, and inserts with related rows.
 */
import type { BenchCase, Operation } from './cases.ts';
import { oneRow, spread } from './read-cases.ts';

const insertOne: Operation = {
  ours: 'mutation ($t: String!, $s: Int!) { insertIntoEntryCollection(objects: [{title: $t, score: $s}]) { records { title score } } }',
  variables: (n) => ({ t: `Entry ${n}`, s: n }),
  postgraphile:
    'mutation ($t: String!, $s: Int!) { createEntry(input: {entry: {title: $t, score: $s}}) { entry { title score } } }',
  handwritten: `with x as (insert into public.entry (title, score) values ($1::text, $2::int) returning title, score)
    select json_build_object('insertIntoEntryCollection', json_build_object('records', json_agg(row_to_json(x))))::text from x`,
  parameters: ({ t, s }) => [String(t), String(s)],
  bare: null,
};

const updateOne: Operation = {
  ours: 'mutation ($n: Int!, $s: Int!) { updateScoreCollection(set: {points: $s}, filter: {id: {eq: $n}}) { records { id points } } }',
  variables: (n) => ({ n, s: n * 3 }),
  postgraphile:
    'mutation ($n: Int!, $s: Int!) { updateScoreByRowId(input: {rowId: $n, scorePatch: {points: $s}}) { score { rowId points } } }',
  handwritten: `with x as (update public.score t set points = $2::int where t.id = $1::int returning t.id, t.points)
    select json_build_object('updateScoreCollection', json_build_object('records', json_agg(row_to_json(x))))::text from x`,
  parameters: ({ n, s }) => [String(n), String(s)],
  bare: null,
};

const deleteOne: Operation = {
  ours: 'mutation ($n: Int!) { deleteFromDoomedCollection(filter: {id: {eq: $n}}) { records { id title } } }',
  variables: (n) => ({ n }),
  postgraphile: 'mutation ($n: Int!) { deleteDoomedByRowId(input: {rowId: $n}) { doomed { rowId title } } }',
  handwritten: `with x as (delete from public.doomed t where t.id = $1::int returning t.id, t.title)
    select json_build_object('deleteFromDoomedCollection', json_build_object('records', json_agg(row_to_json(x))))::text from x`,
  parameters: ({ n }) => [String(n)],
  bare: null,
};

const callFunction: Operation = {
  ours: 'mutation ($n: Int!) { addPoints(scoreId: $n, amount: 1) }',
  variables: (n) => ({ n }),
  postgraphile: 'mutation ($n: Int!) { addPoints(input: {scoreId: $n, amount: 1}) { result } }',
  handwritten: `select json_build_object('addPoints', public.add_points($1::int, 1))::text`,
  parameters: ({ n }) => [String(n)],
  bare: null,
};

const hundred = Array.from({ length: 100 }, (_, index) => index);
const object = (n: number, index: number) => ({ title: `Entry ${n}-${index}`, score: index });

// PostGraphile has no insert of several objects: its users send aliases, which run one after the other.
const insertHundred: Operation = {
  ours: 'mutation ($o: [EntryInsertInput!]!) { insertIntoEntryCollection(objects: $o) { records { title score } } }',
  variables: (n) => ({ o: hundred.map((index) => object(n, index)) }),
  postgraphile: `mutation (${hundred.map((index) => `$e${index}: EntryInput!`).join(', ')}) { ${hundred
    .map((index) => `m${index}: createEntry(input: {entry: $e${index}}) { entry { title score } }`)
    .join(' ')} }`,
  postgraphileVariables: (n) => Object.fromEntries(hundred.map((index) => [`e${index}`, object(n, index)])),
  handwritten: `with x as (insert into public.entry (title, score)
      select o.title, o.score from json_to_recordset($1::json) as o (title text, score int) returning title, score)
    select json_build_object('insertIntoEntryCollection', json_build_object('records', json_agg(x)))::text from x`,
  parameters: ({ o }) => [JSON.stringify(o)],
  bare: null,
};

// The first time, half of the keys are new. PostGraphile has no upsert without a plugin.
const upsertOf = (count: number): Operation => ({
  ours: `mutation ($o: [ScoreInsertInput!]!) { insertIntoScoreCollection(objects: $o,
    onConflict: {constraint: score_pkey, updateColumns: [points]}) { records { id points } } }`,
  variables: (n) => ({ o: hundred.slice(0, count).map((index) => ({ id: n + index, points: n })) }),
  postgraphile: null,
  handwritten: `with x as (insert into public.score as t (id, points)
      select o.id, o.points from json_to_recordset($1::json) as o (id int, points int)
      on conflict (id) do update set points = excluded.points returning t.id, t.points)
    select json_build_object('insertIntoScoreCollection', json_build_object('records', json_agg(x)))::text from x`,
  parameters: ({ o }) => [JSON.stringify(o)],
  bare: null,
});

interface Entry {
  readonly set: { readonly points: number };
  readonly filter: { readonly id: { readonly eq: number } };
}

// Keys without a fixed order, each with a value of its own.
const updateHundred: Operation = {
  ours: `mutation ($u: [ScoreUpdateEntry!]!) { updateManyScoreCollection(updates: $u) { records { id points } } }`,
  variables: (n) => ({
    u: hundred.map((index) => ({ set: { points: n + index }, filter: { id: { eq: keyOf(n, index) } } })),
  }),
  postgraphile: null,
  handwritten: `with o as (select * from unnest($1::int[], $2::int[], $3::int[]) as o (id, points, n)),
      x as (update public.score t set points = o.points from o where t.id = o.id returning o.n, t.id, t.points)
    select json_build_object('updateManyScoreCollection', json_agg(json_build_object('records',
      case when x.n is null then '[]' else json_build_array(json_build_object('id', x.id, 'points', x.points)) end) order by o.n))::text
    from o left join x on x.n = o.n`,
  parameters: ({ u }) => {
    const entries = (u as readonly Entry[]).map(({ set, filter }, n) => ({ id: filter.id.eq, points: set.points, n }));
    // Two requests with the same keys in another order would lock each other out.
    entries.sort((a, b) => a.id - b.id);
    return (['id', 'points', 'n'] as const).map((key) => `{${entries.map((entry) => entry[key]).join()}}`);
  },
  bare: null,
};

const lines = [1, 2, 3, 4, 5].map((position) => ({ position }));
const basket = (n: number, index: number) => ({
  title: `Basket ${n}-${index}`,
  basketLineCollection: { insert: lines },
});

// The best statement without policies: one, which reads the keys of the new rows.
const nestedOf = (count: number): Operation => ({
  ours: 'mutation ($o: [BasketInsertInput!]!) { insertIntoBasketCollection(objects: $o) { records { title } } }',
  variables: (n) => ({ o: hundred.slice(0, count).map((index) => basket(n, index)) }),
  postgraphile: null,
  handwritten: `with o as (select * from rows from (json_to_recordset($1::json) as (title text, lines int[])) with ordinality as o (title, lines, n)),
      x as (insert into public.basket (title) select o.title from o order by o.n returning id, title),
      k as (select x.*, row_number() over (order by x.id) as n from x),
      l as (insert into public.basket_line (basket_id, position)
        select k.id, p from k join o using (n) cross join unnest(o.lines) as p)
    select json_build_object('insertIntoBasketCollection', json_build_object('records',
      json_agg(json_build_object('title', k.title) order by k.n)))::text from k`,
  parameters: ({ o }) => {
    const baskets = (o as readonly ReturnType<typeof basket>[]).map(({ title, basketLineCollection }) => ({
      title,
      lines: basketLineCollection.insert.map(({ position }) => position),
    }));
    return [JSON.stringify(baskets)];
  },
  bare: null,
});

function keyOf(n: number, index: number): number {
  return 1 + ((n + index * 37) % 10_000);
}

/** In the order of the table. */
export const writeCases: readonly BenchCase[] = [
  { name: 'insert-1', title: 'insert one row', operations: [insertOne], values: spread(997, 50_000) },
  { name: 'update-1', title: 'update one row by key', operations: [updateOne], values: spread(997, 10_000) },
  {
    name: 'delete-1',
    title: 'delete one row by key',
    operations: [deleteOne],
    values: [1],
    refill: (size) => [
      'delete from public.doomed',
      `insert into public.doomed select i, 'Doomed ' || i from generate_series(1, ${size}) as i`,
      'vacuum analyze public.doomed',
    ],
  },
  {
    name: 'function',
    title: 'call of a function that writes',
    operations: [callFunction],
    values: spread(997, 10_000),
  },
  {
    name: 'mixed',
    title: 'mixed: 80 % one row by key, 20 % update',
    operations: [oneRow, oneRow, oneRow, oneRow, updateOne],
    values: spread(997, 10_000),
  },
  { name: 'insert-100', title: 'insert 100 objects', operations: [insertHundred], values: spread(97, 50_000) },
  { name: 'update-100', title: 'update 100 rows by key', operations: [updateHundred], values: spread(97, 10_000) },
  { name: 'upsert-1', title: 'upsert one row', operations: [upsertOf(1)], values: spread(997, 20_000) },
  { name: 'upsert-100', title: 'upsert 100 objects', operations: [upsertOf(100)], values: spread(97, 20_000) },
  {
    name: 'nested-1',
    title: 'insert one row with 5 related rows',
    operations: [nestedOf(1)],
    hasSeveralStatements: true,
    values: spread(997, 20_000),
  },
  {
    name: 'nested-100',
    title: 'insert 100 rows with 5 related rows each',
    operations: [nestedOf(100)],
    hasSeveralStatements: true,
    values: spread(97, 20_000),
  },
];
