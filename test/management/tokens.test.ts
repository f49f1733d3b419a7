import { beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../commands/run-command.ts';
import { createAuthDatabase, createDatabase, type TestDatabase } from '../support/postgres.ts';
import { managedGateway, ref } from './management.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createAuthDatabase();
});

const tokens = (...args: readonly string[]) => runCommand(['tokens', ...args], { env: { DATABASE_URL: database.url } });

describe('pgreflect tokens', () => {
  test('create prints a token that works, alone on standard output, and only its hash is stored', async () => {
    const args = ['tokens', 'create', '--name', 'a pipeline', '--expires', '30d'];
    const { code, out, err } = await runCommand(args, { env: { DATABASE_URL: database.url } });
    const token = out.trim();
    expect(code).toBe(0);
    expect(token).toMatch(/^sbp_[0-9a-f]{40}$/);
    expect(err).toMatch(/^Id [0-9a-f-]{36}, auth_config:read auth_config:write, expires 20\d\d-/);
    const { patch } = await managedGateway(database, token);
    expect((await patch({ jwt_exp: 60 })).status).toBe(200);
    const [row] = await database.query<{ text: string; by: string }>(
      `select (select string_agg(t::text, ' ') from auth.pgreflect_access_tokens t) as text,
        (select c.updated_by from auth.pgreflect_config c) as by`,
    );
    expect(row?.text).not.toContain(token);
    expect(row?.by).toMatch(/^a pipeline \(/);
  });

  test('--scope and --project-ref narrow what the token may do', async () => {
    const reader = await tokens('create', '--scope', 'auth_config:read', '--project-ref', ref);
    const { get, patch } = await managedGateway(database, reader.out.trim());
    expect([(await get()).status, (await patch({})).status]).toEqual([200, 403]);
    const elsewhere = await tokens('create', '--project-ref', 'z'.repeat(20));
    expect((await (await managedGateway(database, elsewhere.out.trim())).get()).status).toBe(403);
  });

  test('list shows all access tokens without their text, and a revoked one is refused at once', async () => {
    const made = JSON.parse((await tokens('create', '--name', 'to be revoked', '--json')).out);
    const { get } = await managedGateway(database, made.token);
    expect((await get()).status).toBe(200);
    const listed = await tokens('list');
    expect(listed.out).toContain(made.id);
    expect(listed.out).toContain('to be revoked');
    expect(listed.out).not.toContain(made.token);
    const revoked = await tokens('revoke', made.id.slice(0, 13));
    expect(revoked.out).toBe(`Revoked: ${made.id}  to be revoked\n`);
    expect((await get()).status).toBe(401);
    const again = JSON.parse((await tokens('list', '--json')).out) as { id: string; revoked_at: string | null }[];
    expect(again.find(({ id }) => id === made.id)?.revoked_at).toMatch(/^20\d\d-/);
    expect((await tokens('revoke', made.id)).code).toBe(1);
  });

  test('list names the token that one was created with, and revoke takes both, or all of --access-token', async () => {
    const scopes = ['--scope', 'project:operate', '--scope', 'auth_config:read'];
    expect(JSON.parse((await tokens('create', '--name', 'two', ...scopes, '--json')).out).scopes.toSorted()).toEqual([
      'auth_config:read',
      'project:operate',
    ]);
    const operator = JSON.parse((await tokens('create', '--name', 'op', '--scope', 'project:operate', '--json')).out);
    const fixed = `sbp_${'1'.repeat(40)}`;
    const { call } = await managedGateway(database, fixed, { accessToken: fixed });
    const mint = async (token: string, name: string) => {
      const body = JSON.stringify({ name, scopes: ['project:operate'], expiresAt: null });
      const path = `/v1/projects/${ref}/access-tokens`;
      return (await call({ method: 'POST', path, token: `Bearer ${token}`, body })).body.id as string;
    };
    const [child, other] = [await mint(operator.token, 'child'), await mint(fixed, 'of the file')];
    const { out } = await tokens('list');
    expect(out).toMatch(
      new RegExp(`^${child}  made \\S+ with ${operator.id.slice(0, 8)} \\(op\\)  never expires`, 'm'),
    );
    expect(out).toMatch(new RegExp(`^${other}  made \\S+ with --access-token  never expires`, 'm'));
    const revoked = await tokens('revoke', operator.id);
    expect(revoked.out).toBe(`Revoked: ${operator.id}  op\nRevoked: ${child}  child\n`);
    expect((await tokens('revoke', 'fixed')).out).toBe(`Revoked: ${other}  of the file\n`);
    expect(await tokens('revoke', 'fixed')).toMatchObject({ code: 0, out: '' });
  });

  test.each([
    [['creat'], 'tokens has no action "creat"'],
    [[], 'tokens needs an action'],
    [['create', '--name', 'a', '--name', 'b'], '--name is given 2 times.'],
    [['create', '--scope', 'everything'], 'there is no scope "everything"'],
    [['create', '--expires', 'soon'], '--expires must be a time from now'],
    [['create', '--expires', '2020-01-31'], '--expires must be in the future'],
    [['create', '--expires', '2030-02-31'], '--expires must be a time from now'],
    [['create', '--expires', '2030-13-01'], '--expires must be a time from now'],
    [['create', '--expires', '999999y'], '--expires must be a time from now'],
    [['revoke'], 'revoke needs the id'],
    [['revoke', 'abcd1234'], 'No active token has an id that begins with "abcd1234"'],
    [['list', 'abcd'], 'list takes no id'],
    [['create', '--project-ref', 'short'], 'must be 20 lower-case letters or digits'],
  ])('%j is refused with what to do', async (args, message) => {
    const { code, err } = await tokens(...args);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });

  test("a database without the tables, or somebody else's, is refused with what to do", async () => {
    const bare = await createDatabase();
    const missing = await runCommand(['tokens', 'list'], { env: { DATABASE_URL: bare.url } });
    expect(missing.err).toContain('This database has no auth tables.');
    expect(missing.err).toContain('pgreflect init --auth');
    const foreign = await runCommand(['tokens', 'list'], {
      env: { DATABASE_URL: database.urlAs('authenticator', 'test') },
    });
    expect(foreign.err).toContain('This login role has no access to the auth tables.');
    expect(foreign.err).toContain('Set --admin-database-url to the connection that `pgreflect init --auth` printed');
    const nowhere = await runCommand(['tokens', 'list'], {});
    expect(nowhere.err).toContain(
      'Set --admin-database-url postgresql://auth_admin:PASSWORD@HOST:5432/DATABASE, or PGREFLECT_ADMIN',
    );
  });
});
