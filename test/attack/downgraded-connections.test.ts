/**
 * Somebody between the gateway and a database with TLS, who forges the answer that the server has none. `sslmode=prefer` gives in,
 * as libpq does: what it says of one connection, that connection pays for. Later ones are encrypted.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { startGateway } from '../../src/gateway.ts';
import { startEncryptedServer, startMeddler } from '../support/encrypted-server.ts';
import { anonKey, operation, testConfig } from '../support/http.ts';

const { owner, login, port } = await startEncryptedServer(`
  create function encrypted() returns boolean stable language sql security definer
    as 'select ssl from pg_catalog.pg_stat_ssl where pid = pg_catalog.pg_backend_pid()';
`);

/** Of each connection of the gateway, whether it is encrypted. */
async function connections(): Promise<readonly { readonly name: string; readonly ssl: boolean }[]> {
  const { rows } = await owner.query(`select application_name as name, ssl from pg_catalog.pg_stat_activity
    join pg_catalog.pg_stat_ssl using (pid) where usename = 'authenticator'`);
  return rows;
}

test.each([
  ['none', 'sslmode=prefer'],
  ['cut', 'sslmode=prefer'],
  ['none', ''],
] as const)('one forged answer (%s) does not decide about later connections (%s)', async (answer, parameters) => {
  const meddler = await startMeddler(port);
  meddler.answer = answer;
  const url = login(parameters, '0.0.0.0', meddler.port);
  const config = testConfig({
    databaseUrl: url,
    adminDatabaseUrl: url,
    schemas: ['public'],
    port: 0,
    poolSize: 2,
    poolWaitMs: 30_000,
  });
  const gateway = await startGateway(config);
  onTestFinished(() => gateway.stop());
  const ask = async () => {
    const response = await fetch(`${gateway.url}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json' },
      body: operation('{ encrypted }'),
    });
    return ((await response.json()) as { data: { encrypted: boolean } }).data.encrypted;
  };
  expect(await ask()).toBe(false);
  const names = async () => new Set((await connections()).map(({ name }) => name));
  // Of requests, of the gateway itself, and the one that listens.
  await vi.waitFor(async () => expect((await names()).size).toBeGreaterThanOrEqual(3));
  const before = await names();

  meddler.answer = 'pass';
  await owner.query(`select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity
    where usename = 'authenticator'`);
  await vi.waitFor(async () => expect(await ask()).toBe(true));
  await vi.waitFor(async () => expect(await names()).toEqual(before));
  expect((await connections()).filter(({ ssl }) => !ssl)).toEqual([]);
});
