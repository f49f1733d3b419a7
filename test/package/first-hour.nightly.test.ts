/**
 * Everything that the first pages tell to type is typed: in a clone, and with the packed package in empty folders. Each page has a
 * PostgreSQL of its own, as its reader has, because roles belong to the whole server.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { startEmbeddedServer } from '../../src/postgres/embedded/embedded-server.ts';
import { findFreePort } from '../support/free-port.ts';
import { pathOfPerson } from '../support/install-packages.ts';
import {
  copyCheckout,
  openFolder,
  openPage,
  root,
  startLines,
  type Terminal,
  type TypedPage,
  typeLines,
} from './person.ts';

// Packages are installed and built, on a machine that may be busy.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const folder = openFolder((end) => void afterAll(end));
const clone = join(folder, 'pgreflect');
const prefix = join(folder, 'global');

/** A clone with its packages, and the package installed for every folder, as the README says. */
beforeAll(async () => {
  for (const directory of [clone, prefix]) mkdirSync(directory);
  copyCheckout(clone);
  const readme = readFileSync(join(clone, 'README.md'), 'utf8');
  for (const words of ['npm ci', 'npm pack', 'npm i -g ./pgreflect-1.0.0.tgz']) {
    expect(readme).toContain(`\`${words}\``);
    await typeLines(words, { directory: clone, environment: { npm_config_prefix: prefix }, instead: {} });
  }
});

const typed = new Set<string>();

/** A page whose blocks are typed, all of them. */
function testPage(path: string, follow: (page: TypedPage) => Promise<void>): void {
  typed.add(path);
  test(`${path}: what it tells to type works`, async () => {
    const page = openPage(path);
    await follow(page);
    page.expectAllTyped();
  });
}

interface PersonsTerminal extends Terminal {
  /** Where the gateway listens that is started here. */
  readonly port: number;
}

/** In the clone, where nothing was started before. */
async function inClone(): Promise<PersonsTerminal> {
  rmSync(join(clone, '.pgreflect'), { recursive: true, force: true });
  return listening({ directory: clone, environment: {}, instead: {} });
}

/** In an empty folder of a machine that has the package. */
async function withPackage(instead: Readonly<Record<string, string>>): Promise<PersonsTerminal> {
  // npx finds what is installed for every folder in the prefix of npm alone, not in the path.
  const environment = { PATH: `${prefix}/bin:${pathOfPerson()}`, npm_config_prefix: prefix };
  return listening({ directory: openFolder(), environment, instead });
}

async function listening({ directory, environment, instead }: Terminal): Promise<PersonsTerminal> {
  const port = await findFreePort();
  const origin = `http://localhost:${port}`;
  return {
    directory,
    port,
    environment: { PGREFLECT_PORT: String(port), ...environment },
    instead: { 'http://localhost:54321': origin, ...instead },
  };
}

/** The same terminal, where a person knows more. */
function knowing<T extends Terminal>(terminal: T, instead: Readonly<Record<string, string>>): T {
  return { ...terminal, instead: { ...terminal.instead, ...instead } };
}

/** The same terminal, with more in the environment. */
function having<T extends Terminal>(terminal: T, environment: Readonly<Record<string, string>>): T {
  return { ...terminal, environment: { ...terminal.environment, ...environment } };
}

/** A connection string as the pages have it. */
function written(role: string): string {
  return `postgresql://${role}:PASSWORD@localhost:5432/shop`;
}

interface OwnDatabase {
  readonly url: string;
  /** What the pages have in place of its superuser's connection. */
  readonly instead: Readonly<Record<string, string>>;
  query(text: string): Promise<void>;
}

/** A PostgreSQL with a database `shop` that nobody has prepared. */
async function startDatabase(): Promise<OwnDatabase> {
  const dataDirectory = join(openFolder(), 'data');
  const server = await startEmbeddedServer({ dataDirectory, password: 'their own', persistent: false });
  onTestFinished(() => server.stop());
  await runSql(server.url, 'create database shop');
  const url = Object.assign(new URL(server.url), { pathname: '/shop' }).href;
  return { url, instead: { [written('postgres')]: url }, query: (text) => runSql(url, text) };
}

