-- Inserts users with identities and second factors (src/auth/move/import-users.ts).
--
-- $1: an array of `{line, id, email, …}`. `line` is the JSON of the file, so that numbers in metadata keep all their digits; the
-- other members are what was made of it. Columns that Supabase Auth expects to be no null are empty.
with given as materialized (
  select
    (g.item ->> 'id')::uuid as id, g.item, l.line,
    coalesce((l.line ->> 'created_at')::timestamptz, pg_catalog.now()) as created_at,
    case when pg_catalog.jsonb_typeof(l.line -> 'identities') = 'array' then l.line else g.item end -> 'identities' as identities
  from pg_catalog.jsonb_array_elements($1::jsonb) g (item)
  cross join lateral (select g.item -> 'line' as line) l
), users as (
  insert into auth.users (
    instance_id, id, aud, role, email, phone, encrypted_password, email_confirmed_at, phone_confirmed_at, invited_at,
    last_sign_in_at, created_at, updated_at, banned_until, deleted_at, raw_app_meta_data, raw_user_meta_data,
    is_super_admin, is_sso_user, is_anonymous, confirmation_token, recovery_token, email_change_token_new,
    email_change_token_current, email_change, phone_change, phone_change_token, reauthentication_token, email_change_confirm_status
  )
  select
    '00000000-0000-0000-0000-000000000000', g.id, g.item ->> 'aud', g.item ->> 'role', g.item ->> 'email', g.item ->> 'phone',
    coalesce(g.line ->> 'password_hash', ''), (g.line ->> 'email_confirmed_at')::timestamptz,
    (g.line ->> 'phone_confirmed_at')::timestamptz, (g.line ->> 'invited_at')::timestamptz,
    (g.line ->> 'last_sign_in_at')::timestamptz, g.created_at, coalesce((g.line ->> 'updated_at')::timestamptz, g.created_at),
    (g.line ->> 'banned_until')::timestamptz, (g.line ->> 'deleted_at')::timestamptz,
    (g.item -> 'providers') || case
      when pg_catalog.jsonb_typeof(g.line -> 'app_metadata') = 'object' then g.line -> 'app_metadata' else '{}'
    end,
    case when pg_catalog.jsonb_typeof(g.line -> 'user_metadata') = 'object' then g.line -> 'user_metadata' else '{}' end,
    false, coalesce((g.line ->> 'is_sso_user')::boolean, false), coalesce((g.line ->> 'is_anonymous')::boolean, false),
    '', '', '', '', '', '', '', '', 0
  from given g
), identities as (
  insert into auth.identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
  select
    coalesce((i.item ->> 'id')::uuid, pg_catalog.gen_random_uuid()), g.id, i.item ->> 'provider', d.provider_id,
    -- As src/auth/store/identities.ts: in lower case.
    d.data || case
      when pg_catalog.jsonb_typeof(d.data -> 'email') = 'string'
      then pg_catalog.jsonb_build_object('email', pg_catalog.lower(d.data ->> 'email')) else '{}'
    end,
    (i.item ->> 'last_sign_in_at')::timestamptz, coalesce((i.item ->> 'created_at')::timestamptz, g.created_at),
    coalesce((i.item ->> 'updated_at')::timestamptz, (i.item ->> 'created_at')::timestamptz, g.created_at)
  from given g
  cross join lateral pg_catalog.jsonb_array_elements(g.identities) i (item)
  cross join lateral (select coalesce(i.item ->> 'provider_id', g.id::text) as provider_id) p
  cross join lateral (
    select p.provider_id, case
      when pg_catalog.jsonb_typeof(i.item -> 'identity_data') = 'object' then i.item -> 'identity_data'
      else pg_catalog.jsonb_build_object('sub', p.provider_id) || case i.item ->> 'provider'
        when 'email' then pg_catalog.jsonb_build_object(
          'email', g.item ->> 'email', 'email_verified', g.line ->> 'email_confirmed_at' is not null, 'phone_verified', false)
        when 'phone' then pg_catalog.jsonb_build_object(
          'phone', g.item ->> 'phone', 'phone_verified', g.line ->> 'phone_confirmed_at' is not null, 'email_verified', false)
        else '{}'
      end
    end as data
  ) d
)
insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret, phone, created_at, updated_at)
select
  coalesce((f.item ->> 'id')::uuid, pg_catalog.gen_random_uuid()), g.id, coalesce(f.item ->> 'friendly_name', ''),
  (f.item ->> 'factor_type')::auth.factor_type, coalesce(f.item ->> 'status', 'verified')::auth.factor_status,
  f.item ->> 'secret', pg_catalog.ltrim(f.item ->> 'phone', '+'),
  coalesce((f.item ->> 'created_at')::timestamptz, g.created_at),
  coalesce((f.item ->> 'updated_at')::timestamptz, (f.item ->> 'created_at')::timestamptz, g.created_at)
from given g
cross join lateral pg_catalog.jsonb_array_elements(
  case when pg_catalog.jsonb_typeof(g.line -> 'factors') = 'array' then g.line -> 'factors' else '[]' end
) f (item)
