/** As the last test of flight-batch.test.ts, with ten times as many requests. */
import { test } from 'vitest';
import { openPool } from '../support/flights.ts';
import { createDatabase } from '../support/postgres.ts';
import { startRecordingProxy } from '../support/recording-proxy.ts';
import { expectOwnAnswers, harmfulFunctions } from './flight-storm.ts';

test('six thousand requests of many callers at once get their own answers', async () => {
  const database = await createDatabase(harmfulFunctions);
  const proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
  const pool = openPool(proxy.url, { size: 4, waitMs: 60_000, maxStatementsPerConnection: 12 });
  await expectOwnAnswers(pool, proxy, 6000);
  await pool.stop();
  await proxy.stop();
});
