-- The next users as lines that import-users.sql takes, in the order of their ids. $1: behind this id; null: the first ones. $2: how many.
select u.id, pg_catalog.json_build_object(
  'id', u.id, 'aud', u.aud, 'role', u.role, 'email', nullif(u.email, ''), 'phone', nullif(u.phone, ''),
  'password_hash', nullif(u.encrypted_password, ''),
  'email_confirmed_at', u.email_confirmed_at, 'phone_confirmed_at', u.phone_confirmed_at, 'invited_at', u.invited_at,
  'last_sign_in_at', u.last_sign_in_at, 'created_at', u.created_at, 'updated_at', u.updated_at,
  'banned_until', u.banned_until, 'deleted_at', u.deleted_at, 'is_anonymous', u.is_anonymous, 'is_sso_user', u.is_sso_user,
  'app_metadata', case when pg_catalog.jsonb_typeof(u.raw_app_meta_data) = 'object' then u.raw_app_meta_data else '{}' end,
  'user_metadata', case when pg_catalog.jsonb_typeof(u.raw_user_meta_data) = 'object' then u.raw_user_meta_data else '{}' end,
  'identities', coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'id', i.id, 'provider', i.provider, 'provider_id', i.provider_id, 'identity_data', i.identity_data,
      'last_sign_in_at', i.last_sign_in_at, 'created_at', i.created_at, 'updated_at', i.updated_at
    ) order by i.created_at, i.provider, i.id)
    from auth.identities i where i.user_id = u.id
  ), '[]'),
  'factors', coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'id', f.id, 'factor_type', f.factor_type, 'friendly_name', f.friendly_name, 'status', f.status,
      'secret', f.secret, 'phone', f.phone, 'created_at', f.created_at, 'updated_at', f.updated_at
    ) order by f.created_at, f.id)
    from auth.mfa_factors f where f.user_id = u.id and f.factor_type::text in ('totp', 'phone')
  ), '[]')
)::text as line
from auth.users u
where u.instance_id = '00000000-0000-0000-0000-000000000000' and ($1::uuid is null or u.id > $1::uuid)
order by u.id limit $2::int
