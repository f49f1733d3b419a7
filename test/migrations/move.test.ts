/**
 * docs/from-supabase.md, typed as it stands, on a database as hosted projects have it (hosted-project.ts): GraphQL beside the project, a
 * Supabase of one's own, the move to a new database, and a project on this machine. An application does the same before and after a move
 * (drive-app.ts).
 */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { makeApiKeys, makeSigningKey } from '../../src/config/keys.ts';
import { temporaryDirectory } from '../commands/run-command.ts';
import { clientScript, type SupabaseClient, supabaseClient } from '../support/supabase-js.ts';
import { atEnd } from '../support/when-over.ts';
import { installClientPrograms } from './client-programs.ts';
import { type AppWorld, driveApp } from './drive-app.ts';
import { type OwnServer, projectFolder, startHostedProject, startOwnServer } from './hosted-project.ts';
import { type Desk, page, serve, type } from './type-page.ts';

vi.setConfig({ testTimeout: 170_000, hookTimeout: 170_000 });

const secret = 'the legacy secret of the project, which is long';
const keys = await makeApiKeys(secret, 'anon', 'service_role');

let old: OwnServer;
let fresh: OwnServer;
let desk: Desk;
const environment: Record<string, string> = { ANON_KEY: keys.anonKey };
const addresses: [string, string][] = [];
/** The project as it was, served by a gateway in place of Supabase. */
let before: AppWorld;
let client: SupabaseClient;
let hostedUrl: string;

beforeAll(async () => {
  [old, fresh] = await Promise.all([startHostedProject(), startOwnServer()]);
  const directory = temporaryDirectory(atEnd);
  desk = { directory, environment, addresses };
  cpSync(projectFolder, directory, { recursive: true });
  // The hosted project has these, and the new server has no files of them.
  const named =
    'create extension if not exists pg_cron;\nCREATE EXTENSION IF NOT EXISTS "pg_net" WITH SCHEMA "extensions";';
  writeFileSync(join(directory, 'supabase/migrations/20240100000000_named.sql'), named);
  installClientPrograms(join(directory, '.bin'));
  symlinkSync(join(clientScript, '../../../../..'), join(directory, 'node_modules'));
  environment.PATH = `${join(directory, '.bin')}:${process.env.PATH}`;
  const roles = ['supabase_admin', 'supabase_auth_admin', 'authenticator'];
  addresses.push(
    ['postgresql://postgres:PASSWORD@db.PROJECT_REF.supabase.co:5432/postgres', old.urlAs('postgres')],
    ['postgresql://postgres:PASSWORD@localhost:5432/postgres', fresh.urlAs('postgres')],
    ...roles.map((role): [string, string] => [
      `postgresql://${role}:PASSWORD@localhost:5432/postgres`,
      old.urlAs(role),
    ]),
  );
});

function worldAt(url: string, server: OwnServer, login: string): AppWorld {
  const emailsTo = (address: string) =>
    vi.waitFor(
      async () => {
        const text = `select c.subject, c.html from auth.pgreflect_captured_email c where c.recipient = '${address}' order by c.id desc`;
        const rows = await server.query(login, text);
        expect(rows, `emails to ${address}`).not.toEqual([]);
        return rows as unknown as { subject: string; html: string }[];
      },
      { timeout: 20_000, interval: 20 },
    );
  return { url, ...keys, emailsTo };
}

/** A client whose storage the test sees. */
function clientOf(url: string, stored: Map<string, string>, storageKey = 'session'): SupabaseClient {
  const storage = {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
    removeItem: (name: string) => void stored.delete(name),
  };
  return supabaseClient(url, { storage, storageKey }, keys.anonKey);
}

test('check names what will not work, and a hosted project gets a login for the gateway', async () => {
  await type('## Look first', desk);
  await type('## Keep the project at Supabase', desk);
  hostedUrl = environment.DATABASE_URL!;
});

