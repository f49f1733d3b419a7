/**
 * Somebody who holds a session asks for another address or number, and waits with the proof until the owner has done
 * what ends the session.
 */
import { beforeAll, expect, test } from 'vitest';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

const serve = () =>
  testAuth(database, {
    ...{ mailer_secure_email_change_enabled: false, smtp_max_frequency: 0, security_manual_linking_enabled: true },
    ...{ external_phone_enabled: true, sms_provider: 'capture', sms_max_frequency: 0, sms_otp_exp: 3600 },
  });

interface Owner {
  readonly id: string;
  readonly email: string;
  readonly phone: string;
  readonly token: string;
}

/** What owners do who think that somebody holds a session of theirs. */
const measures: Readonly<Record<string, (auth: TestAuth, owner: Owner) => Promise<unknown>>> = {
  'a new password': async (auth, { token }) =>
    expect((await auth.ask('/user', { password: 'another password' }, { method: 'PUT', token })).status).toBe(200),
  'a new password that an admin sets': async (auth, { id }) =>
    expect(
      (await auth.askAdmin(`/admin/users/${id}`, { password: 'another password' }, { method: 'PUT' })).status,
    ).toBe(200),
  'an address that an admin sets': async (auth, { id, email }) =>
    expect((await auth.askAdmin(`/admin/users/${id}`, { email: `safe.${email}` }, { method: 'PUT' })).status).toBe(200),
  'a number that an admin sets': async (auth, { id, phone }) =>
    expect((await auth.askAdmin(`/admin/users/${id}`, { phone: `${phone}9` }, { method: 'PUT' })).status).toBe(200),
  'a first second factor': async (auth, { token }) => {
    const factors = factorsOf(auth, token);
    const app = await factors.enrollApp('phone');
    expect((await factors.answer(app.id, app.code())).status).toBe(200);
  },
  'an identity that is given up': async (auth, { id, token }) => {
    const [identity] = await database.query<{ id: string }>(
      `insert into auth.identities (provider_id, user_id, provider, identity_data, created_at, updated_at)
      values (gen_random_uuid()::text, $1, 'github', '{"sub": "1"}', now(), now()) returning id`,
      [id],
    );
    const unlinking = auth.ask(`/user/identities/${identity?.id}`, undefined, { method: 'DELETE', token });
    expect((await unlinking).status).toBe(200);
  },
};

test.each(Object.keys(measures))(
  '%s ends changes of address and number that were asked for before',
  async (measure) => {
    const auth = await serve();
    const number = Object.keys(measures).indexOf(measure);
    const [email, phone] = [`owner${number}@x.test`, `491555100${number}`];
    const thief = { email: `thief${number}@x.test`, phone: `491555200${number}` };
    const { user, access_token: stolen } = await signedUp(auth, email, password);
    await database.query('update auth.users set phone = $2, phone_confirmed_at = now() where id = $1', [
      user.id,
      phone,
    ]);
    const { body: own } = await auth.ask('/token?grant_type=password', { email, password });
    for (const change of [{ email: thief.email }, { phone: thief.phone }]) {
      expect((await auth.ask('/user', change, { method: 'PUT', token: stolen })).status).toBe(200);
    }
    const proofs = async () => {
      const tokens = { email: (await auth.message(thief.email)).code, phone: (await auth.message(thief.phone)).code };
      return [
        await auth.ask('/verify', { type: 'phone_change', phone: thief.phone, token: tokens.phone }),
        await auth.ask('/verify', { type: 'email_change', email: thief.email, token: tokens.email }),
      ].map(({ body }) => body.access_token ?? body.code);
    };
    await measures[measure]?.(auth, { id: user.id, email, phone, token: own.access_token });
    const early = await proofs();
    const now = async () => (await database.query('select email, phone from auth.users where id = $1', [user.id]))[0];
    const settled = await now();
    await auth.ask('/resend', { type: 'phone_change', phone: settled?.phone });
    // The new address gets a code again, but the present one has to agree, also the second time.
    await auth.ask('/resend', { type: 'email_change', email: settled?.email });
    // 200: the other address is asked.
    expect(early).toEqual(['otp_expired', 'otp_expired']);
    const resent = ['otp_expired', /^an? (address|number)/.test(measure) ? 'otp_expired' : '200'];
    expect(await proofs()).toEqual(resent);
    await auth.ask('/resend', { type: 'email_change', email: settled?.email });
    expect(await proofs()).toEqual(resent);
    expect(await now()).toEqual(settled);
  },
);

test('a link to the present address proves nothing of a change that an admin has ended with a new number', async () => {
  const auth = await testAuth(database, { mailer_autoconfirm: true, mailer_secure_email_change_enabled: true });
  const email = 'ended@x.test';
  const { user, access_token: token } = (await auth.ask('/signup', { email, password })).body;
  await auth.ask('/user', { email: 'ended-new@x.test' }, { method: 'PUT', token });
  const { link, code } = await auth.message(email);
  await auth.askAdmin(`/admin/users/${user.id}`, { phone: '4915551999' }, { method: 'PUT' });
  await fetch(link, { redirect: 'manual' });
  await auth.ask('/verify', { type: 'email_change', email, token: code });
  const rows = await database.query('select email, email_change from auth.users where id = $1', [user.id]);
  expect(rows).toEqual([{ email, email_change: '' }]);
});
