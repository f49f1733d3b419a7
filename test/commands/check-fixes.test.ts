/** What the advice of `pgreflect check` does to a database that is in use: it changes what it says, and breaks nothing in silence. */
import { describe, expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';
import { runCommand } from './run-command.ts';

test('a foreign key and a policy that need one index are one finding', async () => {
  const database = await createDatabase(`
    create table member (tenant int, id uuid, primary key (tenant, id));
    create table person (id uuid primary key);
    create table loan (id int primary key, tenant int, member_id uuid references person, foreign key (tenant, member_id) references member);
    create table visit (id int, at date, member_id uuid) partition by range (at);
    create table visit_2024 partition of visit for values from ('2024-01-01') to ('2025-01-01');
    ${['loan', 'visit', 'visit_2024'].map((table) => `alter table ${table} enable row level security;`).join('\n')}
    create policy own on loan to anon using (member_id = (select current_setting('request.id'))::uuid);
    create policy of_tenant on loan to anon using (tenant = (select current_setting('request.tenant'))::int);
    create policy own on visit to anon using (member_id = (select current_setting('request.id'))::uuid);
    create policy own on visit_2024 to anon using (member_id = (select current_setting('request.id'))::uuid);
    grant select on person, member, loan, visit, visit_2024 to anon;
  `);
  const kinds = 'foreign_key_unindexed,policy_column_unindexed';
  const found = await findings(database, '--only', kinds);
  expect(found.map(({ fix }) => fix).toSorted()).toEqual([
    'create index on public.loan (member_id);',
    'create index on public.loan (tenant, member_id);',
    'create index on public.visit (member_id);',
  ]);
  const [ofMember] = found.filter(({ fix }) => fix === 'create index on public.loan (member_id);');
  expect(ofMember).toMatchObject({ check: 'foreign_key_unindexed', object: 'public.loan', severity: 'warning' });
  expect(ofMember?.message).toMatch(
    /^The foreign key "loan_member_id_fkey" of public\.loan .* The column member_id .* "own"/,
  );
  // Each kind is still found alone.
  for (const kind of kinds.split(',')) expect(await findings(database, '--only', kind)).not.toEqual([]);
  for (const { fix } of found) await database.query(fix!);
  expect(await findings(database, '--only', kinds)).toEqual([]);
});

describe('a view that runs with the rights of its owner', async () => {
  const database = await createDatabase(`
    create table copy (id int primary key, title text);
    create table rental (copy_id int references copy, customer text, returned boolean not null);
    create table shelf (id int primary key, copy_id int references copy);
    create index on rental (copy_id); create index on shelf (copy_id);
    ${['copy', 'rental', 'shelf'].map((table) => `alter table ${table} enable row level security;`).join('\n')}
    create policy everybody on copy using (true);
    create policy own on rental to anon using (customer = (select current_setting('request.customer', true)));
    insert into copy select n, 'Title ' || n from generate_series(1, 10) n;
    insert into rental select n, 'Ana', false from generate_series(1, 4) n;
    create view available as select id, title from copy c
      where not exists (select from rental r where r.copy_id = c.id and not r.returned);
    create view popular as select copy_id, count(*) as times from rental group by copy_id;
    create view free as select id from copy except select copy_id from rental;
    create view with_rental as select c.id, r.customer from copy c left join rental r on r.copy_id = c.id;
    create view latest as select copy_id from rental order by copy_id limit 1;
    create view number as select count(*) as rentals from rental;
    create view rentals as select copy_id, customer from rental;
    create view titles as select count(*) as number from copy;
    ${['available', 'popular', 'free', 'with_rental', 'latest', 'number', 'rentals', 'titles']
      .map((view) => `comment on view ${view} is 'A view. @graphql({"max_rows": 9})';`)
      .join('\n')}
    comment on view available is 'Free copies. @graphql({"primary_key_columns": ["id"]})';
    grant select on available, popular, free, with_rental, latest, number, rentals, titles, copy to anon;
  `);
  const [server] = await database.query<{ invokes: boolean }>(
    "select current_setting('server_version_num')::int >= 150000 as invokes",
  );
  const found = await findings(database, '--only', 'view_runs_as_owner');
  const of = (name: string) => found.find(({ object }) => object === `public.${name}`)!;
  const asAnon = async (query: string) => {
    const rows = await database.query<{ count: number }>(`begin; set local role anon; ${query}`);
    await database.query('rollback');
    return rows[0]?.count;
  };

  test.runIf(server!.invokes).each([
    ['available', 'subqueries'],
    ['popular', 'aggregates'],
    ['free', 'except'],
    ['with_rental', 'outer joins'],
    ['latest', 'a limit'],
    ['number', 'aggregates'],
  ])(
    '%s would return other rows with the rights of its callers, so nothing is done before somebody chooses',
    (view, depends) => {
      const { message, fix } = of(view);
      expect(message).toContain(
        `With the rights of its callers it returns other rows and values, not only fewer rows: it has ${depends}, and policies hide rows of public.rental.`,
      );
      expect(fix?.split('\n').every((line) => line.startsWith('-- '))).toBe(true);
      expect(fix).toContain(
        `-- alter view public.${view} set (security_invoker = true);\n-- grant select on public.rental to anon;\n`,
      );
    },
  );

  test.runIf(server!.invokes)(
    'one that would only return fewer rows to callers who may read them is changed, and a comment says which rows remain',
    async () => {
      expect(of('rentals').fix).toMatch(/^-- To run it with the rights of its callers:\n-- alter view/);
      await database.query('grant select on rental to anon');
      const [granted] = (await findings(database, '--only', 'view_runs_as_owner')).filter(
        ({ object }) => object === 'public.rentals',
      );
      await database.query('revoke select on rental from anon');
      expect(granted?.fix).toBe(
        [
          'alter view public.rentals set (security_invoker = true);',
          '-- It returns the rows that policies of public.rental allow its caller.',
          '-- To take it away from them:',
          '-- revoke all on public.rentals from public, anon;',
          '-- To keep it, if all that it returns is for them: {"ignore": ["view_runs_as_owner"]} in its comment directive.',
        ].join('\n'),
      );
      expect(of('titles').fix).toContain(
        '-- It has aggregates: once policies hide rows of what it reads, it returns other rows and values.',
      );
    },
  );

  test('one that asks who its caller is, itself or in a view below, decides itself, so nothing is done to it', async () => {
    const own = await createDatabase(`
      create table bill (id int primary key, owner text not null, amount int);
      alter table bill enable row level security;
      create function caller() returns text language sql stable as $$ select current_setting('request.jwt.claims', true) $$;
      create view by_function as select id from bill where owner = caller();
      create view by_setting as select id from bill where owner = current_setting('request.jwt.claim.sub', true);
      create view by_user as select id from bill where owner = current_user;
      create view above as select id from by_user;
      create view by_nobody as select id from bill where amount > 3;
      create table "one, two, three, four" (id int primary key);
      create view odd as select id from "one, two, three, four";
      grant select on bill, by_function, by_setting, by_user, above, by_nobody, odd to authenticated;
      insert into bill values (1, 'authenticated', 5), (2, 'other', 7);
    `);
    const ofView = async (name: string) =>
      (await findings(own, '--only', 'view_runs_as_owner')).find(({ object }) => object === `public.${name}`)!;
    for (const [name, asked] of Object.entries({
      by_function: 'public.caller',
      by_setting: 'current_setting',
      by_user: 'current_user',
      above: 'current_user',
    })) {
      const { message, fix } = await ofView(name);
      expect(message).toBe(
        `View public.${name} runs with its owner's rights: its own query alone decides which rows of public.bill authenticated can access. It may depend on its caller: it calls ${asked}.`,
      );
      await own.query(fix!);
    }
    expect(await own.query('set local role authenticated; select id from above')).toEqual([{ id: 1 }]);
    expect((await ofView('by_nobody')).message).not.toContain('caller');
    expect((await ofView('odd')).message).toContain('which rows of public."one, two, three, four" authenticated');
  });

  test('each choice for it is a statement that ends the finding, and only one changes what it returns', async () => {
    const count = 'select count(*)::int from available';
    expect(await asAnon(count)).toBe(6);
    const { fix } = of('available');
    expect(fix).toContain(
      `-- comment on view public.available is 'Free copies. @graphql({"primary_key_columns":["id"],"ignore":["view_runs_as_owner"]})';`,
    );
    for (const start of ['comment on view', 'revoke all', ...(server!.invokes ? ['alter view'] : [])]) {
      const chosen = fix!.split('\n').filter((line) => line.startsWith(`-- ${start}`) || line.startsWith('-- grant'));
      await database.query(chosen.map((line) => line.slice('-- '.length)).join('\n'));
      const after = await findings(database, '--only', 'view_runs_as_owner');
      expect(
        after.map(({ object }) => object),
        start,
      ).not.toContain('public.available');
      if (start === 'revoke all') await expect(asAnon(count)).rejects.toThrow('permission denied');
      else expect(await asAnon(count)).toBe(start === 'comment on view' ? 6 : 10);
      await database.query(`grant select on available to anon; revoke select on rental from anon;
        ${server!.invokes ? 'alter view available reset (security_invoker);' : ''}
        comment on view available is 'Free copies. @graphql({"primary_key_columns": ["id"]})'`);
    }
  });
});

describe('a function that runs with the rights of its owner', async () => {
  const names = ['of_members', 'of_visitors', 'in_view', 'in_default', 'in_text', 'in_trigger', 'alone'];
  const database = await createDatabase(`
    ${names
      .map(
        (name) =>
          `create function ${name}() returns boolean language sql security definer set search_path = '' as 'select true';`,
      )
      .join('\n')}
    create table chart (id int primary key);
    create table ward (id int primary key);
    create table bed (id int primary key, free boolean default in_default());
    create view beds with (security_barrier) as select id from bed where in_view();
    create function calls() returns boolean language sql stable as 'select public.in_text()';
    create function guards() returns trigger language plpgsql as $$ begin perform public.in_trigger(); return new; end $$;
    create trigger guard before insert on ward for each row execute function guards();
    alter table chart enable row level security; alter table ward enable row level security;
    create policy members on chart to authenticated using (of_members());
    create policy everybody on ward using (of_visitors());
    grant select on chart to authenticated; grant select, insert on ward to anon, authenticated;
    grant select on beds to anon; grant insert on bed to anon;
  `);
  const found = await findings(database, '--only', 'definer_callable');
  const of = (name: string) => found.find(({ object }) => object === `public.${name}()`)!;
  const runAs = async (role: string, sql: string) => {
    await database.query(`begin; set local role ${role}; ${sql}`);
    await database.query('rollback');
  };
  const chosen = (fix: string, start: RegExp) =>
    fix
      .split('\n')
      .map((line) => line.replace(/^-- /, ''))
      .filter((line) => start.test(line))
      .join('\n');

  test('that nothing else calls is taken from everybody', () => {
    expect(of('alone').fix).toBe(
      `revoke execute on routine public.alone() from public;
-- For roles that should call it:
-- grant execute on routine public.alone() to authenticated, service_role;`,
    );
  });

  test('that visitors do not need is kept by those whose policies call it', async () => {
    expect(of('of_members').fix).toBe(
      `grant execute on routine public.of_members() to authenticated, service_role;
revoke execute on routine public.of_members() from public;`,
    );
    await database.query(of('of_members').fix!);
    await runAs('authenticated', 'select from chart');
    await expect(runAs('anon', 'select of_members()')).rejects.toThrow('permission denied');
  });

  test.each([
    ['of_visitors', 'policy everybody on table public.ward', 'select from ward', null],
    ['in_view', 'view public.beds', 'select from beds', null],
    ['in_default', 'default value for column free of table public.bed', 'insert into bed (id) values (1)', null],
    ['in_text', 'function public.calls()', 'select calls()', 'public.calls()'],
    ['in_trigger', 'function public.guards()', 'insert into ward values (1)', 'public.guards()'],
  ])('%s that visitors need for a %s is theirs until somebody chooses', async (name, use, sql, text) => {
    const { message, fix } = of(name);
    expect(message).toContain(`They need that for ${use}.`);
    expect(fix?.split('\n').every((line) => line.startsWith('-- '))).toBe(true);
    await database.query(chosen(fix!, /^(grant|revoke) execute/));
    await expect(runAs('anon', sql)).rejects.toThrow('permission denied for function');
    await runAs('service_role', `select ${name}()`);
    await database.query(`grant execute on routine ${name}() to public`);
    await runAs('anon', sql);
    // What is stored by what it means follows the function; a text does not, and is named.
    expect(fix).toContain(
      `${text === null ? 'functions and clients that name it do not' : `texts do not, such as ${text}`}:`,
    );
    await database.query(chosen(fix!, /^(create schema|grant usage|alter routine)/));
    if (text === null) await runAs('anon', sql);
    else await expect(runAs('anon', sql)).rejects.toThrow('does not exist');
    expect(await findings(database, '--only', 'definer_callable')).not.toContainEqual(
      expect.objectContaining({ object: `public.${name}()` }),
    );
  });
});

describe('a grant to write without a policy', async () => {
  const database = await createDatabase(`
    create table diary (id int primary key, owner text, line text);
    alter table diary enable row level security;
    create index on diary (owner);
    create policy own on diary for select to authenticated using (owner = (select current_setting('request.owner', true)));
    create policy insert_by_authenticated on diary for insert to service_role with check (true);
    create table wall (id int primary key, owner text);
    create policy reading on wall for select using (owner = (select current_setting('request.owner', true)) or id < 9);
    grant select, insert, update, delete on diary, wall to authenticated;
    grant insert on wall to anon;
    insert into diary values (1, 'Ana', 'one'), (2, 'Ben', 'two');
  `);
  const kinds = 'write_unguarded,grant_without_policy';
  const found = await findings(database, '--only', kinds);
  const choice = (fix: string | null) =>
    fix!
      .split('\n')
      .slice(2)
      .map((line) => line.replace(/^-- /, ''))
      .join('\n');
  const asOwner = async (sql: string) => {
    const query = `begin; set local role authenticated; set local request.owner = 'Ana'; ${sql}`;
    const rows = await database.query(query);
    await database.query('rollback');
    return rows.length;
  };

  test('a grant to write without a policy comes with the policies that let callers write the rows that they may read', async () => {
    const [{ fix } = { fix: null }] = found.filter(({ object }) => object === 'public.diary');
    const own = `(owner = ( SELECT current_setting('request.owner'::text, true) AS current_setting))`;
    expect(fix).toBe(
      `revoke insert, update, delete on public.diary from authenticated;
-- To let them write the rows that they may read:
-- create policy insert_by_authenticated_2 on public.diary for insert to authenticated with check ${own};
-- create policy update_by_authenticated on public.diary for update to authenticated using ${own};
-- create policy delete_by_authenticated on public.diary for delete to authenticated using ${own};`,
    );
    await database.query(choice(fix));
    expect(await asOwner(`insert into diary values (3, 'Ana') returning id`)).toBe(1);
    expect(await asOwner(`update diary set line = 'x' returning id`)).toBe(1);
    expect(await asOwner('delete from diary returning id')).toBe(1);
    for (const row of [`insert into diary values (3, 'Ben')`, `update diary set owner = 'Ben'`]) {
      await expect(asOwner(row)).rejects.toThrow('violates row-level security');
    }
  });

  test('a grant to write without a policy lets nobody write before somebody says which rows, where the policy for reading does not', async () => {
    const ofWall = found.filter(({ object }) => object === 'public.wall');
    expect(ofWall).toHaveLength(2);
    for (const { fix } of ofWall) await database.query(choice(fix));
    expect(await asOwner(`delete from wall returning id`)).toBe(0);
    await expect(asOwner(`insert into wall values (1, 'Ana')`)).rejects.toThrow('violates row-level security');
    expect(await findings(database, '--only', kinds)).toEqual([]);
  });
});

describe('grants that a role lacks', async () => {
  const tables = Array.from({ length: 12 }, (_, number) => `part_${number}`);
  const database = await createDatabase(`
    create schema "Other Shop";
    ${tables.map((table) => `create table ${table} (id int primary key, cost int, "To" int);`).join('\n')}
    create table "Other Shop".other (id int primary key);
    create table diary (id int primary key);
    alter table diary enable row level security;
    create policy everybody on diary for select to authenticated using (true);
    create table hushed (id int primary key);
    comment on table hushed is '@graphql({"ignore": ["not_granted"]})';
    create function closed() returns int language sql stable as 'select 1';
    create function twice() returns int language sql stable as 'select 1';
    create function twice(a part_1) returns int language sql stable as 'select 1';
    revoke execute on function closed(), twice(), twice(part_1) from public;
    create type mood as enum ('good');
    revoke usage on type mood from public;
    grant select (id) on part_0 to anon;
    grant select on part_1 to anon;
    grant insert on part_1 to anon;
  `);
  const missing = async (role: string) => {
    const found = await findings(database, '--only', 'not_granted', '--schemas', 'public,Other Shop');
    return found.filter(({ object }) => object === role);
  };
  const remarked = (...statements: readonly string[]) =>
    ['Where it is meant to reach them, after policies guard the rows:', ...statements]
      .map((line) => `-- ${line}`)
      .join('\n');

  test('grants that a role lacks are one finding for all objects of which it lacks the same, with statements that can be read', async () => {
    const rest = tables.slice(2);
    expect((await missing('anon')).map(({ message, fix }) => [message, fix])).toEqual([
      ['Role "anon" has no USAGE on public.mood.', remarked('grant usage on type public.mood to anon;')],
      [
        'Role "anon" has no SELECT on 11 tables: public.part_2, public.part_3, public.part_4 and 8 more.',
        remarked(
          `grant select on ${rest
            .slice(0, 5)
            .map((name) => `public.${name}`)
            .join(', ')} to anon;`,
          `grant select on ${rest
            .slice(5)
            .map((name) => `public.${name}`)
            .join(', ')} to anon;`,
          'grant select on public.diary to anon;',
        ),
      ],
      [
        'Role "anon" has no USAGE on schema "Other Shop", so it does not see "Other Shop".other.',
        remarked('grant usage on schema "Other Shop" to anon;'),
      ],
      [
        'Role "anon" has no SELECT on 2 columns: public.part_0.cost, public.part_0."To".',
        remarked('grant select (cost, "To") on public.part_0 to anon;'),
      ],
      [
        'Role "anon" has no INSERT, UPDATE or DELETE on public.part_0, where row security is off.',
        // It would be an error.
        null,
      ],
      ['Role "anon" has no UPDATE or DELETE on public.part_1, where row security is off.', null],
      [
        'Role "anon" has no EXECUTE on 2 functions: public.closed, public.twice.',
        remarked('grant execute on routine public.closed, public.twice(public.part_1) to anon;'),
      ],
    ]);
  });

  test('grants that a role lacks are for a person to decide, and each ends its finding', async () => {
    const found = await missing('authenticated');
    expect(found.filter(({ fix }) => fix?.split('\n').some((line) => !line.startsWith('--')))).toEqual([]);
    expect(found).toContainEqual(
      expect.objectContaining({
        message:
          'Role "authenticated" has no SELECT on 13 tables: public.part_0, public.part_1, public.part_2 and 10 more.',
      }),
    );
    for (;;) {
      const before = await missing('authenticated');
      const [next] = before.filter(({ message }) => !message.includes('public.twice'));
      if (next === undefined) break;
      await database.query(next.fix!.replaceAll(/^-- (?=grant)/gm, ''));
      expect((await missing('authenticated')).map(({ message }) => message)).not.toContain(next.message);
    }
  });
});

test('a path for a function keeps the schemas of extensions and of the database, unless callers may create there', async () => {
  const database = await createDatabase(`
    create schema helpers; create schema "Ext"; create schema open;
    create extension citext schema "Ext";
    create function helpers.word() returns text language sql as $$ select 'found' $$;
    create function secret() returns text language plpgsql security definer as $$ begin return word()::citext; end $$;
    grant create on schema open to anon;
  `);
  await database.query(
    `do $$ begin execute format('alter database %I set search_path = public, helpers, open', current_database()); end $$`,
  );
  const [{ fix } = { fix: null }] = await findings(database, '--only', 'definer_search_path');
  await database.query(fix!);
  expect(fix).toContain('set search_path = public, helpers, "Ext", pg_temp;');
  expect(await database.query('select secret()')).toEqual([{ secret: 'found' }]);
});

test('a grant that a trigger of another table uses is for a person to take', async () => {
  const database = await createDatabase(`
    create table recipe (id int primary key);
    create table view_log (id int generated always as identity primary key, recipe int);
    create function log_view() returns trigger language plpgsql as $$ begin
      insert into public.view_log (recipe) values (new.id); return null; end $$;
    create trigger log_view after insert on recipe for each row execute function log_view();
    alter table recipe enable row level security;
    create policy own on recipe using (true) with check (true);
    grant select, insert on recipe, view_log to authenticated;
  `);
  const [{ fix } = { fix: null }] = await findings(database, '--only', 'write_unguarded');
  expect(fix).toContain(
    '-- To take it from them. These write it as their caller, who cannot run them then: public.log_view().\n-- revoke insert on public.view_log from authenticated;',
  );
  expect(fix!.split('\n').filter((line) => !line.startsWith('--'))).toEqual([]);
  // This database has no such function yet.
  expect(fix).toContain('such as owner_id = (select auth.uid()), for which run pgreflect init --auth:');
});

test('row security that is off over policies is switched on without another policy', async () => {
  const database = await createDatabase(`
    create table chart (id int primary key);
    create policy read_all on chart for select using (id > 1);
    insert into chart values (1), (2);
    grant select on chart to anon;
  `);
  const [{ fix } = { fix: null }] = await findings(database, '--only', 'row_security_off');
  expect(fix).toBe('alter table public.chart enable row level security;');
  await database.query(fix!);
  expect(await database.query('begin; set local role anon; select id from chart')).toEqual([{ id: 2 }]);
  await database.query('rollback');
});

test('what cannot be in the API comes with what can stand for it', async () => {
  const database = await createDatabase(`
    create procedure close_month(month date) language sql as 'select 1';
    create aggregate total(int) (sfunc = int4pl, stype = int);
    create table event (id int, at date, note text) partition by range (at);
    create table event_2024 partition of event for values from ('2024-01-01') to ('2025-01-01');
    create table price (product int, since date, currency varchar(3), primary key (product, since, currency));
    create schema ext; create extension citext schema ext; grant usage on schema ext to anon;
    create table coupon (code ext.citext primary key);
    grant select on event, event_2024, price, coupon to anon;
  `);
  const messages = async () => (await findings(database, '--only', 'left_out,read_only')).map(({ message }) => message);
  const ofEvents =
    'Partitioned table public.event has no primary key. Its key must have the columns that decide the partition.';
  expect(await messages()).toEqual([
    ofEvents,
    'Table public.event_2024 has no primary key. It is a partition: give the key to its partitioned table, with the columns that decide the partition.',
    'Procedure public.close_month(date) is not exposed. Expose a function that calls it.',
    'Aggregate public.total(int4) is not exposed. Expose a view or function that uses it.',
    'Table public.price has no lookup by key: only smallint, integer, bigint, text, uuid, citext and bpchar keys have one, not since (date), currency (varchar(3)).',
    'Table public.coupon has no lookup by key: only smallint, integer, bigint, text, uuid, citext and bpchar keys have one, not code (citext of a schema that the API does not expose).',
  ]);
  await database.query(`
    alter table event add primary key (id, at);
    create function close(month date) returns void language plpgsql as $$ begin call close_month(month); end $$;
    create view totals as select product, total(1) as number from price group by product;
    comment on view totals is '@graphql({"primary_key_columns": ["product"]})';
    grant select on totals to anon`);
  const kept = (await messages()).filter((message) => message.includes('event') && !message.includes('lookup'));
  expect(kept.filter((message) => !message.includes('cannot'))).toEqual([]);
  const { out } = await runCommand(['schema', '--role', 'anon'], {
    env: { DATABASE_URL: database.urlAs('authenticator', 'test') },
  });
  for (const field of ['eventCollection', 'totalsCollection', 'close']) expect(out).toContain(`  ${field}(`);
});
