/**
 * The auth service's parts on a test's database: its tables, a clock that stands still, and users to try them on.
 */

import { AuthError } from '../../src/auth/model/auth-error.ts';
import type { User } from '../../src/auth/model/user.ts';
import { emailIdentityData, insertIdentity } from '../../src/auth/store/identities.ts';
import { type RefreshOutcome, refreshSession } from '../../src/auth/store/refresh.ts';
import { createSession, type IssuedSession } from '../../src/auth/store/sessions.ts';
import type { StoreTransaction } from '../../src/auth/store/transaction.ts';
import { insertUser, loadUser, updateUser } from '../../src/auth/store/users.ts';
import { type AuthConfig, defaultAuthConfig } from '../../src/config/auth/auth-config.ts';
import type { Queryable } from '../../src/postgres/system/queryable.ts';
import { createSystemPool, type SystemPool } from '../../src/postgres/system/run-system.ts';
import { migrateDatabase } from './migrate-database.ts';
import { createAuthDatabase, createDatabase, type TestDatabase } from './postgres.ts';
import { atEnd } from './when-over.ts';

/** A clock that moves when it is told to. */
export interface HeldClock {
  /** Milliseconds since the epoch. */
  time: number;
  now(): number;
  /** Moves it on by that many seconds. */
  pass(seconds: number): void;
}

/** A clock that stands at noon of 21 November 2026. */
export function heldClock(): HeldClock {
  return {
    time: Date.parse('2026-11-21T12:00:00Z'),
    now() {
      return this.time;
    },
    pass(seconds) {
      this.time += seconds * 1000;
    },
  };
}

/** A database with the auth tables. */
export interface TestAuth {
  readonly database: TestDatabase;
  readonly pool: SystemPool;
  readonly clock: HeldClock;
  /** What functions of the store take: statements run one by one, or in the transaction that is given. */
  tx(queryable?: Queryable): StoreTransaction;
  /** A confirmed user with an email identity. */
  addUser(email: string, changes?: Parameters<typeof updateUser>[2]): Promise<User>;
  /** A session of the user by password. */
  signIn(user: User): Promise<IssuedSession>;
  /** Exchanges a refresh token as the request does: what a refusal writes is committed. */
  refresh(token: string, changes?: Partial<AuthConfig>): Promise<Exclude<RefreshOutcome, AuthError>>;
  /** The user as it is now. */
  reload(user: User): Promise<User>;
}

/** Makes the database, with the tables, on a pool of so many connections; with SQL they are made beside what it has made. */
export async function testAuth(connections = 4, ...sql: readonly string[]): Promise<TestAuth> {
  const database = sql.length === 0 ? await createAuthDatabase() : await createDatabase(...sql);
  if (sql.length > 0) await migrateDatabase(database.url);
  const pool = openSystemPool(database.url, connections);
  const clock = heldClock();
  const tx = (queryable: Queryable = pool) => ({ query: queryable.query.bind(queryable), clock });
  return {
    database,
    pool,
    clock,
    tx,
    async addUser(email, changes = {}) {
      return pool.transaction(async (connection) => {
        const user = await insertUser(tx(connection), { ...plainUser, email });
        const identityData = emailIdentityData(user.id, email, {});
        await insertIdentity(tx(connection), { userId: user.id, provider: 'email', providerId: user.id, identityData });
        await updateUser(tx(connection), user.id, { emailConfirmedAt: clock.now(), ...changes });
        return (await loadUser(connection, user.id))!;
      });
    },
    signIn: (user) =>
      createSession(tx(), { userId: user.id, method: 'password', client: { userAgent: 'test', ip: '192.0.2.1' } }),
    async refresh(token, changes = {}) {
      const request = {
        config: { ...defaultAuthConfig, ...changes },
        client: { userAgent: 'browser', ip: '192.0.2.7' },
      };
      const outcome = await pool.transaction((own) => refreshSession({ ...tx(own), ...request }, token));
      if (outcome instanceof AuthError) throw outcome;
      return outcome;
    },
    reload: async (user) => (await loadUser(pool, user.id))!,
  };
}

/** A pool for system statements that is stopped after the test file. */
export function openSystemPool(connectionString: string, size: number): SystemPool {
  const options = {
    connectionString,
    size,
    waitMs: 60_000,
    applicationName: 'pgreflect test',
    onError: () => {},
    preparedStatements: true,
  };
  const pool = createSystemPool(options);
  atEnd(() => pool.stop());
  return pool;
}

const plainUser = {
  audience: 'authenticated',
  role: 'authenticated',
  phone: null,
  passwordHash: null,
  appMetadata: { provider: 'email', providers: ['email'] },
  userMetadata: {},
};
