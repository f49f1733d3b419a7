/** What a running `pgreflect serve` takes over from its files: keys, logins, limits and more, without a restart. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { importJWK, type JWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { followOptions } from '../../src/cli/serve/follow-options.ts';
import type { JsonWebKeyMember } from '../../src/config/json-web-keys.ts';
import { makeApiKeys, makeSigningKey } from '../../src/config/keys.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { startGateway } from '../../src/gateway.ts';
import { overEvents, overSocket } from '../support/live.ts';
import { createOwnRoles } from '../support/own-roles.ts';
import { createAuthDatabase } from '../support/postgres.ts';
import { atEnd, type WhenOver } from '../support/when-over.ts';
import { type Running, startCommand, temporaryDirectory } from './run-command.ts';

const database = await createAuthDatabase('create table note (id int primary key); insert into note values (1)');
const { anon, authenticated, service, login, env } = await createOwnRoles(database);
await database.query(`grant select on note to ${anon}, ${authenticated}`);

const [first, second] = [await makeSigningKey(), await makeSigningKey()];
const [firstKeys, secondKeys] = await Promise.all([first, second].map((key) => makeApiKeys(key, anon, service)));
const verifying = ({ d: _private, ...key }: JsonWebKeyMember) => ({ ...key, key_ops: ['verify'] });

const userToken = async (key: JsonWebKeyMember) =>
  new SignJWT({ role: authenticated, sub: '00000000-0000-4000-8000-000000000001' })
    .setProtectedHeader({ alg: 'ES256', kid: key.kid ?? '' })
    .setExpirationTime('1h')
    .sign(await importJWK({ ...key, key_ops: ['sign'] } as JWK, 'ES256'));

interface Served {
  readonly command: Running;
  readonly url: string;
  readonly directory: string;
  write(name: string, text: string): void;
  /** Sends SIGHUP and waits for what is printed then. */
  reload(pattern: RegExp): Promise<RegExpExecArray>;
}

/** What the files say at first. */
const files = {
  'pgreflect.toml': 'pool_size = 2\n',
  'keys.json': JSON.stringify([first]),
  'database-url': database.urlAs(login, 'one'),
};
const environment = {
  ...env,
  PGREFLECT_DATABASE_URL_FILE: 'database-url',
  PGREFLECT_ADMIN_DATABASE_URL: database.url,
  PGREFLECT_JWT_KEYS: 'keys.json',
};

/** A directory with the files, and what writes others. */
function openFiles(whenOver: WhenOver) {
  const directory = temporaryDirectory(whenOver);
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text, { mode: 0o600 });
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { directory, write };
}

/** Serves what the files say. */
async function serve(args: readonly string[] = [], whenOver: WhenOver = onTestFinished): Promise<Served> {
  const { directory, write } = openFiles(whenOver);
  const words = ['serve', '--config', 'pgreflect.toml', '--port', '0', ...args];
  const command = startCommand(words, { env: environment, directory }, whenOver);
  const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
  await command.until(/Try:/);
  return {
    command,
    url,
    directory,
    write,
    async reload(pattern) {
      const found = () => [...command.text().matchAll(new RegExp(pattern, 'g'))];
      const before = found().length;
      command.signal('SIGHUP');
      while (found().length === before) await sleep(20);
      return found().at(-1) as RegExpExecArray;
    },
  };
}

const noteQuery = '{ noteCollection { edges { node { id } } } }';

/** On a connection of its own. @returns The status, or what the answer says instead of the notes. */
async function ask(url: string, key: string, token?: string, query = noteQuery): Promise<unknown> {
  const headers = { apikey: key, 'content-type': 'application/json', connection: 'close' };
  const response = await fetch(`${url}/graphql/v1`, {
    method: 'POST',
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query }),
  });
  const body = (await response.json()) as { readonly errors?: readonly { readonly message: string }[] };
  return body.errors?.[0]?.message ?? response.status;
}

