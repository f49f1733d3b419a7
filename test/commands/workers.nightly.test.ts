/** `pgreflect serve --workers N` that cannot serve. */
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { secret } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { runProcess } from './run-command.ts';

test('a port that is taken is reported once, and nothing is left running', async () => {
  const database = await createDatabase();
  const DATABASE_URL = database.urlAs('authenticator', 'test');
  const env = { DATABASE_URL, PGREFLECT_JWT_SECRET: secret, PGREFLECT_LOG_FORMAT: 'json' };
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { port: number };
  const { code, out } = await runProcess(['serve', '--workers', '2', '--port', String(port)], { env });
  expect([code, out.match(/is in use by another program/g)?.length]).toEqual([1, 1]);
});
