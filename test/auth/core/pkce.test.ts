/**
 * The PKCE flow: the code of an opened link becomes a session only for whoever began the flow, once, for five minutes.
 */
import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { User } from '../../../src/auth/model/user.ts';
import {
  createFlow,
  endFlows,
  exchangeFlowCode,
  type FlowMethod,
  issueFlowCode,
  parsePkce,
} from '../../../src/auth/store/flows.ts';
import { createSession } from '../../../src/auth/store/sessions.ts';
import { lockUser } from '../../../src/auth/store/users.ts';
import { testAuth } from '../../support/auth.ts';

const auth = await testAuth(10);
const verifier = 'v'.repeat(56);
const challenge = createHash('sha256').update(verifier).digest('base64url');

async function begin(user: User, method: FlowMethod = 'magiclink'): Promise<void> {
  const pkce = parsePkce(challenge, 's256')!;
  await createFlow(auth.tx(), { userId: user.id, pkce, method });
}

function issue(user: User, method: FlowMethod = 'magiclink') {
  return issueFlowCode(auth.tx(), user.id, method);
}

function exchange(authCode: string, codeVerifier = verifier) {
  return auth.pool.transaction((connection) => exchangeFlowCode(auth.tx(connection), { authCode, codeVerifier }));
}

test('a code and its verifier give the user and the way of proof, once', async () => {
  const user = await auth.addUser('flow@mail.test');
  await begin(user, 'recovery');
  const code = await issue(user, 'recovery');
  expect(await exchange(code)).toMatchObject({ userId: user.id, method: 'recovery', providerAccessToken: null });
  await expect(exchange(code)).rejects.toMatchObject({ code: 'flow_state_not_found', status: 404 });
});

test('of ten parallel exchanges of a code one succeeds', async () => {
  const user = await auth.addUser('parallel@mail.test');
  await begin(user);
  const code = await issue(user);
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => exchange(code)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test("an exchange and the end of a user's flows at the same moment do not block each other", async () => {
  const user = await auth.addUser('ending@mail.test');
  await begin(user);
  const code = await issue(user);
  const client = { userAgent: null, ip: null };
  const signIn = () =>
    auth.pool.transaction(async (connection) => {
      await exchangeFlowCode(auth.tx(connection), { authCode: code, codeVerifier: verifier });
      await createSession(auth.tx(connection), { userId: user.id, method: 'magiclink', client });
    });
  const waits = `select pg_catalog.count(*)::int4 as count from pg_catalog.pg_stat_activity a
    where a.datname = pg_catalog.current_database() and a.wait_event_type = 'Lock'`;
  let exchanging: Promise<unknown> = Promise.resolve();
  await auth.pool.transaction(async (connection) => {
    await lockUser(connection, user.id);
    exchanging = signIn().catch((error: unknown) => error);
    await vi.waitFor(async () => expect(await auth.database.query(waits)).toEqual([{ count: 1 }]));
    await endFlows(auth.tx(connection), user.id);
  });
  expect(await exchanging).toMatchObject({ code: 'flow_state_not_found' });
});

test('a wrong verifier may be corrected', async () => {
  const user = await auth.addUser('wrong@mail.test');
  await begin(user);
  const code = await issue(user);
  await expect(exchange(code, 'w'.repeat(56))).rejects.toMatchObject({ code: 'bad_code_verifier', status: 400 });
  expect((await exchange(code)).userId).toBe(user.id);
});

test('a link that is opened an hour after the request gives a code that works for five minutes', async () => {
  const user = await auth.addUser('late@mail.test');
  await begin(user);
  auth.clock.pass(3600);
  const code = await issue(user);
  auth.clock.pass(300);
  expect((await exchange(code)).userId).toBe(user.id);
  await begin(user);
  const second = await issue(user);
  auth.clock.pass(301);
  await expect(exchange(second)).rejects.toMatchObject({ code: 'flow_state_expired', status: 422 });
});

test('a code that no link has issued is refused', async () => {
  const user = await auth.addUser('unopened@mail.test');
  await begin(user);
  const [row] = await auth.database.query<{ code: string }>(
    'select auth_code as code from auth.flow_state where user_id = $1',
    [user.id],
  );
  await expect(exchange(row!.code)).rejects.toMatchObject({ code: 'flow_state_not_found' });
});

test('the newest request is the one that a link belongs to', async () => {
  const user = await auth.addUser('newest@mail.test');
  await begin(user);
  auth.clock.pass(1);
  await begin(user);
  const [row] = await auth.database.query<{ code: string }>(
    'select auth_code as code from auth.flow_state where user_id = $1 order by created_at desc limit 1',
    [user.id],
  );
  expect(await issue(user)).toBe(row!.code);
});

test('without a request of that kind there is no code', async () => {
  const user = await auth.addUser('none@mail.test');
  await begin(user, 'recovery');
  await expect(issue(user, 'magiclink')).rejects.toMatchObject({ code: 'flow_state_not_found', status: 400 });
});

test('empty parameters are refused before anything is looked up', async () => {
  await expect(exchange('', verifier)).rejects.toMatchObject({ code: 'validation_failed', status: 400 });
  await expect(exchange('x', '')).rejects.toMatchObject({ code: 'validation_failed', status: 400 });
});
