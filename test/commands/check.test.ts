import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/check/finding.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand } from './run-command.ts';

interface Report {
  readonly code: number | null;
  readonly errors: number;
  readonly findings: readonly Finding[];
}

function checkAs(database: TestDatabase, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  return runCommand(['check', ...args], { env: { DATABASE_URL: database.urlAs('authenticator', 'test'), ...env } });
}

/** What switches row security on, and says what follows. */
const guarded = (table: string, roles: string) =>
  [
    `alter table ${table} enable row level security;`,
    '-- From then on, callers see and write no row until a policy allows it. For a start, let them read all rows:',
    `-- create policy read_all on ${table} for select to ${roles} using (true);`,
  ].join('\n');

/** What takes a grant back, and says which policies would guard it. */
const orPolicies = (revoke: string, ...choices: readonly string[]) =>
  [
    revoke,
    '-- To allow some rows, write their condition in place of false, such as owner_id = (select auth.uid()):',
    ...choices.map((choice) => `-- ${choice};`),
  ].join('\n');

describe('for people', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase(`
      create table author (id int primary key);
      create table post (id int primary key, author_id int references author (id), parent_id int references post (id));
      create index on post (parent_id, id);
      create table log (line text);
      create table unread (id int primary key);
      alter table author enable row level security;
      grant select on author, post, log to anon;
    `);
  });

  test('for people reports row security that is off, missing indexes and tables left out, each with the SQL that changes it', async () => {
    const { code, out } = await checkAs(database);
    expect(code).toBe(0);
    expect(out).toContain(guarded('public.post', 'anon').replaceAll(/^/gm, '      '));
    expect(out).not.toContain('alter table public.author enable');
    expect(out).not.toContain('alter table public.unread enable');
    expect(out).toContain('create index on public.post (author_id);');
    expect(out).not.toContain('(parent_id);');
    expect(out).toMatch(/Table public.log .*no primary key/);
    // What to grant is a question of policies.
    expect(out).toMatch(/^note {5}not_granted \(\d+\)$/m);
    expect(out).toContain(
      '  Role "anon" has no INSERT, UPDATE or DELETE on public.author.\n' +
        '      -- Where it is meant to reach them, after policies guard the rows:\n' +
        '      -- grant insert, update, delete on public.author to anon;\n' +
        '  Role "anon" has no INSERT, UPDATE or DELETE on public.post, where row security is off.\n',
    );
    expect(out).toContain('Role "anon" reads 2 tables');
    expect(out).toContain('Role "service_role" reads 0 tables');
    expect(out).toMatch(/^0 errors, \d+ warnings, \d+ notes\.$/m);
  });

  test('a malformed comment directive is an error with its place, what it does and its text, and the exit code is 1', async () => {
    await database.query(`comment on column post.author_id is '@graphql({"name": writer})'`);
    try {
      const { code, out } = await checkAs(database);
      expect(code).toBe(1);
      expect(out).toMatch(
        /^error {4}directive_malformed \(1\)\n {2}The comment of public\.post\.author_id has a malformed directive: .* at character 19/m,
      );
      expect(out).toContain(
        'Every request gets an error until it is corrected.\n' +
          '      -- Correct the directive, or leave it out:\n' +
          `      -- comment on column public.post.author_id is '@graphql({"name": writer})';\n`,
      );
      expect(out).toContain('Role "anon" gets an error for every request, because of malformed comment directives.');
      expect(out).not.toContain('left_out');
    } finally {
      await database.query('comment on column post.author_id is null');
    }
  });

  test.each(['only', 'ignore'])(
    'a kind that does not exist is refused by --%s: a typo would pass in CI',
    async (flag) => {
      const { code, err } = await checkAs(database, [`--${flag}`, 'left_out,row_securty_off']);
      expect(code).toBe(1);
      expect(err).toContain(
        `--${flag} names the kind "row_securty_off", which does not exist; "row_security_off" does.`,
      );
      expect(err).toContain('foreign_key_unindexed');
      expect((await checkAs(database, [`--${flag}`, 'left_out, row_security_off'])).code).toBe(0);
    },
  );

  test('the schema that was probably meant is named', async () => {
    const { code, out } = await checkAs(database, ['--schemas', 'publik']);
    expect(code).toBe(1);
    expect(out).toContain('The schema "publik" is missing in the database');
    expect(out).toContain('Did you mean "public"?');
    expect(out).toContain("      --schemas 'public'\n      -- For a new schema: create schema publik;\n");
    const oneOfTwo = (await checkAs(database, ['--schemas', 'public,pubilc'])).out;
    expect(oneOfTwo).toContain("      --schemas 'public'\n      -- For a new schema: create schema pubilc;\n");
    const { out: unlike } = await checkAs(database, ['--schemas', 'elsewhere']);
    expect(unlike).toContain('      create schema elsewhere;\n');
    expect(unlike).not.toContain('Did you mean');
  });

  test('a missing role is an error', async () => {
    const { code, out } = await checkAs(database, [], { PGREFLECT_ANON_ROLE: 'nobody_at_all' });
    expect(code).toBe(1);
    expect(out).toMatch(/^error {4}setup \(\d\)\n {2}The role "nobody_at_all" is missing in the database\.$/m);
  });
});

