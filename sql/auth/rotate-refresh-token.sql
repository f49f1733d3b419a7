-- Uses up a refresh token: marks it, issues the next one, and notes the use in session and audit log. Does all of it, and
-- returns a row, or nothing: where another refresh holds the session, or has used the token meanwhile.
--
-- $1 rows for the audit log (json), $2 token, $3 next token (null: the active one is given again), $4 user id,
-- $5 session id, $6 now, $7 user agent, $8 address, $9 the token has been used before, which was allowed
with held as materialized (
  select s.id from auth.sessions s where s.id = $5::uuid for update skip locked
),
used as (
  update auth.refresh_tokens t set revoked = true, updated_at = $6::timestamptz
  from held h
  where t.session_id = h.id and t.token = $2 and t.revoked is not true and $3::text is not null
  returning t.id
),
allowed as (
  select h.id from held h where $9::boolean or exists (select from used)
),
issued as (
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
  select '00000000-0000-0000-0000-000000000000', $3::text, $4, false, $6::timestamptz, $6::timestamptz, $2, a.id
  from allowed a
  where $3::text is not null
),
audited as (
  insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000', e.id, e.payload, e.created_at, e.ip_address
  from allowed a
  cross join pg_catalog.json_to_recordset($1::json) as e (id uuid, payload json, created_at timestamptz, ip_address text)
)
update auth.sessions s set
  refreshed_at = $6::timestamptz at time zone 'UTC', updated_at = $6::timestamptz, user_agent = $7, ip = $8::inet
from allowed a
where s.id = a.id
returning s.id
