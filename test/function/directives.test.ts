/**
 * What requests answer while a comment directive is malformed, on every kind of object, and after it is
 * repaired. Which directives are malformed is told in test/catalog.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { openLibrary } from './library.ts';

const prefix = 'Error while loading schema, check comment directives.';

const { database, execution, ask } = await openLibrary(`
  create materialized view lib.totals as select patron_id as id from lib.loan;
  create foreign data wrapper nothing;
  create server nowhere foreign data wrapper nothing;
  create foreign table lib.far (id int) server nowhere;
  create view lib.over_far as select * from lib.far;
  create table lib.keyless (note text);
  create table lib.parted (id int) partition by range (id);
  create table lib.part partition of lib.parted for values from (1) to (10);
  create function lib.plain(a int) returns int stable language sql as 'select a';
  create function lib.shout(lib.patron) returns text immutable language sql as 'select upper($1.full_name)';
  create procedure lib.proc() language sql as 'select 1';
  create table lib.hidden (id int primary key, word text);
  create function lib.closed() returns int stable language sql as 'select 1';
  revoke execute on function lib.closed from public;
  grant select on lib.totals, lib.far, lib.keyless, lib.part, lib.parted to anon;
`);

const visible: readonly (readonly [object: string, name: string])[] = [
  ['schema lib', 'lib'],
  ['table lib.loan', 'lib.loan'],
  ['column lib.loan.fee', 'lib.loan.fee'],
  ['view lib.reader', 'lib.reader'],
  ['column lib.reader.born', 'lib.reader.born'],
  ['materialized view lib.totals', 'lib.totals'],
  ['column lib.totals.id', 'lib.totals.id'],
  ['foreign table lib.far', 'lib.far'],
  ['column lib.far.id', 'lib.far.id'],
  ['table lib.keyless', 'lib.keyless'],
  ['table lib.part', 'lib.part'],
  ['table lib.parted', 'lib.parted'],
  ['constraint loan_patron_id_fkey on lib.loan', 'loan_patron_id_fkey on lib.loan'],
  ['function lib.plain', 'lib.plain'],
  ['function lib.shout', 'lib.shout'],
  ['procedure lib.proc', 'lib.proc'],
  ['type lib.loan_state', 'lib.loan_state'],
];
const invisible: readonly string[] = ['table lib.hidden', 'column lib.hidden.word', 'function lib.closed'];
const requests: readonly string[] = [
  '{ patronCollection { edges { node { id } } } }',
  'mutation { deleteFromPatronCollection(filter: {id: {eq: 1}}) { affectedCount } }',
  '{ __typename }',
  '{ __schema { queryType { name } } }',
  '{ noSuchField }',
  '{ plain(a: 1) }',
];

describe('a malformed directive', () => {
  const before = new Map<string, string | null>();
  const setComment = async (object: string, text: string | null) => {
    const literal = text === null ? 'null' : `'${text.replaceAll("'", "''")}'`;
    await database.query(`comment on ${object} is ${literal}`);
    await execution.reload();
  };
  beforeAll(async () => {
    const rows = await database.query<{ object: string; text: string }>(`
      select 'schema lib' as object, obj_description('lib'::regnamespace) as text
      union all select 'table lib.loan', obj_description('lib.loan'::regclass)
      union all select 'view lib.reader', obj_description('lib.reader'::regclass)
      union all select 'type lib.loan_state', obj_description('lib.loan_state'::regtype, 'pg_type')`);
    for (const { object, text } of rows) before.set(object, text);
  });

  test.each(visible)(
    'on %s fails every request, names the object, and is forgotten once it is repaired',
    async (object, name) => {
      await setComment(object, `@graphql({"name": )`);
      for (const request of requests) {
        const { data, errors } = await execution.run('anon', request);
        expect(data, request).toBeUndefined();
        expect(errors, request).toHaveLength(1);
        expect(errors[0].message).toMatch(`${prefix} ${name}: `);
        expect(errors[0].extensions).toEqual({ code: 'DIRECTIVE_INVALID' });
      }
      await setComment(object, before.get(object) ?? null);
      expect(await ask('{ patronByPk(id: 1) { shout loanCollection { totalCount } } plain(a: 2) }')).toEqual({
        patronByPk: { shout: 'ADA', loanCollection: { totalCount: 4 } },
        plain: 2,
      });
    },
  );

  test.each(invisible)(
    'on %s, which the role may not see, fails every request under an id that is in the log',
    async (object) => {
      await setComment(object, '@graphql(nonsense)');
      const { data, errors } = await execution.run('anon', '{ patronCollection { totalCount } }');
      expect(data).toBeUndefined();
      expect(errors).toEqual([{ message: prefix, extensions: { code: 'DIRECTIVE_INVALID', id: 'test' } }]);
      const logged = execution.observations.findLast((observation) => observation.kind === 'masked_error');
      expect(String(logged?.kind === 'masked_error' && logged.error)).toContain(object.split(' ')[1]);
      await setComment(object, null);
      expect(await ask('{ plain(a: 3) }')).toEqual({ plain: 3 });
    },
  );

  test.each([
    ['sequence aside.ticks', 'another schema'],
    ['function aside.tick', 'another schema'],
    ['type lib.pair', 'a composite type is none of the API'],
    ['constraint positive_check on domain lib.positive', 'no foreign key'],
  ])('on %s leaves requests as they were: %s', async (object) => {
    await setComment(object, '@graphql(nonsense)');
    expect(await ask('{ plain(a: 4) }')).toEqual({ plain: 4 });
    await setComment(object, null);
  });

  test('a malformed directive leaves data as it was, whatever mutation was asked for', async () => {
    await setComment('table lib.keyless', '@graphql({"max_rows": -1})');
    await execution.run('anon', requests[1]!);
    await setComment('table lib.keyless', null);
    expect(await ask('{ patronByPk(id: 1) { fullName } }')).toEqual({ patronByPk: { fullName: 'Ada' } });
  });

  test('of a role that does not use the schema is none', async () => {
    await setComment('table lib.loan', '@graphql(nonsense)');
    expect(await execution.data('service_role', '{ __typename }')).toEqual({ __typename: 'Query' });
    await setComment('table lib.loan', before.get('table lib.loan') ?? null);
  });
});

describe('a directive', () => {
  const ways: readonly (readonly [comment: string, field: string | null])[] = [
    ['@graphql({"name": "Shelf"})', 'Shelf'],
    ['Text before. @graphql( {\n "name" : "Shelf" } ) and (after) it)', 'Shelf'],
    ['@graphql({"name": "Shelf", "description": "a ) b ( c"})', 'Shelf'],
    ['@graphql({"name": "Shelf"}) @graphql({"name": "Second"})', 'Shelf'],
    ['@graphql({"name": null})', 'plain'],
    ['@graphql()', 'plain'],
    ['@graphql(', 'plain'],
    ['@GraphQL({"name": "Shelf"})', 'plain'],
    ['@graphql ({"name": "Shelf"})', 'plain'],
    ['@graphql(["name"])', 'plain'],
    ['@graphql({"name": 5})', null],
    ['@graphql({"no_such_key": 5})', 'plain'],
  ];
  test.each(ways)('of a column in the comment %j makes its field %s', async (comment, name) => {
    await database.query(`create table if not exists lib.labelled (id int primary key, plain text);
      insert into lib.labelled values (1, 'x') on conflict do nothing; grant select on lib.labelled to anon`);
    await database.query(`comment on column lib.labelled.plain is '${comment.replaceAll("'", "''")}'`);
    await execution.reload();
    if (name !== null)
      expect(await ask(`{ labelledByPk(id: 1) { v: ${name} } }`)).toEqual({ labelledByPk: { v: 'x' } });
    else
      expect(await ask('{ __type(name: "Labelled") { fields { name } } }')).toEqual({
        __type: { fields: [{ name: 'nodeId' }, { name: 'id' }] },
      });
  });
});
