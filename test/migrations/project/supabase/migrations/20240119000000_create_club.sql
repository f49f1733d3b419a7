create function public.create_club(name text, slug text) returns public.clubs language plpgsql security definer set search_path = '' as $$
declare
  made public.clubs;
begin
  if auth.uid() is null then raise exception 'Sign in first' using errcode = '42501'; end if;
  insert into public.clubs (id, name, slug) values (extensions.uuid_generate_v4(), name, slug) returning * into made;
  insert into public.members (club_id, user_id, role) values (made.id, auth.uid(), 'owner');
  return made;
end $$;