async function runSql(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** The connections that `init` has printed, by what the pages have in their place. */
function readLogins(printed: string): Readonly<Record<string, string>> {
  const found = [...printed.matchAll(/^ +(postgresql:\/\/(\w+):\S+)$/gm)];
  return Object.fromEntries(found.map(([, url = '', role = '']) => [written(role), url]));
}

/** A value of the file that `keys` has written. */
function readKey({ directory }: Terminal, name: string): string {
  const file = join(directory, 'pgreflect.env');
  expect(statSync(file).mode & 0o077, 'others may read the keys').toBe(0);
  const text = readFileSync(file, 'utf8');
  return new RegExp(`^${name}=(.+)$`, 'm').exec(text)?.[1] ?? '';
}

/** Waits until a gateway serves, and asks it for the first product. */
async function expectProduct(port: number, key: string, name: string): Promise<void> {
  const ready = async () => expect((await fetch(`http://localhost:${port}/ready`)).status).toBe(200);
  await vi.waitFor(ready, { timeout: 120_000, interval: 250 });
  const response = await fetch(`http://localhost:${port}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ productCollection(first: 1) { edges { node { name } } } }' }),
  });
  expect(await response.json()).toEqual({ data: { productCollection: { edges: [{ node: { name } }] } } });
}

const lamps = `create table product (id int primary key, name text);
  alter table product enable row level security;
  create policy everyone_reads on product for select using (true);
  insert into product values (1, 'Lamp')`;

testPage('README.md', async (page) => {
  page.leaveOut('npm ci && npm test', 'it runs this test');
  await tryExample(page);
  await useOwnDatabase(page);
});

async function tryExample(page: TypedPage): Promise<void> {
  const terminal = await inClone();
  const start = page.start('npm ci && npm start', terminal);
  const [, key = ''] = await start.until(/anon key +(eyJ\S+)/);
  await expectProduct(terminal.port, key, 'Plain Copper Tent');
  await start.interrupt();
}

testPage('docs/auth-flows.md', async (page) => {
  await signInWithCheckout(page);
  await signInWithPackage(page);
  page.leaveOut(
    'curl --silent --header "Authorization: Bearer $PGREFLECT_ACCESS_TOKEN" \\',
    'it needs users; test/docs runs it with its answer',
  );
});

async function signInWithCheckout(page: TypedPage): Promise<void> {
  const pagesPort = String(await findFreePort());
  const site = `http://localhost:${pagesPort}`;
  const terminal = having(await inClone(), { PGREFLECT_SITE_URL: site });
  const start = page.start('npm start -- --reset --schema-file examples/email-links/notes/schema.sql', terminal);
  const [, key = ''] = await start.until(/anon key +(eyJ\S+)/);
  const beside = { API_URL: terminal.instead['http://localhost:54321']!, PORT: pagesPort };
  const notes = page.start('cd examples/email-links', having(knowing(terminal, { 'eyJ...': key }), beside));
  await notes.until(new RegExp(`^${site}$`, 'm'));
  expect(await (await fetch(`${site}/settings.js`)).text()).toContain(key);
  await notes.interrupt();
  await start.interrupt();
  await page.typeWords('rm -rf .pgreflect', terminal);
}

async function useOwnDatabase(page: TypedPage): Promise<void> {
  const database = await startDatabase();
  await database.query(lamps);
  const unprepared = await withPackage(database.instead);
  const init = `npx pgreflect init --auth --watch --schemas public --database-url ${written('postgres')}`;
  const logins = readLogins(await page.type(init, unprepared));
  expect(Object.keys(logins)).toEqual(['authenticator', 'auth_admin'].map(written));
  await database.query(page.block('sql', 'grant select on product to anon;'));

  const terminal = knowing(unprepared, logins);
  const gateway = page.start('set -a; . ./pgreflect.env', terminal);
  const key = readKey(terminal, 'PGREFLECT_ANON_KEY');
  await expectProduct(terminal.port, key, 'Lamp');
  const signUp = await fetch(`http://localhost:${terminal.port}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ana@example.com', password: 'a long password' }),
  });
  expect([signUp.status, await signUp.json()]).toEqual([200, expect.objectContaining({ email: 'ana@example.com' })]);
  await page.typeWords('npx pgreflect check', terminal, ` --database-url ${written('authenticator')}`);
  await gateway.interrupt();
}

/** The same in an empty folder. */
async function signInWithPackage(page: TypedPage): Promise<void> {
  const terminal = await withPackage({});
  await page.type('cp -r "$(npm root -g)/pgreflect/examples" .', terminal);
  const [, file = ''] = /^npm start -- --reset --schema-file (\S+)$/m.exec(page.text) ?? [];
  const start = startLines(`pgreflect start --reset --schema-file ${file}`, terminal);
  await start.until(/anon key +eyJ\S+/);
  await start.interrupt();
}

testPage('docs/first-query.md', async (page) => {
  const terminal = await inClone();
  page.leaveOut('npm ci', 'it is the first block of README.md');
  const start = startLines('npm start', terminal);
  const [, key = ''] = await start.until(/anon key +(eyJ\S+)/);
  expect(await page.typeWords('npx pgreflect status', terminal)).toContain(key);
  const [, lines = ''] = /^```sh\n(curl [\s\S]*?)```$/m.exec(page.text) ?? [];
  const [first = ''] = lines.split('\n');
  expect(await page.type(first, having(terminal, { ANON_KEY: key }))).toContain('"data"');
  for (const command of ['pgreflect schema', 'check']) {
    expect(page.text).toContain(`\`${command}\``);
    await typeLines(`npx pgreflect ${command.replace('pgreflect ', '')}`, terminal);
  }
});