/** A table or routine for each finding, with what is wrong about it and, beside it, what is right. */
const loose = `
  do $$ begin
    perform pg_advisory_xact_lock(727272);
    if not exists (select from pg_roles where rolname = 'check passes') then create role "check passes"; end if;
    if not exists (select from pg_roles where rolname = 'check maker') then create role "check maker"; end if;
    if not exists (select from pg_roles where rolname = 'check_owner') then create role check_owner; end if;
  end $$;
  alter role "check passes" bypassrls;
  grant "check passes", check_owner to authenticator;
  create schema auth;
  create function auth.uid() returns uuid language sql stable
    as $$ select nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $$;
  grant usage on schema auth to public;

  create table owned (id int primary key);
  alter table owned enable row level security;
  alter table owned owner to check_owner;

  create table "Open ""Book""" (id int primary key);
  grant select on "Open ""Book""" to anon, authenticated;

  create table guest_book (id int primary key, line text);
  grant insert, delete on guest_book to anon;
  grant update (line) on guest_book to anon;
  create table member_book (id int primary key);
  grant insert on member_book to authenticated;

  create table truncatable (id int primary key);
  alter table truncatable enable row level security;
  create policy everything on truncatable using (true);
  grant select, truncate, references, trigger on truncatable to anon, authenticated;

  create table half_guarded (id int primary key);
  alter table half_guarded enable row level security;
  create policy reading on half_guarded for select to anon using (true);
  grant select, insert on half_guarded to anon;

  create table for_everybody (id int primary key);
  alter table for_everybody enable row level security;
  create policy reading on for_everybody for select using (true);
  grant select on for_everybody to public;

  create view owner_view as select id from half_guarded;
  create materialized view stored as select id from half_guarded;
  grant select on owner_view, stored to anon;

  create table parent (id int primary key);
  create table child (id int primary key, "Parent" int references parent (id));
  create table kept_child (id int primary key, parent_id int references parent (id), deleted_at timestamptz);
  create index on kept_child (parent_id) where deleted_at is null;

  create table note (id int primary key, user_id uuid, team_id int, state text, closed boolean);
  alter table note enable row level security;
  create table member (team_id int, user_id uuid, primary key (team_id, user_id));
  create policy "my own" on note for all to anon
    using (auth.uid() = user_id and state = 'open' and not closed) with check (user_id = auth.uid());
  create policy "of my team" on note for select to anon using (
    team_id in (select m.team_id from member m where m.user_id = (select auth.uid())) and state = 'it''s auth.uid()');
  create table task (id int primary key, owner_id uuid);
  create index on task (owner_id);
  alter table task enable row level security;
  create policy own on task using (owner_id = (select auth.uid()));

  create table page (id int primary key, data jsonb, search tsvector, kept jsonb, tags text[], hidden jsonb);
  create index on page using gin (kept jsonb_path_ops);
  create table sheet (id int primary key, owner_id uuid, data jsonb, bare jsonb);
  create index on sheet (owner_id);
  create index sheet_data on sheet using gin (data);
  alter table sheet enable row level security;
  create policy own on sheet to authenticated using (owner_id = (select auth.uid()));
  create table paper (like sheet including all);
  create index paper_search on paper using gin (data);
  alter table paper enable row level security;
  create policy everybody on paper to public using (true);
  create policy own on paper to public using (owner_id = (select auth.uid()));
  -- Nobody may read the column, or any row: no filter.
  create table secret (id int primary key, data jsonb, bare jsonb);
  create index on secret using gin (data);
  alter table page enable row level security;
  alter table secret enable row level security;
  create policy everybody on page using (true);
  grant select on paper, secret to anon, authenticated;
  grant select on sheet to authenticated;
  grant select (id, data, search, tags, kept) on page to anon;

  create schema "Other"; create schema "not exposed";
  alter default privileges for role "check maker" in schema "Other" grant select, insert, update on tables to anon, authenticated;
  alter default privileges for role "check maker" in schema "not exposed" grant insert on tables to anon;

  revoke create on schema public from public;
  grant create on schema "Other", "not exposed" to public, anon;

  create function "Count"(n int default 1, t text[] default '{}') returns int language sql security definer as 'select 1';
  create function guarded() returns int language sql security definer set search_path = '' as 'select 1';
  revoke execute on function guarded() from public;
  create function touched() returns trigger language plpgsql security definer set search_path = '' as 'begin return new; end';
`;

