/**
 * Emails that tell users of changes to their account: what a user does through the published client, and what then arrives
 * over SMTP.
 */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import type { Config } from '../../src/config/config.ts';
import { addToken, ref } from '../management/management.ts';
import { open, send, type TestAuth, testAuth } from '../support/auth-service.ts';
import { defaultTemplates } from '../support/default-templates.ts';
import { appOf } from '../support/factors.ts';
import { serviceKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { type ReceivedMessage, startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';
import { type SupabaseClient, supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;
let smtp: TestSmtpServer;
beforeAll(async () => {
  database = await createAuthDatabase();
});
beforeEach(async () => {
  smtp = await startSmtpServer({ tls: 'none' });
  await database.query('truncate pgreflect_queue.emails, auth.pgreflect_rate_limits');
});

const password = 'a good password';
const allOn: AuthValues = {
  mailer_notifications_password_changed_enabled: true,
  mailer_notifications_email_changed_enabled: true,
  mailer_notifications_phone_changed_enabled: true,
  mailer_notifications_identity_linked_enabled: true,
  mailer_notifications_identity_unlinked_enabled: true,
  mailer_notifications_mfa_factor_enrolled_enabled: true,
  mailer_notifications_mfa_factor_unenrolled_enabled: true,
  mailer_notifications_mfa_factor_guessed_enabled: true,
};

/** A gateway with a mail server. Codes arrive before the answer, so that only notifications have to be waited for. */
function startAuth(values: AuthValues = allOn, config: Partial<Config> = {}): Promise<TestAuth> {
  const server = { smtp_host: '127.0.0.1', smtp_port: String(smtp.port), smtp_admin_email: 'no-reply@app.test' };
  const phones = { external_phone_enabled: true, sms_provider: 'capture', sms_max_frequency: 0 } as const;
  const direct = { smtp_max_frequency: 0, mailer_delivery: 'direct' } as const;
  return testAuth(database, { ...server, ...phones, ...direct, ...values }, config);
}

/** Nothing waits any more. */
async function settled(): Promise<void> {
  await vi.waitFor(async () => expect(await database.query('select from pgreflect_queue.emails')).toEqual([]), {
    timeout: 10_000,
  });
}

const isNotification = ({ parsed }: ReceivedMessage) => /was (changed|added|removed)/.test(parsed.subject ?? '');

/** Recipient and subject of the notifications so far, when all have arrived. */
async function notifications(): Promise<readonly (readonly [string | undefined, string | undefined])[]> {
  await settled();
  return smtp.messages.filter(isNotification).map(({ recipients, parsed }) => [recipients[0], parsed.subject]);
}

const emailsTo = (email: string) => smtp.messages.filter(({ recipients }) => recipients.includes(email));
const emailTo = (email: string) => emailsTo(email).at(-1);
/** The last code: a notification, which comes when it comes, has none. */
const codeTo = (email: string) =>
  emailsTo(email)
    .flatMap(({ parsed }) => />(\d{6})</.exec(parsed.html ?? '')?.[1] ?? [])
    .at(-1) ?? '';

/** A client with the session of a new user. */
async function signedIn(auth: TestAuth, email: string): Promise<SupabaseClient> {
  const supabase = supabaseClient(auth.url);
  await supabase.auth.signUp({ email, password });
  const { error } = await supabase.auth.verifyOtp({ type: 'email', email, token: codeTo(email) });
  expect(error).toBeNull();
  return supabase;
}

async function changePassword(supabase: SupabaseClient, to = 'another password'): Promise<void> {
  expect((await supabase.auth.updateUser({ password: to })).error).toBeNull();
}

async function changePhone(auth: TestAuth, supabase: SupabaseClient, phone: string): Promise<void> {
  expect((await supabase.auth.updateUser({ phone })).error).toBeNull();
  const { code: token } = await auth.message(phone);
  expect((await supabase.auth.verifyOtp({ type: 'phone_change', phone, token })).error).toBeNull();
}

test('a new password is told to the address of the user, once', async () => {
  const auth = await startAuth();
  const supabase = await signedIn(auth, 'password@x.test');
  await changePassword(supabase);
  expect(await notifications()).toEqual([['password@x.test', 'Your password was changed']]);
  const { html = '' } = emailTo('password@x.test')?.parsed ?? {};
  expect(html).toContain('The password of your account password@x.test at app.test was changed.');
});

test('the first password of a user who signs in by code is told as well', async () => {
  const auth = await startAuth();
  const supabase = supabaseClient(auth.url);
  const email = 'first@x.test';
  await supabase.auth.signInWithOtp({ email });
  await supabase.auth.verifyOtp({ type: 'email', email, token: codeTo(email) });
  await changePassword(supabase);
  expect(await notifications()).toEqual([[email, 'Your password was changed']]);
});

test('a new address is told to the old one, when both have confirmed', async () => {
  const auth = await startAuth();
  const [email, changed] = ['old@x.test', 'new@x.test'];
  const supabase = await signedIn(auth, email);
  await supabase.auth.updateUser({ email: changed });
  const confirm = (address: string) =>
    supabase.auth.verifyOtp({ type: 'email_change', email: address, token: codeTo(address) });
  await confirm(email);
  expect(await notifications()).toEqual([]);
  expect((await confirm(changed)).data.user.email).toBe(changed);
  expect(await notifications()).toEqual([[email, 'Your email address was changed']]);
  expect(emailTo(email)?.parsed.html).toContain('was changed from old@x.test to new@x.test.');
});

test('a change that a link completes knows where the link leads to, and both addresses', async () => {
  const auth = await startAuth({
    ...allOn,
    mailer_secure_email_change_enabled: false,
    uri_allow_list: 'https://app.test/**',
    mailer_templates_email_changed_notification_content: '<p>{{ .OldEmail }}, {{ .Email }}, {{ .RedirectTo }}</p>',
  });
  const supabase = await signedIn(auth, 'link@x.test');
  await supabase.auth.updateUser({ email: 'link2@x.test' }, { emailRedirectTo: 'https://app.test/settings' });
  const link = /href="([^"]+)"/.exec(emailTo('link2@x.test')?.parsed.html ?? '')?.[1]?.replaceAll('&amp;', '&') ?? '';
  const url = new URL(link);
  expect((await open(`${auth.url}${url.pathname}${url.search}`)).location).toMatch(
    /^https:\/\/app\.test\/settings#access/,
  );
  expect(await notifications()).toEqual([['link@x.test', 'Your email address was changed']]);
  const html = emailTo('link@x.test')?.parsed.html?.trim();
  expect(html).toBe('<p>link@x.test, link2@x.test, https://app.test/settings</p>');
});

test('a user without an address, who gets a first one, is told nothing', async () => {
  const auth = await startAuth({ ...allOn, external_anonymous_users_enabled: true, mailer_autoconfirm: true });
  const supabase = supabaseClient(auth.url);
  await supabase.auth.signInAnonymously();
  expect((await supabase.auth.updateUser({ email: 'named@x.test' })).data.user.email).toBe('named@x.test');
  expect(await notifications()).toEqual([]);
});

test('a first number is told as an identity, another one as a change', async () => {
  const auth = await startAuth();
  const email = 'phone@x.test';
  const supabase = await signedIn(auth, email);
  await changePhone(auth, supabase, '491801');
  expect(await notifications()).toEqual([[email, 'A sign-in method was added']]);
  expect(emailTo(email)?.parsed.html).toContain('A sign-in method (phone) was added');
  await changePhone(auth, supabase, '491802');
  expect((await notifications())[1]).toEqual([email, 'Your phone number was changed']);
  expect(emailTo(email)?.parsed.html).toContain('was changed from +491801 to +491802.');
});

test('a number that counts as confirmed at once is told, too', async () => {
  const auth = await startAuth({ ...allOn, sms_autoconfirm: true });
  const supabase = await signedIn(auth, 'auto@x.test');
  for (const phone of ['491803', '491804']) expect((await supabase.auth.updateUser({ phone })).error).toBeNull();
  const subjects = (await notifications()).map(([, subject]) => subject);
  expect(subjects).toEqual(['A sign-in method was added', 'Your phone number was changed']);
});

test('notifications that are off are not sent', async () => {
  const auth = await startAuth({});
  const supabase = await signedIn(auth, 'off@x.test');
  await changePassword(supabase);
  await changePhone(auth, supabase, '491805');
  expect(await notifications()).toEqual([]);
});

test('what an admin changes is told only where the configuration says so', async () => {
  const email = 'admin@x.test';
  for (const [isTold, password] of [
    [false, 'the second password'],
    [true, 'the third password'],
  ] as const) {
    const auth = await startAuth({ ...allOn, mailer_notifications_admin_changes_enabled: isTold });
    const { admin } = supabaseClient(auth.url, {}, serviceKey).auth;
    const { data } = await admin.createUser({ email: `${isTold}.${email}`, phone: isTold ? '491806' : '491807' });
    const changes = { password, email: `new.${isTold}.${email}`, phone: isTold ? '491808' : '491809' };
    expect((await admin.updateUserById(data.user.id, changes)).error).toBeNull();
    expect((await admin.updateUserById(data.user.id, { user_metadata: { a: 1 } })).error).toBeNull();
  }
  expect([...(await notifications())].sort()).toEqual([
    ['new.true.admin@x.test', 'Your phone number was changed'],
    ['true.admin@x.test', 'Your email address was changed'],
    ['true.admin@x.test', 'Your password was changed'],
  ]);
});

test('a change that is rolled back sends no notification', async () => {
  const auth = await startAuth();
  const supabase = await signedIn(auth, 'undone@x.test');
  smtp.behave({ kind: 'refuse', at: 'message', code: 554, text: 'no' });
  const { error } = await supabase.auth.updateUser({ password: 'another password', email: 'undone2@x.test' });
  expect(error).toMatchObject({ status: 500, message: 'Error sending email change email' });
  smtp.behave({ kind: 'accept' });
  expect(await notifications()).toEqual([]);
  expect(auth.observations.filter(({ kind }) => kind === 'email_given_up')).toEqual([]);
});

test('the change succeeds while the mail server is down, and the email is sent when it is back', async () => {
  const auth = await startAuth();
  const supabase = await signedIn(auth, 'away@x.test');
  const delayed = () => auth.observations.filter(({ kind }) => kind === 'email_delayed');
  smtp.behave({ kind: 'drop', at: 'connect' });
  smtp.cutConnections();
  await changePassword(supabase);
  await vi.waitFor(() => expect(delayed()).toMatchObject([{ email: 'password_changed_notification', attempts: 1 }]));
  smtp.behave({ kind: 'accept' });
  auth.pass(10);
  expect(await notifications()).toEqual([['away@x.test', 'Your password was changed']]);
});

const givenUp = (auth: TestAuth) => auth.observations.filter(({ kind }) => kind === 'email_given_up');

test('where the limit of emails is used up the change is made and the lost email is logged', async () => {
  const auth = await startAuth({ ...allOn, rate_limit_email_sent: 1 });
  const supabase = await signedIn(auth, 'limit@x.test');
  await changePassword(supabase);
  const first = ['limit@x.test', 'Your password was changed'];
  expect([await notifications(), givenUp(auth)]).toEqual([[first], []]);
  await changePassword(supabase, 'yet another password');
  expect(await notifications()).toEqual([first]);
  expect(givenUp(auth)).toEqual([
    {
      kind: 'email_given_up',
      email: 'password_changed_notification',
      userId: (await supabase.auth.getUser()).data.user.id,
      attempts: 0,
      reason: 'rate_limit_email_sent is used up',
    },
  ]);
});

test('notifications go only to addresses that emails may go to', async () => {
  const auth = await startAuth({ ...allOn, external_email_authorized_addresses: 'ana@x.test' });
  const supabase = await signedIn(auth, 'ana+1@x.test');
  await changePassword(supabase);
  expect(await notifications()).toEqual([['ana+1@x.test', 'Your password was changed']]);
  const { admin } = supabaseClient(auth.url, {}, serviceKey).auth;
  await admin.createUser({ email: 'bo@x.test', password, email_confirm: true });
  const stranger = supabaseClient(auth.url);
  await stranger.auth.signInWithPassword({ email: 'bo@x.test', password });
  await changePassword(stranger);
  expect(await notifications()).toHaveLength(1);
  expect(givenUp(auth)).toMatchObject([{ reason: expect.stringContaining('external_email_authorized_addresses') }]);
});

test('nobody can keep a notification from the owner of an account by metadata that its template fails with', async () => {
  const auth = await startAuth({
    ...allOn,
    mailer_subjects_password_changed_notification: 'Changed',
    mailer_templates_password_changed_notification_content: '<p>{{ index .Data.list 5 }}</p>',
    mailer_template_lenient_compare: false,
  });
  const supabase = await signedIn(auth, 'broken@x.test');
  await supabase.auth.updateUser({ data: { list: ['secret'] } });
  await changePassword(supabase);
  expect(await notifications()).toEqual([['broken@x.test', 'Your password was changed']]);
  const refused = auth.observations.filter(({ kind }) => kind === 'template_refused');
  expect(refused).toMatchObject([{ email: 'password_changed_notification', kept: 'built-in' }]);
  expect(JSON.stringify(refused)).not.toContain('secret');
});

test('flag, subject and template that the management API sets are in the very next notification', async () => {
  const auth = await startAuth({}, { projectRef: ref, managementApiEnabled: true });
  const supabase = await signedIn(auth, 'managed@x.test');
  const options = { method: 'PATCH', token: await addToken(database), headers: { 'content-type': 'application/json' } };
  const patch = (changes: object) => send(auth.url, `/../../v1/projects/${ref}/config/auth`, changes, options);
  const template = '<p>{{ .Email }}, {{ .Data.plan }}, {{ .RedirectTo }}</p>';
  const { status } = await patch({
    mailer_notifications_password_changed_enabled: true,
    mailer_subjects_password_changed_notification: 'Password was changed at {{ .SiteURL }}',
    mailer_templates_password_changed_notification_content: template,
  });
  expect(status).toBe(200);
  await supabase.auth.updateUser({ data: { plan: 'gold' } });
  await changePassword(supabase);
  expect(await notifications()).toEqual([['managed@x.test', 'Password was changed at https://app.test']]);
  expect(emailTo('managed@x.test')?.parsed.html?.trim()).toBe('<p>managed@x.test, gold, https://app.test</p>');
  await patch({ mailer_notifications_password_changed_enabled: false });
  await changePassword(supabase, 'the third password');
  expect(await notifications()).toHaveLength(1);
  await database.query('delete from auth.pgreflect_config');
});

test('all fourteen emails arrive by what users and admins do through the published client', async () => {
  const auth = await startAuth({ ...allOn, security_manual_linking_enabled: true });
  const email = 'fourteen@x.test';
  const supabase = await signedIn(auth, email);
  const admin = supabaseClient(auth.url, {}, serviceKey).auth.admin;
  const fine = async (work: Promise<{ readonly error: unknown }>) => expect((await work).error).toBeNull();
  await fine(admin.inviteUserByEmail('invited@x.test'));
  await fine(supabaseClient(auth.url).auth.signInWithOtp({ email }));
  await fine(supabaseClient(auth.url).auth.resetPasswordForEmail(email));
  await fine(supabase.auth.reauthenticate());
  await fine(supabase.auth.updateUser({ password: 'another good password' }));
  await changePhone(auth, supabase, '491810');
  await changePhone(auth, supabase, '491811');
  const { data } = await supabase.auth.getUserIdentities();
  await fine(
    supabase.auth.unlinkIdentity(data.identities.find(({ provider }: { provider: string }) => provider === 'phone')),
  );
  const { data: enrolled } = await supabase.auth.mfa.enroll({ factorType: 'totp' });
  const app = appOf(auth, enrolled.id, enrolled.totp.secret);
  await fine(supabase.auth.mfa.challengeAndVerify({ factorId: app.id, code: app.code() }));
  for (let wrong = 0; wrong < 10; wrong += 1) {
    const { error } = await supabase.auth.mfa.challengeAndVerify({ factorId: app.id, code: '000000' });
    expect(error?.code).toBe('mfa_verification_failed');
  }
  await fine(supabase.auth.mfa.unenroll({ factorId: app.id }));
  const next = 'fourteen.next@x.test';
  await fine(supabase.auth.updateUser({ email: next }));
  for (const address of [email, next]) {
    await fine(
      supabaseClient(auth.url).auth.verifyOtp({ type: 'email_change', email: address, token: codeTo(address) }),
    );
  }
  await settled();
  const arrived = new Set(smtp.messages.map(({ parsed }) => parsed.subject?.replace(/^[0-9]{6} /, '{{ .Token }} ')));
  const subjects = Object.values(defaultTemplates).map(({ subject }) =>
    subject.replace('{{ .Brand.Name }}', 'app.test'),
  );
  expect([...arrived].toSorted()).toEqual(subjects.toSorted());
  expect(arrived.size).toBe(14);
});
