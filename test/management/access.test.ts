/**
 * What the management API tells of access: as PostgreSQL decides, for each role and command.
 */
import { beforeAll, expect, test } from 'vitest';
import { anonKey, serviceKey, token } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from './management.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createAuthDatabase(
    `
    create table open_note (id bigint primary key, body text);
    grant select, insert (body) on open_note to anon;
    create table note (id bigint primary key, owner_id uuid, body text);
    alter table note enable row security;
    grant select, insert, update, delete on note to authenticated;
    grant select on note to service_role;
    create policy "own rows" on note for select to authenticated using (owner_id = auth.uid());
    create policy everyone on note for insert with check (true);
    create policy "no drafts" on note as restrictive for update using (body <> '');
    create view all_notes as select * from note;
    grant select, insert on all_notes to anon;
    create view numbers as select 1 as n;
    grant select, insert on numbers to anon;
    create schema hidden;
    create table hidden.secret (id int primary key);
    create function whoami() returns text language sql security definer return current_user;
    revoke execute on function whoami() from public;
    grant execute on function whoami() to authenticated;
  `.replace('enable row security', 'enable row level security'),
  );
});

const path = `/v1/projects/${ref}/access`;

async function open(scopes: Parameters<typeof addToken>[1] = {}): Promise<ManagedGateway> {
  return managedGateway(database, await addToken(database, { scopes: ['project:operate'], ...scopes }));
}

interface Rights {
  readonly role: string;
}

test('the access overview says what each role may do, by grants, columns and policies, and what it lacks', async () => {
  const { call } = await open();
  const { status, body } = await call({ path });
  expect(status).toBe(200);
  expect(body.roles).toEqual([
    { name: 'anon', object: 'anon', bypassesRowSecurity: false },
    { name: 'authenticated', object: 'authenticated', bypassesRowSecurity: false },
    { name: 'service_role', object: 'service_role', bypassesRowSecurity: true },
  ]);
  const table = (wanted: string) => body.tables.find(({ name }: { readonly name: string }) => name === wanted);
  const rights = (name: string, wanted: string) => table(name).rights.find(({ role }: Rights) => role === wanted);
  expect(rights('open_note', 'anon')).toMatchObject({
    isExempt: true,
    select: { rows: 'all' },
    insert: { rows: 'all', columns: ['body'] },
    update: { rows: 'none', lacks: 'grant' },
  });
  expect(rights('note', 'authenticated')).toEqual({
    role: 'authenticated',
    isExempt: false,
    select: { rows: 'some', grantees: ['authenticated'], policies: ['own rows'] },
    insert: { rows: 'all', grantees: ['authenticated'], policies: ['everyone'] },
    update: { rows: 'none', grantees: ['authenticated'], lacks: 'policy' },
    delete: { rows: 'none', grantees: ['authenticated'], lacks: 'policy' },
  });
  expect(rights('note', 'service_role')).toMatchObject({ isExempt: true, select: { rows: 'all' } });
  expect(table('note')).toMatchObject({ rowSecurity: true, isForced: false, runsAs: null, object: 'public.note' });
  expect(table('note').policies).toContainEqual({
    name: 'no drafts',
    command: 'update',
    isPermissive: false,
    roles: ['public'],
    using: "body <> ''::text",
    check: null,
  });
  expect(table('all_notes')).toMatchObject({ kind: 'view', runsAs: 'owner', ownerBypasses: true });
  expect(rights('numbers', 'anon').insert).toEqual({ rows: 'none', lacks: 'view' });
  expect(table('secret')).toBeUndefined();
  expect(body.functions).toContainEqual({
    object: 'public.whoami()',
    owner: expect.any(String),
    runsAs: 'owner',
    roles: ['authenticated'],
  });
});

