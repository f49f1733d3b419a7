/**
 * Somebody who has stolen an access token keeps requests open whose body is not complete, for the time when the token is revoked.
 * Checked is what the database has afterwards.
 */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { accessScopes } from '../../src/management/tokens/access-tokens.ts';
import { addToken, managedGateway, ref } from '../management/management.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const id = '11111111-1111-4111-8111-111111111111';
const database = await createAuthDatabase(
  `create table note (id int primary key); grant select, insert on note to service_role;`,
);
await database.query(
  `insert into auth.users (id, instance_id, aud, role, email) values ('${id}', '00000000-0000-0000-0000-000000000000', 'authenticated', 'authenticated', 'victim@x.test')`,
);

const insert = 'mutation { insertIntonoteCollection(objects: [{id: 2}]) { affectedCount } }';
const requests: readonly (readonly [method: string, path: string, body: object])[] = [
  ['POST', `/v1/projects/${ref}/database/statements`, { statements: 'insert into note values (1)' }],
  ['PATCH', `/v1/projects/${ref}/config/auth`, { site_url: 'https://evil.test' }],
  ['POST', `/v1/projects/${ref}/access-tokens`, { name: 'stays', scopes: ['project:operate'], expiresAt: null }],
  ['POST', '/studio/graphql', { query: insert }],
  ['POST', `/v1/projects/${ref}/act-as`, { user: id }],
  ['POST', '/auth/v1/admin/users', { email: 'thief@x.test', password: 'a good password' }],
  ['PUT', `/auth/v1/admin/users/${id}`, { password: 'taken over now' }],
];

async function everything(): Promise<unknown> {
  const of = (table: string) => database.query(`select pg_catalog.to_jsonb(t) as row from ${table} t order by 1`);
  return Promise.all(['note', 'auth.users', 'auth.pgreflect_config', 'auth.audit_log_entries'].map(of));
}

test.each(requests)(
  '%s %s does nothing with a token that is revoked before the body is complete',
  async (method, path, content) => {
    const stolen = await addToken(database, { scopes: accessScopes });
    const { gateway } = await managedGateway(database, stolen, {
      databaseUrl: database.urlAs('authenticator', 'test'),
      adminDatabaseUrl: database.url,
    });
    const before = await everything();
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    onTestFinished(() => owner.end());
    const isWaiting = async () =>
      (
        await database.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'access_tokens' and datname = current_database()`,
        )
      ).length > 0;
    // The token is looked at while it is valid, and the body not complete.
    await owner.query('begin; lock table auth.pgreflect_access_tokens in access exclusive mode');
    const body = JSON.stringify(content);
    const socket = connect(gateway.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stolen}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 9)}`,
    );
    await vi.waitFor(async () => expect(await isWaiting()).toBe(true));
    await owner.query('commit');
    await vi.waitFor(async () => expect(await isWaiting()).toBe(false));
    await owner.query('update auth.pgreflect_access_tokens set revoked_at = now()');
    const tokens = (await owner.query('select from auth.pgreflect_access_tokens')).rowCount;
    socket.write(body.slice(9));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await everything()).toEqual(before);
    expect((await owner.query('select from auth.pgreflect_access_tokens')).rowCount).toBe(tokens);
  },
);
