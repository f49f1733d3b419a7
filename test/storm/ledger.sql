-- What really happened, written by the database itself in the transaction of each change that users are told of.

create schema storm;

-- One row for each email that a committed change has to cause.
create table storm.changes (
  id bigint generated always as identity primary key,
  kind text not null,
  recipient text not null
);

-- One row for each token that was stored to be sent by email.
create table storm.links (
  id bigint generated always as identity primary key,
  token_hash text not null,
  recipient text not null
);

create function storm.note_link() returns trigger language plpgsql security definer set search_path = '' as $body$
begin
  insert into storm.links (token_hash, recipient) values (new.token_hash, new.relates_to);
  return null;
end $body$;

create function storm.note_user() returns trigger language plpgsql security definer set search_path = '' as $body$
begin
  if new.encrypted_password is distinct from old.encrypted_password then
    insert into storm.changes (kind, recipient) values ('password_changed_notification', new.email);
  end if;
  if new.email is distinct from old.email then
    insert into storm.changes (kind, recipient) values ('email_changed_notification', old.email);
  end if;
  return null;
end $body$;

create function storm.note_factor() returns trigger language plpgsql security definer set search_path = '' as $body$
begin
  -- Of factors that end with their user nobody is told: the user is gone before them.
  insert into storm.changes (kind, recipient)
  select case tg_op when 'DELETE' then 'mfa_factor_unenrolled_notification' else 'mfa_factor_enrolled_notification' end, u.email
  from auth.users u where u.id = old.user_id;
  return null;
end $body$;

create trigger storm after insert on auth.one_time_tokens for each row execute function storm.note_link();
create trigger storm after update on auth.users for each row execute function storm.note_user();
create trigger storm_verified after update of status on auth.mfa_factors for each row
  when (old.status = 'unverified' and new.status = 'verified') execute function storm.note_factor();
create trigger storm_removed after delete on auth.mfa_factors for each row
  when (old.status = 'verified') execute function storm.note_factor();
