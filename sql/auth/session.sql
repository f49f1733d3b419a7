-- A session with its methods, newest first. The `where` follows in src/auth/store/sessions.ts.
--
-- Times are milliseconds since the epoch; `refreshed_at` has no zone and is UTC.
select
  s.id, s.user_id as "userId", coalesce(s.aal::text, 'aal1') as "aal", s.factor_id as "factorId",
  (extract(epoch from s.created_at) * 1000)::float8 as "createdAt",
  (extract(epoch from s.refreshed_at at time zone 'UTC') * 1000)::float8 as "refreshedAt",
  (extract(epoch from s.not_after) * 1000)::float8 as "notAfter",
  s.user_agent as "userAgent", pg_catalog.host(s.ip) as "ip", s.tag,
  coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'method', m.authentication_method, 'at', (extract(epoch from m.updated_at) * 1000)::float8
    ) order by m.updated_at desc, m.authentication_method)
    from auth.mfa_amr_claims m where m.session_id = s.id
  ), '[]') as "amr"
from auth.sessions s
