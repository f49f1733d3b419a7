/**
 * What a tenant calls their objects is read by an operator, who pastes the SQL that the commands print, often as superuser: a name
 * with line breaks does not pass for a line of ours, and nothing reaches the terminal or psql as a command.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../commands/run-command.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

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

test('explain prints a script in which plans are comments to their end', async () => {
  const file = join(directory, 'notes.graphql');
  writeFileSync(file, '{ noteCollection { edges { node { id } } } }');
  // Plans are made for the gateway's login alone.
  const { out } = await runCommand(['explain', file, '--database-url', database.urlAs('authenticator', 'test')]);
  expect(out).toContain("'x\\u000d\\! id\\u000d'");
  expectPlain(out);
});
