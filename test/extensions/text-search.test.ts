/** Rows are found by text searches in columns of type `tsvector` (extension `text_search`). */
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { bindSlots } from '../../src/graphql/compile/input/bind-slot.ts';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';
import { walkPages } from '../support/walk-pages.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  do $$ begin execute format('alter database %I set default_text_search_config = english', current_database()); end $$;
  create text search configuration plain_words (copy = pg_catalog.simple);
  create schema hidden; create text search configuration hidden.secret (copy = pg_catalog.simple);
  create domain found as tsvector;
  create table article (id int primary key, search tsvector, other found);
  insert into article select id, to_tsvector('english', body), to_tsvector('simple', body) from (values
    (1, 'The quick brown fox jumps over the lazy dogs'), (2, 'Quick foxes, quickly found'), (3, 'A dog and a fox'),
    (4, 'Nothing of that'), (5, null)) as made (id, body);
  grant select, update, delete on article to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });

/** Ids of the rows that meet the filter. */
async function articles(
  filter: string,
  variables: Record<string, unknown> = {},
  declared = '',
): Promise<readonly number[]> {
  const query = `query ${declared} { articleCollection(filter: ${filter}) { edges { node { id } } } }`;
  const { articleCollection } = await execution.data('anon', query, { variables });
  return articleCollection.edges.map(({ node }: Json) => node.id);
}

