/** The roles of the usual set-up. Without vitest, because global-setup.ts makes them. */

/** Makes the roles of the usual set-up, where they are missing. */
export const defaultRoles = `do $body$
begin
  perform pg_advisory_xact_lock(727272);
  if not exists (select from pg_roles where rolname = 'anon') then create role anon nologin; end if;
  if not exists (select from pg_roles where rolname = 'authenticated') then create role authenticated nologin; end if;
  if not exists (select from pg_roles where rolname = 'service_role') then create role service_role nologin bypassrls; end if;
  if not exists (select from pg_roles where rolname = 'authenticator') then
    create role authenticator login noinherit password 'test';
    grant anon, authenticated, service_role to authenticator;
  end if;
  -- Two files that run init --auth at once would both make it.
  if not exists (select from pg_roles where rolname = 'auth_admin') then create role auth_admin login noinherit password 'test'; end if;
end $body$`;
