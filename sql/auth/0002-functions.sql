-- Facts about the caller, for policies. The settings are made by the gateway for each request; a missing one is null.
--
-- The bodies are expressions and not texts: PostgreSQL resolves their names once, here, and not in the search path of the caller.
-- They have no search path of their own, so that they become part of the policies that call them.

-- missing: function auth.uid()
create function auth.uid() returns uuid language sql stable
  return coalesce(
    nullif(pg_catalog.current_setting('request.jwt.claim.sub', true), ''),
    (nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
  )::uuid;
grant execute on function auth.uid() to public;
comment on function auth.uid() is 'The user who asks; null for a caller without a user.';

-- missing: function auth.role()
create function auth.role() returns text language sql stable
  return coalesce(
    nullif(pg_catalog.current_setting('request.jwt.claim.role', true), ''),
    (nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::jsonb ->> 'role')
  )::text;
grant execute on function auth.role() to public;
comment on function auth.role() is 'The role in the token of the caller.';

-- missing: function auth.email()
create function auth.email() returns text language sql stable
  return coalesce(
    nullif(pg_catalog.current_setting('request.jwt.claim.email', true), ''),
    (nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::jsonb ->> 'email')
  )::text;
grant execute on function auth.email() to public;
comment on function auth.email() is 'The email address in the token of the caller.';

-- missing: function auth.jwt()
create function auth.jwt() returns jsonb language sql stable
  return coalesce(
    nullif(pg_catalog.current_setting('request.jwt.claim', true), ''),
    nullif(pg_catalog.current_setting('request.jwt.claims', true), '')
  )::jsonb;
grant execute on function auth.jwt() to public;
comment on function auth.jwt() is 'All claims of the token of the caller.';
