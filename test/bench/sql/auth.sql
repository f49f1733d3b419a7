-- Users of the auth service for the bench, made anew before each load: user n has the address user<n>@example.org, one
-- session with the refresh token n, and the one-time code n, all with leading zeros. The password of all is "a good password".
create schema bench;

-- What the auth service keeps of each user beside them.
create procedure bench.fill_auth(size int)
language sql
begin atomic
  delete from auth.users;
  delete from auth.audit_log_entries;
  delete from auth.pgreflect_rate_limits;
  insert into auth.users (
    instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, recovery_token, recovery_sent_at,
    raw_app_meta_data, raw_user_meta_data, is_super_admin, created_at, updated_at, confirmation_token,
    email_change_token_new, email_change
  )
  select
    '00000000-0000-0000-0000-000000000000', md5('user' || n)::uuid, 'authenticated', 'authenticated',
    'user' || n || '@example.org', '$2b$10$lAM5pKyDxc3L8Ufs/l2W6.KueemcIq6heKQiYKlCDCVuistDQiagK', now(),
    encode(sha224(convert_to('user' || n || '@example.org' || lpad(n::text, 6, '0'), 'UTF8')), 'hex'), now(),
    '{"provider": "email", "providers": ["email"]}', '{"email_verified": true}', false, now(), now(), '', '', ''
  from generate_series(1, size) as n;
  insert into auth.identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
  select
    md5('identity' || u.email)::uuid, u.id, 'email', u.id::text,
    jsonb_build_object('sub', u.id, 'email', u.email, 'email_verified', true, 'phone_verified', false), now(), now(), now()
  from auth.users u;
  insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
  select md5('token' || u.email)::uuid, u.id, 'recovery_token', u.recovery_token, u.email, now(), now() from auth.users u;
  insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent)
  select md5('session' || u.email)::uuid, u.id, now(), now(), 'aal1', 'bench' from auth.users u;
  insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
  select md5('method' || s.id)::uuid, s.id, now(), now(), 'password' from auth.sessions s;
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
  select
    '00000000-0000-0000-0000-000000000000', lpad(n::text, 12, '0'), md5('user' || n)::uuid::text, false, now(), now(), null,
    md5('session' || 'user' || n || '@example.org')::uuid
  from generate_series(1, size) as n;
end;
