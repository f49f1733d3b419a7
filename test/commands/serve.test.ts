import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { noteFirstOperation, noteServing } from '../../src/cli/serve/serve-notes.ts';
import type { CommandContext } from '../../src/cli/shared/command.ts';
import { makeApiKeys } from '../../src/config/keys.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { startGateway } from '../../src/gateway.ts';
import { operatorTokenCommand } from '../../src/management/tokens/access-tokens.ts';
import { createAuthDatabase, createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';
import { runCommand, startCommand, temporaryDirectory } from './run-command.ts';

const secret = 'a-secret-of-at-least-thirty-two-characters';
const { anonKey } = await makeApiKeys(secret, 'anon', 'service_role');

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase(
    `create table note (id int primary key, body text); insert into note values (1, 'hello'); grant select on note to anon;
     create schema blog; create table blog.post (id int primary key); grant usage on schema blog to anon; grant select on blog.post to anon`,
  );
});

const env = () => ({ DATABASE_URL: database.urlAs('authenticator', 'test'), PGREFLECT_JWT_SECRET: secret });

/** As a login role and as the owner of a database, which may have the auth tables. */
const envOf = (own: TestDatabase, login = own.urlAs('authenticator', 'test')) => ({
  ...env(),
  DATABASE_URL: login,
  PGREFLECT_ADMIN_DATABASE_URL: own.url,
});

