/** A subscription ends with the session of its token: the token holds on, but nothing more is sent for it. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { anonKey } from '../support/http.ts';
import { overEvents, overSocket } from '../support/live.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const database = await createAuthDatabase();
await database.query('create table note (id int primary key); grant select on note to anon, authenticated');
const query = 'subscription { note: noteCollection { edges { node { id } } } }';

const member = async (auth: TestAuth, email: string) => {
  const { access_token: token, user } = await signedUp(auth, email);
  const headers = { apikey: anonKey, authorization: `Bearer ${token}` };
  return { token, id: user.id as string, headers };
};

test('a subscription ends after its user has signed out or was deleted, and those of others go on', async () => {
  const auth = await testAuth(database);
  const [ada, ben] = [await member(auth, 'ada@x.test'), await member(auth, 'ben@x.test')];
  const cleo = await member(auth, 'cleo@x.test');
  const open = [
    overEvents(auth.gateway.url, { query, headers: ada.headers }),
    overSocket(auth.gateway.url, { query, headers: ben.headers }),
    overEvents(auth.gateway.url, { query, headers: cleo.headers }),
  ] as const;
  await Promise.all(open.map((heard) => heard.next()));
  // The sessions are looked at a second after somebody has come.
  await delay(3000);
  expect((await auth.ask('/logout', {}, { token: ada.token })).status).toBe(204);
  expect((await auth.askAdmin(`/admin/users/${ben.id}`, undefined, { method: 'DELETE' })).status).toBe(200);
  const dora = await member(auth, 'dora@x.test');
  await overEvents(auth.gateway.url, { query, headers: dora.headers }).next();
  const message = 'The session has ended. Sign in again.';
  expect((await open[0].next()).errors).toMatchObject([{ message, extensions: { code: 'UNAUTHENTICATED' } }]);
  expect(await open[0].end).toBe('complete');
  expect(await open[1].end).toMatchObject([{ message, extensions: { code: 'UNAUTHENTICATED' } }]);
  await database.query('insert into note values (1)');
  expect((await open[2].next()).data.note.edges).toHaveLength(1);
});
