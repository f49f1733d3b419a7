/**
 * API roles of a test file's own, for files whose logins may act as them: roles belong to the server, and other tests look at who may act as
 * the usual ones.
 */
import { randomBytes } from 'node:crypto';
import type { TestDatabase } from './postgres.ts';
import { atEnd } from './when-over.ts';

/** Names of roles, of a login with the password `one` that may act as them, and the options that say so. */
export interface OwnRoles {
  readonly anon: string;
  readonly authenticated: string;
  readonly service: string;
  readonly login: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Creates them; they are dropped after the tests of the file. */
export async function createOwnRoles(database: TestDatabase): Promise<OwnRoles> {
  const mark = randomBytes(4).toString('hex');
  const [anon, authenticated, service, login] = ['anon', 'user', 'service', 'login'].map((kind) => `${kind}_${mark}`);
  const all = `${anon}, ${authenticated}, ${service}`;
  await database.query(`create role ${anon}; create role ${authenticated}; create role ${service} bypassrls;
    create role ${login} login noinherit password 'one' in role ${all}`);
  atEnd(() => database.query(`drop owned by ${all}, ${login}; drop role ${all}, ${login}`));
  const env = {
    PGREFLECT_ANON_ROLE: anon!,
    PGREFLECT_AUTHENTICATED_ROLE: authenticated!,
    PGREFLECT_SERVICE_ROLE: service!,
  };
  return { anon: anon!, authenticated: authenticated!, service: service!, login: login!, env };
}
