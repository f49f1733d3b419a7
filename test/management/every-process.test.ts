/**
 * A change is in force on every process once it was answered: with notifications, without them, and while others change too.
 */
import { decodeJwt } from 'jose';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { AuthConfig, AuthValues } from '../../src/config/auth/auth-config.ts';
import { ConfigStore } from '../../src/management/config-store.ts';
import { openManagement } from '../../src/management/open-management.ts';
import { authSchemas } from '../../src/postgres/migrations/migrate.ts';
import { guardPool } from '../../src/postgres/migrations/own-pool.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { send } from '../support/auth-service.ts';
import { hookSecret, startHookServer } from '../support/hook-server.ts';
import { testConfig } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, managedGateway, openPool, ref, testPool } from './management.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createAuthDatabase();
});

beforeEach(async () => {
  await database.query('truncate auth.pgreflect_config, auth.pgreflect_config_versions, auth.pgreflect_rate_limits');
});

/** The store of one more process. */
function processOf(startValues: AuthValues = {}) {
  const observations: Observation[] = [];
  const pool = testPool(database);
  const store = new ConfigStore({
    ref: async () => ref,
    startValues,
    configOnly: false,
    observe: (observation) => observations.push(observation),
  });
  return { pool, store, observations, refresh: () => store.refreshIfNewer(pool) };
}

