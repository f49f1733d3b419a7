/**
 * The text of statements: the same for every request of one shape, and good for PostgreSQL's planner.
 */
import { describe, expect, test } from 'vitest';
import { bindSlots } from '../../src/graphql/compile/input/bind-slot.ts';
import { openReader } from './reader.ts';

const { text } = await openReader(['query-library.sql', 'query-functions.sql']);
const wide = await openReader(['query-library.sql', 'query-functions.sql'], { limits: null });
const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

describe('one text', () => {
  const query =
    `query ($first: Int, $after: Cursor, $filter: LoanFilter, $in: [String!], $id: BigInt, $order: [LoanOrderBy!]) {
    loanCollection(first: $first, after: $after, filter: {and: [$filter, {shelfMark: {in: $in}}, {patronId: {gt: $id}}]}, orderBy: $order) {
      edges { cursor node { seq } } pageInfo { hasNextPage } totalCount } }`.replace(
      '$filter: LoanFilter,',
      '$filter: LoanFilter!,',
    );
  const given = { first: 1, after: cursor([0, 'A', 1]), filter: { seq: { eq: 1 } }, in: ['AB-01'], id: '0', order: [] };

  test('one text serves every value of every scalar variable', async () => {
    const expected = await text(query, given);
    const others = [
      { first: 30 }, { first: 99999 }, { first: 0 }, { after: cursor([99, 'Z', 3]) }, { filter: { seq: { eq: 7 } } }, { in: [] }, { in: ['a', 'b', 'c'] },
      { in: 'QA-76' }, { id: 12 }, { id: '9007199254740993' }, { in: ["'; drop table lib.loan; --", '$1', '\\'] },
    ]; // biome-ignore format: a table of variables
    for (const other of others) expect(await text(query, { ...given, ...other }), JSON.stringify(other)).toBe(expected);
  });

  test('one text serves one set of keys and directions: other ones have other texts', async () => {
    const expected = await text(query, given);
    const others = [
      { filter: { seq: { gt: 1 } } }, { filter: { seq: { eq: 1 }, dueOn: { is: 'NULL' } } }, { after: null }, { after: cursor([null, 'A', 1]) },
      { after: cursor([0, 'A']) }, { order: [{ dueOn: 'AscNullsLast' }] }, { filter: { or: [{ seq: { eq: 1 } }, { seq: { eq: 2 } }] } },
    ]; // biome-ignore format: a table of variables
    const texts = await Promise.all(others.map((other) => text(query, { ...given, ...other })));
    expect(new Set([expected, ...texts]).size).toBe(others.length + 1);
  });

  test('one text holds no value of a request, whether it is written in the document or given', async () => {
    const written = await text(
      '{ loanCollection(filter: {shelfMark: {eq: "needle", in: ["needle"]}, fee: {gt: "12345"}}, after: "WyJuZWVkbGUiXQ==") { edges { cursor } } }',
    );
    expect(written).not.toMatch(/needle|12345/);
    const aliased = await text('{ needle: loanCollection { edges { cursor } } other: loanCollection { totalCount } }');
    expect(aliased).toContain('{"needle":');
  });

  test('one text has limits that are written in the document inside, and those of variables as parameters', async () => {
    expect(await text('{ loanCollection(first: 7, offset: 9) { edges { cursor } } }')).toMatch(/limit 7 offset 9/);
    expect(await text('query ($n: Int) { loanCollection(first: $n) { edges { cursor } } }', { n: 7 })).toMatch(
      /limit \$\d+/,
    );
    expect(await text('{ loanCollection(first: 700) { edges { cursor } } }')).toMatch(/limit 30/);
  });

  test('one text is the same for documents that differ in layout only', async () => {
    expect(await text('{loanCollection{edges{cursor}}}')).toBe(
      await text('query  x {\n loanCollection { edges { cursor } } } # comment'),
    );
  });
});

