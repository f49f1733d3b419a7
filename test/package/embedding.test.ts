/**
 * The programs of docs/embedding.md run as written; in `package.nightly.test.ts` from the packed package.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createAuth } from '../../src/embed/auth.ts';
import { createGateway } from '../../src/index.ts';
import { anonKey, secret } from '../support/http.ts';
import { createAuthDatabase, createDatabase } from '../support/postgres.ts';
import { embeddingSchema, expectEmbeddingAnswers, writeEmbeddingPrograms } from './embedding.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../../src');

/** A folder in which the packages of the tests are found. */
function makeFolder(): string {
  const folder = mkdtempSync(join(import.meta.dirname, '.embedding-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('the programs of docs/embedding.md answer as over HTTP', async () => {
  const { url } = await createAuthDatabase(embeddingSchema);
  const folder = makeFolder();
  writeEmbeddingPrograms(folder, {
    pgreflect: join(source, 'index.ts'),
    'pgreflect/graphql': join(source, 'embed/graphql.ts'),
    'pgreflect/auth': join(source, 'embed/auth.ts'),
    'pgreflect/go-templates': join(source, 'embed/go-templates.ts'),
  });
  const env = { ...process.env, DATABASE_URL: url, JWT_SECRET: secret, ANON_KEY: anonKey };
  const { stdout } = await run(process.execPath, ['check.js'], { cwd: folder, env });
  expectEmbeddingAnswers(stdout);
});

test('wrong options are refused together, by their names', async () => {
  const wrong = { databaseURL: 'postgresql://x', port: 'many', auth: { site_url: 'nowhere' } };
  await expect(createGateway(wrong as never)).rejects.toMatchObject({
    problems: expect.arrayContaining([
      { problem: 'There is no option "databaseURL".', fix: 'Did you mean "databaseUrl"?' },
      expect.objectContaining({ problem: expect.stringContaining('--port') }),
    ]),
  });
});

test('the auth service alone says what it lacks: a key that signs, its tables', async () => {
  const { url } = await createDatabase('');
  await expect(createAuth({ databaseUrl: url, jwksUrl: 'https://keys.example.com/jwks.json' })).rejects.toMatchObject({
    problems: [{ problem: 'No key signs tokens.', fix: expect.stringContaining('jwtSecret') }],
  });
  const auth = await createAuth({ databaseUrl: url, jwtSecret: secret });
  onTestFinished(() => auth.close());
  expect(await auth.ready()).toContain('pgreflect init --auth');
});

test('the auth service alone notices that others own its tables', async () => {
  const database = await createAuthDatabase();
  const auth = await createAuth({ databaseUrl: database.url, jwtSecret: secret });
  onTestFinished(() => auth.close());
  const settings = () =>
    auth.fetch(new Request('https://shop.example.com/auth/v1/settings', { headers: { apikey: anonKey } }));
  expect([(await settings()).status, await auth.ready()]).toEqual([200, null]);
  await database.query('alter table auth.users owner to anon');
  await expect.poll(async () => (await settings()).status, { timeout: 30_000 }).not.toBe(200);
  expect(await auth.ready()).toContain('pgreflect init --auth');
});

test('the management API takes bodies larger than those of operations', async () => {
  const { url } = await createAuthDatabase();
  const [accessToken, projectRef] = [`sbp_${'0'.repeat(40)}`, 'a'.repeat(20)];
  const gateway = await createGateway(
    { databaseUrl: url, jwtSecret: secret, accessToken, projectRef },
    { observe: () => {} },
  );
  onTestFinished(() => gateway.close());
  const address = `https://shop.example.com/v1/projects/${projectRef}/config/auth`;
  const patch = (blanks: number) =>
    gateway.fetch(
      new Request(address, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jwt_exp: 1800 }) + ' '.repeat(blanks),
      }),
    );
  expect((await patch(1_500_000)).status).toBe(200);
  expect((await patch(2_500_000)).status).toBe(413);
});

test('pgreflect/graphql loads no HTTP server, no account and no email', async () => {
  const loaded = await loadedBy('embed/graphql.ts');
  expect(loaded.some((url) => url.endsWith('/src/graphql/open-graphql.ts'))).toBe(true);
  expect(
    loaded.filter((url) => /\/src\/(auth|email|management|studio|cli)\/|node_modules\/fastify\//.test(url)),
  ).toEqual([]);
});

test('pgreflect/auth loads nothing of the GraphQL API, also when it runs', async () => {
  const options = { databaseUrl: 'postgresql://nobody@127.0.0.1:1/none', jwtSecret: secret };
  const loaded = await loadedBy('embed/auth.ts', `await (await all.createAuth(${JSON.stringify(options)})).close();`);
  expect(loaded.some((url) => url.endsWith('/src/auth/start-auth.ts'))).toBe(true);
  expect(loaded.filter((url) => /\/src\/(graphql|studio|cli)\/|node_modules\/graphql(-yoga)?\//.test(url))).toEqual([]);
});

/** The modules that an entry of the package loads. @param use What then runs with its exports, `all`. */
async function loadedBy(entry: string, use = ''): Promise<readonly string[]> {
  const list = `import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load(url, context, next) { urls.push(url); return next(url, context); } });
    const all = await import(${JSON.stringify(join(source, entry))});
    ${use}
    process.stdout.write(JSON.stringify(urls));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', list], { cwd: makeFolder() });
  return JSON.parse(stdout);
}
