/**
 * Attacks on the database side again, behind PgBouncer in transaction mode: two connections to the server, which each request may find as
 * that of anybody else has left it. Needs the program `pgbouncer`.
 */
import { vi } from 'vitest';
import { startPgBouncer } from '../bench/src/pgbouncer.ts';
import { connectThrough } from '../support/postgres.ts';

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

connectThrough(async (url) => {
  const pooler = await startPgBouncer(url, 2);
  if (pooler === null)
    throw new Error('PgBouncer is not installed. Install it, for example: apt-get install pgbouncer');
  return pooler;
});

await import('../attack/leaks.test.ts');
await import('../attack/server-memory.test.ts');
await import('../attack/endless-changes.test.ts');
await import('../attack/bad-input.test.ts');
await import('../attack/injection.test.ts');
await import('../attack/roles.test.ts');
await import('../attack/related-rows.test.ts');
await import('../attack/nested-writes.test.ts');
await import('../attack/hidden-changes.test.ts');
await import('../attack/hostile-requests.test.ts');
await import('../attack/large-operands.test.ts');
await import('../attack/ended-session.test.ts');
await import('../attack/live.test.ts');
await import('../attack/live-record.test.ts');
await import('../live/exact.test.ts');
await import('../live/subscriptions.test.ts');
