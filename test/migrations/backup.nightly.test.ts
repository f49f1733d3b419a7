/**
 * What docs/backup.md tells to type, from one server to another: users, sessions, rows and rights are there, and clients go on. Needs the
 * programs of PostgreSQL.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { startCommand, temporaryDirectory } from '../commands/run-command.ts';
import { type CodePart, parsePage } from '../docs/parse-page.ts';
import { findFreePort } from '../support/free-port.ts';
import { anonKey, secret } from '../support/http.ts';
import { supabaseClient } from '../support/supabase-js.ts';
import { atEnd } from '../support/when-over.ts';
import { type OwnServer, startOwnServer } from './hosted-project.ts';
import { startSystemServer, systemPrograms } from './system-server.ts';

vi.setConfig({ testTimeout: 170_000, hookTimeout: 170_000 });

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/backup.md'), 'utf8');
const blocks = parsePage(page).parts.filter((part): part is CodePart => part.kind === 'code');

/** With the command `npx pgreflect` of this checkout. */
const directory = temporaryDirectory(atEnd);
const npx = join(directory, 'npx');
writeFileSync(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(root, 'bin/pgreflect.js')}" "$@"\n`);
chmodSync(npx, 0o755);

/** Types the block that begins so; standard error comes with what it prints. */
function type(first: string, environment: Readonly<Record<string, string>>): string {
  const block = blocks.find(({ body }) => body.startsWith(first));
  expect(block, first).toBeDefined();
  const env = { PATH: `${directory}:${systemPrograms()}:${process.env.PATH}`, ...environment };
  return execFileSync('sh', ['-ec', `exec 2>&1\n${block!.body}`], { cwd: directory, env, encoding: 'utf8' });
}

/** Serves the database. @returns Its address */
async function serve(server: OwnServer): Promise<string> {
  const port = await findFreePort();
  const env = {
    PGREFLECT_DATABASE_URL: server.urlAs('authenticator', 'shop'),
    PGREFLECT_ADMIN_DATABASE_URL: server.urlAs('auth_admin', 'shop'),
    PGREFLECT_JWT_SECRET: secret,
    PGREFLECT_SITE_URL: 'http://localhost:3000',
    PGREFLECT_MAILER_AUTOCONFIRM: 'true',
  };
  const command = startCommand(['serve', '--port', String(port), '--schemas', 'public'], { env }, atEnd);
  await command.until(/GraphQL and GraphiQL/);
  return `http://127.0.0.1:${port}`;
}

async function ask(url: string, accessToken: string, query: string): Promise<unknown> {
  const headers = { apikey: anonKey, authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return answer.json();
}

const tables = `
  create table note (id int primary key, owner uuid default auth.uid(), body text);
  alter table note enable row level security;
  create policy own on note using (owner = auth.uid());
  grant select, insert on note to authenticated;
  grant usage on schema public to authenticated`;

let old: OwnServer;
let fresh: OwnServer;
beforeAll(async () => {
  [old, fresh] = [await startOwnServer(startSystemServer), await startOwnServer(startSystemServer)];
});

test('a backup restored on another server has users, sessions, rows and rights, and sends nothing again', async () => {
  const passwords = { PGREFLECT_LOGIN_PASSWORD: 'test', PGREFLECT_AUTH_ROLE_PASSWORD: 'test' };
  await old.query('postgres', 'create database shop');
  const before = { DATABASE_URL: old.urlAs('postgres', 'shop'), ...passwords };
  type('npx pgreflect init', before);
  execFileSync(join(systemPrograms(), 'psql'), [before.DATABASE_URL, '-q', '-c', tables]);
  const oldUrl = await serve(old);
  const ana = { email: 'ana@example.com', password: 'a good password' };
  const { data } = await supabaseClient(oldUrl).auth.signUp(ana);
  const insert = 'mutation { insertIntonoteCollection(objects: {id: 1, body: "hers"}) { affectedCount } }';
  expect(await ask(oldUrl, data.session.access_token, insert)).toEqual({
    data: { insertIntonoteCollection: { affectedCount: 1 } },
  });
  const env = { ...before, PATH: `${directory}:${process.env.PATH}` };
  const written = 'npx pgreflect schema --schemas public --out schema.graphql --database-url "$DATABASE_URL"';
  execFileSync('sh', ['-c', written], { cwd: directory, env });
  type('pg_dumpall', before);

  const after = { SERVER_URL: fresh.urlAs('postgres'), DATABASE_URL: fresh.urlAs('postgres', 'shop') };
  expect(type('psql "$SERVER_URL"', after)).toContain('role "postgres" already exists');
  const report = type('npx pgreflect init', after);
  expect(report).toContain('unchanged');
  expect(report).not.toMatch(/^ *(?:done|REFUSED)/m);
  const count = () =>
    execFileSync(join(systemPrograms(), 'psql'), [after.DATABASE_URL, '-Atc', 'select count(*) from auth.sessions']);
  expect(String(count())).toBe('1\n');
  type(`psql "$DATABASE_URL" --command 'delete`, after);
  expect(String(count())).toBe('0\n');
  type('npx pgreflect check', after);

  const newUrl = await serve(fresh);
  const signedIn = await supabaseClient(newUrl).auth.signInWithPassword(ana);
  expect(signedIn.error).toBeNull();
  const notes = '{ noteCollection { edges { node { id body } } } }';
  expect(await ask(newUrl, signedIn.data.session.access_token, notes)).toEqual({
    data: { noteCollection: { edges: [{ node: { id: 1, body: 'hers' } }] } },
  });
});
