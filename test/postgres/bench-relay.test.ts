/**
 * The relay that the bench counts bytes, round trips and prepared statements with.
 */
import pg from 'pg';
import { expect, test } from 'vitest';
import { startRelay } from '../bench/src/relay.ts';
import { createDatabase } from '../support/postgres.ts';

test('counts what passes: a round trip for each time the client speaks, a parse for each statement that is new, apart where it has a text that is watched', async () => {
  const database = await createDatabase('');
  const relay = await startRelay(database.url, 'as word');
  const client = new pg.Client({ connectionString: relay.url });
  await client.connect();
  try {
    const ask = () => client.query({ name: 'same', text: 'select $1::text as word', values: ['x'.repeat(1000)] });
    relay.reset();
    await ask();
    const first = relay.counts();
    relay.reset();
    await ask();
    const second = relay.counts();
    expect([first.roundTrips, first.parses, first.watchedParses]).toEqual([1, 1, 1]);
    expect([second.roundTrips, second.parses, second.watchedParses]).toEqual([1, 0, 0]);
    expect(second.toServer).toBeGreaterThan(1000);
    expect(second.toServer).toBeLessThan(first.toServer);
    expect(second.toClient).toBeGreaterThan(1000);
    await client.query({ name: 'other', text: 'select $1::text as other', values: ['x'] });
    expect([relay.counts().parses, relay.counts().watchedParses]).toEqual([1, 0]);
  } finally {
    await client.end();
    relay.stop();
  }
});
