-- Who entered the data of an account before its address was proven, and so may keep it (src/auth/accounts/claim-account.ts).

-- missing: table auth.pgreflect_entries
create table auth.pgreflect_entries (
  user_id uuid not null,
  -- `code`: the user who presents the code of the sign-up email, or its PKCE verifier. `admin`: any user, because an admin entered it.
  kept_by text not null,
  -- What a link of the PKCE flow took away, until the verifier of that flow gives it back.
  flow_id uuid,
  password_hash text,
  user_metadata jsonb,
  constraint pgreflect_entries_pkey primary key (user_id),
  constraint pgreflect_entries_user_id_fkey foreign key (user_id) references auth.users (id) on delete cascade,
  constraint pgreflect_entries_flow_id_fkey foreign key (flow_id) references auth.flow_state (id) on delete cascade,
  constraint pgreflect_entries_kept_by_check check (kept_by in ('code', 'admin'))
);
create index pgreflect_entries_flow_id_idx on auth.pgreflect_entries (flow_id);
alter table auth.pgreflect_entries enable row level security;
comment on table auth.pgreflect_entries is 'Accounts without a proven address whose password and metadata may outlive the first proof.';
-- Pending invitations: only an admin has entered data there.
insert into auth.pgreflect_entries (user_id, kept_by)
select u.id, 'admin' from auth.users u
where u.invited_at is not null and u.email_confirmed_at is null and u.phone is null
  and (u.encrypted_password is null or u.encrypted_password = '')
  and not exists (select from auth.identities i where i.user_id = u.id and i.provider <> 'email');