describe('one process', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve([], atEnd);
  });

  describe('the password of the login', () => {
    afterAll(async () => {
      await database.query(`alter role ${login} password 'one'`);
      served.write('database-url', files['database-url']);
      await served.reload(/Reloaded: database_url/);
    });

    /** Requests all the time, until the end, each on new connections. @returns What is no answer. */
    async function whileAsking(change: () => Promise<void>): Promise<readonly unknown[]> {
      const { anonKey } = firstKeys!;
      const answers: unknown[] = [];
      let isOver = false;
      const asking = (async () => {
        while (!isOver) {
          await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${login}'
          and application_name = 'pgreflect'`);
          // The gateway learns that they have ended.
          await sleep(50);
          answers.push(...(await Promise.all([ask(served.url, anonKey), ask(served.url, anonKey)])));
        }
      })();
      await change();
      await sleep(500);
      isOver = true;
      await asking;
      expect(answers.length).toBeGreaterThan(2);
      return answers.filter((answer) => answer !== 200);
    }

    test('changed in the file before the database fails no request', async () => {
      const refused = await whileAsking(async () => {
        served.write('database-url', database.urlAs(login, 'two'));
        await served.reload(
          /Warning: database_url: The database refuses the login.*the one before is used as well\.\nReloaded: database_url/,
        );
        await sleep(300);
        await database.query(`alter role ${login} password 'two'`);
      });
      expect(refused).toEqual([]);
    });

    test('changed in the database before the file fails no request once both are known', async () => {
      await database.query(`alter role ${login} password 'three'`);
      served.write('database-url', database.urlAs(login, 'three'));
      await served.reload(/Reloaded: database_url/);
      expect(await whileAsking(async () => {})).toEqual([]);
    });

    test('a connection string of a server that is not there changes nothing', async () => {
      served.write('database-url', 'postgresql://nobody@127.0.0.1:1/none');
      await served.reload(/database_url: The database cannot be reached/);
      expect(await whileAsking(async () => {})).toEqual([]);
    });
  });

  describe('limits, CORS and the log', () => {
    const two = '{ a: noteCollection { edges { node { id } } } b: noteCollection { edges { node { id } } } }';

    test('limits, CORS and log level are those of the file after SIGHUP, and again those before', async () => {
      const { url, write, reload, command } = served;
      const { anonKey } = firstKeys!;
      const allowed = async () => {
        const response = await fetch(`${url}/graphql/v1`, {
          method: 'POST',
          headers: { apikey: anonKey, 'content-type': 'application/json', origin: 'https://app.example.com' },
          body: JSON.stringify({ query: '{ __typename }' }),
        });
        return [response.headers.get('access-control-allow-origin'), response.headers.get('vary')];
      };
      expect([await ask(url, anonKey, undefined, two), await allowed()]).toEqual([200, ['*', 'Accept-Encoding']]);
      write(
        'pgreflect.toml',
        'max_root_fields = 1\nrate_limit = 3\ncors_origins = ["https://app.example.com"]\nlog_level = "warn"\npool_size = 3\n',
      );
      const [text] = await reload(/Reloaded: .*\.\nWarning: A restart is needed for: .*/);
      expect(text).toMatchInlineSnapshot(`
      "Reloaded: max_root_fields, cors_origins, rate_limit, log_level.
      Warning: A restart is needed for: pool_size."
    `);
      const quiet = 'query Quiet { noteCollection { edges { node { id } } } }';
      expect(await ask(url, anonKey, undefined, two)).toMatch(/2 root fields/);
      expect(await allowed()).toEqual(['https://app.example.com', 'Origin, Accept-Encoding']);
      expect(await ask(url, anonKey, undefined, quiet)).toBe(200);
      expect(await ask(url, anonKey)).toMatch(/More than 3 requests/);
      write('pgreflect.toml', files['pgreflect.toml']);
      await reload(/Reloaded: /);
      expect([await ask(url, anonKey, undefined, two), await allowed()]).toEqual([200, ['*', 'Accept-Encoding']]);
      await ask(url, anonKey, undefined, quiet.replace('Quiet', 'Loud'));
      await command.until(/"Loud"/);
      expect(command.text()).not.toContain('"Quiet"');
      // A preflight of any page.
      const preflight = await fetch(`${url}/graphql/v1`, {
        method: 'OPTIONS',
        headers: { origin: 'https://any.example' },
      });
      expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
        204,
        'GET, HEAD, POST, PUT, PATCH, DELETE',
      ]);
    });
  });

  describe('keys in a file', () => {
    test('a new signing key: old and new keys and tokens are good', async () => {
      const { url, write, reload } = served;
      const old = await userToken(first);
      expect(await ask(url, firstKeys!.anonKey, old)).toBe(200);
      expect(await ask(url, secondKeys!.anonKey)).toBe('Invalid API key');
      write('keys.json', JSON.stringify([second, verifying(first)]));
      await reload(/Reloaded: jwt_keys\./);
      expect(await ask(url, firstKeys!.anonKey, old)).toBe(200);
      expect(await ask(url, secondKeys!.anonKey, await userToken(second))).toBe(200);
      const { keys } = (await (await fetch(`${url}/auth/v1/.well-known/jwks.json`)).json()) as { keys: JWK[] };
      expect(keys.map(({ kid }) => kid)).toEqual([second.kid, first.kid]);
    });

    test('a key that is removed is refused at once, also for known callers and open subscriptions', async () => {
      const { url, write, reload } = served;
      const old = await userToken(first);
      const headers = { apikey: firstKeys!.anonKey, authorization: `Bearer ${old}` };
      const query = 'subscription { noteCollection { edges { node { id } } } }';
      const heard = [overEvents(url, { query, headers }), overSocket(url, { query, headers })];
      await Promise.all(heard.map((each) => each.next()));
      expect(await ask(url, firstKeys!.anonKey, old)).toBe(200);
      write('keys.json', JSON.stringify([second]));
      await reload(/Reloaded: jwt_keys\./);
      expect(await ask(url, firstKeys!.anonKey, old)).toBe('Invalid API key');
      expect(await ask(url, secondKeys!.anonKey, old)).toBe('The token could not be verified.');
      const user = await fetch(`${url}/auth/v1/user`, {
        headers: { apikey: secondKeys!.anonKey, authorization: `Bearer ${old}` },
      });
      expect(user.status).toBe(403);
      await Promise.all(heard.map(({ end }) => end));
    });

    test('a file that is half written, empty or without a signing key changes nothing', async () => {
      const { url, write, reload } = served;
      const whole = JSON.stringify([second]);
      for (const text of [whole.slice(0, -20), '', JSON.stringify([verifying(second)])]) {
        write('keys.json', text);
        await reload(/The configuration was not reloaded\./);
        expect(await ask(url, secondKeys!.anonKey)).toBe(200);
      }
      write('keys.json', whole);
    });

    test('all problems are said at once, and nothing is taken over', async () => {
      const { url, write, reload } = served;
      write('keys.json', '[');
      write('pgreflect.toml', 'max_depth = "many"\nlog_levle = "debug"\nmax_root_fields = 1\n');
      const [text] = await reload(/There are 3 problems:(?:\n[- ] .*)+max_depth .*/);
      expect(text).toContain('log_levle');
      expect(text).toContain('PGREFLECT_JWT_KEYS must be JSON');
      expect(
        await ask(
          url,
          secondKeys!.anonKey,
          undefined,
          `{ a: noteCollection { edges { node { id } } } b: noteCollection { edges { node { id } } } }`,
        ),
      ).toBe(200);
      write('keys.json', JSON.stringify([second]));
      write('pgreflect.toml', files['pgreflect.toml']);
    });

    test('a file that everybody can read now is a warning', async () => {
      const { command, directory } = served;
      chmodSync(join(directory, 'keys.json'), 0o644);
      await command.until(/Warning: every user of this machine can read \S+keys\.json now: chmod o-r/);
    });
  });
});

test('API keys that are set beside a new signing key are named: they stay the only ones', async () => {
  const { directory, write } = openFiles(onTestFinished);
  const line = { flags: new Map(), authFlags: new Map(), configFile: null, problems: [] };
  const { anonKey, serviceKey } = firstKeys!;
  const keys = { PGREFLECT_ANON_KEY: anonKey, PGREFLECT_SERVICE_KEY: serviceKey, PGREFLECT_PORT: '0' };
  const sources = { ...line, environment: { ...environment, ...keys }, workingDirectory: directory };
  const config = loadConfig(sources);
  const gateway = await startGateway(config, { observe: () => {} });
  onTestFinished(() => gateway.stop());
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const following = followOptions({ gateway, config, sources, load: loadConfig, note, watches: false });
  write('keys.json', JSON.stringify([second]));
  following.readAgain();
  const said = 'Warning: anon_key and service_key: set, so no API key of another signing key is accepted.';
  await expect.poll(() => notes).toContainEqual(expect.stringContaining(said));
  expect([await ask(gateway.url, anonKey), await ask(gateway.url, secondKeys!.anonKey)]).toEqual([
    200,
    'Invalid API key',
  ]);
});

describe('two workers', () => {
  test('both take over a key; an option that needs new ones replaces them one by one, and no connection is refused; all end with the process that supervises them', async () => {
    const { url, write, reload, command } = await serve(['--workers', '2']);
    const pids = () => [...command.text().matchAll(/"workerPid":(\d+),"msg":"worker ready"/g)].map(([, pid]) => pid);
    write('keys.json', JSON.stringify([second]));
    await reload(/Reloaded: jwt_keys\./);
    const answers = async (key: string) => [await ask(url, key), await ask(url, key)];
    while ((await answers(secondKeys!.anonKey)).some((answer) => answer !== 200)) await sleep(20);
    expect(await answers(firstKeys!.anonKey)).toEqual(['Invalid API key', 'Invalid API key']);
    expect(pids()).toHaveLength(2);
    let isOver = false;
    const seen = (async () => {
      const found: unknown[] = [];
      while (!isOver) {
        found.push(await ask(url, secondKeys!.anonKey));
        await sleep(50);
      }
      return found;
    })();
    write('pgreflect.toml', 'pool_size = 2\nschema_poll_ms = 50\n');
    await reload(/The workers are replaced one by one for: schema_poll_ms\./);
    while (pids().length < 4) await sleep(50);
    const [, , third, fourth] = pids();
    const isThere = (pid: string | undefined) => {
      try {
        return process.kill(Number(pid), 0);
      } catch {
        return false;
      }
    };
    while (pids().slice(0, 2).some(isThere)) await sleep(50);
    isOver = true;
    expect(new Set(await seen)).toEqual(new Set([200]));
    expect([isThere(third), isThere(fourth)]).toEqual([true, true]);

    // Both find a change at the new interval.
    await database.query(`create table found (id int primary key); grant select on found to ${anon}`);
    const askFound = () => ask(url, secondKeys!.anonKey, undefined, '{ foundCollection { edges { node { id } } } }');
    while ([await askFound(), await askFound()].some((answer) => answer !== 200)) await sleep(20);

    command.signal('SIGKILL');
    await command.finished;
    while (pids().some(isThere)) await sleep(20);
  });
});
