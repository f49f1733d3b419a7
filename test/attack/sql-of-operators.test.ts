/** SQL of operators: who may run it, and that it is all or none and leaves nothing to the next. */
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { accessScopes, usualScopes } from '../../src/management/tokens/access-tokens.ts';
import { addToken, type ManagedGateway, type ManagementReply, managedGateway, ref } from '../management/management.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

const fixedToken = 'sbp_0123456789012345678901234567890123456789';
const path = `/v1/projects/${ref}/database/statements`;

let database: TestDatabase;
let operator: string;
let managed: ManagedGateway;

beforeAll(async () => {
  database = await createAuthDatabase(`
    create table note (id int primary key, body text);
    create table mark (id int primary key);
  `);
  operator = await addToken(database, { scopes: ['database:write'] });
});

beforeEach(async () => {
  await database.query('truncate note, mark');
  const databaseUrl = database.urlAs('authenticator', 'test');
  const urls = { databaseUrl, adminDatabaseUrl: database.url };
  managed = await managedGateway(database, operator, { ...urls, accessToken: fixedToken });
});

const run = (statements: unknown, token = operator): Promise<ManagementReply> =>
  managed.call({ method: 'POST', path, token: `Bearer ${token}`, body: JSON.stringify({ statements }) });

const notes = async () => (await database.query('select id from note order by id')).map(({ id }) => id);

test('a token without the scope runs no SQL: no other scope, not the token of the options, none of another project', async () => {
  const statement = 'insert into note values (1)';
  const lesser = await addToken(database, { scopes: usualScopes });
  const elsewhere = await addToken(database, { scopes: accessScopes, projectRef: 'z'.repeat(20) });
  const expired = await addToken(database, { scopes: accessScopes, expiresAt: new Date(Date.now() - 1000) });
  for (const [token, status] of [
    [lesser, 403],
    [fixedToken, 403],
    [elsewhere, 403],
    [expired, 401],
    ['sbp_ffffffffffffffffffffffffffffffffffffffff', 401],
  ] as const) {
    expect((await run(statement, token)).status, token).toBe(status);
  }
  expect(await notes()).toEqual([]);
});

test('a token without the scope gives it to no other token', async () => {
  const lesser = await addToken(database, { scopes: usualScopes });
  const body = JSON.stringify({ name: 'more', scopes: ['database:write'], expiresAt: null });
  for (const token of [lesser, fixedToken]) {
    const request = { method: 'POST', path: `/v1/projects/${ref}/access-tokens`, token: `Bearer ${token}`, body };
    expect((await managed.call(request)).status).toBe(403);
  }
});

test.each([
  ['a statement that fails', 'insert into note values (1); insert into note values (1)', '23505'],
  ['commit', 'insert into note values (1); commit; insert into note values (2)', '0A000'],
  ['rollback', 'insert into note values (1); rollback', '0A000'],
  ['an end of the block', 'insert into note values (1); end $$; commit; do $$ begin null; end', '42601'],
  ['a text that is no SQL', 'insert into note values (1) oh', '42601'],
])('statements run all or none: %s', async (_, statements, code) => {
  const { status, body } = await run(statements);
  expect([status, body.code]).toEqual([400, 'query_failed']);
  expect(body.message).toContain(`(${code})`);
  expect(await notes()).toEqual([]);
});

test('statements leave nothing to those that run next: no role, no setting, no table, no lock', async () => {
  await run(`set role anon; set search_path = nowhere; create temp table mark (id text); listen all_changes;
    select pg_advisory_lock(7); insert into public.note select 1 where false`);
  const { status, body } = await run(`insert into mark values (1);
    insert into note select 2 where current_user = session_user and pg_try_advisory_lock(7)`);
  expect([status, body]).toEqual([200, { warnings: [] }]);
  expect(await notes()).toEqual([2]);
  expect(await database.query('select id from mark')).toEqual([{ id: 1 }]);
});

test('what is run is told in the audit log, by its digest alone, also where it fails', async () => {
  const secret = `create role somebody password 'hunter2'; select 1/0`;
  expect((await run(secret)).status).toBe(400);
  const rows = await database.query(`select payload::text as row from auth.audit_log_entries
    where payload ->> 'action' = 'statements_run' order by created_at desc limit 1`);
  expect(rows[0]?.row).toContain('access_token_id');
  expect(rows[0]?.row).not.toContain('hunter2');
});

test('warnings of PostgreSQL are told, and any text arrives as it is', async () => {
  const text = `it's $$ $1 "é" \\ %`;
  const { body } = await run(`insert into note values (3, $text$${text}$text$);
    do $do$ begin raise warning 'no privileges were granted'; raise notice 'not this'; end $do$`);
  expect(body).toEqual({ warnings: ['no privileges were granted'] });
  expect(await database.query('select body from note')).toEqual([{ body: text }]);
});

test('without a connection of its own for administration, a gateway runs no SQL', async () => {
  const { call } = await managedGateway(database, operator, {
    databaseUrl: database.url,
    adminDatabaseUrl: database.url,
  });
  const { status, body } = await call({ method: 'POST', path, body: JSON.stringify({ statements: 'select 1' }) });
  expect([status, body.code]).toEqual([403, 'no_admin_connection']);
});

test.each([[''], ['  '], [5], [null], ['a\0b']])('a body without SQL is refused: %j', async (statements) => {
  expect(await run(statements)).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
});

test('a text means the same where the owner of the database has switched standard_conforming_strings off', async () => {
  await database.query(`alter database ${database.name} set standard_conforming_strings = off`);
  onTestFinished(
    async () => void (await database.query(`alter database ${database.name} reset standard_conforming_strings`)),
  );
  const text = String.raw`\'); insert into mark values (1); --`;
  const { status } = await run(`insert into note values (4, '${text.replaceAll("'", "''")}')`);
  expect([status, await database.query('select id from mark')]).toEqual([200, []]);
  expect(await database.query('select body from note')).toEqual([{ body: text }]);
});
