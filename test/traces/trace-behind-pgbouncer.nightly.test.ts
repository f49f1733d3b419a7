/** The trace of a request in PostgreSQL behind PgBouncer in transaction mode. Needs the program `pgbouncer`. */
import { expect, onTestFinished, test } from 'vitest';
import { startPgBouncer } from '../bench/src/pgbouncer.ts';
import { testGateway } from '../support/gateway.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create function public.application() returns text stable language sql as $$ select current_setting('application_name') $$;
`);

test('a request has its own trace behind PgBouncer, and leaves none to whoever has the connection next', async () => {
  const pooler = await startPgBouncer(database.urlAs('authenticator', 'test'), 1);
  if (pooler === null)
    throw new Error('PgBouncer is not installed. Install it, for example: apt-get install pgbouncer');
  onTestFinished(() => pooler.stop());
  const [traced, other] = await Promise.all([
    testGateway(database, { databaseUrl: pooler.url, traceInDatabase: 'always', poolSize: 2 }),
    testGateway(database, { databaseUrl: pooler.url, traceInDatabase: 'never', poolSize: 2 }),
  ]);
  const ids = Array.from({ length: 20 }, (_, at) => String(at + 1).padStart(32, '0'));
  const answers = await Promise.all(
    ids.map(async (traceId) => {
      const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
      const [own, next] = await Promise.all([traced.ask('{ application }', { headers }), other.ask('{ application }')]);
      return [own.body.data?.application, next.body.data?.application];
    }),
  );
  // PgBouncer gives the connection of others no name.
  expect(answers).toEqual(ids.map((traceId) => [`pgreflect ${traceId}`, expect.stringMatching(/^(pgreflect)?$/)]));
});