testPage('docs/connect-your-database.md', async (page) => {
  const database = await startDatabase();
  await database.query(lamps);
  const unprepared = await withPackage(database.instead);
  const options = `--watch --schemas public --database-url ${written('postgres')}`;
  const logins = readLogins(await page.type(`npx pgreflect init ${options}`, unprepared));
  const terminal = knowing(unprepared, logins);
  expect(await page.type('(umask 077; npx pgreflect keys > pgreflect.env)', terminal)).toContain('PGREFLECT_ANON_KEY');
  const gateway = page.start('set -a; . ./pgreflect.env; set +a', terminal);
  await database.query('grant select on product to anon');
  await expectProduct(terminal.port, readKey(terminal, 'PGREFLECT_ANON_KEY'), 'Lamp');
  const check = `npx pgreflect check --schemas public --database-url ${written('authenticator')}`;
  expect(await page.type(check, terminal)).toMatch(/^0 errors, /m);
  await gateway.interrupt();
  expect(page.text).toContain('- `--remove` drops the roles');
  await typeLines(`npx pgreflect init --remove --database-url ${written('postgres')}`, terminal);
});

testPage('docs/run-it-on.md', async (page) => {
  const database = await startDatabase();
  page.leaveOut('cloud-sql-proxy my-project:europe-west1:shop --port 5433', 'it needs an account at Google Cloud');
  const behindProxy = written('postgres').replace('localhost:5432', '127.0.0.1:5433');
  const init = `npx pgreflect init --watch --schemas public --database-url ${behindProxy}`;
  await page.type(init, knowing(await withPackage(database.instead), { [behindProxy]: database.url }));
});

testPage('docs/upgrading.md', async (page) => {
  const database = await startDatabase();
  await database.query(lamps);
  const bare = await withPackage(database.instead);
  expect(await page.type('pgreflect --version', bare)).toBe('1.0.0\n');
  expect(page.text).toContain('which `DATABASE_URL` names');
  const init = `pgreflect init --auth --schemas public --database-url ${written('postgres')}`;
  await typeLines(init, bare);
  const terminal = having(bare, { DATABASE_URL: database.url });
  await page.type('pgreflect schema --schemas public --out schema.graphql', terminal);
  await page.type('pgreflect init --auth --schemas public --dry-run \\', terminal);
  await runSql(database.url, readFileSync(join(terminal.directory, 'plan.sql'), 'utf8'));
  await page.type(init, terminal);
  await page.type('pgreflect init --remove --dry-run --schemas public \\', terminal);
  await runSql(database.url, readFileSync(join(terminal.directory, 'remove.sql'), 'utf8'));
});

