/**
 * What a tenant calls their objects is read by an operator, who pastes the SQL that the commands print, often as superuser: a name
 * with line breaks does not pass for a line of ours, and nothing reaches the terminal, the shell or psql as a command.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { findings } from '../commands/check-findings.ts';
import { runCommand } from '../commands/run-command.ts';
import { addToken, managedGateway, ref } from '../management/management.ts';
import { createAuthDatabase, createDatabase, type TestDatabase } from '../support/postgres.ts';

const forged = 'alter role tenant superuser;';
/** In double quotes: a line of ours, as it looks, and what clears the line before it. */
const name = (word: string) => `"${word}\n           ${forged}\u001b[2K\r\u009b2K"`;

let database: TestDatabase;
let directory: string;
beforeAll(async () => {
  database = await createDatabase(`
    create table ${name('t')} (id int primary key, ${name('c')} int references ${name('t')});
    create table note (id int primary key, body text);
    grant usage on schema public to anon;
    grant all on ${name('t')}, note to anon;
    alter table ${name('t')} enable row level security;
    create policy ${name('p')} on ${name('t')} using (current_setting('request.jwt.claims') = E'x\n${forged}');
    alter table note enable row level security;
    create policy "not all" on note using (body <> E'x\r\\\\! id\r');
    create function ${name('f')}() returns int language sql security definer as 'select 1';
    create type ${name('e')} as enum ('a');
    create schema ${name('s')};
    create table ${name('s')}.open (id int primary key);
  `);
  directory = mkdtempSync(join(tmpdir(), 'pgreflect-test-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function run(...args: readonly string[]) {
  return runCommand([...args, '--database-url', database.url]);
}

/** Whether there is such a line, and anything but lines. */
function expectPlain(text: string): void {
  expect(text.split('\n').filter((line) => line.trim().startsWith(forged.slice(0, 10)))).toEqual([]);
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
}

test('check escapes line breaks in names, and refers to --format json for what cannot be printed', async () => {
  const { out } = await run('check');
  expect(out).toContain('\\u000a           alter role tenant superuser;\\u001b');
  expect(out).toContain('-- The fix contains control characters, see --format json.');
  expectPlain(out);
  const { findings } = JSON.parse((await run('check', '--format', 'json')).out) as {
    findings: readonly { fix: string | null }[];
  };
  expect(findings.some(({ fix }) => fix?.includes(forged))).toBe(true);
});

test('init escapes line breaks in names', async () => {
  const schemas = ['--schemas', name('s').slice(1, -1)];
  const { out } = await run('init', '--grant-defaults', ...schemas);
  expect(out).toContain('(row security is off)');
  expectPlain(out);
  const { out: again } = await run('init', '--dry-run', ...schemas);
  expect(again).toContain('-- already so: usage on schema "s\\u000a');
  expectPlain(again);
});

test('init escapes line breaks in names of those who hold a role', async () => {
  const [holder, held] = [name('h'), `held_${randomBytes(4).toString('hex')}`];
  await database.query(`create role ${held}; create role ${holder} login; grant ${held} to ${holder}`);
  onTestFinished(async () => void (await database.query(`drop role ${holder}, ${held}`)));
  const { code, err } = await run('init', '--anon-role', held);
  expect([code, err]).toEqual([1, expect.stringContaining(`The role "${held}" exists, and "h\\u000a`)]);
  expectPlain(err);
});

test('explain prints a script in which plans are comments to their end', async () => {
  const file = join(directory, 'notes.graphql');
  writeFileSync(file, '{ noteCollection { edges { node { id } } } }');
  // Plans are made for the gateway's login alone.
  const { out } = await runCommand(['explain', file, '--database-url', database.urlAs('authenticator', 'test')]);
  expect(out).toContain("'x\\u000d\\! id\\u000d'");
  expectPlain(out);
});

describe('with standard_conforming_strings switched off', () => {
  const tenant = `tenant_${randomBytes(4).toString('hex')}`;
  /** Ends a text in which backslashes quote, and what is open around it. */
  const ending = (open: number) => `\\'${')'.repeat(open)}; alter role ${tenant} superuser; --`;
  const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
  let owned: TestDatabase;
  beforeAll(async () => {
    owned = await createAuthDatabase(`
      create role ${tenant} login password 'test';
      create table "1st" (id int primary key);
      create table note (id int primary key, owner text, body text);
      alter table note enable row level security;
      create policy mine on note for select to authenticated
        using (owner = current_setting('request.jwt.claims') and body <> ${literal(ending(3))});
      create policy shown on note for select to anon using (body <> ${literal(ending(1))});
      create table open_note (id int primary key, owner text);
      create policy mine on open_note for select to anon using (owner = current_setting(${literal(ending(4))}));
      grant select on "1st", note to anon, authenticated; grant select, insert on open_note to anon;
    `);
    await owned.query(`alter database ${owned.name} owner to ${tenant}`);
    await owned.query(`alter database ${owned.name} set standard_conforming_strings = off`);
  });
  // What was pasted has changed it.
  beforeEach(() =>
    owned.query(
      `alter role ${tenant} nosuperuser; comment on table "1st" is e${literal(ending(0)).replaceAll('\\', '\\\\')}`,
    ),
  );
  afterAll(() => owned.query(`alter database ${owned.name} owner to current_user; drop role ${tenant}`));

  /** Pastes SQL as a superuser does. Some of it may fail. */
  async function paste(...statements: readonly string[]): Promise<boolean> {
    const client = new pg.Client({ connectionString: owned.url });
    await client.connect();
    onTestFinished(() => client.end());
    expect((await client.query('show standard_conforming_strings')).rows).toEqual([
      { standard_conforming_strings: 'off' },
    ]);
    for (const statement of statements) await client.query(statement).catch(() => {});
    const { rows } = await client.query('select rolsuper from pg_roles where rolname = $1', [tenant]);
    return rows[0].rolsuper;
  }

  test('the owner of the database does not become superuser through the SQL that check prints: by a comment, by a policy', async () => {
    const fixes = (await findings(owned)).flatMap(({ fix }) => fix ?? []);
    for (const part of [
      'comment on table public."1st"',
      'alter policy mine on public.note',
      'on public.open_note for insert',
    ])
      expect(
        fixes.filter((fix) => fix.includes(part)),
        part,
      ).not.toEqual([]);
    // Also what is left to the operator.
    const lines = fixes.flatMap((fix) => fix.split('\n').map((line) => line.replace(/^-- /, '')));
    expect(await paste(...fixes, ...lines)).toBe(false);
  });

  test('the owner of the database does not become superuser through a policy that the page Access shows, or SQL that the studio says to run', async () => {
    const { call } = await managedGateway(owned, await addToken(owned, { scopes: ['project:operate'] }));
    const { body } = await call({ path: `/v1/projects/${ref}/access` });
    const policies: readonly { readonly name: string; readonly using: string }[] = body.tables.find(
      ({ object }: { readonly object: string }) => object === 'public.note',
    ).policies;
    const shown = policies.map(({ name: of, using }) => `alter policy ${of} on note using (${using})`);
    const { body: schema } = await call({ path: `/v1/projects/${ref}/schema?role=anon` });
    const fixes = schema.missing.flatMap(({ fix }: { readonly fix: string | null }) => fix ?? []);
    expect(fixes.join()).toContain('comment on table public."1st"');
    expect(shown).toHaveLength(2);
    expect(await paste(...shown, ...fixes)).toBe(false);
  });
});

test('what check and init say to type in a shell runs nothing that a tenant has written', async () => {
  const canary = join(directory, 'canary');
  const evil = `x'$(touch ${canary})\`touch ${canary}\`;touch ${canary} #`;
  const role = `a;touch ${canary} ${randomBytes(4).toString('hex')}'`;
  const world = await createDatabase(`create table let (id int primary key, tenant text);
    alter table let enable row level security; grant usage on schema public to anon; grant select on let to anon;
    create policy reads on let for select to anon
      using (tenant = current_setting('request.jwt.claims')::json ->> '${evil.replaceAll("'", "''")}'
        or tenant = current_setting('request.jwt.claims')::json ->> 'org');
    create role "${role}"; create schema pgreflect authorization "${role}"`);
  onTestFinished(async () => void (await world.query(`drop schema pgreflect; drop role "${role}"`)));
  const told = await findings(world, '--live-claims', 'sub', '--only', 'live_claim_missing');
  expect(told.map(({ command }) => command)).toEqual(['--live-claims sub,org']);
  const { out } = await runCommand(['init', '--watch', '--database-url', world.url]);
  const [adopt = ''] = /--adopt-role .*/.exec(out) ?? [];
  expect(adopt).toContain('touch');
  for (const typed of [...told.map(({ command }) => command), adopt.replace(/\.$/, '')])
    spawnSync('sh', ['-c', `: ${typed}`]);
  expect(existsSync(canary)).toBe(false);
});
