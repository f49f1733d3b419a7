/**
 * Claims and headers that `pgreflect check` finds missing in `--live-claims` and `--live-headers`. With the option that it names,
 * nothing is missing.
 */
import { expect, test } from 'vitest';
import { createAuthDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';

const database = await createAuthDatabase(`
  create schema inside; grant usage on schema inside to anon, authenticated;
  create function inside.tenant() returns text language sql stable as $$ select auth.jwt() -> 'app_metadata' ->> 'tenant' $$;
  create function inside.claim(name text) returns text language plpgsql stable as $$ begin
    return current_setting('request.jwt.claims', true)::json ->> name; end $$;
  create table own (id int primary key, owner uuid);
  create table let (id int primary key, tenant text);
  create table role_of (id int primary key, org text);
  create table inside.member (id int primary key, email text);
  create table club (id int primary key);
  create table written (id int primary key);
  alter table own enable row level security; alter table let enable row level security; alter table role_of enable row level security;
  alter table inside.member enable row level security; alter table club enable row level security; alter table written enable row level security;
  create policy owner_reads on own for select using (owner = (select auth.uid()));
  create policy tenant_reads on let using (tenant = inside.tenant() or tenant = current_setting('request.headers', true)::json->>'x-tenant');
  create policy org_reads on role_of for select using (org = inside.claim('org') and auth.role() = 'authenticated');
  create policy mail on inside.member for select using (email = auth.email());
  create policy members on club for select using (exists (select from inside.member m where m.id = club.id));
  create policy legacy on written for select using (current_setting('request.jwt.claim.zone', true) = 'a');
  create policy writes on written for insert with check (auth.jwt() ->> 'scope' = 'write');
  create policy changes on written for update using (auth.jwt() ->> 'scope' = 'write');
  create view mine with (security_barrier) as select id from own where owner = auth.uid();
  create function my_count() returns bigint language sql stable as $$ select count(*) from own where owner = (auth.jwt() ->> 'org_id')::uuid $$;
  create function add_one() returns int language sql as $$ insert into own values ((auth.jwt() ->> 'n')::int) returning id $$;
  grant select on own, let, role_of, inside.member, club, written, mine to authenticated;
`);

const missing = async (...args: readonly string[]) =>
  (await findings(database, '--only', 'live_claim_missing,live_header_missing', ...args)).map(
    ({ check, severity, object, message, command }) => ({ check, severity, object, message, command }),
  );

const claims = '--live-claims sub,app_metadata,email,org,org_id,role';

test('a claim that read policies, views or functions read and that live queries do not get is told, with the option', async () => {
  const found = await missing('--live-claims', 'sub');
  const about = { check: 'live_claim_missing', severity: 'warning', command: claims } as const;
  const told = (object: string, what: string) => ({
    ...about,
    object,
    message: `${what}, which --live-claims keeps from live queries: they see nothing there.`,
  });
  expect(found).toEqual([
    told('inside.member', 'The policy "mail" of inside.member reads the claim "email" (in auth.email())'),
    told('public.let', 'The policy "tenant_reads" of public.let reads the claim "app_metadata" (in inside.tenant())'),
    told('public.role_of', 'The policy "org_reads" of public.role_of reads the claims "org", "role" (in auth.role())'),
    told('public.my_count()', 'The function public.my_count() reads the claim "org_id"'),
  ]);
});

test('a header that a read policy reads and that live queries do not get is told, with the option', async () => {
  const about = { check: 'live_header_missing', severity: 'warning', object: 'public.let' } as const;
  const message =
    'The policy "tenant_reads" of public.let reads the header "x-tenant", which --live-headers keeps from live queries: they see nothing there.';
  expect(await missing('--live-headers', 'none')).toEqual([{ ...about, message, command: '--live-headers x-tenant' }]);
  const more = await missing('--live-headers', 'x-zone');
  expect(more).toEqual([{ ...about, message, command: '--live-headers x-zone,x-tenant' }]);
});

test('claims and headers that live queries get are no finding', async () => {
  expect(await missing()).toEqual([]);
  expect(await missing('--live-claims', '*', '--live-headers', '*')).toEqual([]);
  expect(await missing(...claims.split(' '), '--live-headers', 'x-tenant')).toEqual([]);
});

test('auth.uid() reads the claim sub', async () => {
  const found = await missing('--live-claims', 'app_metadata,email,org,org_id,role');
  expect(found.map(({ message }) => message.split(',')[0])).toEqual([
    'The view public.mine reads the claim "sub" (in auth.uid())',
    'The policy "owner_reads" of public.own reads the claim "sub" (in auth.uid())',
  ]);
});
