/**
 * What the blocks of a page run on: a database of its own with the auth tables and the schema-change trigger, a whole
 * gateway, a folder, and programs that are found under the names that the page calls them by.
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { installWatch } from '../../src/cli/init/watch-setup.ts';
import type { Config } from '../../src/config/config.ts';
import { temporaryDirectory } from '../commands/run-command.ts';
import { ref, usePool } from '../management/management.ts';
import { installAuthTables, type TestAuth, testAuth } from '../support/auth-service.ts';
import { programs } from '../support/bundle-programs.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { copyDatabase, createDatabase, runOnServer, type TestDatabase } from '../support/postgres.ts';
import { clientScript } from '../support/supabase-js.ts';
import type { Page } from './parse-page.ts';

/** The checkout. */
export const root = join(import.meta.dirname, '../..');

const accessToken = 'sbp_0123456789012345678901234567890123456789';

/** Where a page runs. */
export interface PageWorld {
  readonly database: TestDatabase;
  /** Null where no block asks the gateway. */
  readonly auth: TestAuth | null;
  readonly directory: string;
  /** Variables that the page may name: keys, tokens, the connection. */
  readonly environment: Readonly<Record<string, string>>;
  /** Addresses as a page writes them become those of this run. */
  toReal(text: string): string;
  /** The other way round. */
  toWritten(text: string): string;
}

/**
 * A database as pages begin with, made once: with the auth tables, the schema-change trigger and the given SQL. It is gone after
 * the test file.
 *
 * @returns Its name.
 */
export async function createTemplate(...sql: readonly string[]): Promise<string> {
  const database = await createDatabase(...sql);
  // As PostgreSQL 15 and later have it; what `check` prints is that of those.
  await database.query('revoke create on schema public from public');
  await installAuthTables(database);
  await usePool(database, (pool) => installWatch(pool, 'authenticator'));
  // Only what nobody is connected to can be copied.
  const { name } = database;
  await runOnServer(`alter database ${name} with allow_connections false`);
  await runOnServer(`select pg_terminate_backend(a.pid) from pg_stat_activity a where a.datname = '${name}'`);
  return name;
}

/** Where the gateway of a page is, as the page writes it. */
const writtenUrl = 'http://localhost:54321';

/** Starts what a page runs on, with a gateway where a block asks one; it stops when the test has ended. */
export async function startPageWorld(template: string, page: Page, given: Partial<Config> = {}): Promise<PageWorld> {
  const database = await copyDatabase(template, [], onTestFinished);
  const site = { site_url: 'http://localhost:3000', uri_allow_list: 'http://localhost:3000/**', smtp_max_frequency: 0 };
  const options = { projectRef: ref, accessToken, localProject: true, ...given };
  const auth = asksGateway(page) ? await testAuth(database, site, options) : null;
  const directory = temporaryDirectory();
  const addresses: readonly (readonly [string, string])[] = [
    [writtenUrl, auth?.url ?? writtenUrl],
    ['postgresql://postgres:PASSWORD@localhost:5432/shop', database.url],
    ['postgresql://authenticator:PASSWORD@localhost:5432/shop', database.urlAs('authenticator', 'test')],
    ['PROJECT_REF', ref],
    ['ANON_KEY', anonKey],
  ];
  return {
    database,
    auth,
    directory,
    environment: {
      PATH: `${installPrograms(directory)}:${process.env.PATH}`,
      HOME: directory,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      DATABASE_URL: database.urlAs('authenticator', 'test'),
      ANON_KEY: anonKey,
      SERVICE_KEY: serviceKey,
      PGREFLECT_ACCESS_TOKEN: accessToken,
      PROJECT_REF: ref,
    },
    toReal: (text) => addresses.slice(0, 3).reduce((rest, [written, real]) => rest.replaceAll(written, real), text),
    toWritten: (text) => addresses.reduce((rest, [written, real]) => rest.replaceAll(real, written), text),
  };
}

function asksGateway({ parts }: Page): boolean {
  return parts.some(
    (part) =>
      part.kind === 'code' &&
      part.notRun === null &&
      (['graphql', 'js'].includes(part.language) || part.body.includes(writtenUrl)),
  );
}

/** `pgreflect` and `npx pgreflect` of the checkout, and the published client for what a page imports. */
function installPrograms(directory: string): string {
  const bin = join(directory, '.bin');
  mkdirSync(bin);
  const program = `exec '${process.execPath}' '${programs().main}' "$@"`;
  writeFileSync(join(bin, 'pgreflect'), `#!/bin/sh\n${program}\n`);
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\n[ "$1" = pgreflect ] || exit 127\nshift\n${program}\n`);
  for (const name of ['pgreflect', 'npx']) chmodSync(join(bin, name), 0o755);
  symlinkSync(join(clientScript, '../../../../..'), join(directory, 'node_modules'));
  return bin;
}
