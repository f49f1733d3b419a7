-- Replaces captured names of an existing schema: Supabase Auth found functions and operators in the search path of its login, where
-- others may have put some that fit better than those of PostgreSQL.
--
-- Each piece checks first, and changes nothing that is as we wrote it. pg_depend records what a stored expression uses from outside
-- of pg_catalog, so an expression without such records is as we wrote it.

-- always: functions that look their names up when they are called
-- Bodies made by Supabase Auth, as texts; bodies written by others stay.
do $body$
declare
  made record;
begin
  for made in
    select w.statement
    from (values
      ('auth.uid()',
        'selectcoalesce(current_setting(''request.jwt.claim.sub'',true),(current_setting(''request.jwt.claims'',true)::jsonb->>''sub''))::uuid',
        $$create or replace function auth.uid() returns uuid language sql stable return coalesce(
        nullif(pg_catalog.current_setting('request.jwt.claim.sub', true), ''),
        (nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'))::uuid$$),
      ('auth.role()',
        'selectcoalesce(current_setting(''request.jwt.claim.role'',true),(current_setting(''request.jwt.claims'',true)::jsonb->>''role''))::text',
        $$create or replace function auth.role() returns text language sql stable return coalesce(
        nullif(pg_catalog.current_setting('request.jwt.claim.role', true), ''),
        (nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::jsonb ->> 'role'))::text$$),
      ('auth.email()',
        'selectcoalesce(current_setting(''request.jwt.claim.email'',true),(current_setting(''request.jwt.claims'',true)::jsonb->>''email''))::text',
        $$create or replace function auth.email() returns text language sql stable return coalesce(
        nullif(pg_catalog.current_setting('request.jwt.claim.email', true), ''),
        (nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::jsonb ->> 'email'))::text$$),
      ('auth.jwt()',
        'selectcoalesce(current_setting(''request.jwt.claim'',true),current_setting(''request.jwt.claims'',true))::jsonb',
        $$create or replace function auth.jwt() returns jsonb language sql stable return coalesce(
        nullif(pg_catalog.current_setting('request.jwt.claim', true), ''),
        nullif(pg_catalog.current_setting('request.jwt.claims', true), ''))::jsonb$$)
    ) as w (name, body, statement)
    join pg_catalog.pg_proc p on p.oid = pg_catalog.to_regprocedure(w.name)
    where p.prosqlbody is null and pg_catalog.pg_has_role(p.proowner, 'usage')
      and pg_catalog.regexp_replace(p.prosrc, $$pg_catalog\.|\s|;|nullif\(|,\s*''\)$$, '', 'g') = w.body
  loop
    execute made.statement;
  end loop;
end $body$;

-- always: expressions that use functions or operators of others
do $body$
declare
  expression record;
begin
  for expression in
    with index (name, statements) as (values
      ('auth.users_email_partial_key', $$drop index auth.users_email_partial_key;
        create unique index users_email_partial_key on auth.users (email) where is_sso_user = false$$),
      ('auth.users_instance_id_email_idx', $$drop index auth.users_instance_id_email_idx;
        create index users_instance_id_email_idx on auth.users (instance_id, lower(email::text))$$),
      ('auth.confirmation_token_idx', $$drop index auth.confirmation_token_idx;
        create unique index confirmation_token_idx on auth.users (confirmation_token) where confirmation_token !~ '^[0-9 ]*$'$$),
      ('auth.recovery_token_idx', $$drop index auth.recovery_token_idx;
        create unique index recovery_token_idx on auth.users (recovery_token) where recovery_token !~ '^[0-9 ]*$'$$),
      ('auth.reauthentication_token_idx', $$drop index auth.reauthentication_token_idx;
        create unique index reauthentication_token_idx on auth.users (reauthentication_token) where reauthentication_token !~ '^[0-9 ]*$'$$),
      ('auth.email_change_token_new_idx', $$drop index auth.email_change_token_new_idx;
        create unique index email_change_token_new_idx on auth.users (email_change_token_new) where email_change_token_new !~ '^[0-9 ]*$'$$),
      ('auth.email_change_token_current_idx', $$drop index auth.email_change_token_current_idx;
        create unique index email_change_token_current_idx on auth.users (email_change_token_current) where email_change_token_current !~ '^[0-9 ]*$'$$),
      ('auth.mfa_factors_user_friendly_name_unique', $$drop index auth.mfa_factors_user_friendly_name_unique;
        create unique index mfa_factors_user_friendly_name_unique on auth.mfa_factors (friendly_name, user_id)
          where trim(both from friendly_name) <> ''$$)
    ),
    check_constraint (name, in_table, statements) as (values
      ('users_email_change_confirm_status_check', 'auth.users',
        $$alter table auth.users drop constraint users_email_change_confirm_status_check;
        alter table auth.users add constraint users_email_change_confirm_status_check
          check (email_change_confirm_status >= 0 and email_change_confirm_status <= 2)$$),
      ('sessions_scopes_length', 'auth.sessions', $$alter table auth.sessions drop constraint sessions_scopes_length;
        alter table auth.sessions add constraint sessions_scopes_length check (char_length(scopes) <= 4096)$$),
      ('one_time_tokens_token_hash_check', 'auth.one_time_tokens',
        $$alter table auth.one_time_tokens drop constraint one_time_tokens_token_hash_check;
        alter table auth.one_time_tokens add constraint one_time_tokens_token_hash_check check (char_length(token_hash) > 0)$$)
    ),
    value (name, in_table, statements) as (values
      ('id', 'auth.identities', 'alter table auth.identities alter column id set default gen_random_uuid()'),
      ('email', 'auth.identities', $$alter table auth.identities drop column email;
        alter table auth.identities add column email text generated always as (lower(identity_data ->> 'email')) stored;
        create index identities_email_idx on auth.identities (email text_pattern_ops)$$),
      ('created_at', 'auth.one_time_tokens', 'alter table auth.one_time_tokens alter column created_at set default now()'),
      ('updated_at', 'auth.one_time_tokens', 'alter table auth.one_time_tokens alter column updated_at set default now()')
    ),
    stored (catalog, object, part, statements) as (
      select 'pg_catalog.pg_class'::regclass, pg_catalog.to_regclass(i.name)::oid, 0, i.statements from index i
      union all
      select 'pg_catalog.pg_constraint'::regclass, c.oid, 0, k.statements
      from check_constraint k
      join pg_catalog.pg_constraint c on c.conname = k.name and c.conrelid = pg_catalog.to_regclass(k.in_table)
      union all
      select 'pg_catalog.pg_attrdef'::regclass, d.oid, 0, v.statements
      from value v
      join pg_catalog.pg_attribute a on a.attname = v.name and a.attrelid = pg_catalog.to_regclass(v.in_table)
      join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      union all
      -- PostgreSQL 14 notes of a generated column itself what the expression uses.
      select 'pg_catalog.pg_class'::regclass, a.attrelid, a.attnum, v.statements
      from value v
      join pg_catalog.pg_attribute a on a.attname = v.name and a.attrelid = pg_catalog.to_regclass(v.in_table)
    )
    select s.statements
    from stored s
    where exists (
      select from pg_catalog.pg_depend d
      where d.classid = s.catalog and d.objid = s.object and d.objsubid = s.part
        and d.refclassid in ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)
    )
  loop
    execute expression.statements;
  end loop;
end $body$;
