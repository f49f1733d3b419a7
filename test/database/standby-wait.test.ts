/**
 * Where commits wait for a standby, nobody's wait is cut short for the sake of somebody else.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startEmbeddedServer } from '../../src/database/embedded-server.ts';
import { type RunAsOptions, runAs } from '../../src/database/run-as.ts';
import { answersOf, flightOf, makeShared, openPool } from '../support/flights.ts';
import { startRecordingProxy } from '../support/recording-proxy.ts';

test('a commit that waits for a standby is not cancelled for those behind it, and from then on each flies alone', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-standby-'));
  const server = await startEmbeddedServer({
    dataDirectory: join(directory, 'data'),
    password: 'test',
    persistent: false,
    settings: { synchronous_commit: 'local' },
  });
  const owner = new pg.Client({ connectionString: server.url });
  await owner.connect();
  const proxy = await startRecordingProxy(server.url);
  onTestFinished(async () => {
    await owner.end();
    await proxy.stop();
    await server.stop();
    rmSync(directory, { recursive: true });
  });
  const waitFor = async (standby: string) => {
    await owner.query(`alter system set synchronous_standby_names = '${standby}'`);
    await owner.query('select pg_reload_conf()');
    const text = "select current_setting('synchronous_standby_names') as standby";
    await vi.waitFor(async () => expect((await owner.query(text)).rows).toEqual([{ standby }]));
  };
  await waitFor('nobody');
  await owner.query('create role anon; create table visit (guest text); grant select, insert on visit to anon');
  const pool = openPool(proxy.url, { size: 2 });
  const visit = (guest: string, waits: boolean) => {
    const settings: RunAsOptions['settings'] = new Map([['synchronous_commit', waits ? 'on' : 'local']]);
    const text = 'insert into visit values ($1) returning guest';
    return runAs(pool, flightOf([{ text, values: [guest] }], { mutation: true, settings }));
  };
  await makeShared(proxy, () => visit('somebody', false));

  const answered: unknown[] = [];
  const waiting = [visit('a', true), visit('b', false)].map(async (answer) => answered.push(...(await answer)));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(answered).toEqual([]);
  // They share a connection, and it was asked once, over another.
  expect(proxy.connections()).toBe(1);

  proxy.reset();
  const others = await answersOf([visit('c', false)]);
  expect(others).toEqual(['c']);
  await waitFor('');
  await Promise.all(waiting);
  expect(answered).toEqual(['a', 'b']);
  proxy.reset();
  expect(await answersOf([visit('d', false), visit('e', false)])).toEqual(['d', 'e']);
  expect(proxy.flights()).toBe(2);
});
