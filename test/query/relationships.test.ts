/**
 * Relationships: one or many, both directions, composite keys.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const tables = `
  create schema lib; grant usage on schema lib to anon;
  create table lib.person (id int primary key, name text);
  create table lib.passport (id int primary key, person_id int unique references lib.person (id));
  create table lib.locker (id int primary key, person_id int unique deferrable initially deferred references lib.person (id));
  create table lib.employee (id int primary key references lib.person (id), badge text);
  create table lib.membership (id int primary key, person_id int references lib.person (id), active boolean);
  create unique index on lib.membership (person_id) where active;
  create table lib.alias (id int primary key, person_id int references lib.person (id), name text);
  create unique index on lib.alias (person_id, lower(name));
  create unique index on lib.alias ((person_id + 0));
  create table lib.place (a int, b int, name text, primary key (a, b));
  create table lib.visit (id int primary key, place_a int not null, place_b int, foreign key (place_a, place_b) references lib.place (a, b));
  create table lib.tree (id int primary key, parent_id int references lib.tree (id));
  insert into lib.person values (1, 'Ada'), (2, 'Bo');
  insert into lib.passport values (10, 1), (11, null);
  insert into lib.employee values (1, 'x');
  insert into lib.membership values (20, 1, true), (21, 1, false);
  insert into lib.alias values (30, 1, 'A');
  insert into lib.place values (1, 1, 'here'), (1, 2, 'there');
  insert into lib.visit values (40, 1, 2), (41, 1, null);
  insert into lib.tree values (1, 1), (2, 1), (3, 2);
  create view lib.persons as select id, name from lib.person;
  comment on view lib.persons is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [{"local_columns": ["id"], "foreign_schema": "lib", "foreign_table": "passport", "foreign_columns": ["person_id"], "local_name": "viewed", "foreign_name": "pass"}]})';
  grant select on all tables in schema lib to anon; grant insert, delete on lib.locker to anon;`;
const { ask } = await openReader([tables]);

describe('a relationship', () => {
  test('over a unique key leads to one row on both sides, in circles', async () => {
    const data = await ask(
      '{ personCollection { edges { node { name passport { id person { name passport { id } } } } } } passportByPk(id: 11) { person { name } } }',
    );
    expect(data.personCollection.edges).toEqual([
      { node: { name: 'Ada', passport: { id: 10, person: { name: 'Ada', passport: { id: 10 } } } } },
      { node: { name: 'Bo', passport: null } },
    ]);
    expect(data.passportByPk).toEqual({ person: null });
  });

  test('over a key that is also the primary key leads to one row on both sides', async () => {
    const data = await ask(
      '{ a: personByPk(id: 1) { employee { badge person { name } } } b: personByPk(id: 2) { employee { badge } } }',
    );
    expect(data).toEqual({ a: { employee: { badge: 'x', person: { name: 'Ada' } } }, b: { employee: null } });
  });

  test('over a unique key that is checked at the end leads to one of the rows that there are until then', async () => {
    const data = await ask(`mutation {
      insertIntolockerCollection(objects: [{id: 1, person_id: 1}, {id: 2, person_id: 1}]) { affectedCount }
      b: insertIntolockerCollection(objects: [{id: 3, person_id: 1}]) { records { person { locker { id } } } }
      deleteFromlockerCollection(filter: {id: {gt: 1}}, atMost: 2) { affectedCount } }`);
    expect(data.b.records).toEqual([{ person: { locker: { id: expect.any(Number) } } }]);
    expect(data.deleteFromlockerCollection).toEqual({ affectedCount: 2 });
  });

  test('a relationship leads to many rows where the unique index is partial or on an expression', async () => {
    const data = await ask(
      '{ personByPk(id: 1) { membershipCollection { edges { node { id } } } aliasCollection { edges { node { id } } } } }',
    );
    expect(data.personByPk.membershipCollection.edges).toHaveLength(2);
    expect(data.personByPk.aliasCollection.edges).toHaveLength(1);
  });

  test('over a composite key with a null part is null, without an error', async () => {
    const data = await ask(
      '{ visitCollection { edges { node { id place { name visitCollection { edges { node { id } } } } } } } }',
    );
    expect(data.visitCollection.edges.map((edge: typeof data) => edge.node)).toEqual([
      { id: 40, place: { name: 'there', visitCollection: { edges: [{ node: { id: 40 } }] } } },
      { id: 41, place: null },
    ]);
  });

  test('of a table to itself leads to the parent and to the children', async () => {
    const data = await ask(
      '{ treeByPk(id: 2) { tree { id tree { id } } treeCollection { edges { node { id treeCollection { edges { node { id } } } } } } } }',
    );
    expect(data.treeByPk).toEqual({
      tree: { id: 1, tree: { id: 1 } },
      treeCollection: { edges: [{ node: { id: 3, treeCollection: { edges: [] } } }] },
    });
  });

  test('from a view, by directive, has the names of the directive', async () => {
    const data = await ask(
      '{ personsCollection { edges { node { name pass { id } } } } passportByPk(id: 10) { viewed { __typename } } }',
    );
    expect(data.personsCollection.edges).toEqual([
      { node: { name: 'Ada', pass: { id: 10 } } },
      { node: { name: 'Bo', pass: null } },
    ]);
  });
});
