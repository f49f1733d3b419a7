/**
 * Connection strings in the forms that PostgreSQL takes, and what a person is told where one cannot be used.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand, runProcess } from './run-command.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase('create table note (id int primary key); grant select on note to anon');
});

/** The SDL of the anon role, over this connection. */
const schema = (url: string) => runCommand(['schema', '--role', 'anon'], { env: { DATABASE_URL: url } });

describe('without a host of its own, as sockets are named', () => {
  test('without a host of its own, a URL connects to the host among the parameters', async () => {
    const { username, password, hostname, port, pathname } = new URL(database.urlAs('authenticator', 'test'));
    const url = `postgresql://${username}:${password}@${pathname}?host=${hostname}&port=${port}`;
    expect(await schema(url)).toMatchObject({ code: 0, out: expect.stringContaining('type note ') });
  });

  test('the place is named as it is, and no password shown', async () => {
    const { code, err } = await schema('postgresql://me:hunter2@/shop?host=/nowhere');
    expect(code).toBe(1);
    expect(err).toContain('Cannot connect to the database "shop" at /nowhere:5432: connect ENOENT');
    expect(err).not.toContain('hunter2');
  });
});

describe('one that cannot be used is a problem of the configuration', () => {
  const refused = [
    ['sslmode=verify-full&sslrootcert=/nowhere/ca.pem', "ENOENT: no such file or directory, open '/nowhere/ca.pem'"],
    ['sslnegotiation=direct&sslmode=disable', 'sslnegotiation=direct requires SSL to be enabled'],
    ['sslmode=verify-ca', 'verify-ca requires specifying a CA'],
  ] as const;
  for (const [parameters, reason] of refused) {
    test(parameters, async () => {
      const env = {
        DATABASE_URL: `postgresql://me:hunter2@127.0.0.1:1/shop?${parameters}`,
        PGREFLECT_JWT_SECRET: 'a-secret-of-at-least-thirty-two-characters',
      };
      const { code, err } = await runCommand(['serve', '--port', '0'], { env });
      expect(code).toBe(1);
      expect(err).toContain('There is 1 problem:');
      expect(err).toContain(`Cannot connect to the database "shop" at 127.0.0.1:`);
      expect(err).toContain(reason);
      expect(err).not.toContain('hunter2');
    });
  }
});

describe('a password with a character that ends it', () => {
  for (const password of [
    'hunter#22',
    'hunter/22',
    'hunter?22',
    '12/hunter',
    '12#hunter',
    '12?hunter',
    'a@12/hunter',
    'a@b#hunter',
  ])
    test(`a password with a character that ends it is explained and not shown: ${password}`, async () => {
      const { code, err } = await schema(`postgresql://me:${password}@db.test:5432/shop`);
      expect(code).toBe(1);
      expect(err).toContain('%40 for @, %23 for #, %2F for /');
      expect(err).not.toMatch(/hunter|22|12|db\.test/);
    });
});

test('sslmode=prefer takes a server without TLS, with no warning; an unknown one is refused', async () => {
  const env = { DATABASE_URL: `${database.urlAs('authenticator', 'test')}?sslmode=prefer` };
  expect(await runProcess(['schema', '--role', 'anon'], { env })).toMatchObject({ code: 0, err: '' });
  const required = await runProcess(['schema'], {
    env: { DATABASE_URL: env.DATABASE_URL.replace('prefer', 'require') },
  });
  expect([required.code, required.err]).toEqual([
    1,
    expect.stringContaining('The server does not support SSL connections'),
  ]);
  expect(required.err).not.toContain('Warning');
  const unknown = await schema(env.DATABASE_URL.replace('prefer', 'preferred'));
  expect([unknown.code, unknown.err]).toEqual([
    1,
    expect.stringContaining('has an unknown sslmode; use one of disable, allow'),
  ]);
});

test('a name with a percent sign that encodes nothing is taken as it is', async () => {
  const { code, err } = await schema('postgresql://me:50%off@127.0.0.1:1/100%');
  expect(code).toBe(1);
  expect(err).toContain('Cannot connect to the database "100%" at 127.0.0.1:1: connection refused.');
});
