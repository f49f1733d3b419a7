import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import { runCommand, runProcess, startCommand, temporaryDirectory } from './run-command.ts';

async function start(directory: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const command = startCommand(['start', ...port, ...args], { directory, env });
  await command.until(/curl .*/);
  const [, url = ''] = /GraphQL +(\S+)/.exec(command.text()) ?? [];
  const [, key = ''] = /anon key +(\S+)/.exec(command.text()) ?? [];
  const ask = async (query: string): Promise<{ data: Record<string, unknown> }> => {
    const headers = { apiKey: key, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    return (await response.json()) as { data: Record<string, unknown> };
  };
  const stop = async () => {
    command.signal('SIGTERM');
    return (await command.finished).code;
  };
  return { command, url, key, ask, stop };
}

test('starts with the example, answers the line it prints, keeps data over a restart, and stops clean', async () => {
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
  const pulled = await runProcess(['templates', 'pull'], { directory });
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
  await expect
    .poll(() => first.ask('{ diaryCollection { edges { node { id } } } }'))
    .toMatchObject({
      errors: [{ extensions: { hint: expect.stringContaining('grant select on public.diary to anon;') } }],
    });

  const second = await runProcess(['start', '--port', '0'], { directory });
  expect(second.code).toBe(1);
  expect(second.err).toMatch(/This project is running already, as process \d+\./);
  expect(await first.stop()).toBe(0);

  const again = await start(directory);
  expect(readFileSync(join(directory, '.pgreflect/project.json'), 'utf8')).toBe(project);
  const found = await again.ask('{ authorCollection(filter: { name: { eq: "Ada" } }) { edges { node { name } } } }');
  expect(found).toEqual({ data: { authorCollection: { edges: [{ node: { name: 'Ada' } }] } } });
  expect(await again.stop()).toBe(0);
});

/** Runs a line of `psql` that a start has printed, in its directory. In place of psql, which the tests need not have. */
function runPsql(directory: string, line: string): void {
  const psql = `#!/bin/sh\nexec '${process.execPath}' -e '
    const { Client } = require("${join(import.meta.dirname, '../../node_modules/pg')}");
    const client = new Client({ connectionString: process.argv[1] });
    client.connect().then(() => client.query(process.argv[3])).then(() => client.end());
  ' "$@"\n`;
  writeFileSync(join(directory, 'psql'), psql, { mode: 0o755 });
  const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
  execFileSync('sh', ['-c', line], { cwd: directory, env });
}

test('--schema-file starts with a schema of one’s own, watched, and open to nobody until it is granted', async () => {
  const directory = temporaryDirectory();
  const sql = `create table pet (id int primary key, name text); insert into public.pet values (1, 'Rex');`;
  // As a dump of a recent version begins.
  writeFileSync(
    join(directory, 'pets.sql'),
    `\\restrict abc\nselect set_config('search_path', '', false);\n${sql.replace('pet', 'public.pet')}\n`,
  );
  const { ask, stop, command } = await start(directory, ['--schema-file', 'pets.sql']);
  // The address of the studio signs in whoever opens it first.
  const [, studio = '', token] = /Studio +(\S+)#token=(\S+)/.exec(command.text()) ?? [];
  const exchanged = await fetch(`${studio}/session`, { method: 'POST', body: JSON.stringify({ token }) });
  const { accessToken } = (await exchanged.json()) as { accessToken: string };
  expect(accessToken).toBe(/access token +(\S+)/.exec(command.text())?.[1]);

  const names = '{ petCollection { edges { node { name } } } }';
  const insert = 'mutation { insertIntopetCollection(objects: [{ id: 2 }]) { affectedCount } }';
  expect(await ask(names)).toMatchObject({
    errors: [{ extensions: { hint: expect.stringContaining('grant select on public.pet to anon;') } }],
  });
  expect(await ask(insert)).toMatchObject({
    errors: [{ extensions: { hint: expect.stringContaining('grant select on public.pet to anon;') } }],
  });
  const [line = ''] = await command.until(/PGPASSWORD=.* -c '.*grant select.*public\.pet .*/);
  runPsql(directory, line);
  await expect.poll(() => ask(names)).toEqual({ data: { petCollection: { edges: [{ node: { name: 'Rex' } }] } } });
  expect(await ask(insert)).toMatchObject({
    errors: [{ extensions: { hint: expect.stringContaining('grant insert on public.pet to anon;') } }],
  });
  expect(await stop()).toBe(0);
});

test('an edited schema file is reported with what differs, and --reset loads it; keys and addresses stay', async () => {
  const directory = temporaryDirectory();
  const write = (sql: string) => writeFileSync(join(directory, 'pets.sql'), `${sql}grant select on pet to anon;\n`);
  const pets = async ({ ask }: { ask: (query: string) => Promise<unknown> }, fields: string) =>
    JSON.stringify(await ask(`{ petCollection { edges { node { ${fields} } } } }`));
  const shown = (text: string) =>
    ['Database', 'anon key', 'service key', 'access token'].map(
      (name) => new RegExp(`^  ${name} +(\\S+)`, 'm').exec(text)?.[1],
    );
  const file = ['--schema-file', 'pets.sql'];
  write('create table pet (id int primary key);\ninsert into pet values (1);\n');
  // Others may start projects while this one is stopped.
  const first = await start(directory, [...file, '--database-port', String(await findFreePort())]);
  expect(await pets(first, 'id')).toContain('"id":1');
  const addresses = shown(first.command.text());
  expect(addresses).not.toContain(undefined);
  expect(await first.stop()).toBe(0);

  const unchanged = await start(directory, file);
  expect(unchanged.command.text()).not.toContain('differs');
  expect(shown(unchanged.command.text())).toEqual(addresses);
  expect(await unchanged.stop()).toBe(0);

  write('create table pet (id int primary key, name text);\n');
  const edited = await start(directory, file);
  const [, psql = ''] = /^ {2}psql +(.*)/m.exec(edited.command.text()) ?? [];
  for (const said of [
    'pets.sql differs from what the database was filled with',
    '-create table pet (id int primary key);',
    '+create table pet (id int primary key, name text);',
    `\n  ${psql}\n`,
    'pgreflect start --reset --schema-file pets.sql',
  ])
    expect(edited.command.text()).toContain(said);
  expect(await pets(edited, 'id')).toContain('"id":1');
  runPsql(directory, `${psql} -c 'alter table pet add column age int'`);
  await expect.poll(() => pets(edited, 'id age')).toContain('"age":null');
  expect(await edited.stop()).toBe(0);

  const reset = await start(directory, ['--reset', ...file]);
  expect(reset.command.text()).not.toContain('differs');
  expect(shown(reset.command.text())).toEqual(addresses);
  expect(JSON.parse(await pets(reset, 'id name'))).toEqual({ data: { petCollection: { edges: [] } } });
  runPsql(directory, `${psql} -c "insert into pet values (7, 'Rex')"`);
  expect(await reset.stop()).toBe(0);

  // Without a file it is the one of before, and where that is gone nothing is deleted.
  renameSync(join(directory, 'pets.sql'), join(directory, 'moved.sql'));
  const refused = await runProcess(['start', '--port', '0', '--reset'], { directory });
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/"pets.sql" cannot be read[\s\S]*Nothing was deleted/),
  ]);
  const kept = await start(directory);
  expect(await pets(kept, 'name')).toContain('"name":"Rex"');
  expect(await kept.stop()).toBe(0);
  renameSync(join(directory, 'moved.sql'), join(directory, 'pets.sql'));
  const same = await start(directory, ['--reset']);
  expect(same.command.text()).toContain('Deleting all data of the project');
  expect(JSON.parse(await pets(same, 'id name'))).toEqual({ data: { petCollection: { edges: [] } } });
  expect(await same.stop()).toBe(0);
});

