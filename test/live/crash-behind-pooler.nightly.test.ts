/**
 * PostgreSQL crashes, and loses what was recorded of changes, while PgBouncer keeps the connections of the gateway, which so sees
 * nothing of it. Needs the program `pgbouncer`.
 */
import { expect, onTestFinished, test } from 'vitest';
import { startPgBouncer } from '../bench/src/pgbouncer.ts';
import { createDatabase } from '../storm/world.ts';
import { testGateway } from '../support/gateway.ts';
import { overEvents } from '../support/live.ts';
import { recordChanges } from '../support/live-record.ts';
import { defaultRoles } from '../support/usual-roles.ts';

const livePollMs = 5000;

test('a change just before a crash brings its event', async () => {
  const database = await createDatabase(onTestFinished);
  const url = database.urlAs('postgres');
  await database.query(`${defaultRoles};
    create table note (id int primary key); insert into note values (1); grant select on note to anon`);
  await recordChanges({ url });
  const pooler = await startPgBouncer(database.urlAs('authenticator'), 5);
  if (pooler === null)
    throw new Error('PgBouncer is not installed. Install it, for example: apt-get install pgbouncer');
  onTestFinished(() => pooler.stop());
  const urls = { databaseUrl: pooler.url, adminDatabaseUrl: pooler.url };
  const gateway = await testGateway(
    { ...database, url },
    { ...urls, livePollMs, liveIntervalMs: 600_000, liveMinIntervalMs: 20 },
  );
  const heard = overEvents(gateway.url, { query: 'subscription { noteCollection { edges { node { id } } } }' });
  await heard.next();
  const { live } = gateway.graphql;
  await expect.poll(() => live.state().exactGroups).toBe(1);
  const { runs } = live.state();
  // A look is just over when another one has seen the change before.
  await database.query('insert into note values (2)');
  await expect.poll(() => heard.results.length).toBe(2);
  await database.query('insert into note values (3)');
  await database.stopDatabase('immediate');
  await database.startDatabase();
  expect(await database.query('select from pgreflect.live_change')).toEqual([]);
  expect(live.state().runs).toBe(runs + 1);
  await expect.poll(() => heard.results.length).toBe(3);
  expect(JSON.stringify(heard.results.at(-1))).toContain('"id":3');
});