test("Supabase Auth of a Supabase of one's own is replaced on its database", async () => {
  await type('## Keep the database of your own Supabase', desk);
  const env = { PGREFLECT_JWT_SECRET: secret, PGREFLECT_JWT_KEYS: JSON.stringify([await makeSigningKey()]) };
  const url = await serve('## Keep the database of your own Supabase', desk, env);
  before = worldAt(url, old, 'supabase_admin');
  addresses.push(['https://PROJECT_REF.supabase.co', url]);
  client = clientOf(url, new Map());
  const { error } = await client.auth.signInWithPassword({ email: 'member8@club.test', password: 'password of 8' });
  expect(error).toBeNull();
});

test('a gateway beside a hosted project takes the tokens that it signs', async () => {
  const url = await serve('## Keep the project at Supabase', desk, { DATABASE_URL: hostedUrl });
  const { data } = await client.auth.getSession();
  const [, anonKey = ''] =
    /^PGREFLECT_ANON_KEY=(.*)$/m.exec(readFileSync(join(desk.directory, 'pgreflect.env'), 'utf8')) ?? [];
  const ask = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ query: '{ postsCollection { totalCount } }' });
    const response = await fetch(`${url}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json', ...headers },
      body,
    });
    return response.json();
  };
  expect(await ask({ authorization: `Bearer ${data.session.access_token}` })).toEqual({
    data: { postsCollection: { totalCount: 75 } },
  });
  expect(await ask({})).toEqual({ data: { postsCollection: { totalCount: 0 } } });
});

test('an application finds in the new database what it found in the old one', async () => {
  const session = (await client.auth.getSession()).data.session;
  for (const step of [
    '### 1. Prepare the new database',
    '### 2. Create the tables',
    '### 3. Copy the rows and the users',
    '### 4. Keep tokens and keys valid',
  ])
    await type(step, desk);
  const url = await serve('### 5. Serve', desk, { PGREFLECT_JWT_SECRET: secret });
  addresses.push(['http://localhost:54321', url]);
  await type('### 6. Change the clients', desk);

  const [, storageKey = ''] = /storageKey: '(.*)'/.exec(page) ?? [];
  const moved = clientOf(url, new Map([[storageKey, JSON.stringify(session)]]), storageKey);
  const user = { data: { user: { email: 'member8@club.test' } }, error: null };
  expect(await moved.auth.getUser()).toMatchObject(user);
  expect(await moved.auth.refreshSession()).toMatchObject(user);

  const seenBefore = await driveApp(before);
  expect(seenBefore).toMatchObject({
    'member 1 signs in': { code: null, claims: { club_count: 1 } },
    'posts of a member': { data: { postsCollection: { totalCount: 75 } } },
    'an old session': { email: 'member5@club.test' },
    'a second factor': { to: 'aal2' },
  });
  // Five links to click, and one that the application takes.
  expect(
    JSON.stringify(seenBefore.emails).match(/"access_token"|"email":"member5@club.test","error":null/g),
  ).toHaveLength(5);
  expect(await driveApp(worldAt(url, fresh, 'postgres'))).toEqual(seenBefore);
});

test('a project runs on this machine, with the keys of the Supabase CLI', async () => {
  const title = '## Run a project on this machine';
  const known = /`(super-secret-[\w-]+)`/.exec(page)![1]!;
  const url = await serve(title, desk, { PGREFLECT_JWT_SECRET: known });
  const { superuserPassword, databasePort } = JSON.parse(
    readFileSync(join(desk.directory, '.pgreflect/project.json'), 'utf8'),
  ) as { superuserPassword: string; databasePort: number };
  const written = 'postgresql://postgres:PASSWORD@localhost:54322/pgreflect';
  addresses.push([written, `postgresql://postgres:${superuserPassword}@127.0.0.1:${databasePort}/pgreflect`]);
  await type(title, desk);
  await type('### 2. Create the tables', desk);
  const local = supabaseClient(url, {}, (await makeApiKeys(known, 'anon', 'service_role')).anonKey);
  const { error } = await local.auth.signUp({ email: 'new@club.test', password: 'a password of theirs' });
  expect(error).toBeNull();
});
