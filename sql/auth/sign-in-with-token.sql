-- Uses up the token of a confirmed user and starts a session for it: all of it, with the audit log, or nothing and no row
-- where another request holds the user, or has used or replaced the token meanwhile. Waits for nobody's lock.
--
-- $1 user id, $2 token as it is stored in auth.users.recovery_token, $3 now, $4 session id, $5 user agent, $6 address,
-- $7 refresh token, $8 id of the method's row, $9 method, $10 rows for the audit log (json)
with held as materialized (
  select u.id from auth.users u where u.id = $1::uuid and u.recovery_token = $2 and $2 <> '' for update skip locked
),
gone as (
  delete from auth.one_time_tokens t using held h where t.user_id = h.id
),
created as (
  insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip)
  select $4::uuid, h.id, $3::timestamptz, $3::timestamptz, 'aal1', $5, $6::inet from held h
),
token as (
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
  select '00000000-0000-0000-0000-000000000000', $7, h.id::text, false, $3::timestamptz, $3::timestamptz, null, $4::uuid
  from held h
),
method as (
  insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
  select $8::uuid, $4::uuid, $3::timestamptz, $3::timestamptz, $9 from held h
),
audited as (
  insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000', e.id, e.payload, e.created_at, e.ip_address
  from held h
  cross join pg_catalog.json_to_recordset($10::json) as e (id uuid, payload json, created_at timestamptz, ip_address text)
)
update auth.users u set recovery_token = '', last_sign_in_at = $3::timestamptz, updated_at = $3::timestamptz
from held h
where u.id = h.id
returning u.id
