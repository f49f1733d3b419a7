/**
 * Passwords known from leaks, looked up in a list that a server of its own holds: what is refused, what the list learns, and
 * that nothing depends on it.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createPwnedCheck } from '../../src/auth/secrets/leaked-passwords.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { supabaseClient } from '../support/supabase-js.ts';

const digestOf = (password: string) => createHash('sha1').update(password).digest('hex').toUpperCase();

/** A list of leaked passwords. */
interface List {
  readonly address: string;
  /** Paths of the requests so far. */
  readonly asked: readonly string[];
  /** Answers in this way from now on. */
  behave(answer: (request: IncomingMessage, response: ServerResponse) => void): void;
}

/** Serves ranges with the passwords in them, and padding. */
async function startList(...passwords: readonly string[]): Promise<List> {
  const digests = passwords.map(digestOf);
  const asked: string[] = [];
  let answer = (request: IncomingMessage, response: ServerResponse): void => {
    const prefix = request.url?.slice('/range/'.length) ?? '';
    const entries = digests.filter((digest) => digest.startsWith(prefix)).map((digest) => `${digest.slice(5)}:42`);
    response.end([`${'0'.repeat(35)}:7`, ...entries, `${digestOf('padding').slice(5)}:0`].join('\r\n'));
  };
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['add-padding']}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}/range`,
    asked,
    behave: (other) => {
      answer = other;
    },
  };
}

const leaked = 'correct horse battery staple';
const fresh = 'nobody has ever had this one';

describe('with the list switched on', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createAuthDatabase();
  });

  async function start(isOn = true): Promise<{ readonly auth: TestAuth; readonly list: List }> {
    const list = await startList(leaked);
    const auth = await testAuth(database, { password_hibp_enabled: isOn }, { leakedPasswordsUrl: list.address });
    return { auth, list };
  }

  const weak = {
    status: 422,
    body: {
      code: 'weak_password',
      message: 'Password is known to be weak and easy to guess, please choose a different one.',
      weak_password: { reasons: ['pwned'] },
    },
  };

  test('a leaked password is refused wherever one is set', async () => {
    const { auth } = await start();
    expect(await auth.ask('/signup', { email: 'new@x.test', password: leaked })).toMatchObject(weak);
    const { access_token: token, user } = await signedUp(auth, 'old@x.test', fresh);
    expect(await auth.ask('/user', { password: leaked }, { method: 'PUT', token })).toMatchObject(weak);
    const admin = await auth.askAdmin(`/admin/users/${user.id}`, { password: leaked }, { method: 'PUT' });
    expect(admin).toMatchObject(weak);
    const link = { type: 'signup', email: 'link@x.test', password: leaked };
    expect(await auth.askAdmin('/admin/generate_link', link)).toMatchObject(weak);
  });

  test('supabase-js says why', async () => {
    const { auth } = await start();
    const { error } = await supabaseClient(auth.url).auth.signUp({ email: 'js@x.test', password: leaked });
    expect(error).toMatchObject({ name: 'AuthWeakPasswordError', reasons: ['pwned'] });
  });

  test('a user with an older leaked password may sign in, and the answer says so', async () => {
    const { auth } = await start();
    const email = 'before@x.test';
    await auth.askAdmin('/admin/users', { email, password: leaked, email_confirm: true });
    const { status, body } = await auth.ask('/token?grant_type=password', { email, password: leaked });
    expect([status, body.weak_password]).toEqual([200, { message: weak.body.message, reasons: ['pwned'] }]);
  });

  test('sign-ups go on while the list is unreachable', async () => {
    const { auth, list } = await start();
    list.behave((request) => request.socket.destroy());
    expect((await auth.ask('/signup', { email: 'away@x.test', password: leaked })).status).toBe(200);
    const warnings = auth.observations.filter(({ kind }) => kind === 'warning');
    expect(warnings).toMatchObject([{ message: expect.stringContaining('list of leaked passwords') }]);
  });

  test('switched off, nobody is asked', async () => {
    const { auth, list } = await start(false);
    expect((await auth.ask('/signup', { email: 'off@x.test', password: leaked })).status).toBe(200);
    expect(list.asked).toEqual([]);
  });
});

describe('the list', () => {
  function checkOf(list: Pick<List, 'address'>, timeoutMs = 60_000) {
    let now = Date.now();
    const observations: Observation[] = [];
    const observe = (observation: Observation) => void observations.push(observation);
    const isPwned = createPwnedCheck({ address: list.address, clock: { now: () => now }, observe, timeoutMs });
    return { isPwned, observations, pass: (seconds: number) => (now += seconds * 1000) };
  }

  test('the list gets five digits of a hash; padding in its answer does not count as leaked', async () => {
    const list = await startList(leaked);
    const { isPwned } = checkOf(list);
    expect([await isPwned(leaked), await isPwned(fresh), await isPwned('padding')]).toEqual([true, false, false]);
    const prefixes = [leaked, fresh, 'padding'].map((password) => digestOf(password).slice(0, 5));
    expect(list.asked).toEqual(prefixes.map((prefix) => `/range/${prefix} true`));
  });

  test('the list is asked once an hour for a range, however many ask at the same time', async () => {
    const list = await startList(leaked);
    const { isPwned, pass } = checkOf(list);
    expect(await Promise.all([isPwned(leaked), isPwned(leaked)])).toEqual([true, true]);
    pass(3599);
    expect(await isPwned(leaked)).toBe(true);
    expect(list.asked).toHaveLength(1);
    pass(2);
    expect(await isPwned(leaked)).toBe(true);
    expect(list.asked).toHaveLength(2);
  });

  test.each<[title: string, answer: Parameters<List['behave']>[0], reason: string]>([
    ['hangs', () => {}, 'no answer in time'],
    ['stops in the middle', (_request, response) => void response.write('00'), 'no answer in time'],
    ['breaks off', (request) => request.socket.destroy(), 'ECONNRESET'],
    ['has an error', (_request, response) => response.writeHead(503).end('later'), 'status 503'],
    ['answers something else', (_request, response) => response.end('<p>Log in</p>'), 'the answer is not a range'],
    ['leads elsewhere', (_request, response) => response.writeHead(302, { location: '/x' }).end(), 'status 302'],
    ['does not end', (_request, response) => response.end('x'.repeat(1_000_001)), 'more than 1000000 bytes'],
  ])('that %s counts as one without the password, and an operator is told once', async (_title, answer, reason) => {
    const list = await startList(leaked);
    const { isPwned, observations, pass } = checkOf(list, reason === 'no answer in time' ? 200 : undefined);
    list.behave(answer);
    expect(await isPwned(leaked)).toBe(false);
    pass(31);
    expect(await isPwned(fresh)).toBe(false);
    const message = `The list of leaked passwords cannot be asked, passwords are accepted without it: ${reason}`;
    expect(observations).toMatchObject([{ kind: 'warning', message }]);
    expect(JSON.stringify(observations)).not.toContain(digestOf(leaked).slice(0, 5));
  });

  test('that did not answer is not called for half a minute', async () => {
    const list = await startList(leaked);
    const { isPwned, pass } = checkOf(list);
    list.behave((request) => request.socket.destroy());
    await isPwned(leaked);
    pass(29);
    expect(await isPwned(leaked)).toBe(false);
    expect(list.asked).toHaveLength(1);
    pass(2);
    expect(await isPwned(leaked)).toBe(false);
    expect(list.asked).toHaveLength(2);
  });

  test('that is reachable again is used, and its next failure is logged again', async () => {
    const list = await startList(leaked);
    const { isPwned, observations, pass } = checkOf(list);
    const away: Parameters<List['behave']>[0] = (request) => request.socket.destroy();
    list.behave(away);
    await isPwned(fresh);
    list.behave((_request, response) => response.end(`${digestOf(leaked).slice(5)}:1`));
    pass(31);
    expect([await isPwned(leaked), observations.length]).toEqual([true, 1]);
    list.behave(away);
    expect([await isPwned(fresh), observations.length]).toEqual([false, 2]);
  });
});
