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
    mailer_secure_email_change_enabled: false,
    smtp_max_frequency: 0,
    security_manual_linking_enabled: true,
    external_phone_enabled: true,
    sms_provider: 'capture',
    sms_max_frequency: 0,
    sms_otp_exp: 3600,
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
  'a sign-out everywhere': async (auth, { token }) =>
    expect((await auth.ask('/logout?scope=global', {}, { token })).status).toBe(204),
  'a sign-out of all other sessions': async (auth, { token }) =>
    expect((await auth.ask('/logout?scope=others', {}, { token })).status).toBe(204),
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
    await auth.ask('/resend', { type: 'email_change', email: settled?.email });
    expect(early).toEqual(['otp_expired', 'otp_expired']);
    expect(await proofs()).toEqual(['otp_expired', 'otp_expired']);
    expect(await now()).toEqual(settled);
    const pending = 'select email_change, phone_change from auth.users where id = $1';
    expect(await database.query(pending, [user.id])).toEqual([{ email_change: '', phone_change: '' }]);
    const tokens = `select token_type from auth.one_time_tokens where user_id = $1 and token_type::text ~ 'change'`;
    expect(await database.query(tokens, [user.id])).toEqual([]);
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

test('a change is sent again only as long as the session that asked for it exists', async () => {
  const auth = await serve();
  const email = 'asker@x.test';
  const { access_token: token } = await signedUp(auth, email, password);
  await auth.ask('/user', { email: 'asked@x.test' }, { method: 'PUT', token });
  const resend = async () => {
    expect((await auth.ask('/resend', { type: 'email_change', email })).status).toBe(200);
    return (await auth.messages('asked@x.test')).length;
  };
  expect(await resend()).toBe(2);
  await auth.ask('/logout?scope=local', {}, { token });
  expect(await resend()).toBe(2);
});

test('where addresses need no proof, the link to the new address alone does not move an account', async () => {
  const auth = await testAuth(database, { mailer_autoconfirm: true, mailer_secure_email_change_enabled: true });
  const email = 'two-proofs@x.test';
  const { user, access_token: token } = (await auth.ask('/signup', { email, password })).body;
  await auth.ask('/user', { email: 'two-thief@x.test' }, { method: 'PUT', token });
  await fetch((await auth.message('two-thief@x.test')).link, { redirect: 'manual' });
  expect(await database.query('select email from auth.users where id = $1', [user.id])).toEqual([{ email }]);
});

test('with a page that asks first, a program that opens the links of a change moves no account to its address', async () => {
  const auth = await testAuth(database, { mailer_link_confirmation: 'page' });
  const { user, access_token: token } = await signedUp(auth, 'mover@x.test', password);
  await auth.ask('/user', { email: 'victim@x.test' }, { method: 'PUT', token });
  for (const to of ['mover@x.test', 'victim@x.test']) await fetch((await auth.message(to)).link);
  const rows = await database.query('select email from auth.users where id = $1', [user.id]);
  expect(rows).toEqual([{ email: 'mover@x.test' }]);
});

test('someone who proves an address or number gets it from an account that never proved it', async () => {
  const auth = await serve();
  const [email, phone] = ['free@x.test', '4915553001'];
  await auth.ask('/signup', { email, password: 'the password of a squatter' });
  await auth.ask('/signup', { phone, password: 'the password of a squatter' });
  const stale = { link: (await auth.message(email)).link, code: (await auth.message(phone)).code };
  const { user, access_token: token } = await signedUp(auth, 'changer@x.test', password);
  const change = async (body: object) =>
    expect((await auth.ask('/user', body, { method: 'PUT', token })).status).toBe(200);
  await change({ email });
  await change({ phone });
  const emailed = { type: 'email_change', email, token: (await auth.message(email)).code };
  expect((await auth.ask('/verify', emailed)).body.user?.email).toBe(email);
  await change({ phone });
  const texted = { type: 'phone_change', phone, token: (await auth.message(phone)).code };
  expect((await auth.ask('/verify', texted)).body.user?.phone).toBe(phone);
  await fetch(stale.link, { redirect: 'manual' });
  await auth.ask('/verify', { type: 'sms', phone, token: stale.code });
  const owners = await database.query('select id from auth.users where email = $1 or phone = $2', [email, phone]);
  expect(owners).toEqual([{ id: user.id }]);
});
