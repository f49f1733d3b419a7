/**
 * Tokens whose role is none, odd or too much: nobody becomes the login role, a superuser or a role that was not granted.
 */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey, serviceKey, token } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';
import { expectNothingLeaked } from './attack.ts';

let database: TestDatabase;
let strict: TestGateway;
let open: TestGateway;
beforeAll(async () => {
  database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create function whoami() returns text stable language sql as $$ select concat_ws('|', session_user, current_user) $$;
    create table login_only (id int primary key);
    grant usage on schema public to anon, authenticated, service_role, authenticator;
    grant select on login_only to authenticator;`);
  strict = await testGateway(database, { schemaPollMs: 600_000, poolSize: 1 }, atEnd);
  open = await testGateway(database, { schemaPollMs: 600_000, poolSize: 1, allowedRoles: '*' }, atEnd);
});
afterEach(async () => {
  for (const gateway of [strict, open]) {
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    expect((await gateway.ask('{ whoami }')).body).toEqual({ data: { whoami: 'authenticator|anon' } });
    expect(gateway.observations.filter(({ kind }) => kind === 'masked_error')).toEqual([]);
  }
});

const asRole = async (gateway: TestGateway, role: unknown) =>
  gateway.ask('{ whoami }', { headers: { authorization: `Bearer ${await token({ role, sub: 'x' })}` } });

describe('a role claim', () => {
  test.each<[string, unknown]>([
    ['none', 'none'],
    ['empty', ''],
    ['blank', ' '],
    ['none in capitals', 'NONE'],
    ['none with blanks', ' none '],
    ['default', 'default'],
    ['a superuser', 'postgres'],
    ['a role of the server', 'pg_read_all_data'],
    ['a role that does not exist', 'nobody_of_that_name'],
    ['a list of roles', 'anon,service_role'],
    ['quoted', '"service_role"'],
    ['an injection', "anon'; set role postgres; --"],
    ['a name with a NUL', 'anon\u0000'],
    ['half a surrogate pair', 'anon\ud800'],
    ['4,000 characters', 'r'.repeat(4000)],
    ['anon, cut at 63 bytes', `${'anon'}${' '.repeat(60)}`],
    ['an array', ['service_role']],
    ['an array of the anon role', ['anon']],
    ['an object', { name: 'service_role' }],
    ['a number', 10],
    ['true', true],
    ['inherited', '__proto__'],
  ])('that is %s is refused, also where every role is allowed', async (_name, role) => {
    for (const gateway of [strict, open]) {
      const { status, body } = await asRole(gateway, role);
      expect([status, body.errors[0].extensions.code]).toEqual([403, 'ROLE_NOT_ALLOWED']);
      expect(body.data ?? null).toBeNull();
      expectNothingLeaked(JSON.stringify(body));
    }
  });

  test('that is missing or null is the anon role, never the login role', async () => {
    for (const role of [undefined, null]) {
      expect((await asRole(open, role)).body.data).toEqual({ whoami: 'authenticator|anon' });
    }
  });

  test('a role claim cannot be the service role without its key or a signature', async () => {
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"role":"service_role"}').toString('base64url')}.`;
    for (const headers of [{ authorization: `Bearer ${unsigned}` }, { apikey: unsigned }]) {
      expect((await strict.ask('{ whoami }', { headers })).status).toBe(401);
    }
    const forged = await token({ role: 'service_role' }, 'another secret of more than thirty-two characters');
    expect((await strict.ask('{ whoami }', { headers: { authorization: `Bearer ${forged}` } })).status).toBe(401);
    expect((await strict.ask('{ whoami }', { key: serviceKey })).body.data).toEqual({
      whoami: 'authenticator|service_role',
    });
  });
});

test('headers that look like claims, roles or settings are only headers', async () => {
  const { body } = await strict.ask('{ whoami }', {
    headers: {
      role: 'service_role',
      'x-role': 'service_role',
      'request.jwt.claims': '{"role":"service_role"}',
      pgoptions: '-c role=postgres',
    },
  });
  expect(body).toEqual({ data: { whoami: 'authenticator|anon' } });
});

test('what only the login role may read is in no schema', async () => {
  for (const key of [anonKey, serviceKey]) {
    const { body } = await strict.ask('{ loginOnlyCollection { edges { cursor } } }', { key });
    expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  }
});

test('requests of a role that is dropped while in use get an error that says so, and other roles are served', async () => {
  await database.query(
    'drop role if exists attack_leaver; create role attack_leaver; grant attack_leaver to authenticator; grant usage on schema public to attack_leaver',
  );
  expect((await asRole(open, 'attack_leaver')).body.data).toEqual({ whoami: 'authenticator|attack_leaver' });
  await database.query('drop owned by attack_leaver; drop role attack_leaver');
  for (let round = 0; round < 3; round++) {
    const { status, body } = await asRole(open, 'attack_leaver');
    expect([status, body.errors[0].extensions.code]).toEqual([403, 'ROLE_NOT_ALLOWED']);
  }
});
