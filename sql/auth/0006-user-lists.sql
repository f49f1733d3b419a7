-- Indexes for lists of users: by time, by address, by state, by provider; and for the audit log of a user.
--
-- Made only where the login owns the table, and the table is small enough that writes wait for seconds at most. For larger ones,
-- docs/auth-flows.md has the statements that block nothing. The lists are right without them, but slow.

-- always: indexes for lists of users
do $body$
declare
  made record;
begin
  for made in
    select w.statement
    from (values
      ('auth.users', 'pgreflect_users_created_at_idx',
        'create index pgreflect_users_created_at_idx on auth.users (created_at desc nulls last, id desc)'),
      ('auth.users', 'pgreflect_users_last_sign_in_at_idx',
        'create index pgreflect_users_last_sign_in_at_idx on auth.users (last_sign_in_at desc nulls last, id desc)'),
      ('auth.users', 'pgreflect_users_email_idx', 'create index pgreflect_users_email_idx on auth.users (email, id)'),
      ('auth.users', 'pgreflect_users_banned_idx',
        'create index pgreflect_users_banned_idx on auth.users (created_at desc nulls last, id desc) where banned_until is not null'),
      ('auth.users', 'pgreflect_users_deleted_idx',
        'create index pgreflect_users_deleted_idx on auth.users (created_at desc nulls last, id desc) where deleted_at is not null'),
      ('auth.users', 'pgreflect_users_unconfirmed_idx',
        'create index pgreflect_users_unconfirmed_idx on auth.users (created_at desc nulls last, id desc) where confirmed_at is null'),
      ('auth.users', 'pgreflect_users_invited_idx',
        'create index pgreflect_users_invited_idx on auth.users (created_at desc nulls last, id desc) where confirmed_at is null and invited_at is not null'),
      ('auth.users', 'pgreflect_users_anonymous_idx',
        'create index pgreflect_users_anonymous_idx on auth.users (created_at desc nulls last, id desc) where is_anonymous'),
      ('auth.identities', 'pgreflect_identities_provider_idx',
        'create index pgreflect_identities_provider_idx on auth.identities (provider, user_id)'),
      ('auth.audit_log_entries', 'pgreflect_audit_user_idx',
        $$create index pgreflect_audit_user_idx on auth.audit_log_entries
          ((coalesce(payload -> 'traits' ->> 'user_id', payload ->> 'actor_id')), created_at desc)$$)
    ) as w (in_table, name, statement)
    join pg_catalog.pg_class c on c.oid = pg_catalog.to_regclass(w.in_table)
    where pg_catalog.pg_has_role(c.relowner, 'usage') and pg_catalog.pg_relation_size(c.oid) < 1073741824
      and pg_catalog.to_regclass('auth.' || w.name) is null
  loop
    execute made.statement;
  end loop;
end $body$;
