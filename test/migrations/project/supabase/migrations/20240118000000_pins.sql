create function public.hash_pin(pin text) returns text language sql as $$ select crypt(pin, gen_salt('bf', 4)) $$;
revoke execute on function public.hash_pin from anon, public;
