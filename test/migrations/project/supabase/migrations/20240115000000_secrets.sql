select vault.create_secret('not a real key', 'webhook_key');
create function public.webhook_key() returns text language sql security definer set search_path = '' as $$
  select decrypted_secret from vault.decrypted_secrets where name = 'webhook_key'
$$;
revoke execute on function public.webhook_key from public, anon, authenticated;