test('the database takes another port where its own is in use, and refuses one that was asked for', async () => {
  const directory = temporaryDirectory();
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const refused = await runProcess(['start', '--port', '0', '--empty', '--database-port', String(port)], { directory });
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining(`Port ${port} is in use by another program.`),
  ]);
  const [, free] = /--database-port (\d+), which is free/.exec(refused.err) ?? [];
  const there = createServer().listen(Number(free), '127.0.0.1');
  await once(there, 'listening');
  there.close();
  const taken = await runProcess(['start', '--empty', '--port', String(port)], { directory });
  expect(taken.err).toContain('Choose another port, or let one be chosen that is free: --port 0');
  const file = join(directory, '.pgreflect/project.json');
  const project = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...project, databasePort: port }));
  const { command, stop } = await start(directory);
  expect(command.text()).toContain(`Warning: another program uses port ${port}; the database has `);
  expect(await stop()).toBe(0);
});

test('a mistake in the schema file keeps nothing, and the next start works', async () => {
  const directory = temporaryDirectory();
  writeFileSync(
    join(directory, 'pets.sql'),
    'create table public.pet (id int primary key);\n-- ä🐕\n  create tabel toy ();\n',
  );
  const failed = await runProcess(['start', '--port', '0', '--schema-file', 'pets.sql'], { directory });
  expect(failed.code).toBe(1);
  expect(failed.err).toContain('pets.sql, line 3, column 10: syntax error at or near "tabel"');
  expect(failed.err).toMatch(/^ +create tabel toy \(\);$/m);
  const granted = 'create table public.pet (id int primary key); grant select on public.pet to anon;';
  writeFileSync(join(directory, 'pets.sql'), granted);
  const { ask, stop } = await start(directory, ['--schema-file', 'pets.sql']);
  expect(await ask('{ petCollection { edges { node { id } } } }')).toEqual({ data: { petCollection: { edges: [] } } });
  expect(await stop()).toBe(0);
});

