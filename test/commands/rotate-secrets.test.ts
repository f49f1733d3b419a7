/** The steps of docs/rotate-secrets.md, as the page has them, while clients ask, sign in and refresh all the time. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeProtectedHeader } from 'jose';
import { expect, test } from 'vitest';
import { makeApiKeys } from '../../src/config/keys.ts';
import { createOwnRoles } from '../support/own-roles.ts';
import { createAuthDatabase } from '../support/postgres.ts';
import { runCommand, startCommand, temporaryDirectory } from './run-command.ts';

const page = readFileSync(new URL('../../docs/rotate-secrets.md', import.meta.url), 'utf8');
const secret = 'a-secret-of-at-least-thirty-two-characters';

const database = await createAuthDatabase('create table note (id int primary key); insert into note values (1)');
const { anon, authenticated, service, login, env } = await createOwnRoles(database);
await database.query(`grant select on note to ${authenticated}`);

/** The arguments of the page's commands `pgreflect keys`, in order. */
const steps = [...page.matchAll(/^ *pgreflect (keys .*)$/gm)].map(([, line = '']) =>
  line.replace('"$PGREFLECT_JWT_SECRET"', secret).split(' '),
);
const [makeFile, addKey, rotate, retire] = steps as [string[], string[], string[], string[]];

interface Session {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** A client with an API key, which may get another one. */
class Client {
  apikey: string;
  readonly #url: string;

  constructor(url: string, apikey: string) {
    this.#url = url;
    this.apikey = apikey;
  }

  async post<T>(path: string, body: unknown, token?: string): Promise<T> {
    const headers = { apikey: this.apikey, 'content-type': 'application/json', connection: 'close' };
    const response = await fetch(`${this.#url}${path}`, {
      method: 'POST',
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as T;
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }

  async readNote(token: string): Promise<void> {
    const query = '{ noteCollection { edges { node { id } } } }';
    const answer = await this.post('/graphql/v1', { query }, token);
    expect(answer).toEqual({ data: { noteCollection: { edges: [{ node: { id: 1 } }] } } });
  }
}

test('keys and the password of the database are rotated under load without one refused or wrong answer', async () => {
  expect(steps).toHaveLength(4);
  const directory = temporaryDirectory();
  const keys = async (args: readonly string[]) => {
    const { code, out, err } = await runCommand(args, { directory, env });
    expect(code, err).toBe(0);
    return /PGREFLECT_ANON_KEY=(.*)/.exec(out)?.[1] ?? null;
  };
  const writeUrl = (password: string) => {
    writeFileSync(join(directory, 'database-url'), database.urlAs(login, password));
    chmodSync(join(directory, 'database-url'), 0o600);
  };
  writeUrl('one');
  await keys(makeFile);
  const command = startCommand(['serve', '--port', '0', '--workers', '2', '--rate-limit-token-refresh', '0'], {
    directory,
    env: {
      ...env,
      PGREFLECT_DATABASE_URL_FILE: 'database-url',
      PGREFLECT_ADMIN_DATABASE_URL: database.url,
      PGREFLECT_JWT_KEYS: 'keys.json',
      PGREFLECT_MAILER_AUTOCONFIRM: 'true',
      PGREFLECT_RATE_LIMIT_VERIFY: '0',
    },
  });
  const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
  const told = async (pattern: RegExp, change: () => Promise<unknown>) => {
    const count = () => command.text().split(pattern).length;
    const before = count();
    await change();
    while (count() === before) await sleep(50);
  };

  const client = new Client(url, (await makeApiKeys(secret, anon, service)).anonKey);
  const account = { email: 'ana@example.com', password: 'a long password 1' };
  const first = await client.post<Session>('/auth/v1/signup', account);
  let [session, isOver] = [first, false];
  let rounds = 0;
  const load = (async () => {
    while (!isOver) {
      const token = session.access_token;
      const refresh_token = session.refresh_token;
      const asked = [
        client.readNote(token),
        client.post<Session>('/auth/v1/token?grant_type=refresh_token', { refresh_token }),
      ];
      const [, refreshed] = await Promise.all(asked);
      const signedIn = await client.post<Session>('/auth/v1/token?grant_type=password', account);
      await Promise.all([client.readNote(signedIn.access_token), client.readNote((refreshed as Session).access_token)]);
      session = refreshed as Session;
      rounds += 1;
      // The hash of a password takes most of a processor.
      await sleep(300);
    }
  })();
  const during = async (steps: () => Promise<void>) => {
    try {
      await Promise.race([steps(), load]);
    } finally {
      isOver = true;
    }
    await load;
  };
  const keyOf = ({ access_token: token }: Session) => decodeProtectedHeader(token).kid;
  await during(async () => {
    // The file of the first step has a standby key already; the other way to get one is that of later rotations.
    let made: string | null = null;
    await told(/Reloaded: jwt_keys/, async () => {
      made = await keys(rotate);
    });
    client.apikey = made ?? client.apikey;
    while (keyOf(session) === undefined) await sleep(50);
    await told(/Reloaded: jwt_keys/, () => keys(addKey));
    const before = keyOf(session);
    await told(/Reloaded: jwt_keys/, async () => {
      made = await keys(rotate);
    });
    client.apikey = made ?? client.apikey;
    while (keyOf(session) === before) await sleep(50);
    // Tokens of the old keys are gone from the clients.
    const settled = rounds + 2;
    while (rounds < settled) await sleep(50);
    await told(/Reloaded: jwt_keys/, () => keys([...retire, '--force']));
    // The supervisor says it before its workers know.
    await expect.poll(() => client.readNote(first.access_token).catch(String), { timeout: 10_000 }).toContain('401');

    await told(/the one before is used as well/, async () => writeUrl('two'));
    await database.query(`alter role ${login} password 'two'`);
    const end = rounds + 3;
    while (rounds < end) await sleep(50);
  });
  expect(rounds).toBeGreaterThan(5);
});
