import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import pg from 'pg';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { CommandContext } from '../../src/cli/shared/command.ts';
import type { LocalProject } from '../../src/cli/shared/local-project.ts';
import { describeChange, keepContent } from '../../src/cli/start/content-change.ts';
import { type Content, readContent } from '../../src/cli/start/fill-database.ts';
import { unusedScripts } from '../../src/cli/start/unused-scripts.ts';
import { findFreePort } from '../support/free-port.ts';
import { atEnd } from '../support/when-over.ts';
import { linesOf, messagesOf } from './log-lines.ts';
import { runCommand, temporaryDirectory } from './run-command.ts';
import { addressesIn, runPsql, start } from './start-project.ts';

test('starts with the example, answers the line it prints, keeps data over a restart on whatever ports are free, stops clean, and writes JSON alone where that is asked for', async () => {
  const directory = temporaryDirectory();
  const first = await start(directory, ['--port', String(await findFreePort())]);

  const [line = ''] = /curl .*/.exec(first.command.text()) ?? [];
  const answer = JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' })) as { data: object };
  expect(Object.keys(answer.data)).toHaveLength(1);
  expect(JSON.stringify(answer)).toContain('"node":');

  expect(statSync(join(directory, '.pgreflect/project.json')).mode & 0o777).toBe(0o600);
  execFileSync('git', ['init', '--quiet'], { cwd: directory });
  expect(execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], { cwd: directory }).toString()).toBe(
    '',
  );
  const pulled = await runCommand(['templates', 'pull'], { directory });
  expect([pulled.code, pulled.err]).toEqual([0, '']);
  writeFileSync(join(directory, 'names.graphql'), '{ authorCollection { edges { node { name } } } }');
  const schema = await runCommand(['schema'], { directory });
  expect([schema.code, schema.out]).toEqual([0, expect.stringContaining('type Author')]);
  expect(await runCommand(['check'], { directory })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^0 errors, 0 warnings\b/m),
  });
  const explained = await runCommand(['explain', 'names.graphql'], { directory });
  expect([explained.code, explained.out]).toEqual([0, expect.stringContaining('from "public"."author"')]);
  const scopes = ['auth_config:read', 'database:write'];
  const created = await runCommand(['tokens', 'create', '--json', '--scope', scopes.join(',')], { directory });
  expect([created.code, JSON.parse(created.out)]).toEqual([0, expect.objectContaining({ scopes })]);
  const status = await runCommand(['status'], { directory });
  const shown = (text: string) =>
    text
      .split('\n')
      .filter((line) => /^ {2}(GraphQL|Auth|Inbox|Database|psql|\w+ key|project ref|access token) /.test(line));
  expect(shown(status.out)).toHaveLength(9);
  expect(shown(status.out)).toEqual(shown(first.command.text()));
  const project = readFileSync(join(directory, '.pgreflect/project.json'), 'utf8');
  const json = JSON.parse((await runCommand(['status', '--json'], { directory })).out) as Record<string, string>;
  const { anonKey, serviceKey, accessToken, ref: projectRef } = JSON.parse(project) as Record<string, string>;
  expect(json).toMatchObject({ graphqlUrl: first.url, anonKey, serviceKey, accessToken, projectRef });
  const owner = new pg.Client({ connectionString: json.databaseUrl! });
  await owner.connect();
  await owner.end();
  const insert = 'mutation { insertIntoAuthorCollection(objects: [{ name: "Ada" }]) { affectedCount } }';
  expect(await first.ask(insert)).toMatchObject({ errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] });
  const [, databaseUrl = ''] = /Database +(\S+)/.exec(first.command.text()) ?? [];
  const { superuserPassword } = JSON.parse(project) as Record<string, string>;
  const client = new pg.Client({
    connectionString: Object.assign(new URL(databaseUrl), { password: superuserPassword }).href,
  });
  await client.connect();
  await client.query(
    `insert into author (name, started) values ('Ada', '2024-05-06'); create table diary (id int primary key)`,
  );
  await client.end();
  // As in a hosted project, callers may use what is made in public at once.
  await expect
    .poll(() => first.ask('{ diaryCollection { edges { node { id } } } }'))
    .toEqual({ data: { diaryCollection: { edges: [] } } });
  const add = 'mutation { insertIntoDiaryCollection(objects: [{ id: 1 }]) { affectedCount } }';
  expect(await first.ask(add)).toEqual({ data: { insertIntoDiaryCollection: { affectedCount: 1 } } });

  const second = await runCommand(['start', '--port', '0'], { directory });
  expect(second.code).toBe(1);
  expect(second.err).toMatch(/This project is running already, as process \d+\./);
  expect(await first.stop()).toBe(0);

  // What another program uses is refused where it was asked for; the database, which nobody asked for, takes another port.
  const other = createServer().listen(Number(new URL(databaseUrl).port), '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const refused = await runCommand(['start', '--port', '0', '--database-port', String(port)], { directory });
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining(`Port ${port} is in use by another program.`),
  ]);
  const [, free] = /--database-port (\d+), which is free/.exec(refused.err) ?? [];
  const there = createServer().listen(Number(free), '127.0.0.1');
  await once(there, 'listening');
  there.close();
  const taken = await runCommand(['start', '--port', String(port)], { directory });
  expect(taken.err).toContain('Choose another port, or let one be chosen that is free: --port 0');
  // Nothing is left in a folder without a project, and npm takes options for itself.
  const empty = temporaryDirectory();
  vi.stubEnv('npm_lifecycle_event', 'start');
  onTestFinished(() => void vi.unstubAllEnvs());
  const byNpm = await runCommand(['start', '--port', String(port)], { directory: empty });
  expect(byNpm.err).toContain('let one be chosen that is free: npm start -- --port 0');
  expect(readdirSync(empty)).toEqual([]);

  const again = await start(directory, ['--log-format', 'json']);
  expect(readFileSync(join(directory, '.pgreflect/project.json'), 'utf8')).toBe(project);
  const found = await again.ask('{ authorCollection(filter: { name: { eq: "Ada" } }) { edges { node { name } } } }');
  expect(found).toEqual({ data: { authorCollection: { edges: [{ node: { name: 'Ada' } }] } } });
  expect(await again.stop()).toBe(0);
  expect(messagesOf(linesOf(again.command.text()))).toEqual(
    expect.arrayContaining([
      expect.stringContaining(`warn another program uses port ${port}; the database has `),
      expect.stringContaining(
        'warn Callers reach every row of public.diary: row security is off. Switch it on, then write policies: alter table NAME enable row level security;',
      ),
      expect.stringMatching(/^info pgreflect is ready/),
    ]),
  );
});