describe('searches', () => {
  test.each([
    // Words of `websearch` must all be there but for those behind a minus; it takes any text.
    ['{websearch: "fox dogs", config: "english"}', [1, 3], [2, 4]],
    ['{websearch: "fox -dog", config: "english"}', [2], [1, 3, 4]],
    ['{websearch: "\\"quick brown\\" or nothing", config: "english"}', [1, 4], [2, 3]],
    ['{websearch: "& ( \\" !", config: "english"}', [], [1, 2, 3, 4]],
    ['{plain: "dogs foxes", config: "english"}', [1, 3], [2, 4]],
    ['{phrase: "lazy dog", config: "english"}', [1], [2, 3, 4]],
    ['{phrase: "dog lazy", config: "english"}', [], [1, 2, 3, 4]],
    ['{query: "quick & !brown", config: "english"}', [2], [1, 3, 4]],
    ['{query: "qui:* | noth:*", config: "english"}', [1, 2, 4], [3]],
    // Stop words alone find nothing.
    ['{plain: "the", config: "english"}', [], [1, 2, 3, 4]],
    ['{plain: "", config: "english"}', [], [1, 2, 3, 4]],
    ['{plain: "foxes", config: "simple"}', [], [1, 2, 3, 4]],
    ['{plain: "fox", config: "plain_words"}', [1, 2, 3], [4]],
    ['{plain: "fox", config: "English"}', [1, 2, 3], [4]],
    ['{plain: null}', [], []],
    ['{plain: "fox", config: null}', [1, 2, 3], [4]],
    ['{is: NULL}', [5], [1, 2, 3, 4]],
    ['{is: NOT_NULL, plain: "fox", config: "english"}', [1, 2, 3], [4, 5]],
    ["{eq: \"'dog':2 'fox':5\"}", [3], [1, 2, 4]],
    ['{eq: null}', [], []],
  ])('%s', async (filter, ids, others) => {
    expect(await articles(`{search: ${filter}}`)).toEqual(ids);
    expect(await articles(`{not: {search: ${filter}}}`)).toEqual(others);
  });

  test.each(['{}', 'null', '{config: "english"}', '{config: "no such thing"}'])(
    '%s is no condition',
    async (filter) => {
      expect(await articles(`{search: ${filter}}`)).toEqual([1, 2, 3, 4, 5]);
      expect(await articles(`{not: {search: ${filter}}}`)).toEqual([1, 2, 3, 4, 5]);
    },
  );

  test('searches have the default of the database without a configuration', async () => {
    const other = await createDatabase(`
      create table article (id int primary key, search tsvector);
      insert into article values (1, to_tsvector('english', 'foxes'));
      grant select on article to anon;
    `);
    const count = async () => {
      const on = await startExecution(other, {});
      const { articleCollection } = await on.data(
        'anon',
        '{ articleCollection(filter: {search: {plain: "foxes"}}) { edges { cursor } } }',
      );
      return articleCollection.edges.length;
    };
    await other.query(`alter database ${other.name} set default_text_search_config = 'simple'`);
    expect(await count()).toBe(0);
    await other.query(`alter database ${other.name} set default_text_search_config = 'english'`);
    expect(await count()).toBe(1);
  });

  test('searches take text and configuration from variables, which are no part of the statement', async () => {
    const declared = '($text: String, $config: String)';
    const filter = '{search: {websearch: $text, config: $config}}';
    const query = `query ${declared} { articleCollection(filter: ${filter}) { edges { node { id } } } }`;
    const texts = await Promise.all(
      [
        ['dogs', 'english'],
        ['"quick brown"', 'simple'],
        ["'; drop table article; --", 'plain_words'],
      ].map(async ([text, config]) => {
        return (await execution.statements('anon', query, { variables: { text, config } }))[0]!.text;
      }),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain(
      'operator(pg_catalog.@@) pg_catalog.websearch_to_tsquery($1::"pg_catalog"."regconfig", $2::"pg_catalog"."text")',
    );
    expect(await articles(filter, { text: 'dogs', config: 'english' }, declared)).toEqual([1, 3]);
    expect(await articles(filter, { text: 'dogs', config: 'simple' }, declared)).toEqual([]);
    expect(await articles(filter, { text: 'dogs' }, declared)).toEqual([1, 3]);
    expect(
      await articles(
        '{search: $search}',
        { search: { phrase: 'quick brown', config: 'english' } },
        '($search: TextSearchFilter)',
      ),
    ).toEqual([1]);
  });

  test('searches work on domains, beside other filters, in updates and deletes', async () => {
    expect(
      await articles('{other: {plain: "dogs", config: "simple"}, search: {plain: "dog", config: "english"}}'),
    ).toEqual([1]);
    expect(await articles('{or: [{search: {plain: "lazy", config: "english"}}, {id: {eq: 5}}]}')).toEqual([1, 5]);
    const remove =
      'mutation { deleteFromArticleCollection(filter: {search: {plain: "nothing", config: "english"}}, atMost: 1) { records { id } } }';
    expect((await execution.data('anon', remove)).deleteFromArticleCollection.records).toEqual([{ id: 4 }]);
    await database.query(`insert into article values (4, to_tsvector('english', 'Nothing of that'))`);
  });
});

describe('refused', () => {
  const refusal = async (filter: string, variables: Record<string, unknown> = {}) => {
    const query = `query ($q: String, $c: String) { articleCollection(filter: {search: ${filter}}) { edges { node { id } } } }`;
    const { errors } = await execution.run('anon', query, { variables });
    expect(errors).toMatchObject([{ path: ['articleCollection'], extensions: { code: 'BAD_USER_INPUT' } }]);
    return [errors[0].message, errors[0].extensions.input];
  };

  test.each([
    ['a b', 'syntax error in tsquery: "a b"'],
    ['a & (b', 'syntax error in tsquery: "a & (b"'],
    ['!', 'no operand in tsquery: "!"'],
    ["'a", `syntax error in tsquery: "'a"`],
    ['a\\', 'there is no escaped character: "a\\"'],
    ['a <99999> b', 'distance in phrase operator must be an integer value between zero and 16384 inclusive'],
    [`${'!'.repeat(100)}a`, 'tsquery stack too small'],
  ])('refused is the query %s', async (q, message) => {
    const [inVariable, inDocument] = [
      await refusal('{query: $q, config: "english"}', { q }),
      await refusal(`{query: ${JSON.stringify(q)}, config: "english"}`),
    ];
    expect([inVariable[0], inDocument[0]]).toEqual([message, message]);
    expect([inVariable[1], inDocument[1]]).toEqual(['$q', 'filter.search.query']);
  });

  test('refused is a query that is too long', async () => {
    const [message, input] = await refusal('{query: $q}', { q: 'x '.repeat(50_000) });
    expect([message.slice(0, 30), input]).toEqual(['syntax error in tsquery: "x x ', '$q']);
  });

  test('refused is a configuration that the role does not see, whether there is one or not', async () => {
    const missing = 'text search configuration "klingon" does not exist';
    expect(await refusal('{plain: "a", config: $c}', { c: 'klingon' })).toEqual([missing, '$c']);
    expect(await refusal('{plain: "a", config: "klingon"}')).toEqual([missing, 'filter.search.config']);
    expect(await refusal('{plain: "a", config: "secret"}')).toEqual([
      missing.replace('klingon', 'secret'),
      'filter.search.config',
    ]);
    const name = '"config" takes the name of a text search configuration, without its schema.';
    for (const c of [
      'hidden.secret',
      'nowhere.secret',
      '13000',
      '0',
      '-',
      '',
      '"english"',
      'english ',
      "english'::regconfig) --",
      'a.b.c',
    ]) {
      expect(await refusal('{plain: "a", config: $c}', { c })).toEqual([name, '$c']);
    }
  });

  test('refused are two searches in one filter', async () => {
    const message = 'A text search has one of "websearch", "plain", "phrase" and "query".';
    expect(await refusal('{plain: "a", websearch: "b"}')).toEqual([message, 'filter.search']);
    expect(await refusal('{plain: "a", query: null}')).toEqual([message, 'filter.search']);
  });
});

describe('names', async () => {
  await createSchema(
    database,
    'named',
    `
    comment on schema named is '@graphql({"inflect_names": true})';
    create table text_search (id int primary key, body tsvector);
    grant select on text_search to anon;
  `,
  );

  test('that are there without them stay', async () => {
    const on = await startExecution(database, { schemas: ['named'], introspection: 'always' });
    const { __type } = await on.data(
      'anon',
      '{ __type(name: "TextSearchFilter") { inputFields { name type { name } } } }',
    );
    expect(__type.inputFields.map(({ name, type }: Json) => `${name} ${type.name}`)).toEqual([
      ...['id IntFilter', 'body OpaqueFilter', 'nodeId IDFilter', 'and null', 'or null', 'not TextSearchFilter'],
    ]);
  });

  test('that are taken are reported', async () => {
    const [omission] = (await modelReader(database).omissions(['named'])).filter(({ names }) =>
      names.includes('TextSearchFilter'),
    );
    expect(omission).toMatchObject({
      object: 'named.text_search',
      reason: 'Nothing has a type "TextSearchFilter" of the extensions: table named.text_search has that name already.',
    });
  });
});

test('without the extension nothing of it is there', async () => {
  const typeOf = async (extensions: object) => {
    const on = await startExecution(database, { introspection: 'always', ...extensions });
    const { filter, search } = await on.data(
      'anon',
      `{
      filter: __type(name: "ArticleFilter") { inputFields { name type { name } } } search: __type(name: "TextSearchFilter") { description } }`,
    );
    return [filter.inputFields.find(({ name }: Json) => name === 'search').type.name, search];
  };
  expect(await typeOf({ extensions: [] })).toEqual(['OpaqueFilter', null]);
  expect(await typeOf({})).toEqual(['TextSearchFilter', { description: 'Conditions on tsvector values.' }]);
});

describe('with as many blocks as 100,000 rows have, indexes serve', async () => {
  await createSchema(
    database,
    'big',
    `
    create table page (id int primary key, tenant int not null, body text not null,
      search tsvector generated always as (to_tsvector('english', body)) stored) with (fillfactor = 10);
    insert into page (id, tenant, body) select n, n % 10, 'page p' || n % 30 || ' q' || n % 100 || ' with words w' || n % 1000 from generate_series(1, 10000) n;
    create index on page using gin (search);
    create table plain (id int primary key, body text not null) with (fillfactor = 10);
    insert into plain select id, body from page;
    create index on plain using gin (to_tsvector('english'::regconfig, body));
    create view searched as select id, to_tsvector('english'::regconfig, body) as search from plain;
    comment on view searched is '@graphql({"primary_key_columns": ["id"]})';
    create table guarded (id int primary key, tenant int not null, search tsvector) with (fillfactor = 10);
    insert into guarded select id, tenant, search from page;
    create index on guarded using gin (search); create index on guarded (tenant);
    alter table guarded enable row level security;
    create policy own on guarded to anon using (tenant = (select 1));
    grant select on page, searched, guarded to anon, service_role; grant select on plain to anon`,
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
  const find = (table: string, search: string) =>
    `{ ${table}Collection(filter: {search: {${search}}}) { edges { node { id } } } }`;
  const count = async (role: string, query: string) => {
    const [collection] = Object.values(await on.data(role, query)) as { edges: unknown[] }[];
    return collection!.edges.length;
  };

  test.each([
    ['page', 'websearch: "w11 words", config: "english"'],
    ['page', 'plain: "w11", config: "english"'],
    ['page', 'phrase: "words w11", config: "english"'],
    ['page', 'query: "w11 & !nothing", config: "english"'],
    // The configuration of the view is part of its index, that of the search is a value.
    ['searched', 'websearch: "w11 words", config: "english"'],
  ])('%s: %s', async (table, search) => {
    const query = find(table, search);
    expect(await count('anon', query)).toBe(10);
    expect(await blocks('anon', query)).toBeLessThan(300);
    // Without values PostgreSQL expects matches everywhere, and looks through rows in their order unless that is off.
    const mode = 'force_generic_plan; set enable_indexscan = off; set enable_seqscan = off';
    expect(await blocks('anon', query, mode)).toBeLessThan(300);
  });

  test('a table with policies uses these indexes only where the role bypasses the policies', async () => {
    const query = find('guarded', 'plain: "w11", config: "english"');
    expect([await count('service_role', query), await count('anon', query)]).toEqual([10, 10]);
    expect(await blocks('service_role', query)).toBeLessThan(300);
    expect(await blocks('anon', query)).toBeGreaterThan(500);
  });
});

describe('orders by rank', async () => {
  await createSchema(
    database,
    'ranked',
    `
    create table paper (id int primary key, kind int not null, search tsvector, other_rank int);
    insert into paper select n, n % 3, case when n % 7 > 0 then to_tsvector('simple', repeat('fox ', n % 5) || repeat('dog ', n % 4) || 'x' || n) end
      from generate_series(1, 60) n;
    create table note (id int primary key, paper_id int references paper);
    insert into note select n, n from generate_series(1, 20) n;
    grant select on paper, note to anon;
    comment on schema ranked is '@graphql({"inflect_names": true})';
  `,
  );
  const on = await startExecution(database, { schemas: ['ranked'], introspection: 'always' });
  const ids = async (orderBy: string, rest = '') => {
    const { paperCollection } = await on.data(
      'anon',
      `{ paperCollection(orderBy: ${orderBy}, first: 60${rest}) { edges { node { id } } } }`,
    );
    return paperCollection.edges.map(({ node }: Json) => node.id);
  };
  const bySql = async (order: string) =>
    (await database.query<{ id: number }>(`select id from ranked.paper order by ${order}, id limit 30`)).map(
      ({ id }) => id,
    );

  test.each([
    [
      '{websearch: "fox or dog", config: "simple"}',
      `ts_rank(search, websearch_to_tsquery('simple', 'fox or dog')) desc nulls last`,
    ],
    [
      '{plain: "fox dog", config: "simple", direction: AscNullsFirst}',
      `ts_rank(search, plainto_tsquery('simple', 'fox dog')) asc nulls first`,
    ],
    [
      '{phrase: "dog dog", config: "simple", coverDensity: true}',
      `ts_rank_cd(search, phraseto_tsquery('simple', 'dog dog')) desc nulls last`,
    ],
    [
      '{query: "fox & !dog", config: "simple", normalization: 2}',
      `ts_rank(search, to_tsquery('simple', 'fox & !dog'), 2) desc nulls last`,
    ],
    [
      '{query: "fox", config: "simple", normalization: null, coverDensity: null}',
      `ts_rank(search, to_tsquery('simple', 'fox')) desc nulls last`,
    ],
  ])('%s', async (order, sql) => {
    expect(await ids(`{searchRank: ${order}}`)).toEqual(await bySql(sql));
  });

  test('with variables, among other terms, over relationships and behind a filter', async () => {
    const query =
      'query ($rank: TextSearchOrder, $q: String!) { a: paperCollection(orderBy: [{kind: DescNullsLast}, {searchRank: $rank}]) { edges { node { id } } } b: paperCollection(orderBy: {searchRank: {plain: $q, config: "simple"}}, filter: {search: {plain: $q, config: "simple"}}) { edges { node { id } } } }';
    const variables = { rank: { plain: 'fox', config: 'simple' }, q: 'fox' };
    const { a, b } = await on.data('anon', query, { variables });
    const rank = `ts_rank(search, plainto_tsquery('simple', 'fox')) desc nulls last`;
    expect(a.edges.map(({ node }: Json) => node.id)).toEqual(await bySql(`kind desc, ${rank}`));
    const found = await database.query<{ id: number }>(
      `select id from ranked.paper where search @@ plainto_tsquery('simple', 'fox') order by ${rank}, id limit 30`,
    );
    expect(b.edges.map(({ node }: Json) => node.id)).toEqual(found.map(({ id }) => id));
    const { noteCollection } = await on.data(
      'anon',
      '{ noteCollection(orderBy: {paper: {searchRank: {plain: "fox", config: "simple"}}}) { edges { node { id } } } }',
    );
    const notes = await database.query<{ id: number }>(
      `select n.id from ranked.note n join ranked.paper on paper.id = paper_id order by ${rank}, n.id`,
    );
    expect(noteCollection.edges.map(({ node }: Json) => node.id)).toEqual(notes.map(({ id }) => id));
  });

  test.each([
    ['forward', false, 'DescNullsLast'],
    ['backward', true, 'DescNullsLast'],
    ['forward, nulls first', false, 'AscNullsFirst'],
    ['backward, nulls first', true, 'DescNullsFirst'],
  ] as const)('each row once, page after page %s', async (_, backward, direction) => {
    const orderBy = `[{searchRank: {websearch: "fox or dog", config: "simple", direction: ${direction}}}]`;
    const seen = await walkPages((query) => on.data('anon', query), 'paperCollection', { orderBy, size: 7, backward });
    const [way, nulls] = [direction.startsWith('Asc') ? 'asc' : 'desc', direction.endsWith('First') ? 'first' : 'last'];
    const rows = await database.query<{ id: number }>(
      `select id from ranked.paper order by ts_rank(search, websearch_to_tsquery('simple', 'fox or dog')) ${way} nulls ${nulls}, id`,
    );
    expect(seen).toEqual(rows.map(({ id }) => id));
  });

  test('an order without a search, or with two, is refused; so is a query that cannot be read', async () => {
    const refusal = async (rank: string) => {
      const { errors } = await on.run(
        'anon',
        `{ paperCollection(orderBy: {searchRank: ${rank}}) { edges { cursor } } }`,
      );
      return [errors[0].message, errors[0].extensions.input, errors[0].extensions.code];
    };
    const one = 'has one of "websearch", "plain", "phrase" and "query".';
    expect(await refusal('{config: "simple"}')).toEqual([
      `An order by rank ${one}`,
      'orderBy[0].searchRank',
      'BAD_USER_INPUT',
    ]);
    expect(await refusal('{plain: "a", query: "b"}')).toEqual([
      `An order by rank ${one}`,
      'orderBy[0].searchRank',
      'BAD_USER_INPUT',
    ]);
    expect(await refusal('{query: "a b"}')).toEqual([
      'syntax error in tsquery: "a b"',
      'orderBy[0].searchRank.query',
      'BAD_USER_INPUT',
    ]);
  });

  test('an order by rank is refused below many rows, by its cost', async () => {
    const cheap = await startExecution(database, { schemas: ['ranked'], limits: { maxCost: 29_000 } });
    const order = 'orderBy: {searchRank: {plain: "fox"}}';
    expect(await cheap.errors('anon', `{ paperCollection(${order}) { edges { cursor } } }`)).toEqual([]);
    const nested = `{ noteCollection(first: 30) { edges { node { paper { noteCollection(first: 1, orderBy: {paper: {searchRank: {plain: "fox"}}}) { edges { cursor } } } } } } }`;
    expect(await cheap.errors('anon', nested)).toEqual([
      expect.stringContaining('more than the limit of 29000 (option --max-cost).'),
    ]);
  });

  test('a rank is a field of a row, null where the column is, also of related rows and records', async () => {
    const query = `query ($q: String, $cover: Boolean) { paperCollection(filter: {id: {lte: 8}}) { nodes { id
      searchRank(websearch: $q, config: "simple") other: searchRank(plain: "dog", config: "simple", normalization: 2, coverDensity: $cover)
      noteCollection { nodes { paper { searchRank(query: "fox & dog", config: "simple") } } } } } }`;
    const rows = await database.query<{ id: number; fox: number | null; dog: number | null; both: number | null }>(
      `select id, ts_rank(search, websearch_to_tsquery('simple', 'fox or dog')) as fox, ts_rank_cd(search, plainto_tsquery('simple', 'dog'), 2) as dog,
        ts_rank(search, 'fox & dog') as both from ranked.paper where id <= 8 order by id`,
    );
    expect(rows.filter(({ fox }) => fox === null)).toHaveLength(1);
    const { paperCollection } = await on.data('anon', query, { variables: { q: 'fox or dog', cover: true } });
    expect(paperCollection.nodes).toEqual(
      rows.map(({ id, fox, dog, both }) => {
        const noteCollection = { nodes: [{ paper: { searchRank: both } }] };
        return { id, searchRank: fox, other: dog, noteCollection };
      }),
    );
    // Alone, the row is laid out without JSON of PostgreSQL.
    const flat = await on.data('anon', '{ paperByPk(id: 1) { id searchRank(plain: "fox", config: "simple") } }');
    const [first] = await database.query(`select ts_rank(search, 'fox') as rank from ranked.paper where id = 1`);
    expect(flat.paperByPk).toEqual({ id: 1, searchRank: first!.rank });
    const update = 'mutation { updatePaperByPk(id: 1, set: {kind: 1}) { searchRank(plain: "fox", config: "simple") } }';
    await database.query('grant update on ranked.paper to anon');
    const writing = await startExecution(database, { schemas: ['ranked'] });
    expect(await writing.data('anon', update)).toEqual({ updatePaperByPk: { searchRank: first!.rank } });
  });

  test.each([
    ['searchRank(plain: "a", query: "b")', '"searchRank" has one of "websearch", "plain", "phrase" and "query".'],
    ['searchRank(query: "a b")', 'syntax error in tsquery: "a b"'],
    ['searchRank(plain: "a", config: "klingon")', 'text search configuration "klingon" does not exist'],
  ])('the field %s is refused', async (field, message) => {
    const { errors } = await on.run('anon', `{ paperCollection { nodes { ${field} } } }`);
    expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  test('the rank of no search is null, as clients that select all fields give no optional arguments', async () => {
    const query =
      'query ($q: String) { a: paperByPk(id: 1) { searchRank b: searchRank(plain: $q) } c: paperCollection(first: 1) { nodes { searchRank noteCollection { nodes { paper { searchRank } } } } } }';
    const { a, c } = await on.data('anon', query);
    expect(a).toEqual({ searchRank: null, b: null });
    expect(c.nodes).toMatchObject([{ searchRank: null, noteCollection: { nodes: [{ paper: { searchRank: null } }] } }]);
  });

  test('the searches of all ranks together have a limit', async () => {
    const ranks = (length: number) =>
      `{ paperCollection { nodes { a: searchRank(plain: "${'a'.repeat(length)}") b: searchRank(plain: "${'b'.repeat(length)}") } } }`;
    expect(await on.errors('anon', ranks(250))).toEqual([]);
    expect(await on.errors('anon', ranks(251))).toEqual([expect.stringContaining('more than 500 characters')]);
  });

  test('a name that is taken stays', async () => {
    await createSchema(
      database,
      'taken',
      `
      create table "TextSearchOrder" (id int primary key);
      create table paper (id int primary key, search tsvector, "searchRank" int);
      grant select on paper, "TextSearchOrder" to anon;
    `,
    );
    const typesOf = async (extensions: object) => {
      const other = await startExecution(database, { schemas: ['taken'], introspection: 'always', ...extensions });
      const { __type } = await other.data(
        'anon',
        '{ __type(name: "paperOrderBy") { inputFields { name type { name } } } }',
      );
      return __type.inputFields.map(({ name, type }: Json) => `${name} ${type.name}`);
    };
    const before = await typesOf({ extensions: [] });
    expect(before).toEqual(['id OrderByDirection', 'search OrderByDirection', 'searchRank OrderByDirection']);
    expect(await typesOf({})).toEqual(before);
    const reasons = (await modelReader(database).omissions(['taken'])).map(({ reason }) => reason).join('\n');
    expect(reasons).toContain(
      'Table taken.paper has no order by its rank of the column "search": the order has another entry of that name.',
    );
    expect(reasons).toContain(
      'Table taken.paper has no field for the rank of the column "search": it has another field of that name.',
    );
    expect(reasons).toContain('Nothing has a type "TextSearchOrder" of the extensions');
  });
});