const looseDatabase = await createDatabase(loose);
const [server] = await looseDatabase.query<{ invokes: boolean }>(
  `select current_setting('server_version_num')::int >= 150000 as invokes`,
);

test('for programs, what to type in a shell is in `command`, and `fix` is SQL alone', async () => {
  const json = async (...args: readonly string[]) =>
    (JSON.parse((await checkAs(looseDatabase, ['--format', 'json', ...args])).out) as Report).findings;
  expect(await json('--only', 'trigger_missing')).toMatchObject([
    { fix: null, command: 'pgreflect init --watch --database-url CONNECTION_OF_A_SUPERUSER' },
  ]);
  const [absent, meant] = await json('--only', 'setup', '--schemas', 'public,clinic,pubilc');
  expect(absent).toMatchObject({ fix: 'create schema clinic;' });
  expect(absent).not.toHaveProperty('command');
  expect(meant).toMatchObject({ fix: null, command: expect.stringContaining("--schemas 'public") });
});

describe('for programs, --format json: each finding goes away with the SQL that it names', () => {
  const expected: readonly { check: string; object: string; severity: string; fix: string | null }[] = [
    {
      check: 'row_security_passed',
      object: 'check passes',
      severity: 'error',
      fix: 'alter role "check passes" nosuperuser nobypassrls;',
    },
    {
      check: 'row_security_passed',
      object: 'public.owned',
      severity: 'error',
      fix: 'alter table public.owned force row level security;',
    },
    {
      check: 'write_unguarded',
      object: 'public.guest_book',
      severity: 'error',
      fix: orPolicies(
        'revoke insert, update, delete on public.guest_book from anon;',
        'alter table public.guest_book enable row level security',
        'create policy insert_by_anon on public.guest_book for insert to anon with check (false)',
        'create policy update_by_anon on public.guest_book for update to anon using (false)',
        'create policy delete_by_anon on public.guest_book for delete to anon using (false)',
      ),
    },
    {
      check: 'write_unguarded',
      object: 'public.member_book',
      severity: 'warning',
      fix: orPolicies(
        'revoke insert on public.member_book from authenticated;',
        'alter table public.member_book enable row level security',
        'create policy insert_by_authenticated on public.member_book for insert to authenticated with check (false)',
      ),
    },
    {
      check: 'grant_beyond_rows',
      object: 'public.truncatable',
      severity: 'warning',
      fix: 'revoke truncate, references, trigger on public.truncatable from anon, authenticated;',
    },
    {
      check: 'grant_without_policy',
      object: 'public.half_guarded',
      severity: 'warning',
      fix: orPolicies(
        'revoke insert on public.half_guarded from anon;',
        'create policy insert_by_anon on public.half_guarded for insert to anon with check (false)',
      ),
    },
    {
      check: 'grant_to_everybody',
      object: 'public.for_everybody',
      severity: 'warning',
      fix: `revoke select on public.for_everybody from public;
-- For roles that should keep it:
-- grant select on public.for_everybody to anon, authenticated, "check passes", check_owner, service_role;`,
    },
    {
      check: 'default_grant',
      object: 'Other',
      severity: 'note',
      fix: 'alter default privileges for role "check maker" in schema "Other" revoke insert, update on tables from anon, authenticated;',
    },
    {
      check: 'schema_open',
      object: 'Other',
      severity: 'warning',
      fix: 'revoke create on schema "Other" from public, anon;',
    },
    {
      check: 'row_security_off',
      object: 'public."Open ""Book"""',
      severity: 'warning',
      fix: guarded('public."Open ""Book"""', 'anon, authenticated'),
    },
    {
      check: 'row_security_off',
      object: 'public.guest_book',
      severity: 'warning',
      fix: guarded('public.guest_book', 'anon'),
    },
    {
      check: 'row_security_off',
      object: 'public.member_book',
      severity: 'warning',
      fix: guarded('public.member_book', 'authenticated'),
    },
    {
      check: 'row_security_off',
      object: 'public.stored',
      severity: 'warning',
      fix: 'revoke all on public.stored from public, anon;',
    },
    {
      check: 'view_runs_as_owner',
      object: 'public.owner_view',
      severity: 'warning',
      // Views that run as their caller came with PostgreSQL 15; before, there are other choices alone.
      fix: [
        ...(server?.invokes ? ['alter view public.owner_view set (security_invoker = true);'] : []),
        '-- To take it away from them:',
        '-- revoke all on public.owner_view from public, anon;',
        '-- To keep it, if all that it returns is for them: {"ignore": ["view_runs_as_owner"]} in its comment directive.',
      ].join('\n'),
    },
    {
      check: 'foreign_key_unindexed',
      object: 'public.child',
      severity: 'warning',
      fix: 'create index on public.child ("Parent");',
    },
    {
      check: 'foreign_key_unindexed',
      object: 'public.kept_child',
      severity: 'note',
      fix: 'create index on public.kept_child (parent_id);',
    },
    {
      check: 'policy_column_unindexed',
      object: 'public.note.user_id',
      severity: 'warning',
      fix: 'create index on public.note (user_id);',
    },
    {
      check: 'policy_column_unindexed',
      object: 'public.note.team_id',
      severity: 'warning',
      fix: 'create index on public.note (team_id);',
    },
    {
      check: 'policy_column_unindexed',
      object: 'public.member.user_id',
      severity: 'warning',
      fix: 'create index on public.member (user_id);',
    },
    {
      check: 'policy_call_per_row',
      object: 'public.note',
      severity: 'warning',
      fix: `alter policy "my own" on public.note
  using (((( SELECT auth.uid()) = user_id) AND (state = 'open'::text) AND (NOT closed)))
  with check ((user_id = ( SELECT auth.uid())));`,
    },
    {
      check: 'contents_unindexed',
      object: 'public.page.data',
      severity: 'note',
      fix: 'create index on public.page using gin (data);',
    },
    {
      check: 'contents_unindexed',
      object: 'public.page.search',
      severity: 'note',
      fix: 'create index on public.page using gin (search);',
    },
    {
      check: 'contents_unindexed',
      object: 'public.page.tags',
      severity: 'note',
      fix: 'create index on public.page using gin (tags);',
    },
    // Nobody owns a statement that helps.
    { check: 'index_behind_policy', object: 'public.sheet.data', severity: 'note', fix: null },
    {
      check: 'contents_unindexed',
      object: 'public.paper.bare',
      severity: 'note',
      fix: 'create index on public.paper using gin (bare);',
    },
    {
      check: 'definer_search_path',
      object: 'public."Count"(integer,text[])',
      severity: 'warning',
      fix: 'alter routine public."Count"(integer,text[]) set search_path = public, pg_temp;\n-- Its text must name what is in other schemas with the schema. Or add these to the path.',
    },
    {
      check: 'definer_callable',
      object: 'public."Count"(integer,text[])',
      severity: 'warning',
      fix: `revoke execute on routine public."Count"(integer,text[]) from public;
-- For roles that should call it:
-- grant execute on routine public."Count"(integer,text[]) to authenticated, "check passes", check_owner, service_role;`,
    },
  ];
  const security = new Set(expected.map(({ check }) => check));
  const database = looseDatabase;
  let before: Report;
  let after: Report;

  async function report(): Promise<Report> {
    const roles = 'anon,authenticated,service_role,check passes,check_owner';
    const { code, out } = await checkAs(database, [
      '--format',
      'json',
      '--allowed-roles',
      roles,
      '--schemas',
      'public,Other',
    ]);
    return { code, ...(JSON.parse(out) as Omit<Report, 'code'>) };
  }

  beforeAll(async () => {
    before = await report();
    for (const { check, fix } of before.findings) if (security.has(check) && fix !== null) await database.query(fix);
    after = await report();
  });

  test.each(expected)('$check of $object', ({ check, object, severity, fix }) => {
    const found = before.findings.filter((finding) => finding.check === check && finding.object === object);
    expect(found).toMatchObject([{ severity, fix }]);
    expect(found[0]?.message).toMatch(/^[A-Z].*\.$/);
    if (fix !== null && !fix.startsWith('--'))
      expect(after.findings).not.toContainEqual(expect.objectContaining({ check, object }));
  });

  test('no finding is left', () => {
    const keyOf = ({ check, object }: { check: string; object: string | null }) => `${check} ${object}`;
    const found = before.findings.filter(({ check }) => security.has(check)).map(keyOf);
    expect(found.toSorted()).toEqual(expected.map(keyOf).toSorted());
  });

  test('of an index of some rows it is said which', () => {
    const [found] = before.findings.filter(({ object }) => object === 'public.kept_child');
    expect(found?.message).toContain('has only a partial index, where (deleted_at IS NULL): it serves only');
  });

  test('errors decide the exit code', () => {
    expect(before).toMatchObject({ code: 1, errors: 3 });
    expect(after).toMatchObject({ code: 0, errors: 0 });
  });

  test('a policy lets the same rows through after its calls were wrapped', async () => {
    const user = '00000000-0000-4000-8000-000000000001';
    await database.query(`insert into note (id, user_id, state, closed) values (1, '${user}', 'open', false), (2, null, 'open', false);
      grant select on note, member to anon; grant usage on schema public to anon`);
    const rows = await database.query(
      `begin; set local role anon; set local "request.jwt.claim.sub" = '${user}'; select id from note`,
    );
    await database.query('rollback');
    expect(rows).toEqual([{ id: 1 }]);
  });
});