testPage('docs/deployment.md', async (page) => {
  page.leaveOut('docker build --tag pgreflect .', 'it needs a container engine; the next test runs the services');
  const machine = openFolder();
  for (const path of ['etc/systemd/system', 'usr/local']) mkdirSync(join(machine, path), { recursive: true });
  const places = { ' /etc/': ` ${machine}/etc/`, ' /usr/local ': ` ${machine}/usr/local ` };
  const database = await startDatabase();
  const terminal = having(knowing(await inClone(), database.instead), {
    PATH: `${machine}/usr/local/bin:${pathOfPerson()}`,
  });
  const install = 'npm install --global --prefix /usr/local ./pgreflect-1.0.0.tgz';
  await page.type(install, knowing(terminal, places));
  await writeSettings(page, terminal);
  const files = 'install -D -m 600 pgreflect.env /etc/pgreflect/pgreflect.env';
  await page.type(files, knowing(terminal, { ...places, 'systemctl enable --now pgreflect\n': '' }));
  const gateway = startLines(readUnit(machine), terminal);
  await gateway.until(/GraphQL and GraphiQL/);

  const health = "curl --silent --output /dev/null --write-out '%{http_code}\\n' http://localhost:54321/health";
  expect(await page.type(health, terminal)).toBe('200\n');
  const proxy = 'HTTPS_PROXY=http://proxy.example.com:3128 HTTP_PROXY=http://proxy.example.com:3128';
  const proxied = `${proxy} NO_PROXY=.internal.example.com pgreflect serve`;
  page.leaveOut(proxied, 'it needs a proxy; test/egress/proxy.test.ts has one');
  expect(page.text).toMatch(/with\n`DATABASE_URL` set:/);
  const check = 'pgreflect check --schemas public --format json > report.json';
  await page.type(check, having(terminal, { DATABASE_URL: database.url }));
});

