-- Evidence that more than one person has used an address that nobody has proved (src/auth/accounts/claim-account.ts).

-- missing: table auth.pgreflect_entries
create table auth.pgreflect_entries (
  user_id uuid not null,
  -- `admin`: an admin entered the account, and every proof keeps it. `other`: another request than the account's own sign-up
  -- has sent the newest confirmation. `self`: nobody else came. `withheld`: what a link of the PKCE flow took away, until its verifier gives it back.
  entered_by text not null,
  -- Of `other`: the row of auth.one_time_tokens that proves what the request entered.
  token_id uuid,
  -- Of `self`: the network that the sign-up came from.
  network text,
  flow_id uuid,
  password_hash text,
  user_metadata jsonb,
  constraint pgreflect_entries_pkey primary key (user_id),
  constraint pgreflect_entries_user_id_fkey foreign key (user_id) references auth.users (id) on delete cascade,
  constraint pgreflect_entries_flow_id_fkey foreign key (flow_id) references auth.flow_state (id) on delete cascade,
  constraint pgreflect_entries_entered_by_check check (entered_by in ('admin', 'other', 'self', 'withheld'))
);
create index pgreflect_entries_flow_id_idx on auth.pgreflect_entries (flow_id);
alter table auth.pgreflect_entries enable row level security;
comment on table auth.pgreflect_entries is 'Accounts without a proved address that an admin has entered, or that several people have asked for.';
-- Pending invitations: only an admin has entered data there.
insert into auth.pgreflect_entries (user_id, entered_by)
select u.id, 'admin' from auth.users u
where u.invited_at is not null and u.email_confirmed_at is null and u.phone is null
  and (u.encrypted_password is null or u.encrypted_password = '')
  and not exists (select from auth.identities i where i.user_id = u.id and i.provider <> 'email');

-- missing: table auth.pgreflect_changes
create table auth.pgreflect_changes (
  user_id uuid not null,
  session_id uuid not null,
  constraint pgreflect_changes_pkey primary key (user_id),
  constraint pgreflect_changes_user_id_fkey foreign key (user_id) references auth.users (id) on delete cascade,
  constraint pgreflect_changes_session_id_fkey foreign key (session_id) references auth.sessions (id) on delete cascade
);
create index pgreflect_changes_session_id_idx on auth.pgreflect_changes (session_id);
alter table auth.pgreflect_changes enable row level security;
comment on table auth.pgreflect_changes is 'The session that has asked for the pending change of an address or number. Without it, the change is not sent again.';
