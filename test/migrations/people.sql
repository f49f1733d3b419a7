-- A hundred members of the club as Supabase Auth stores them (bcrypt of cost 4 keeps tests quick), with sessions and a second factor.
insert into auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, confirmation_token, recovery_token,
  email_change_token_new, email_change, raw_app_meta_data, raw_user_meta_data, created_at, updated_at, banned_until)
select '00000000-0000-0000-0000-000000000000', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'authenticated',
  'authenticated', format('member%s@club.test', n), extensions.crypt(format('password of %s', n), extensions.gen_salt('bf', 4)),
  case when n <> 98 then timestamptz '2026-01-01 10:00Z' end, '', '', '', '',
  jsonb_build_object('provider', 'email', 'providers', jsonb_build_array('email')) || case when n = 3 then '{"role": "admin"}' else '{}' end::jsonb,
  jsonb_build_object('full_name', format('Member %s', n)), '2026-01-01 10:00Z', '2026-01-01 10:00Z',
  case when n = 99 then timestamptz '2999-01-01Z' end
from generate_series(1, 100) as n;
insert into auth.identities (provider_id, user_id, identity_data, provider, created_at, updated_at)
select u.id, u.id, jsonb_build_object('sub', u.id, 'email', u.email, 'email_verified', true), 'email', u.created_at, u.created_at
from auth.users u;
insert into auth.sessions (id, user_id, created_at, updated_at, aal)
select ('11111111-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid,
  '2026-01-02 10:00Z', '2026-01-02 10:00Z', 'aal1'
from generate_series(1, 20) as n;
insert into auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method, id)
select s.id, s.created_at, s.created_at, 'password', gen_random_uuid() from auth.sessions s;
insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
select '00000000-0000-0000-0000-000000000000', 'refresh' || lpad(n::text, 5, '0'), ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0')),
  false, '2026-01-02 10:00Z', '2026-01-02 10:00Z', ('11111111-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid
from generate_series(1, 20) as n;
insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
values ('22222222-0000-4000-8000-000000000007', '00000000-0000-4000-8000-000000000007', 'phone', 'totp', 'verified',
  '2026-01-03 10:00Z', '2026-01-03 10:00Z', 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
insert into auth.audit_log_entries (instance_id, id, payload, created_at)
select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), json_build_object('action', 'login', 'actor_id', u.id), '2026-01-02 10:00Z'
from auth.users u;

insert into public.clubs (id, name, slug)
select ('33333333-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, format('Club %s', n), case n when 4 then 'open' else format('club-%s', n) end
from generate_series(1, 4) as n;
-- Everybody is in the club of the same remainder, so that half of the rows are hidden from anyone.
insert into public.members (club_id, user_id, role, score, joined)
select ('33333333-0000-4000-8000-' || lpad((n % 4 + 1)::text, 12, '0'))::uuid, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid,
  case when n <= 4 then 'owner' else 'member' end::public.club_role, n * 1.25, '2026-01-01'
from generate_series(1, 100) as n;
insert into public.posts (club_id, author_id, title, content, created_at, updated_at, meta, labels)
select m.club_id, m.user_id, format('Post %s of %s', k, p.full_name), E'Two\nlines with a \\ and a\ttab', '2026-02-01Z', '2026-02-01Z',
  jsonb_build_object('k', k), array['a', format('b%s', k)]
from public.members m join public.profiles p on p.id = m.user_id, generate_series(1, 3) as k order by m.user_id, k;
insert into public.comments (id, post_id, author_id, body)
select gen_random_uuid(), p.id, p.author_id, 'First' from public.posts p where p.id % 3 = 0;
insert into public.post_tags select p.id, p.id % 3 + 1 from public.posts p where p.id % 2 = 0;
insert into public.invites (club_id, email, token) values ('33333333-0000-4000-8000-000000000001', 'member1@club.test', 'abc');
