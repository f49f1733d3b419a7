/** A PostgreSQL server of a test's own, on a copy of data that was made once for the run: that takes a tenth of the time of making it. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/postgres/embedded/embedded-server.ts';

/** Starts one, whose superuser has the password `test`. Those of a run have one system identifier, as servers and their replicas have. */
export async function startServer(
  options: Omit<Parameters<typeof startEmbeddedServer>[0], 'password'>,
): Promise<EmbeddedServer> {
  const made = inject('madeData');
  // With its owner, who may be another user than this one. A run on a server that was given has none.
  if (made !== '' && !existsSync(options.dataDirectory))
    await promisify(execFile)('cp', ['-a', made, options.dataDirectory]);
  return startEmbeddedServer({ ...options, password: 'test' });
}