test('visitors reach no row where policies ask for a user, and nothing is claimed of conditions that they may fulfil', async () => {
  await database.query(`
    create table asked (id int primary key, user_id uuid);
    insert into asked values (1, '00000000-0000-4000-8000-00000000000a');
    alter table asked enable row level security;
    grant select on asked to anon, authenticated`);
  const { call } = await open();
  const conditions = {
    'user_id = auth.uid()': true,
    '(select auth.uid()) = user_id and id > 0': true,
    'auth.uid() is not null': true,
    "user_id = (auth.jwt() ->> 'sub')::uuid": true,
    'id > 0 and (user_id = auth.uid() and id < 9)': true,
    'user_id = auth.uid() or id = 1': false,
    'user_id is distinct from auth.uid()': false,
    'auth.uid() is null': false,
    'case when id > 9 and user_id = auth.uid() and id > 8 then false else true end': false,
    'not (id > 5 and user_id = auth.uid())': false,
    'coalesce(user_id = auth.uid(), true)': false,
    "user_id::text <> 'user_id = auth.uid()'": false,
  };
  for (const [condition, isClaimed] of Object.entries(conditions)) {
    await database.query(`drop policy if exists p on asked; create policy p on asked using (${condition})`);
    const { body } = await call({ path });
    const { rights } = body.tables.find(({ name }: { readonly name: string }) => name === 'asked');
    const [anon, authenticated] = rights.map(({ select }: { readonly select: object }) => select);
    const decided = { grantees: ['anon'], policies: ['p'] };
    expect({ condition, anon }).toEqual({
      condition,
      anon: isClaimed ? { rows: 'none', lacks: 'user', ...decided } : { rows: 'some', ...decided },
    });
    expect(authenticated.rows).toBe('some');
    await database.query(`begin; set local role anon; set local request.jwt.claims = '{"role":"anon"}'`);
    const rows = await database.query('select id from asked');
    await database.query('rollback');
    expect({ condition, rows }).toEqual({ condition, rows: isClaimed ? [] : [{ id: 1 }] });
  }
});

test('attack: policies of many tables that read each other do not hold up the overview', async () => {
  const names = Array.from({ length: 14 }, (_, at) => `ring_${at}`);
  await database.query(
    names
      .map((name) => `create table ${name} (id int primary key); alter table ${name} enable row level security`)
      .join(';'),
  );
  await database.query(
    names
      .map((name) => {
        const parts = names.filter((other) => other !== name).map((other) => `id in (select id from ${other})`);
        return `grant select on ${name} to anon; create policy p on ${name} using (${parts.join(' and ')})`;
      })
      .join(';'),
  );
  const { call } = await open();
  const { body } = await call({ path });
  const ring = body.tables.filter(({ name }: { readonly name: string }) => names.includes(name));
  const seen = ring.map(({ rights }: { readonly rights: readonly { readonly select: object }[] }) => rights[0]?.select);
  expect(seen).toEqual(names.map(() => ({ rows: 'some', grantees: ['anon'], policies: ['p'] })));
  await database.query(`drop table ${names.join(', ')}`);
});

test('a right says who was granted it: the role, a role that it is in, or everybody', async () => {
  await database.query(`
    create role readers;
    grant readers to authenticated;
    create table shared (id int primary key, body text, note text);
    grant select on shared to readers, authenticated, service_role;
    grant insert (body) on shared to public;
    grant insert (note) on shared to anon`);
  const { call } = await open();
  const { body } = await call({ path });
  const { rights, otherGrantees } = body.tables.find(({ name }: { readonly name: string }) => name === 'shared');
  const [anon, authenticated, service] = rights;
  expect(otherGrantees).toEqual(['readers']);
  expect(authenticated.select.grantees).toEqual(['authenticated', 'readers']);
  expect(service.select.grantees).toEqual(['service_role']);
  expect(anon.insert).toEqual({ rows: 'all', columns: ['body', 'note'], grantees: ['anon', 'public'] });
  expect(anon.select).toEqual({ rows: 'none', lacks: 'grant' });
  await database.query('revoke usage on schema public from public, anon');
  const { body: without } = await call({ path });
  await database.query('grant usage on schema public to public, anon');
  const [last] = without.tables.find(({ name }: { readonly name: string }) => name === 'shared').rights;
  expect(last.insert).toEqual({
    rows: 'none',
    columns: ['body', 'note'],
    grantees: ['anon', 'public'],
    lacks: 'usage',
  });
  expect(last.select).toEqual({ rows: 'none', lacks: 'usage' });
});

test('a table says which columns may hold the id of a user, and what its foreign keys of one column reference', async () => {
  await database.query(`
    create table hidden.part (a int, b int, primary key (a, b));
    create table "Odd Owner" (
      id int primary key, member uuid references auth.users (id), a int, b int, note_id bigint references note (id),
      foreign key (a, b) references hidden.part);
    create index on "Odd Owner" (note_id, a);
    create index on "Odd Owner" (b) where a > 0`);
  const { call } = await open();
  const { body } = await call({ path });
  expect(body.tables.find(({ name }: { readonly name: string }) => name === 'Odd Owner')).toMatchObject({
    uuidColumns: ['member'],
    indexedColumns: ['id', 'note_id'],
    references: [
      { column: 'member', object: 'auth.users', key: 'id' },
      { column: 'note_id', object: 'public.note', key: 'id' },
    ],
  });
});