test('--schema-file starts with a schema of one’s own, by --no-grant-defaults open to nobody until it is granted; --reset loads it again', async () => {
  const directory = temporaryDirectory();
  const write = (sql: string) => writeFileSync(join(directory, 'pets.sql'), sql);
  const file = ['--schema-file', 'pets.sql', '--no-grant-defaults'];

  // A mistake keeps nothing.
  write('create table public.pet (id int primary key);\n-- ä🐕\n  create tabel toy ();\n');
  const failed = await runCommand(['start', '--port', '0', ...file], { directory });
  expect(failed.code).toBe(1);
  expect(failed.err).toContain('pets.sql, line 3, column 10: syntax error at or near "tabel"');
  expect(failed.err).toMatch(/^ +create tabel toy \(\);$/m);

  // As a dump of a recent version begins.
  const create = 'create table public.pet (id int primary key);';
  write(
    `\\restrict abc\nselect set_config('search_path', '', false);\n${create}\ninsert into public.pet values (1);
create function public.legs(pet public.pet) returns int language sql as 'select 1';\ncreate schema toys; create table toys.ball (id int); create table toys.rope (id int);\n`,
  );
  // Others may start projects while this one is stopped.
  const first = await start(directory, [
    ...file,
    '--no-grant-defaults',
    '--database-port',
    String(await findFreePort()),
  ]);
  // The address of the studio signs in whoever opens it first.
  const [, studio = '', token] = /Studio +(\S+)#token=(\S+)/.exec(first.command.text()) ?? [];
  const exchanged = await fetch(`${studio}/session`, { method: 'POST', body: JSON.stringify({ token }) });
  const { accessToken } = (await exchanged.json()) as { accessToken: string };
  expect(accessToken).toBe(/access token +(\S+)/.exec(first.command.text())?.[1]);

  const pets = (fields: string) => `{ petCollection { edges { node { ${fields} } } } }`;
  const rows = (...nodes: object[]) => ({ data: { petCollection: { edges: nodes.map((node) => ({ node })) } } });
  const insert = 'mutation { insertIntopetCollection(objects: [{ id: 2 }]) { affectedCount } }';
  const hinting = (sql: string) => ({ errors: [{ extensions: { hint: expect.stringContaining(sql) } }] });
  expect(await first.ask(pets('id'))).toMatchObject(hinting('grant select on public.pet to anon;'));
  expect(await first.ask(insert)).toMatchObject(hinting('grant select on public.pet to anon;'));
  const [line = ''] = await first.command.until(/PGPASSWORD=.* -c '.*grant select.*public\.pet .*/);
  runPsql(directory, line);
  await expect.poll(() => first.ask(pets('id'))).toEqual(rows({ id: 1 }));
  expect(await first.ask(insert)).toMatchObject(hinting('grant insert on public.pet to anon;'));
  const addresses = addressesIn(first.command.text());
  expect(addresses).not.toContain(undefined);
  expect(first.command.text()).toContain('One table exists, but anon may read none.');
  expect(first.command.text()).toContain(
    "2 tables are in schemas that the API does not expose: toys (2). Expose those that callers may use: --schemas 'public,toys'",
  );
  expect(await first.stop()).toBe(0);

  // Without a file it is the one of before, as it is now; keys and addresses stay.
  write(
    `create table pet (id int primary key, name text);\ncreate table walk (id int primary key, first int references pet, second int references pet);
grant select on pet, walk to anon;\n`,
  );
  const reset = await start(directory, ['--reset']);
  expect(reset.command.text()).toContain('Deleting all data of the project');
  expect(reset.command.text()).not.toContain('differs');
  expect(addressesIn(reset.command.text())).toEqual(addresses);
  expect(await reset.ask(pets('id name'))).toEqual(rows());
  // Two foreign keys would have one name.
  await reset.command.until(/The API lacks some tables, .* hide them: node \S+pgreflect\.js check --only left_out/);
  expect(await reset.stop()).toBe(0);
});

test('a schema file that is as it was is no change, however its project is started; one that is not there is said', () => {
  const directory = temporaryDirectory();
  const content = (text: string): Content => ({ kind: 'file', scripts: [{ title: 'pets.sql', text }] });
  const change = (kind: LocalProject['content'], asked: Content) =>
    describeChange(directory, { content: kind } as LocalProject, asked, 'psql URL');
  keepContent(directory, content('create table pet ();'));
  expect(change('file', content('create table pet ();'))).toBeNull();
  expect(change(null, content('create table cat ();'))).toBeNull();
  expect(change('file', { kind: 'example', scripts: [] })).toBeNull();
  expect(change('file', content('create table cat ();'))).toContain('pets.sql differs');
  expect(change('example', { kind: 'empty', scripts: [] })).toContain('has the example, so --empty is ignored');
  const sources = { workingDirectory: directory };
  const reading = (path: string) => () => {
    const context = { flags: { 'schema-file': path }, sources } as unknown as CommandContext;
    readContent(context, { content: null, schemaFile: null });
  };
  expect(reading('nowhere.sql')).toThrow('--schema-file: "nowhere.sql" cannot be read (ENOENT).');
  // Where the package is installed, its examples are not in the folder.
  const path = 'examples/email-links/notes/schema.sql';
  const packaged = join(import.meta.dirname, '../..', path);
  const fix = `It is in the package: --schema-file '${packaged}'`;
  expect(reading(path)).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ fix })] }));
});

