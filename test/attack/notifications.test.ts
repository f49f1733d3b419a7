/**
 * `notify` needs no right: every login of the database, and every function that a caller may call, can send as many as it likes.
 */
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startListener } from '../../src/postgres/system/listener.ts';
import { testGateway } from '../support/gateway.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const schema = `
  create table first (id int primary key);
  grant usage on schema public to anon;
  alter default privileges in schema public grant select on tables to anon;
  grant select on first to anon;`;

/** Notifies without pause until `isOver`, from a connection of the login; returns what it takes in milliseconds. */
async function flood(database: TestDatabase, channel: string, isOver: () => boolean): Promise<number> {
  const client = new pg.Client({ connectionString: database.urlAs('authenticator', 'test') });
  await client.connect();
  onTestFinished(() => client.end());
  const began = performance.now();
  for (let count = 0; !isOver(); count += 1) await client.query('select pg_notify($1, $2)', [channel, String(count)]);
  return performance.now() - began;
}

test.each(['pgreflect', 'pgreflect_config'] as const)(
  'a flood of notifications on %s causes few checks, and the change among them is found',
  async (channel) => {
    const database = await createDatabase();
    let checks = 0;
    let atOnce = 0;
    let maxAtOnce = 0;
    let change = false;
    let isFound = false;
    const listener = startListener({
      connectionString: database.url,
      applicationName: 'test',
      channel,
      onLost: () => {},
      check: async () => {
        checks += 1;
        atOnce += 1;
        maxAtOnce = Math.max(maxAtOnce, atOnce);
        isFound ||= change;
        await new Promise(setImmediate);
        atOnce -= 1;
        return change;
      },
    });
    onTestFinished(() => listener.stop());
    await listener.listening;

    // Each pause is twice the one before, from 100 ms on; where no notification comes in one, as on a busy machine, the next begins
    // anew. Of equal pauses there would be fifteen.
    await vi.waitFor(async () => {
      checks = 0;
      const until = performance.now() + 1500;
      const tookMs = await flood(database, channel, () => performance.now() > until);
      expect(checks).toBeLessThan(tookMs / 200);
    });
    expect(maxAtOnce).toBe(1);
    change = true;
    await flood(database, channel, () => isFound);
  },
);

test('a login that notifies in a loop causes no read of the catalog, and a new table is served', async () => {
  const database = await createDatabase(schema);
  const gateway = await testGateway(database, { schemaPollMs: 600_000 });
  const readings = () => gateway.observations.filter(({ kind }) => kind === 'reloaded').length;
  // Roles belong to the whole server, where other tests change them at any time: one quiet try is enough.
  await vi.waitFor(async () => {
    const before = readings();
    const until = performance.now() + 1000;
    await flood(database, 'pgreflect', () => performance.now() > until);
    expect(readings()).toBe(before);
  });

  const before = readings();
  await database.query(`create table second (id int primary key); notify pgreflect, 'reload'`);
  await vi.waitFor(() => expect(readings()).toBeGreaterThan(before));
  const { body } = await gateway.ask('{ secondCollection { edges { node { id } } } }');
  expect(body).toEqual({ data: { secondCollection: { edges: [] } } });
});
