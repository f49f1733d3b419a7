-- Inserts a session with its first refresh token and its first method, and notes the sign-in.
--
-- $1 session id, $2 user id, $3 now, $4 user agent, $5 address, $6 tag, $7 refresh token, $8 id of the method's row, $9 method
with created as (
  insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip, tag)
  values ($1::uuid, $2::uuid, $3::timestamptz, $3::timestamptz, 'aal1', $4, $5::inet, $6)
),
token as (
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
  values ('00000000-0000-0000-0000-000000000000', $7, $2::uuid::text, false, $3::timestamptz, $3::timestamptz, null, $1::uuid)
),
method as (
  insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
  values ($8::uuid, $1::uuid, $3::timestamptz, $3::timestamptz, $9)
)
update auth.users set last_sign_in_at = $3::timestamptz, updated_at = $3::timestamptz where id = $2::uuid
