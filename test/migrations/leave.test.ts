/**
 * docs/leave.md, typed as it stands: users go to the tables that Supabase Auth makes, where their passwords, sessions and second factors
 * are good. A gateway stands in for Supabase Auth.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../commands/run-command.ts';
import type { PageWorld } from '../docs/page-world.ts';
import { parsePage } from '../docs/parse-page.ts';
import { runPage } from '../docs/run-page.ts';
import { installAuthTables, signedUp, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { createAuthDatabase, createDatabase, fixture } from '../support/postgres.ts';
import { installClientPrograms } from './client-programs.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/leave.md'), 'utf8');

test('users who leave for Supabase keep passwords, sessions and second factors', async () => {
  const database = await createAuthDatabase();
  const auth = await testAuth(database);
  const { user, access_token } = await signedUp(auth, 'ana@mail.test');
  const factors = factorsOf(auth, access_token);
  const app = await factors.enrollApp();
  const { body: session } = await factors.answer(app.id, app.code(-1));
  await auth.leave();

  const project = await createDatabase(fixture('auth-original.sql'));
  await project.query('truncate auth.users cascade');
  const directory = temporaryDirectory();
  installClientPrograms(join(directory, '.bin'));
  const environment = {
    PATH: `${join(directory, '.bin')}:${process.env.PATH}`,
    OLD: database.url,
    NEW: project.url,
  };
  const section = page
    .slice(page.indexOf('## To Supabase'), page.indexOf('| what |'))
    .replaceAll('<!-- not run: test/migrations/leave.test.ts runs it -->\n', '');
  const world = { directory, environment, toReal: (text: string) => text, toWritten: (text: string) => text };
  await runPage(parsePage(section), world as unknown as PageWorld);

  await installAuthTables(project);
  const there = await testAuth(project);
  const known = { status: 200, body: { user: { id: user.id, email: 'ana@mail.test' } } };
  const { refresh_token } = session;
  expect(await there.ask('/token?grant_type=refresh_token', { refresh_token })).toMatchObject(known);
  const credentials = { email: 'ana@mail.test', password: 'a good password' };
  const signedIn = await there.ask('/token?grant_type=password', credentials);
  expect(signedIn).toMatchObject(known);
  const answered = await factorsOf(there, signedIn.body.access_token).answer(app.id, app.code());
  expect(answered).toMatchObject(known);
});