async function ask(url: string, query: string): Promise<unknown> {
  const headers = { apiKey: anonKey, 'content-type': 'application/json' };
  const response = await fetch(`${url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return response.json();
}

/** What \`serve\` says before it listens, which it does not where the database does already. */
async function warningsOf(environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
  const { port } = new URL(database.url);
  const { err } = await runCommand(['serve', '--port', port, ...args], { env: environment });
  expect(err).toContain(`Port ${port} is in use by another program.`);
  return err;
}

/** What \`serve\` says once it listens, of a gateway in this process. */
async function introductionOf(
  environment: Readonly<Record<string, string>>,
  flags: CommandContext['sources']['flags'] = new Map(),
): Promise<string> {
  const given = { ...environment, PGREFLECT_PORT: '0' };
  const line = { flags, authFlags: new Map(), configFile: null, withoutFile: true, problems: [] };
  const sources = { ...line, environment: given, workingDirectory: '/' };
  const config = loadConfig(sources);
  const gateway = await startGateway(config, { observe: () => {} });
  onTestFinished(() => gateway.stop());
  const said: string[] = [];
  const note = (text: string) => void said.push(text);
  const context = { sources, flags: {}, operands: [], print: note, note, loaded() {} };
  await noteServing(config, gateway.url, context);
  await noteFirstOperation(config, gateway, context);
  return said.join('\n');
}

describe('what is refused before anything listens', () => {
  test('everything that is missing is in one list, each with the command that mends it', async () => {
    const role = `missing_${randomBytes(4).toString('hex')}`;
    const { code, err } = await runCommand(['serve', '--anon-role', role], { env: { DATABASE_URL: database.url } });
    expect(code).toBe(1);
    expect(err).toContain('There are 2 problems:');
    expect(err).toContain('(umask 077; pgreflect keys > pgreflect.env)');
    expect(err).toContain(`The role "${role}" is missing in the database.`);
    expect(err).toContain('pgreflect init --database-url');
    expect(err).toContain(`--anon-role '${role}'`);
    expect(err).not.toContain(new URL(database.url).password === '' ? '\0' : `:${new URL(database.url).password}@`);
  });

  test('a login that may not become a role', async () => {
    const login = `login_${randomBytes(4).toString('hex')}`;
    // Roles belong to the whole server: the usual ones have no members that other tests would find.
    const anon = `anon_${login}`;
    await database.query(`create role ${login} login password 'test'; create role ${anon}; grant ${anon} to ${login}`);
    try {
      const { code, err } = await runCommand(['serve'], {
        env: { ...env(), PGREFLECT_ANON_ROLE: anon, DATABASE_URL: database.urlAs(login, 'test') },
      });
      expect(code).toBe(1);
      expect(err).toContain(`The login role "${login}" cannot set role to "authenticated", "service_role".`);
      expect(err).toContain(`grant authenticated, service_role to ${login};`);
    } finally {
      await database.query(`drop role ${login}, ${anon}`);
    }
  });

  test('a function that PostgREST would run before each request and that is not there; its other settings are named', async () => {
    const own = await createDatabase('');
    const role = `alter role authenticator in database ${own.name} set`;
    await own.query(`${role} pgrst.db_pre_request = 'public.check_request'; ${role} pgrst.db_schemas = 'api'`);
    const given = { env: { ...env(), DATABASE_URL: own.urlAs('authenticator', 'test') } };
    const { code, err } = await runCommand(['serve'], given);
    expect(code).toBe(1);
    expect(err).toContain('pgrst.db_pre_request = public.check_request, which is no function without arguments.');
    expect(err).toContain(`alter role authenticator in database ${own.name} reset pgrst.db_pre_request;`);
    expect(err).toContain('settings of PostgREST without effect here: pgrst.db_schemas.');
    expect(err).toContain('--schemas for pgrst.db_schemas');
  });

  test('a wrong password, without showing it', async () => {
    const { code, err } = await runCommand(['serve'], {
      env: { ...env(), DATABASE_URL: database.urlAs('authenticator', 'hunter2') },
    });
    expect(code).toBe(1);
    expect(err).toContain('the password of "authenticator" is wrong');
    expect(err).not.toContain('hunter2');
  });

  test('a database that does not exist', async () => {
    const url = new URL(database.url);
    url.pathname = '/nowhere';
    const { code, err } = await runCommand(['serve'], { env: { ...env(), DATABASE_URL: url.href } });
    expect(code).toBe(1);
    expect(err).toContain('does not exist');
  });

  test('a schema that does not exist', async () => {
    const { code, err } = await runCommand(['serve', '--schemas', 'nowhere'], { env: env() });
    expect(code).toBe(1);
    expect(err).toContain('The schema "nowhere" is missing');
    expect(err).toContain('create schema nowhere;');
  });
});

test('tables in schemas that are not exposed are a warning with the option', async () => {
  const own = await createDatabase('create table one (id int primary key)');
  const { query } = own;
  const warned = async (...args: string[]) => {
    const { out } = await runCommand(['check', '--only', 'setup', ...args], {
      env: { ...env(), DATABASE_URL: own.url },
    });
    return /\w+ tables? (?:is|are) in schemas that.*/.exec(out)?.[0] ?? null;
  };
  await query('create schema sales; create table sales.customer (id int primary key)');
  expect(await warned()).toBeNull();
  await query(`create table sales.ledger (id int, at date) partition by range (at);
    create table sales.ledger_2025 partition of sales.ledger for values from ('2025-01-01') to ('2026-01-01');
    create schema auth; create table auth.users (id int)`);
  expect(await warned()).toBe(
    '2 tables are in schemas that the API does not expose: sales (2). ' +
      "Expose those that callers may use: --schemas 'public,sales', also for `pgreflect init`.",
  );
  // Whoever chose schemas knows the others, unless the chosen ones are empty.
  expect(await warned('--schemas', 'public')).toBeNull();
  await query('drop table one');
  expect(await warned('--schemas', 'public')).toContain(`--schemas 'sales'`);
  expect(await warningsOf(envOf(own), '--schemas', 'public')).toContain(
    '2 tables are in schemas that the API does not expose: sales (2).',
  );
  // What is not for callers is not proposed: what an extension made, what its name keeps private, and, once the API roles
  // may use some schemas, the others.
  await query(`create schema app_private; create table app_private.token (id int); create schema jobs; create table jobs.job (id int);
    create schema parts; create table parts.setting (id int)`);
  await query(`create extension citext; alter extension citext add schema parts`);
  expect(await warned()).toContain(`3 tables are in schemas that the API does not expose: sales (2), jobs (1). Expose`);
  await query('grant usage on schema sales to authenticated');
  expect(await warned()).toContain(`: sales (2). Expose those that callers may use: --schemas 'sales', also`);
  await query('grant usage on schema app_private to authenticated');
  expect(await warned()).toContain(
    `3 tables are in schemas that the API does not expose: sales (2), app_private (1). Expose`,
  );
});

describe('serving', () => {
  const token = 'sbp_of_the_configuration';
  let directory: string;
  let served: { readonly command: ReturnType<typeof startCommand>; readonly url: string };
  let found: unknown;
  const count = () =>
    database.query(
      'select (select count(*) from pg_class), (select count(*) from pg_proc), (select count(*) from pg_namespace)',
    );
  const write = (text: string) => writeFileSync(join(directory, 'pgreflect.toml'), text);
  beforeAll(async () => {
    found = await count();
    directory = temporaryDirectory(atEnd);
    write('schemas = ["public"]');
    const args = ['serve', '--port', '0', '--access-token', token];
    const command = startCommand(args, { env: envOf(database), directory }, atEnd);
    const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
    served = { command, url };
  });

  test('serving answers a GraphQL request', async () => {
    expect(await ask(served.url, '{ noteCollection { edges { node { id body } } } }')).toEqual({
      data: { noteCollection: { edges: [{ node: { id: 1, body: 'hello' } }] } },
    });
  });

  test('serving prints a line with curl for a table of the anon role', async () => {
    await served.command.until(/curl .*\$PGREFLECT_ANON_KEY.*noteCollection\(first: 3\)/);
  });

  test('a port that is taken names the option', async () => {
    const { port } = new URL(served.url);
    const { code, err } = await runCommand(['serve', '--port', port], { env: env() });
    expect(code).toBe(1);
    expect(err).toContain(`Port ${port} is in use by another program.`);
    expect(err).toContain('let one be chosen that is free: --port 0');
    const metrics = await runCommand(['serve', '--port', '0', '--metrics-port', port], { env: env() });
    expect(metrics.code).toBe(1);
    expect(metrics.err).toContain(`Port ${port} is in use by another program.`);
    expect(metrics.err).toContain('let one be chosen that is free: --metrics-port 0');
  });

  test('the changed schemas of the configuration file are exposed after SIGHUP', async () => {
    const posts = '{ postCollection { edges { node { id } } } }';
    expect(await ask(served.url, posts)).toHaveProperty('errors');
    write('schemas = ["blog"]');
    served.command.signal('SIGHUP');
    await served.command.until(/Exposed schemas are now: blog/);
    expect(await ask(served.url, posts)).toEqual({ data: { postCollection: { edges: [] } } });
  });

  test('serving names the project in the address of the management API; changed start values of the auth configuration in the file are in force at once, a broken file changes nothing', async () => {
    const { command, url } = served;
    const [, path = ''] = await command.until(/Management API: \S+(\/v1\/projects\/[0-9a-f]{20}\/config\/auth)/);
    await command.until(/needs an access token: pgreflect tokens create --scope \S*project:operate --expires 12h\)/);
    expect(command.text()).toContain(`Auth: ${url}/auth/v1   (emails without a mail server: ${url}/studio/inbox)\n`);
    expect(command.text()).toContain(`${url}/studio   (needs an access token: ${operatorTokenCommand})`);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}${path}`, { headers })).status).toBe(200);

    const isClosed = async () => {
      const response = await fetch(`${url}/auth/v1/settings`, { headers: { apikey: anonKey } });
      return ((await response.json()) as { disable_signup: boolean }).disable_signup;
    };
    expect(await isClosed()).toBe(false);
    write('[auth]\nenable_signpu = false');
    await command.until(/not reloaded.*there is no setting "auth.enable_signpu".*Did you mean "enable_signup"/s);
    expect(await isClosed()).toBe(false);
    write('[auth]\nenable_signup = false');
    await command.until(/Reloaded the start values of the auth configuration/);
    expect(await isClosed()).toBe(true);
  });

  test('serving stops with exit code 0 on SIGTERM, and has created nothing in the database', async () => {
    served.command.signal('SIGTERM');
    expect((await served.command.finished).code).toBe(0);
    expect(await count()).toEqual(found);
  });

  test('without the tables for it there is no management API; a superuser as login is a warning', async () => {
    const own = await createDatabase();
    expect(await warningsOf(envOf(own, own.url))).toMatch(/The login role "\w+" is a superuser/);
    const said = await introductionOf(envOf(own));
    expect(said).toContain('The gateway takes notice');
    expect(said).not.toMatch(/Management API|Auth:/);
    // The example of a table guards its rows.
    expect(said).toMatch(/alter table note enable row level security;\n +create policy .*\n +grant select on note/);
  });

  test('a database with users whose auth service is off says so, and how to get it', async () => {
    const own = await createDatabase('create schema auth; create table auth.users (id uuid primary key)');
    const said = await warningsOf(envOf(own));
    expect(said).toContain('The database has users (auth.users), but the auth service is off');
    expect(said).toContain('pgreflect init --auth --database-url CONNECTION_OF_THE_OWNER');
  });

  test('where tables exist, it says which grants they need, and proposes no new table', async () => {
    const own = await createDatabase('create table pet (id int primary key)');
    const said = await introductionOf(envOf(own));
    expect(said).toContain('grant select on public.pet to anon;');
    expect(said).not.toContain('create table');
  });

  test('where the role reads no table but calls functions, it says so, in the words of check', async () => {
    const own = await createDatabase(`create table pet (id int primary key);
      create function shout(line text) returns text language sql immutable as 'select upper(line)';
      create function feed() returns int language sql volatile as 'select 1'`);
    const said = await introductionOf(envOf(own));
    const summary = 'Role "anon" reads 0 tables, inserts into 0, updates 0, deletes from 0, and calls 2 functions.';
    expect(said).toContain(`${summary} To offer more:\n  - Table public.pet`);
    expect(said).not.toContain('is empty');
    const { out } = await runCommand(['check'], { env: envOf(own) });
    expect(out.replaceAll(/\s+/g, ' ')).toContain(summary);
  });

  test('where signed-in users have an API and visitors none, it says what users have, and grants visitors nothing unasked', async () => {
    const own = await createDatabase(`create table pet (id int primary key); grant select on pet to authenticated;
      revoke usage on schema public from public, anon; grant usage on schema public to authenticated`);
    expect(await introductionOf(envOf(own))).toMatch(
      /Role "authenticated" reads 1 table, .*\nThe API of the role "anon" is empty\. Where visitors are meant to have one:\n/,
    );
    const { out } = await runCommand(['check', '--only', 'usage_missing'], { env: envOf(own) });
    expect(out).toMatch(/^note +usage_missing.*-- grant usage on schema public to anon;$/ms);
  });

  test('malformed comment directives, which refuse every request, are named, and nothing else is proposed', async () => {
    const own = await createDatabase(`create table pet (id int primary key); grant select on pet to anon;
      comment on table pet is 'Pets. @graphql(name: "Animal")'`);
    const said = await introductionOf(envOf(own));
    expect(said).toContain('--only directive_malformed');
    expect(said).toContain(
      'Every GraphQL request gets an error until these comments are corrected:\n' +
        '  - The comment of public.pet has a malformed directive: ',
    );
    expect(said).not.toContain('is empty');
  });

  test('serving says which option lets the login of the auth service reach its tables, and which command tells what the API lacks', async () => {
    const own = await createAuthDatabase(`create table pet (id int primary key);
      create table walk (id int primary key, first int references pet, second int references pet); grant select on pet, walk to anon`);
    const without = { DATABASE_URL: own.urlAs('authenticator', 'test'), PGREFLECT_JWT_SECRET: secret };
    expect(await warningsOf(without)).toContain(
      '- The login role "authenticator" may not use the tables of the auth service, so sign-in and stored settings are off.\n' +
        '    Set --admin-database-url to the connection that `pgreflect init --auth` printed',
    );
    expect(await warningsOf(envOf(own))).not.toContain('may not use the tables');
    const introduction = () => introductionOf(envOf(own), new Map([['schemas', ['public']]]));
    const lacking = /The API lacks .* hide them: pgreflect check --schemas 'public' --only left_out/;
    expect(await introduction()).toMatch(lacking);
    const ignoring = ['pet', 'walk'].map(
      (table) => `comment on table ${table} is '@graphql({"ignore": ["left_out"]})'`,
    );
    await own.query(ignoring.join(';'));
    expect(await introduction()).not.toMatch(lacking);
  });

  test('the gateway starts while the database is away: requests get 503 until the database is back', async () => {
    const away = new URL(database.url);
    away.port = '1';
    const said = await warningsOf({ ...env(), DATABASE_URL: away.href });
    expect(said).toContain('connection refused');
    expect(said).toContain('Requests get 503 until the database responds.');
  });
});