test('the access overview agrees with what PostgreSQL lets each role do', async () => {
  const { call } = await open();
  const { body } = await call({ path });
  for (const { object, rights } of body.tables) {
    for (const { role, select } of rights) {
      const reading = database.query(`begin; set local role ${role}; select count(*) from ${object}; commit`);
      const isRefused = await reading.then(
        () => false,
        () => true,
      );
      await database.query('rollback').catch(() => {});
      expect({ object, role, isRefused }).toEqual({
        object,
        role,
        isRefused: ['usage', 'grant'].includes(select.lacks),
      });
    }
  }
});

test('a right to read is one that the API answers: not of columns without the key, by which rows are ordered', async () => {
  await database.query(`
    create table keyed (id int primary key, label text);
    create table paired (b int, a int, label text, primary key (b, a));
    create table unique_only (id int unique not null, label text);
    create view keyed_view as select id, label from keyed;
    comment on view keyed_view is '@graphql({"primary_key_columns": ["id"]})';
    create view plain_view as select id, label from keyed;
    alter table paired enable row level security;
    create policy p on paired to anon, authenticated using (true);
    grant select (label) on keyed, keyed_view, plain_view, unique_only to anon;
    grant select (a, label) on paired to anon;
    grant select (label) on paired to service_role;
    grant select (id, label) on keyed, keyed_view to authenticated;
    grant select (a, b, label) on paired to authenticated;
    grant select on keyed, keyed_view, plain_view, unique_only to service_role`);
  const { call, gateway } = await open();
  const { body } = await call({ path });
  const roles = { anon: anonKey, authenticated: await token({ role: 'authenticated' }), service_role: serviceKey };
  const told: unknown[] = [];
  for (const name of ['keyed', 'paired', 'unique_only', 'keyed_view', 'plain_view']) {
    const { key, rights } = body.tables.find((table: { readonly name: string }) => table.name === name);
    for (const { role, select } of rights) {
      const { body: answer } = await gateway.ask(`{ ${name}Collection { edges { node { label } } } }`, {
        headers: { authorization: `Bearer ${roles[role as keyof typeof roles]}` },
      });
      told.push([name, key, role, select.rows, select.lacks ?? null, answer.errors?.[0].message ?? 'answers']);
    }
  }
  const denied = 'permission denied for';
  const unknown = expect.stringContaining('Cannot query field');
  expect(told).toEqual([
    ['keyed', ['id'], 'anon', 'none', 'key', `${denied} table keyed`],
    ['keyed', ['id'], 'authenticated', 'all', null, 'answers'],
    ['keyed', ['id'], 'service_role', 'all', null, 'answers'],
    ['paired', ['b', 'a'], 'anon', 'none', 'key', `${denied} table paired`],
    ['paired', ['b', 'a'], 'authenticated', 'all', null, 'answers'],
    ['paired', ['b', 'a'], 'service_role', 'none', 'key', `${denied} table paired`],
    // The API leaves these out.
    ['unique_only', null, 'anon', 'all', null, unknown],
    ['unique_only', null, 'authenticated', 'none', 'grant', unknown],
    ['unique_only', null, 'service_role', 'all', null, unknown],
    ['keyed_view', ['id'], 'anon', 'none', 'key', `${denied} view keyed_view`],
    ['keyed_view', ['id'], 'authenticated', 'all', null, 'answers'],
    ['keyed_view', ['id'], 'service_role', 'all', null, 'answers'],
    ['plain_view', null, 'anon', 'all', null, unknown],
    ['plain_view', null, 'authenticated', 'none', 'grant', unknown],
    ['plain_view', null, 'service_role', 'all', null, unknown],
  ]);
});

test('attack: no token without project:operate reads the access overview, nor one of another project', async () => {
  const { call } = await open();
  const others = [
    { scopes: ['auth_config:read', 'auth_config:write', 'project:read'] as const },
    { scopes: ['project:operate'] as const, projectRef: 'zzzzzzzzzzzzzzzzzzzz' },
  ];
  for (const other of others) {
    const { status, body } = await call({ path, token: `Bearer ${await addToken(database, other)}` });
    expect({ status, body: JSON.stringify(body) }).toEqual({ status: 403, body: expect.not.stringContaining('note') });
  }
  expect((await call({ path, token: null })).status).toBe(401);
});