describe('on many rows', async () => {
  const big = await openReader([
    `
    create schema lib; grant usage on schema lib to anon;
    create table lib.customer (id int primary key, name text not null);
    create table lib.purchase (id int primary key, customer_id int not null, at int not null, price numeric not null);
    comment on table lib.purchase is '@graphql({"totalCount": {"enabled": true}})';
    comment on schema lib is '@graphql({"max_rows": 100})';
    insert into lib.customer select n, 'c' || n from generate_series(1, 5000) n;
    insert into lib.purchase select n, 1 + n % 5000, n, n from generate_series(1, 50000) n;
    alter table lib.purchase add foreign key (customer_id) references lib.customer;
    create index on lib.purchase (customer_id, id);
    create index on lib.purchase (at, id);
    create index on lib.purchase (price desc nulls last);
    create extension citext schema lib;
    create domain lib.email as lib.citext;
    create type lib.state as enum ('new', 'old');
    create table lib.person (
      name varchar, pattern varchar, nick lib.citext, email lib.email, state lib.state, tags varchar[], primary key (name, email));
    insert into lib.person select 'n' || n, 'p' || n, 'N' || n, 'E' || n, case when n % 5000 = 0 then 'new' else 'old' end::lib.state, array['t' || n]
      from generate_series(1, 20000) n;
    create index person_pattern on lib.person (pattern varchar_pattern_ops);
    create index person_nick on lib.person (nick);
    create index person_email on lib.person (email);
    create index person_state on lib.person (state);
    create index person_tags on lib.person using gin (tags);
    analyze lib.person;
    create function lib.double(lib.purchase) returns numeric stable language sql as 'select $1.price * 2';
    grant select on all tables in schema lib to anon;
    analyze lib.customer; analyze lib.purchase;`,
  ]);

  interface PlanNode {
    readonly 'Node Type': string;
    readonly 'Relation Name'?: string;
    readonly 'Index Name'?: string;
    readonly Plans?: readonly PlanNode[];
  }
  const explain = async (query: string, variables: Record<string, unknown> = {}): Promise<PlanNode[]> => {
    const [statement] = await big.execution.statements('anon', query, { variables });
    const values = bindSlots(statement!.slots, { variables, introspection: new Map(), countedBytes: 1_000_000 });
    const rows = await big.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `explain (format json) ${statement!.text}`,
      values,
    );
    const flatten = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flatten)];
    return flatten(rows[0]!['QUERY PLAN'][0]!.Plan);
  };
  const scans = (nodes: readonly PlanNode[], table: string) =>
    nodes.filter((node) => node['Relation Name'] === table).map((node) => node['Node Type']);

  test.each([
    ['equality of varchar', 'name: {eq: "n7"}', 'person_pkey'],
    ['a list of varchar', 'name: {in: ["n7", "n8"]}', 'person_pkey'],
    ['a range of varchar', 'name: {gt: "n9998"}', 'person_pkey'],
    ['a pattern', 'pattern: {like: "p1999%"}', 'person_pattern'],
    ['equality of citext', 'nick: {eq: "n7"}', 'person_nick'],
    ['a list of citext', 'nick: {in: ["n7", "n8"]}', 'person_nick'],
    ['equality of a domain over citext', 'email: {eq: "e7"}', 'person_email'],
    ['equality of an enum', 'state: {eq: new}', 'person_state'],
    ['an array that contains', 'tags: {contains: ["t7"]}', 'person_tags'],
    ['an array that overlaps', 'tags: {overlaps: ["t7"]}', 'person_tags'],
  ])('%s uses the index of its column', async (_, filter, index) => {
    const nodes = await explain(`{ personCollection(filter: {${filter}}) { edges { node { name } } } }`);
    expect(nodes.map((node) => node['Index Name'])).toContain(index);
    const { edges } = (await big.ask(`{ personCollection(filter: {${filter}}) { edges { node { name } } } }`))
      .personCollection;
    expect(edges.length).toBeGreaterThan(0);
  });

  test('the rows after a cursor of a type of another schema begin with its index', async () => {
    const query = 'query ($c: Cursor) { personCollection(first: 10, after: $c) { edges { node { email } } } }';
    const nodes = await explain(query, { c: cursor(['n7', 'E7']) });
    expect(nodes.map((node) => node['Index Name'])).toContain('person_pkey');
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    expect((await big.ask(query, { c: cursor(['n7', 'e7']) })).personCollection.edges[0].node.email).toBe('E70');
  });

  test('a page of parents with their children uses the index of the foreign key', async () => {
    const query =
      '{ customerCollection(first: 50) { edges { node { name purchaseCollection(first: 10) { edges { node { price double } } } } } } }';
    expect(scans(await explain(query), 'purchase')).toEqual([expect.stringMatching(/Index|Bitmap/)]);
    const data = await big.ask(query);
    expect(data.customerCollection.edges).toHaveLength(50);
    for (const { node } of data.customerCollection.edges) expect(node.purchaseCollection.edges).toHaveLength(10);
  });

  test('page info and counts of children use it as well', async () => {
    const query =
      '{ customerCollection(first: 50) { edges { node { purchaseCollection(first: 2) { totalCount pageInfo { hasNextPage endCursor } edges { cursor } } } } } }';
    const found = scans(await explain(query), 'purchase');
    expect(found.length).toBeGreaterThan(1);
    expect(found).not.toContain('Seq Scan');
  });

  test.each(['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'])(
    'a column without nulls is read in the order of its index: %s',
    async (direction) => {
      const nodes = await explain(
        `{ purchaseCollection(first: 10, orderBy: {at: ${direction}}) { edges { node { at } } } }`,
      );
      expect(nodes.map((node) => node['Index Name'])).toContain('purchase_at_id_idx');
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    },
  );

  test('where its index has an unusual place for nulls, the place that the client names is what finds the index', async () => {
    const nodes = await explain(
      '{ purchaseCollection(first: 10, orderBy: {price: DescNullsLast}) { edges { node { price } } } }',
    );
    expect(nodes.map((node) => node['Index Name'])).toContain('purchase_price_idx');
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
  });

  test('the rows after a cursor are one range of the index on the order', async () => {
    const query =
      'query ($c: Cursor) { purchaseCollection(first: 10, after: $c, orderBy: {at: AscNullsLast}) { edges { node { at } } } }';
    const nodes = await explain(query, { c: cursor([40000, 40000]) });
    expect(scans(nodes, 'purchase')).toEqual([expect.stringMatching(/^Index/)]);
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    const data = await big.ask(query, { c: cursor([40000, 40000]) });
    expect(data.purchaseCollection.edges[0].node.at).toBe(40001);
  });

  test('the last page and the page before a cursor read the index backward', async () => {
    for (const given of ['last: 10', `last: 10, before: "${cursor([40000])}"`]) {
      const nodes = await explain(
        `{ purchaseCollection(${given}) { edges { node { at } } pageInfo { hasPreviousPage hasNextPage } } }`,
      );
      expect(scans(nodes, 'purchase')).not.toContain('Seq Scan');
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    }
  });

  test('one row by its key is one look into the index', async () => {
    expect(
      scans(
        await explain('query ($id: Int!) { purchaseByPk(id: $id) { price customer { name } } }', { id: 7 }),
        'purchase',
      ),
    ).toEqual(['Index Scan']);
  });
});

test('a hundred fields and twenty root fields are still one statement', async () => {
  const fields = Array.from({ length: 120 }, (_, index) => `f${index}: fullName`).join(' ');
  const roots = Array.from(
    { length: 20 },
    (_, index) => `r${index}: patronByPk(id: ${index}) { x: fullName sponsor { x: id } }`,
  );
  const data = await wide.ask(`{
    ${roots.join(' ')}
    patronByPk(id: 2) { ${fields} sponsor { ${fields} loanCollection(first: 1) { edges { node { patron { ${fields} } } } } } }
    cheapest { patron { ${fields} } }
  }`);
  expect(Object.keys(data)).toHaveLength(22);
  expect(Object.keys(data.patronByPk)).toHaveLength(121);
  expect(Object.keys(data.patronByPk.sponsor)).toHaveLength(121);
  expect(Object.keys(data.patronByPk.sponsor.loanCollection.edges[0].node.patron)).toHaveLength(120);
  expect(Object.keys(data.cheapest.patron)).toHaveLength(120);
});
