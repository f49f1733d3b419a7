/**
 * The rows of docs/from-supabase.md move with `psql` and `pg_dump` of the system: after the migrations, and after a dump of the tables
 * alone. Needs the programs of PostgreSQL.
 */
import { cpSync } from 'node:fs';
import { beforeAll, expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../commands/run-command.ts';
import { atEnd } from '../support/when-over.ts';
import { type OwnServer, projectFolder, startHostedProject, startOwnServer } from './hosted-project.ts';
import { startSystemServer, systemPrograms } from './system-server.ts';
import { type Desk, type } from './type-page.ts';

vi.setConfig({ testTimeout: 170_000, hookTimeout: 170_000 });

let old: OwnServer;
beforeAll(async () => {
  old = await startHostedProject(startSystemServer);
});

function deskFor(fresh: OwnServer): Desk {
  const directory = temporaryDirectory(atEnd);
  cpSync(projectFolder, directory, { recursive: true });
  return {
    directory,
    environment: { PATH: `${systemPrograms()}:${process.env.PATH}` },
    addresses: [
      ['postgresql://postgres:PASSWORD@db.PROJECT_REF.supabase.co:5432/postgres', old.urlAs('postgres')],
      ['postgresql://postgres:PASSWORD@localhost:5432/postgres', fresh.urlAs('postgres')],
    ],
  };
}

/** Rows, places of sequences, and what else belongs to the tables. */
const contents = `
  select c.oid::regclass::text as name,
    (xpath('/row/c/text()', query_to_xml(format('select md5(string_agg(to_jsonb(t)::text, chr(10) order by to_jsonb(t)::text)) as c from %s t', c.oid::regclass),
      false, true, '')))[1]::text as rows
  from pg_class c
  where c.relkind = 'r' and (c.relnamespace = 'public'::regnamespace
    or c.oid in ('auth.users'::regclass, 'auth.identities'::regclass, 'auth.mfa_factors'::regclass, 'auth.refresh_tokens'::regclass))
  union all
  select s.oid::regclass::text, pg_sequence_last_value(s.oid)::text from pg_class s
  where s.relkind = 'S' and (s.relnamespace = 'public'::regnamespace or s.oid = 'auth.refresh_tokens_id_seq'::regclass)
  union all
  select p.oid::regprocedure::text, md5(pg_get_functiondef(p.oid))
  from pg_proc p where p.pronamespace = 'public'::regnamespace
  union all
  select format('%s on %s', p.polname, p.polrelid::regclass), concat(pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
  from pg_policy p join pg_class c on c.oid = p.polrelid where c.relnamespace = 'public'::regnamespace
  union all
  select g.tgname, pg_get_triggerdef(g.oid) from pg_trigger g join pg_class c on c.oid = g.tgrelid
  where not g.tgisinternal and (c.relnamespace = 'public'::regnamespace or c.oid = 'auth.users'::regclass)
  order by 1`;

test.each([
  ['migrations', 'move.test.ts'],
  ['a dump', 'move.nightly.test.ts'],
])('with %s, the new database has what the old one has', async (_, file) => {
  const fresh = await startOwnServer(startSystemServer);
  const desk = deskFor(fresh);
  await type('## Look first', desk);
  await type('### 1. Prepare the new database', desk);
  await type('### 2. Create the tables', desk, file);
  await type('### 3. Copy the rows and the users', desk);
  const expected = await old.query('supabase_admin', contents);
  expect(expected.length).toBeGreaterThan(50);
  expect(await fresh.query('postgres', contents)).toEqual(expected);
});