async function until<T>(read: () => T, is: (value: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 2400; tries += 1) {
    const value = read();
    if (is(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('it did not happen in a minute');
}

describe('a change that was answered', () => {
  test('a change that was answered is seen by the next request on every other process', async () => {
    const token = await addToken(database);
    const first = await managedGateway(database, token);
    const second = await managedGateway(database, token);
    for (let length = 6; length <= 10; length += 1) {
      await first.patch({ mailer_otp_length: length });
      expect((await second.get()).body.mailer_otp_length).toBe(length);
    }
  });

  test('a change that was answered switches a hook on, over to a new secret, and off for the next sign-in', async () => {
    const token = await addToken(database);
    const first = await managedGateway(database, token, { allowPrivateNetworks: true });
    const second = await managedGateway(database, token, { allowPrivateNetworks: true });
    const server = await startHookServer();
    server.answer(({ payload }) => ({ body: { claims: { ...payload.claims, plan: 'team' } } }));
    const signIn = async () => {
      const { status, body } = await send(second.gateway.url, '/signup', {}, {});
      return status === 200 ? decodeJwt(body.access_token).plan : body.message;
    };
    const hook = {
      external_anonymous_users_enabled: true,
      hook_custom_access_token_enabled: true,
      hook_custom_access_token_uri: server.url,
    };
    const another = `v1,whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await first.patch({ ...hook, hook_custom_access_token_secrets: another });
    expect(await signIn()).toBe('Hook requires authorization token');
    await first.patch({ hook_custom_access_token_secrets: `${another}|${hookSecret}` });
    expect(await signIn()).toBe('team');
    await first.patch({ hook_custom_access_token_enabled: false });
    expect(await signIn()).toBeUndefined();
  });

  test('a change that was answered is seen without notifications: the version is compared at the start of each request', async () => {
    const { patch } = await managedGateway(database, await addToken(database));
    const other = processOf();
    for (let seconds = 100; seconds < 120; seconds += 1) {
      await patch({ jwt_exp: seconds });
      expect((await other.refresh()).jwt_exp).toBe(seconds);
      expect(other.store.current().jwt_exp).toBe(seconds);
    }
    expect(other.store.version).toBe(20);
  });

  test('a change that was answered is seen on the connection of a request, inside its transaction', async () => {
    const { patch } = await managedGateway(database, await addToken(database));
    const { store, pool } = processOf();
    await patch({ jwt_exp: 77 });
    const config = await pool.transaction((connection) => store.refreshIfNewer(connection));
    expect(config.jwt_exp).toBe(77);
  });

  test('a change that was answered does not reach a request that started before it', async () => {
    const { patch } = await managedGateway(database, await addToken(database));
    const { refresh } = processOf();
    await patch({ jwt_exp: 60 });
    const snapshot: AuthConfig = await refresh();
    await patch({ jwt_exp: 120 });
    await refresh();
    expect(snapshot.jwt_exp).toBe(60);
  });

  test('a change that was answered reaches idle processes by a notification', async () => {
    const { patch } = await managedGateway(database, await addToken(database));
    const pool = guardPool(testPool(database), authSchemas());
    const config = testConfig({ adminDatabaseUrl: database.url, projectRef: ref });
    const management = openManagement({
      config,
      authUrl: 'https://api.test/auth/v1',
      pool,
      clock: systemClock,
      observe: () => {},
    });
    onTestFinished(() => management.stop());
    await management.loaded;
    await until(() => patchUntil(management.store, patch), Boolean);
  });

  test('a change that was answered reaches idle processes after the connection that listens was cut', async () => {
    const token = await addToken(database);
    const first = await managedGateway(database, token);
    const second = await managedGateway(database, token);
    await database.query(
      `select pg_terminate_backend(a.pid) from pg_stat_activity a
      where a.application_name = 'pgreflect configuration listener' and a.datname = current_database()`,
    );
    await first.patch({ jwt_exp: 99 });
    expect((await second.get()).body.jwt_exp).toBe(99);
  });
});

let changes = 0;
/** Changes something and tells whether an earlier change has arrived by itself. */
function patchUntil(store: ConfigStore, patch: (body: unknown) => Promise<unknown>): boolean {
  changes += 1;
  void patch({ jwt_exp: 1000 + changes });
  return store.current().jwt_exp > 1000;
}

describe('reading', () => {
  test('reading answers that arrive out of order never bring back older values', async () => {
    const token = await addToken(database);
    const { patch } = await managedGateway(database, token);
    const other = processOf();
    let lowest = 0;
    for (let seconds = 1; seconds <= 30; seconds += 1) {
      const pending = [other.refresh(), other.refresh(), other.refresh()];
      await patch({ jwt_exp: seconds });
      const started = other.refresh();
      await Promise.all(pending);
      expect((await started).jwt_exp).toBe(seconds);
      expect(other.store.current().jwt_exp).toBeGreaterThanOrEqual(lowest);
      lowest = seconds;
    }
  });

  test('while the database does not answer, old values are not used', async () => {
    const { store } = processOf();
    const away = openPool('postgresql://nobody@127.0.0.1:1/none');
    onTestFinished(() => away.stop());
    await expect(store.refreshIfNewer(away)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('a configuration that cannot be read is reported once, and the last good one stays', async () => {
    const { patch } = await managedGateway(database, await addToken(database));
    const { refresh, observations } = processOf();
    await patch({ jwt_exp: 60 });
    await refresh();
    await database.query('alter table auth.pgreflect_config rename column values to other');
    expect((await refresh()).jwt_exp).toBe(60);
    expect((await refresh()).jwt_exp).toBe(60);
    await database.query('alter table auth.pgreflect_config rename column other to values');
    const warnings = observations.filter(({ kind }) => kind === 'warning');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ message: expect.stringContaining('cannot be read') });
  });

  test('a stored value that this version cannot use leaves the other ones in force', async () => {
    await database.query(
      `insert into auth.pgreflect_config values ($1, 7, '{"jwt_exp": "soon", "mailer_otp_length": 8, "of_the_future": 1}', now(), 'x')`,
      [ref],
    );
    const { refresh, observations } = processOf({ jwt_exp: 5 });
    expect(await refresh()).toMatchObject({ jwt_exp: 5, mailer_otp_length: 8 });
    expect(observations).toContainEqual({
      kind: 'warning',
      message: 'The stored value of jwt_exp must be an integer; its start value is used instead.',
    });
  });

  test('the first reading names the start values that stored ones override', async () => {
    const { patch } = await managedGateway(database, await addToken(database));
    await patch({ jwt_exp: 60, site_url: 'https://stored.example' });
    const { refresh, observations } = processOf({ site_url: 'https://start.example', mailer_otp_length: 8 });
    await refresh();
    expect(observations).toEqual([
      {
        kind: 'warning',
        message: 'Values stored by the management API override these start values: site_url.',
        hint: 'Start with --config-only to ignore stored configuration.',
      },
    ]);
  });

  test('new start values, for example of a file that was read again, stay below what is stored', async () => {
    const { patch } = await managedGateway(database, await addToken(database));
    await patch({ jwt_exp: 60 });
    const { refresh, store } = processOf();
    await refresh();
    store.setStartValues({ jwt_exp: 1, mailer_otp_length: 9 });
    expect(store.current()).toMatchObject({ jwt_exp: 60, mailer_otp_length: 9 });
  });

  test('values stored for another project of the same database do not count', async () => {
    const { get } = await managedGateway(database, await addToken(database));
    await database.query(`insert into auth.pgreflect_config values ($1, 7, '{"jwt_exp": 60}', now(), 'x')`, [
      'z'.repeat(20),
    ]);
    expect((await get()).body.jwt_exp).toBe(3600);
  });
});
