/** What `pgreflect check` says of texts that are longer than patterns can read. */
import { expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';

test('texts of 16 MB are read, or the findings that they hide are told as missing', async () => {
  const database =
    await createDatabase(`create schema extensions; grant usage on schema extensions to public; create extension pg_trgm schema extensions;
    create table post (id int primary key); alter table post enable row level security; grant select on post to anon;
    set check_function_bodies = off;
    do $do$ begin
      execute format('create function talks() returns text language plpgsql set search_path = %L as %L', '',
        '/*' || repeat('*', 16000000) || '*/ begin return similarity(''a'', ''b'')::text; end');
      execute format('create policy p on post using (id::text = %L)', repeat('a', 16000000));
    end $do$`);
  const found = await findings(database, '--only', 'extension_off_path,policy_call_per_row');
  const named = found.filter(({ check }) => check === 'extension_off_path').map(({ object }) => object);
  expect(named).toEqual(['public.talks()']);
  expect(found.filter(({ check }) => check === 'not_checked').map(({ message }) => message)).toEqual([
    'Findings of the kind policy_call_per_row are missing: a definition in the database is too long to read.',
  ]);
});
