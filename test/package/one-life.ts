/** Commands `pgreflect` with their gateways, under the Node of the machine. */
import { expect } from 'vitest';
import { programs } from '../support/bundle-programs.ts';
import { secret } from '../support/http.ts';
import { pathOfPerson } from '../support/install-packages.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { openFolder } from './person.ts';
import { familyOf, startFamily, untilGone } from './process-family.ts';

/** The program. */
export const { launcher } = programs();

/** What a person types. */
export const serving = ['node', launcher, 'serve', '--port', '0'];

/** Types a command that serves a database, and waits until it does. */
export function start(
  database: TestDatabase,
  words: readonly string[] = serving,
  directory = openFolder(),
): ReturnType<typeof startFamily> {
  const environment = {
    PATH: pathOfPerson(),
    DATABASE_URL: database.urlAs('authenticator', 'test'),
    PGREFLECT_JWT_SECRET: secret,
    PGREFLECT_SCHEMAS: 'public',
  };
  return startFamily(words, { directory, environment });
}

/** Stops a command, and waits until all that it has started is gone, and its port free. @returns Code and signal of its end. */
export async function stopWhole(
  { pid, ended, url }: Awaited<ReturnType<typeof start>>,
  stop: () => void,
): Promise<unknown> {
  const family = familyOf(pid);
  stop();
  const end = await ended;
  await untilGone(family);
  await expect(fetch(url)).rejects.toThrow();
  return end;
}
