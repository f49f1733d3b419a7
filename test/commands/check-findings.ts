/** What `pgreflect check` finds in a database. */
import type { Finding } from '../../src/check/finding.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { runCommand } from './run-command.ts';

/** Runs `check` as the login of the gateway. @param args More options of the command. */
export async function findings(database: TestDatabase, ...args: readonly string[]): Promise<readonly Finding[]> {
  const env = { DATABASE_URL: database.urlAs('authenticator', 'test') };
  const { out, err } = await runCommand(['check', '--format', 'json', ...args], { env });
  if (out === '') throw new Error(err);
  return (JSON.parse(out) as { findings: readonly Finding[] }).findings;
}
