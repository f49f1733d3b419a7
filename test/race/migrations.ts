/**
 * What the race is about: migrations that go to and fro, each on tables of its own, and what is answered before and after.
 */

/** What a request is answered that the schema does not know. */
export const refused = 'refused';

/** A request, and the data of its answer before the migration and after it. */
interface Probe {
  readonly query: string;
  readonly answers: readonly [before: unknown, after: unknown];
}

/** Each text is one transaction. The database is in the state before at first. */
export interface Migration {
  readonly name: string;
  readonly to: readonly [before: string, after: string];
  readonly probes: readonly Probe[];
}

const always = (query: string, answer: unknown): Probe => ({ query, answers: [answer, answer] });
const rows = (collection: string, ...nodes: readonly object[]) => ({
  [collection]: { edges: nodes.map((node) => ({ node })) },
});

const makeView = `create view shown as select id, label from base;
  comment on view shown is '@graphql({"primary_key_columns": ["id"]})'; grant select, insert on shown to anon`;
const replaceView = `drop view shown; ${makeView}`;
const makeTable = `create table remade (id int primary key, n int); insert into remade values (1, 7);
  grant select on remade to anon`;
const replaceTable = `drop table remade; ${makeTable}`;
const makeRoutine = `create function remade_routine() returns text stable language sql as 'select ''made''';
  revoke execute on function remade_routine() from public; grant execute on function remade_routine() to anon`;
const replaceRoutine = `drop function remade_routine(); ${makeRoutine}`;
const answerWith = (text: string) =>
  `create or replace function said() returns text stable language sql as 'select ''${text}'''`;

/** What the migrations begin with. */
export const schema = `
  comment on schema public is '@graphql({"inflect_names": true})';
  grant usage on schema public to anon;
  create table base (id int generated always as identity primary key, label text);
  insert into base (label) values ('x');
  grant select on base to anon;
  ${makeView};
  ${makeTable};
  ${makeRoutine};
  ${answerWith('one')};
  create table painted (id int primary key); insert into painted values (1); grant select on painted to anon;
  create table renamed (id int primary key, first text); insert into renamed values (1, 'x'); grant select on renamed to anon;
  create table typed (id int primary key, v int, j text); insert into typed values (1, 7, '{"a": 1}'); grant select on typed to anon;
  create table granted (id int primary key, part text); insert into granted values (1, 'x'); grant select on granted to anon;`;

/** The migrations. */
export const migrations: readonly Migration[] = [
  {
    name: 'a view is dropped and made again',
    to: [replaceView, replaceView],
    probes: [
      always('{ shownCollection(filter: {id: {eq: 1}}) { edges { node { id label } } } }', rows('shownCollection', { id: 1, label: 'x' })),
      always('mutation { insertIntoShownCollection(objects: [{label: "y"}]) { affectedCount } }', { insertIntoShownCollection: { affectedCount: 1 } }),
    ],
  },
  {
    name: 'a type is made for a column and dropped with it',
    to: ['drop type mood cascade', "create type mood as enum ('calm'); alter table painted add column mood mood default 'calm'"],
    probes: [
      { query: '{ paintedCollection { edges { node { id mood } } } }', answers: [refused, rows('paintedCollection', { id: 1, mood: 'calm' })] },
      always('{ paintedCollection { edges { node { id } } } }', rows('paintedCollection', { id: 1 })),
    ],
  },
  {
    name: 'a column is renamed',
    to: ['alter table renamed rename column second to first', 'alter table renamed rename column first to second'],
    probes: [
      { query: '{ renamedCollection { edges { node { first } } } }', answers: [rows('renamedCollection', { first: 'x' }), refused] },
      { query: '{ renamedCollection { edges { node { second } } } }', answers: [refused, rows('renamedCollection', { second: 'x' })] },
    ],
  },
  {
    name: 'a table is dropped and made again',
    to: [replaceTable, replaceTable],
    probes: [always('{ remadeCollection { edges { node { id n } } } }', rows('remadeCollection', { id: 1, n: 7 }))],
  },
  {
    name: 'a privilege is revoked and granted',
    to: ['grant select on granted to anon', 'revoke select on granted from anon; grant select (id) on granted to anon'],
    probes: [
      { query: '{ grantedCollection { edges { node { id part } } } }', answers: [rows('grantedCollection', { id: 1, part: 'x' }), refused] },
      always('{ grantedCollection { edges { node { id } } } }', rows('grantedCollection', { id: 1 })),
    ],
  },
  {
    name: 'columns get another type',
    to: [
      'alter table typed alter column v type int using v::int, alter column j type text using j::text',
      'alter table typed alter column v type text using v::text, alter column j type jsonb using j::jsonb',
    ],
    probes: [
      { query: '{ typedCollection { edges { node { v } } } }', answers: [rows('typedCollection', { v: 7 }), rows('typedCollection', { v: '7' })] },
      always('{ typedCollection { edges { node { id j } } } }', rows('typedCollection', { id: 1, j: '{"a": 1}' })),
    ],
  },
  {
    name: 'a function is replaced',
    to: [answerWith('one'), answerWith('two')],
    probes: [{ query: '{ said }', answers: [{ said: 'one' }, { said: 'two' }] }],
  },
  {
    name: 'a function is dropped and made again',
    to: [replaceRoutine, replaceRoutine],
    probes: [always('{ remadeRoutine }', { remadeRoutine: 'made' })],
  },
]; // biome-ignore format: a table of migrations
