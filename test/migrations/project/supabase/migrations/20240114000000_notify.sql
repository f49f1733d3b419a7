create function public.tell_webhook() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  perform net.http_post(url := 'https://hooks.club.test/posts', body := jsonb_build_object('id', new.id));
  return new;
end $$;
create trigger posts_webhook after insert on public.posts for each row execute function public.tell_webhook();
