-- What decides about a refresh token, beside its user and session, which src/auth/store/refresh.ts adds as two more columns: the
-- token itself and the active token of the session.
--
-- $1 the token. Times are milliseconds since the epoch.
  t.id::text as "tokenId", coalesce(t.revoked, false) as "revoked",
  (extract(epoch from t.updated_at) * 1000)::float8 as "updatedAt",
  a.token as "activeToken", a.parent as "activeParent"
from auth.refresh_tokens t
left join lateral (
  select n.token, n.parent
  from auth.refresh_tokens n
  where n.session_id = t.session_id and n.revoked is not true
  order by n.id desc
  limit 1
) a on true
where t.token = $1 and t.instance_id = '00000000-0000-0000-0000-000000000000'
