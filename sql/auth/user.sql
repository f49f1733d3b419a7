-- A user with identities and factors. The `where` follows in src/auth/store/users.ts.
--
-- Times are milliseconds since the epoch. Token columns of rows made by hand may be null, which counts as empty. Metadata may be
-- the JSON null, which Supabase Auth writes as well, or anything else that is no object; that counts as an empty one.
select
  u.id, u.aud as "audience", u.role, nullif(u.email, '') as "email", nullif(u.encrypted_password, '') as "passwordHash",
  (extract(epoch from u.email_confirmed_at) * 1000)::float8 as "emailConfirmedAt",
  (extract(epoch from u.invited_at) * 1000)::float8 as "invitedAt",
  coalesce(u.confirmation_token, '') as "confirmationToken",
  (extract(epoch from u.confirmation_sent_at) * 1000)::float8 as "confirmationSentAt",
  coalesce(u.recovery_token, '') as "recoveryToken",
  (extract(epoch from u.recovery_sent_at) * 1000)::float8 as "recoverySentAt",
  coalesce(u.email_change_token_new, '') as "emailChangeTokenNew",
  coalesce(u.email_change_token_current, '') as "emailChangeTokenCurrent",
  coalesce(u.email_change, '') as "emailChange",
  (extract(epoch from u.email_change_sent_at) * 1000)::float8 as "emailChangeSentAt",
  coalesce(u.email_change_confirm_status, 0) as "emailChangeConfirmStatus",
  (extract(epoch from u.last_sign_in_at) * 1000)::float8 as "lastSignInAt",
  case when pg_catalog.jsonb_typeof(u.raw_app_meta_data) = 'object' then u.raw_app_meta_data else '{}' end as "appMetadata",
  case when pg_catalog.jsonb_typeof(u.raw_user_meta_data) = 'object' then u.raw_user_meta_data else '{}' end as "userMetadata",
  (extract(epoch from u.created_at) * 1000)::float8 as "createdAt",
  (extract(epoch from u.updated_at) * 1000)::float8 as "updatedAt",
  nullif(u.phone, '') as "phone",
  (extract(epoch from u.phone_confirmed_at) * 1000)::float8 as "phoneConfirmedAt",
  coalesce(u.phone_change, '') as "phoneChange", coalesce(u.phone_change_token, '') as "phoneChangeToken",
  (extract(epoch from u.phone_change_sent_at) * 1000)::float8 as "phoneChangeSentAt",
  (extract(epoch from u.confirmed_at) * 1000)::float8 as "confirmedAt",
  (extract(epoch from u.banned_until) * 1000)::float8 as "bannedUntil",
  coalesce(u.reauthentication_token, '') as "reauthenticationToken",
  (extract(epoch from u.reauthentication_sent_at) * 1000)::float8 as "reauthenticationSentAt",
  u.is_sso_user as "isSsoUser",
  (extract(epoch from u.deleted_at) * 1000)::float8 as "deletedAt",
  u.is_anonymous as "isAnonymous",
  coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'id', i.id, 'providerId', i.provider_id, 'userId', i.user_id, 'provider', i.provider, 'email', i.email,
      'identityData', case when pg_catalog.jsonb_typeof(i.identity_data) = 'object' then i.identity_data else '{}' end,
      'lastSignInAt', (extract(epoch from i.last_sign_in_at) * 1000)::float8,
      'createdAt', (extract(epoch from i.created_at) * 1000)::float8,
      'updatedAt', (extract(epoch from i.updated_at) * 1000)::float8
    ) order by i.created_at, i.provider, i.id)
    from auth.identities i where i.user_id = u.id
  ), '[]') as "identities",
  coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'id', f.id, 'friendlyName', coalesce(f.friendly_name, ''), 'factorType', f.factor_type, 'status', f.status,
      'phone', coalesce(f.phone, ''),
      'createdAt', (extract(epoch from f.created_at) * 1000)::float8,
      'updatedAt', (extract(epoch from f.updated_at) * 1000)::float8,
      'lastChallengedAt', (extract(epoch from f.last_challenged_at) * 1000)::float8
    ) order by f.created_at, f.id)
    from auth.mfa_factors f where f.user_id = u.id
  ), '[]') as "factors"
from auth.users u
