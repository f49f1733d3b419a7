create function public.display_name(profile public.profiles) returns text language sql stable as $$
  select coalesce(profile.full_name, split_part(profile.email, '@', 1))
$$;
