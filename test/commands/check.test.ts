import { beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand } from './run-command.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(`
    create table author (id int primary key);
    create table post (id int primary key, author_id int references author (id), parent_id int references post (id));
    create index on post (parent_id, id);
    create table log (line text);
    alter table author enable row level security;
    grant select on author, post, log to anon;
  `);
});

function check() {
  return runCommand(['check'], { env: { DATABASE_URL: database.urlAs('authenticator', 'test') } });
}

test('reports row security that is off, missing indexes and tables left out, each with the SQL that changes it', async () => {
  const { code, out } = await check();
  expect(code).toBe(0);
  expect(out).toContain('alter table public.post enable row level security;');
  expect(out).not.toContain('alter table public.author enable');
  expect(out).toContain('create index on public.post (author_id);');
  expect(out).not.toContain('(parent_id);');
  expect(out).toMatch(/Table public.log .*no primary key/);
  expect(out).toContain('Role "anon" reads 2 tables');
  expect(out).toContain('Role "service_role" reads 0 tables');
  expect(out).toMatch(/^0 errors, \d+ warnings, \d+ notes\.$/m);
});

test('a malformed comment directive is an error with its place, and the exit code is 1', async () => {
  await database.query(`comment on column post.author_id is '@graphql({"name": writer})'`);
  try {
    const { code, out } = await check();
    expect(code).toBe(1);
    expect(out).toMatch(/error {4}The comment directive of public\.post\.author_id is malformed/);
  } finally {
    await database.query('comment on column post.author_id is null');
  }
});

test('a missing role is an error', async () => {
  const env = { DATABASE_URL: database.urlAs('authenticator', 'test'), PGREFLECT_ANON_ROLE: 'nobody_at_all' };
  const { code, out } = await runCommand(['check'], { env });
  expect(code).toBe(1);
  expect(out).toContain('error    The role "nobody_at_all" is missing in the database.');
});