/** `pgreflect.env` as the page describes it. */
async function writeSettings(page: TypedPage, terminal: Terminal): Promise<void> {
  for (const words of ['pgreflect keys', 'pgreflect init --auth']) expect(page.text).toContain(`\`${words}\``);
  const keys = (await typeLines('pgreflect keys', terminal)).replaceAll(
    /^(#.*|PGREFLECT_(ANON|SERVICE)_KEY=.*)\n/gm,
    '',
  );
  expect(keys).toMatch(/^PGREFLECT_JWT_SECRET=\S+\n$/);
  const init = `pgreflect init --auth --schemas public --database-url ${written('postgres')}`;
  const logins = readLogins(await typeLines(init, terminal));
  const settings = { PGREFLECT_DATABASE_URL: 'authenticator', PGREFLECT_ADMIN_DATABASE_URL: 'auth_admin' };
  const connections = Object.entries(settings).map(([name, role]) => `${name}='${logins[written(role)]}'\n`);
  writeFileSync(join(terminal.directory, 'pgreflect.env'), [keys, ...connections].join(''));
}

/** What systemd would start for the unit, with the variables of its file. */
function readUnit(machine: string): string {
  const unit = readFileSync(join(machine, 'etc/systemd/system/pgreflect.service'), 'utf8');
  const setting = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(unit)?.[1] ?? '';
  const variables = readFileSync(join(machine, setting('EnvironmentFile')), 'utf8').match(/^\w+=.*$/gm) ?? [];
  return `exec env ${variables.join(' ')} ${join(machine, setting('ExecStart'))}`;
}

test('docker-compose.yml: its services prepare the database and serve', async () => {
  const block = openPage('docs/deployment.md').block('sh', 'docker build --tag pgreflect .');
  const [secretLines = ''] = /^for [\s\S]*^done .*$/m.exec(block) ?? [];
  expect(readFileSync(join(clone, 'docker-compose.yml'), 'utf8').replaceAll(/^# {3}/gm, '')).toContain(secretLines);
  const database = await startDatabase();
  const terminal = await withPackage({});
  await typeLines(secretLines, terminal);
  const secrets = parseEnv(readFileSync(join(terminal.directory, '.env'), 'utf8'));
  for (const value of Object.values(secrets)) expect(value).toMatch(/^[0-9a-f]{64}$/);
  const { services } = parse(readFileSync(join(clone, 'docker-compose.yml'), 'utf8')) as Compose;
  const { host, password, pathname } = new URL(database.url);
  const given: NodeJS.Dict<string> = { ...secrets, POSTGRES_PASSWORD: password };
  const environment = (name: string) =>
    Object.entries(services[name]!.environment).map(([variable, value]) => {
      const filled = value.replaceAll(/\$\{(\w+):[-?](.*?)\}/g, (_, of: string, usual: string) => given[of] ?? usual);
      return [variable, filled.replace('database:5432/postgres', host + pathname)];
    });
  const as = (name: string) => having(terminal, Object.fromEntries(environment(name)));
  await typeLines(`pgreflect ${services.prepare!.command!.join(' ')}`, as('prepare'));
  const gateway = startLines('pgreflect serve', as('gateway'));
  await gateway.until(/GraphQL and GraphiQL/);
  expect((await fetch(`http://localhost:${terminal.port}/auth/v1/health`)).status).toBe(200);
});

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly command?: readonly string[]; readonly environment: Readonly<Record<string, string>> }>
  >;
}

testPage('examples/shop/README.md', async (page) => {
  const { url, instead } = await startDatabase();
  const terminal = having(await withPackage(instead), { DATABASE_URL: url });
  const load = 'psql "$DATABASE_URL" -1 -f schema.sql -f data.sql';
  if (spawnSync('psql', ['--version']).error) page.leaveOut(load, 'the machine has no psql');
  else await page.type(load, { ...terminal, directory: join(clone, 'examples/shop') });
});

testPage('examples/clients/README.md', async (page) => {
  const terminal = await inClone();
  const start = startLines('npm start', terminal);
  await start.until(/anon key/);
  const beside = having(
    { ...terminal, directory: join(clone, 'examples/clients') },
    { API_URL: terminal.instead['http://localhost:54321']! },
  );
  await page.type('npm ci', beside);
  // In the same terminal, which has the keys.
  const keys = 'eval "$(npm run --silent keys -- ../..)"';
  expect(page.block('sh', 'npm ci')).toContain(`\n${keys}\n`);
  const programs = [...page.text.matchAll(/^\*\*.*?`(npm run [a-z-]+)`/gms)].map(([, words]) => words!);
  expect(programs).toContain('npm run urql');
  for (const words of programs) await typeLines(`${keys}; ${words}`, beside);
});

testPage('examples/email-links/README.md', async (page) => {
  const port = String(await findFreePort());
  const site = `http://localhost:${port}`;
  const terminal = having(await inClone(), { PGREFLECT_SITE_URL: site });
  const start = startLines('npm start', terminal);
  const [, key = ''] = await start.until(/anon key +(\S+)/);
  const [, serviceKey = ''] = await start.until(/service key +(\S+)/);
  const push = 'npm run -s pgreflect -- templates push --dir examples/email-links/button/templates';
  page.leaveOut('cp -R node_modules/pgreflect/examples/email-links .', 'a checkout has the programs');
  page.leaveOut('npx pgreflect templates push --dir email-links/button/templates', 'a checkout has a line of its own');
  expect(await page.typeWords(push, terminal)).toContain('confirmation');
  const environment = { API_URL: terminal.instead['http://localhost:54321']!, PORT: port };
  const beside = having({ ...terminal, directory: join(clone, 'examples/email-links') }, environment);
  const button = page.start('npm ci', knowing(beside, { 'eyJ...': key }));
  await button.until(new RegExp(`^${site}$`, 'm'));
  await page.typeWords(
    'SERVICE_KEY=eyJ... npm run invite -- ana@example.com',
    knowing(beside, { 'eyJ...': serviceKey }),
  );
  await start.interrupt();
  expect(page.text).toContain("`GOTRUE_URI_ALLOW_LIST='com.example.notes://**' npx pgreflect start`");
  await startLines("GOTRUE_URI_ALLOW_LIST='com.example.notes://**' npm start", terminal).until(/anon key/);
});

testPage('examples/deploy/README.md', async (page) => {
  const folder = { ...(await inClone()), directory: join(clone, 'examples/deploy/kubernetes') };
  await page.type('cp secret.example secret.env', folder);
  await page.type(
    `printf '"authenticator" "%s"\\n' "$(sed -n 's/^login-password=//p' secret.env)" > userlist.txt`,
    folder,
  );
  page.leaveOut(
    'kubectl delete job --namespace pgreflect --selector app=prepare --ignore-not-found',
    'it needs a cluster; test/package/kubernetes.test.ts renders what is applied',
  );
});

/** Pages with a test of their own, which needs more than a terminal. */
const typedElsewhere = {
  'examples/live-todo/README.md': 'test/package/live-todo.nightly.test.ts',
  'examples/monitoring/README.md': 'test/http/promtool.nightly.test.ts',
};

test('every page of the repository with lines to type is typed here, or is run by the tests of the documents', () => {
  const examples = readdirSync(join(root, 'examples')).map((name) => `examples/${name}/README.md`);
  const others = ['README.md', ...examples].filter((path) => !typed.has(path));
  const left = others.filter((path) => /^```sh/m.test(openPage(path).text));
  expect(left).toEqual(Object.keys(typedElsewhere));
  for (const [path, by] of Object.entries(typedElsewhere))
    expect(readFileSync(join(root, by), 'utf8')).toContain(dirname(path));
});