test('SQL files that a start does not load are named with the command that loads them, tables before rows', async () => {
  const directory = temporaryDirectory();
  const unused = () => unusedScripts(directory, { content: null }, { kind: 'example' });
  expect(unused()).toBeNull();
  writeFileSync(join(directory, 'data.sql'), '');
  expect(unused()).toContain(
    "data.sql. To load it instead of the example:\n  pgreflect start --reset --schema-file 'data.sql'",
  );
  writeFileSync(join(directory, 'tables.sql'), '');
  expect(unused()).toContain(
    "  cat 'tables.sql' 'data.sql' > all.sql\n  pgreflect start --reset --schema-file all.sql",
  );
  expect(unusedScripts(directory, { content: 'example' }, { kind: 'example' })).toBeNull();
  expect(unusedScripts(directory, { content: null }, { kind: 'file' })).toBeNull();
  const twice = await runCommand(['start', '--schema-file', 'tables.sql', '--schema-file', 'data.sql'], { directory });
  expect(twice.err).toContain('--schema-file is given 2 times.');
  expect(twice.err).toContain('Make one file of them, in their order: cat schema.sql data.sql > all.sql');
});

describe('--empty, with a secret of one’s own, signing keys and a configuration file', async () => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwtSecret = 'a secret that is kept somewhere else';
  const table = '[auth.email.template.confirmation]\ncontent_path = "confirm.html"\n';
  let directory: string;
  let started: Awaited<ReturnType<typeof start>>;
  const write = (name: string, content: string) => writeFileSync(join(directory, name), content);

  beforeAll(async () => {
    directory = temporaryDirectory(atEnd);
    write('confirm.html', 'first');
    write('pgreflect.toml', table);
    const verifying = { kty: 'oct', k: Buffer.from(jwtSecret).toString('base64url'), kid: 'old', key_ops: ['verify'] };
    const signing = { ...(await exportJWK(privateKey)), kid: 'new', alg: 'RS256', key_ops: ['sign', 'verify'] };
    const env = { GOTRUE_JWT_SECRET: jwtSecret, GOTRUE_JWT_KEYS: JSON.stringify([verifying, signing]) };
    started = await start(directory, ['--empty'], env, atEnd);
  });

  /** Asks the auth service with the anon key, or another token. */
  function post(path: string, body: object, token = started.key): Promise<Response> {
    const headers = { apikey: started.key, authorization: `Bearer ${token}` };
    const address = started.url.replace('/graphql/v1', `/auth/v1${path}`);
    return fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
  }
  const password = 'a good password';

  test('no password is printed, and a line that makes a table', async () => {
    const { command, ask } = started;
    await command.until(/create table note/);
    const project = JSON.parse(readFileSync(join(directory, '.pgreflect/project.json'), 'utf8')) as LocalProject;
    expect(command.text()).toMatch(
      /Database +postgresql:\/\/postgres@\S+ +\(password: superuserPassword in \.pgreflect\/project\.json\)/,
    );
    for (const secret of [project.superuserPassword, project.loginPassword])
      expect(command.text()).not.toContain(secret);

    const [line = ''] = /PGPASSWORD=.* -c .*/.exec(command.text()) ?? [];
    runPsql(directory, line);
    const insert = 'mutation { insertIntonoteCollection(objects: [{ body: "x" }]) { affectedCount } }';
    const read = '{ noteCollection { edges { node { body } } } }';
    await expect.poll(() => ask(read)).toEqual({ data: { noteCollection: { edges: [] } } });
    expect(await ask(insert)).toMatchObject({ errors: [{ message: expect.stringContaining('row-level security') }] });
  });

  test('secret and keys replace those of the project', async () => {
    await jwtVerify(started.key, Buffer.from(jwtSecret));
    const { accessToken } = JSON.parse(
      readFileSync(join(directory, '.pgreflect/project.json'), 'utf8'),
    ) as LocalProject;
    const about = await fetch(started.url.replace('/graphql/v1', '/studio/project'), {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(await about.json()).toMatchObject({
      signing: { from: 'keys', keys: [{ id: 'old' }, { id: 'new' }, { id: null }] },
    });
    const admin = await new SignJWT({ role: 'supabase_admin' })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(jwtSecret));
    const bob = { email: 'bob@mail.test', password, email_confirm: true };
    expect(await (await post('/admin/users', bob, admin)).json()).toMatchObject({ email: 'bob@mail.test' });
    const { access_token } = (await (await post('/token?grant_type=password', bob)).json()) as Record<string, string>;
    const published = createRemoteJWKSet(new URL(started.url.replace('/graphql/v1', '/auth/v1/.well-known/jwks.json')));
    expect((await jwtVerify(access_token!, published)).protectedHeader).toMatchObject({ alg: 'RS256', kid: 'new' });
    expect(readFileSync(join(directory, '.pgreflect/project.json'), 'utf8')).not.toContain(jwtSecret);
  });

  test('the file of a template and the configuration file are followed while it runs', async () => {
    const signUp = (email: string) => post('/signup', { email, password });
    const emailTo = async (address: string) => {
      const answer = await fetch(started.url.replace('/graphql/v1', `/studio/inbox.json?to=${address}`));
      return ((await answer.json()) as { html: string }[])[0]?.html;
    };
    await signUp('ana@mail.test');
    await expect.poll(() => emailTo('ana@mail.test')).toBe('first');
    write('confirm.html', 'second\n{{ end }}');
    await started.command.until(/content, line 2, column \d+: .*the previous one is used/);
    await signUp('eve@mail.test');
    await expect.poll(() => emailTo('eve@mail.test')).toBe('first');
    write('pgreflect.toml', `[auth]\nenable_signup = false\n${table}`);
    await started.command.until(/Reloaded the start values of the auth configuration/);
    expect((await signUp('eli@mail.test')).status).toBe(422);
  });

  test('pgreflect start stops with exit code 0 and leaves nothing running', async () => {
    expect(await started.stop()).toBe(0);
  });
});