test('--empty prints no password, and a line that makes a table', async () => {
  const directory = temporaryDirectory();
  const { ask, stop, command } = await start(directory, ['--empty']);
  await command.until(/create table note/);
  const { superuserPassword, loginPassword } = JSON.parse(
    readFileSync(join(directory, '.pgreflect/project.json'), 'utf8'),
  ) as Record<string, string>;
  expect(command.text()).toMatch(
    /Database +postgresql:\/\/postgres@\S+ +\(password: superuserPassword in \.pgreflect\/project\.json\)/,
  );
  for (const password of [superuserPassword!, loginPassword!]) expect(command.text()).not.toContain(password);

  const [line = ''] = /PGPASSWORD=.* -c .*/.exec(command.text()) ?? [];
  runPsql(directory, line);
  const insert = 'mutation { insertIntonoteCollection(objects: [{ body: "x" }]) { affectedCount } }';
  const read = '{ noteCollection { edges { node { body } } } }';
  await expect.poll(() => ask(read)).toEqual({ data: { noteCollection: { edges: [] } } });
  expect(await ask(insert)).toMatchObject({
    errors: [{ extensions: { hint: expect.stringContaining('grant insert on public.note to anon;') } }],
  });
  expect(await stop()).toBe(0);
});

test('a secret and signing keys of one’s own replace those of the project', async () => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwtSecret = 'a secret that is kept somewhere else';
  const verifying = { kty: 'oct', k: Buffer.from(jwtSecret).toString('base64url'), kid: 'old', key_ops: ['verify'] };
  const signing = { ...(await exportJWK(privateKey)), kid: 'new', alg: 'RS256', key_ops: ['sign', 'verify'] };
  const env = {
    GOTRUE_JWT_SECRET: jwtSecret,
    GOTRUE_JWT_KEYS: JSON.stringify([verifying, signing]),
    GOTRUE_MAILER_AUTOCONFIRM: 'true',
  };
  const directory = temporaryDirectory();
  const { url, key, stop } = await start(directory, ['--empty'], env);
  await jwtVerify(key, Buffer.from(jwtSecret));
  const ask = async (path: string, token: string, body: object) => {
    const headers = { apikey: key, authorization: `Bearer ${token}` };
    const address = url.replace('/graphql/v1', `/auth/v1${path}`);
    const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as Record<string, string>;
  };
  const { access_token } = await ask('/signup', key, { email: 'ana@mail.test', password: 'a good password' });
  const published = createRemoteJWKSet(new URL(url.replace('/graphql/v1', '/auth/v1/.well-known/jwks.json')));
  expect((await jwtVerify(access_token!, published)).protectedHeader).toMatchObject({ alg: 'RS256', kid: 'new' });
  const admin = await new SignJWT({ role: 'supabase_admin' })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from(jwtSecret));
  expect(await ask('/admin/users', admin, { email: 'bob@mail.test' })).toMatchObject({ email: 'bob@mail.test' });
  expect(readFileSync(join(directory, '.pgreflect/project.json'), 'utf8')).not.toContain(jwtSecret);
  expect(await stop()).toBe(0);
});

test('the file of a template and the configuration file are followed while it runs', async () => {
  const directory = temporaryDirectory();
  const write = (name: string, content: string) => writeFileSync(join(directory, name), content);
  const table = '[auth.email.template.confirmation]\ncontent_path = "confirm.html"\n';
  write('confirm.html', 'first');
  write('pgreflect.toml', table);
  const { url, command, stop } = await start(directory, ['--empty']);
  const [, apikey = ''] = /anon key +(\S+)/.exec(command.text()) ?? [];
  const auth = url.replace('/graphql/v1', '/auth/v1');
  const signUp = (email: string) =>
    fetch(`${auth}/signup`, {
      method: 'POST',
      headers: { apikey },
      body: JSON.stringify({ email, password: 'a good password' }),
    });
  const emailTo = async (address: string) => {
    const answer = await fetch(url.replace('/graphql/v1', `/studio/inbox.json?to=${address}`));
    return ((await answer.json()) as { html: string }[])[0]?.html;
  };
  await signUp('ana@mail.test');
  await expect.poll(() => emailTo('ana@mail.test')).toBe('first');
  write('confirm.html', 'second\n{{ end }}');
  await command.until(/content, line 2, column \d+: .*the previous one is used/);
  await signUp('bob@mail.test');
  await expect.poll(() => emailTo('bob@mail.test')).toBe('first');
  write('pgreflect.toml', `[auth]\nenable_signup = false\n${table}`);
  await command.until(/Reloaded the start values of the auth configuration/);
  expect((await signUp('eve@mail.test')).status).toBe(422);
  expect(await stop()).toBe(0);
});

test('a schema file that is not there is said before anything is made', async () => {
  const { code, err } = await runProcess(['start', '--schema-file', 'nowhere.sql'], {
    directory: temporaryDirectory(),
  });
  expect(code).toBe(1);
  expect(err).toContain('--schema-file: "nowhere.sql" cannot be read (ENOENT).');
});
