-- Rows that a half-done change would leave behind. One statement, so one moment.
with problems (problem, id) as (
  select 'a user without an identity of the address', u.id::text from auth.users u
  where (select pg_catalog.count(*) from auth.identities i
    where i.user_id = u.id and i.provider = 'email' and i.provider_id = u.id::text and i.email = u.email) <> 1
  union all
  select 'an address that is confirmed in one place only', u.id::text from auth.users u
  join auth.identities i on i.user_id = u.id
  where (u.email_confirmed_at is not null) <> (i.identity_data ->> 'email_verified')::boolean
  union all
  select 'a stored ' || t.token_type || ' that its user does not have', t.user_id::text from auth.one_time_tokens t
  join auth.users u on u.id = t.user_id
  where '' = coalesce(case t.token_type
    when 'confirmation_token' then u.confirmation_token
    when 'recovery_token' then u.recovery_token
    when 'email_change_token_new' then u.email_change_token_new
    when 'email_change_token_current' then u.email_change_token_current
    when 'reauthentication_token' then u.reauthentication_token
    when 'phone_change_token' then u.phone_change_token end, '')
  union all
  select 'a change of the address without an address', u.id::text from auth.users u
  where coalesce(u.email_change, '') = '' and (coalesce(u.email_change_token_new, '') <> ''
    or coalesce(u.email_change_token_current, '') <> '' or u.email_change_confirm_status <> 0)
  union all
  -- None of the two is left where the password was changed meanwhile.
  select 'a change of the address confirmed by one, whose token is still there', u.id::text from auth.users u
  where u.email_change_confirm_status = 1
    and u.email_change_token_new <> '' and u.email_change_token_current <> ''
  union all
  select 'a session with several refresh tokens that are good', s.id::text from auth.sessions s
  where (select pg_catalog.count(*) from auth.refresh_tokens r where r.session_id = s.id and not r.revoked) > 1
  union all
  select 'a session without refresh tokens', s.id::text from auth.sessions s
  where not exists (select from auth.refresh_tokens r where r.session_id = s.id)
  union all
  select 'a refresh token of another user', r.id::text from auth.refresh_tokens r
  join auth.sessions s on s.id = r.session_id where r.user_id <> s.user_id::text
  union all
  select 'a session that nothing has begun', s.id::text from auth.sessions s
  where not exists (select from auth.mfa_amr_claims c where c.session_id = s.id)
  union all
  select 'a raised session without a second factor', s.id::text from auth.sessions s
  where s.aal = 'aal2' and not exists (
    select from auth.mfa_amr_claims c where c.session_id = s.id and c.authentication_method = 'totp')
  union all
  select 'a raised session of a user without factors', s.id::text from auth.sessions s
  where s.aal = 'aal2' and not exists (
    select from auth.mfa_factors f where f.user_id = s.user_id and f.status = 'verified')
  union all
  select 'a session of somebody who is not confirmed', s.id::text from auth.sessions s
  join auth.users u on u.id = s.user_id where u.email_confirmed_at is null
)
select problem, id from problems
