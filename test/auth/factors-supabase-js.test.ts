/**
 * Second factors through the published client, unmodified: as an application enrolls them, asks for them and removes them,
 * and what their owner hears of it by email.
 */
import jsqr from 'jsqr';
import { beforeAll, expect, test, vi } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { openBrowser } from '../support/browser.ts';
import { appOf } from '../support/factors.ts';
import { serviceKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer } from '../support/smtp-server.ts';
import { type SupabaseClient, supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const autoconfirm: AuthValues = { mailer_autoconfirm: true };

async function signedUp(auth: TestAuth, email: string): Promise<SupabaseClient> {
  const supabase = supabaseClient(auth.url);
  expect((await supabase.auth.signUp({ email, password })).error).toBeNull();
  return supabase;
}

async function signedIn(auth: TestAuth, email: string): Promise<SupabaseClient> {
  const supabase = supabaseClient(auth.url);
  expect((await supabase.auth.signInWithPassword({ email, password })).error).toBeNull();
  return supabase;
}

async function levels(supabase: SupabaseClient) {
  const { data } = await supabase.auth.mfa.getAuthenticatorAssuranceLevel();
  const methods = data.currentAuthenticationMethods.map(({ method }: { method: string }) => method);
  return [data.currentLevel, data.nextLevel, methods];
}

async function enrolledApp(auth: TestAuth, supabase: SupabaseClient, friendlyName?: string) {
  const { data, error } = await supabase.auth.mfa.enroll({ factorType: 'totp', friendlyName });
  expect(error).toBeNull();
  return appOf(auth, data.id, data.totp.secret);
}

/** What a scanner reads from the picture that the browser shows. */
async function scan(source: string): Promise<string | undefined> {
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.setContent('<img>');
  const { data, width } = await page.evaluate(async (src) => {
    const image = document.querySelector('img')!;
    image.src = src;
    await image.decode();
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    const picture = context.getImageData(0, 0, canvas.width, canvas.height);
    return { data: [...picture.data], width: canvas.width };
  }, source);
  return jsqr.default(Uint8ClampedArray.from(data), width, data.length / 4 / width)?.data;
}

test('an app that scanned the picture raises the session, and is asked for at the next sign-in', async () => {
  const auth = await testAuth(database, autoconfirm);
  const email = 'ana+shop@x.test';
  const supabase = await signedUp(auth, email);
  const events: string[] = [];
  supabase.auth.onAuthStateChange((event: string) => events.push(event));
  const { data: enrolled } = await supabase.auth.mfa.enroll({ factorType: 'totp', issuer: 'Shop & Söhne' });
  expect(enrolled.totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<\?xml version="1\.0"\?><svg [^#]+<\/svg>$/);
  const uri = new URL((await scan(enrolled.totp.qr_code)) ?? '');
  expect([uri.href, uri.searchParams.get('issuer')]).toEqual([enrolled.totp.uri, 'Shop & Söhne']);
  const app = appOf(auth, enrolled.id, uri.searchParams.get('secret') ?? '');
  expect(await levels(supabase)).toEqual(['aal1', 'aal1', ['password']]);
  const { data: challenge } = await supabase.auth.mfa.challenge({ factorId: app.id });
  const verification = { factorId: app.id, challengeId: challenge.id };
  auth.pass(1);
  const wrong = await supabase.auth.mfa.verify({ ...verification, code: app.code(3) });
  expect(wrong.error).toMatchObject({ code: 'mfa_verification_failed', status: 422 });
  const { data: session, error } = await supabase.auth.mfa.verify({ ...verification, code: app.code() });
  expect([error, session.user.factors]).toMatchObject([null, [{ id: app.id, status: 'verified' }]]);
  expect(events).toContain('MFA_CHALLENGE_VERIFIED');
  expect(await levels(supabase)).toEqual(['aal2', 'aal2', ['totp', 'password']]);
  expect((await supabase.auth.refreshSession()).error).toBeNull();
  expect(await levels(supabase)).toEqual(['aal2', 'aal2', ['totp', 'password']]);
  auth.pass(30);
  const again = await signedIn(auth, email);
  auth.pass(1);
  expect(await levels(again)).toEqual(['aal1', 'aal2', ['password']]);
  const verified = await again.auth.mfa.challengeAndVerify({ factorId: app.id, code: app.code() });
  expect(verified.error).toBeNull();
  expect(await levels(again)).toEqual(['aal2', 'aal2', ['totp', 'password']]);
});

test('factors are listed by their types, and removed with the level that they gave', async () => {
  const auth = await testAuth(database, {
    ...autoconfirm,
    mfa_phone_enroll_enabled: true,
    mfa_phone_verify_enabled: true,
    sms_provider: 'capture',
  });
  const supabase = await signedUp(auth, 'lists@x.test');
  const { mfa } = supabase.auth;
  const app = await enrolledApp(auth, supabase, 'app');
  await mfa.challengeAndVerify({ factorId: app.id, code: app.code() });
  const { data: phone } = await mfa.enroll({ factorType: 'phone', phone: '+4917041', friendlyName: 'phone' });
  const { data: challenge } = await mfa.challenge({ factorId: phone.id, channel: 'sms' });
  const { code } = await auth.message('4917041');
  expect((await mfa.verify({ factorId: phone.id, challengeId: challenge.id, code })).error).toBeNull();
  const { data: list } = await mfa.listFactors();
  expect(list).toMatchObject({ all: [{}, {}], totp: [{ id: app.id }], phone: [{ id: phone.id, phone: '4917041' }] });
  expect((await levels(supabase))[2]).toEqual(expect.arrayContaining(['mfa/phone', 'totp', 'password']));
  expect(await mfa.unenroll({ factorId: phone.id })).toEqual({ data: { id: phone.id }, error: null });
  await supabase.auth.refreshSession();
  expect(await levels(supabase)).toEqual(['aal1', 'aal2', ['password']]);
  expect((await mfa.unenroll({ factorId: app.id })).error).toMatchObject({ code: 'insufficient_aal', status: 422 });
  expect((await mfa.unenroll({ factorId: phone.id })).error).toMatchObject({ code: 'mfa_factor_not_found' });
});

test('admins list the factors of a user and take one away from whoever lost it', async () => {
  const auth = await testAuth(database, autoconfirm);
  const supabase = await signedUp(auth, 'lost@x.test');
  const app = await enrolledApp(auth, supabase);
  await supabase.auth.mfa.challengeAndVerify({ factorId: app.id, code: app.code() });
  const { mfa } = supabaseClient(auth.url, {}, serviceKey).auth.admin;
  const userId = (await supabase.auth.getUser()).data.user.id;
  expect(await mfa.listFactors({ userId })).toMatchObject({ data: { factors: [{ id: app.id }] }, error: null });
  // The client wraps the answer once more than it says.
  expect(await mfa.deleteFactor({ id: app.id, userId })).toMatchObject({ data: { data: { id: app.id } }, error: null });
  expect((await mfa.listFactors({ userId })).data.factors).toEqual([]);
  expect((await mfa.deleteFactor({ id: app.id, userId })).error).toMatchObject({ code: 'mfa_factor_not_found' });
  await supabase.auth.refreshSession();
  expect(await levels(supabase)).toEqual(['aal1', 'aal1', ['password']]);
});

test('an added factor is told by email once, a removed one where it was in use; those that admins remove where that is asked for', async () => {
  const smtp = await startSmtpServer({ tls: 'none' });
  const auth = await testAuth(database, {
    ...autoconfirm,
    smtp_host: '127.0.0.1',
    smtp_port: String(smtp.port),
    smtp_admin_email: 'no-reply@app.test',
    mailer_notifications_mfa_factor_enrolled_enabled: true,
    mailer_notifications_mfa_factor_unenrolled_enabled: true,
    mailer_notifications_admin_changes_enabled: true,
  });
  const email = 'told@x.test';
  const told = async (count: number) => {
    await vi.waitFor(() => expect(smtp.messages).toHaveLength(count));
    const { recipients, parsed } = smtp.messages.at(-1)!;
    return [recipients, parsed.subject, parsed.html];
  };
  const first = await signedUp(auth, email);
  const app = await enrolledApp(auth, first);
  await first.auth.mfa.challengeAndVerify({ factorId: app.id, code: app.code() });
  const added = expect.stringContaining('A second factor (authenticator app) was added to your account told@x.test');
  expect(await told(1)).toEqual([[email], 'A second factor was added', added]);
  auth.pass(30);
  const again = await signedIn(auth, email);
  await again.auth.mfa.challengeAndVerify({ factorId: app.id, code: app.code() });
  const abandoned = await enrolledApp(auth, again, 'abandoned');
  expect((await again.auth.mfa.unenroll({ factorId: abandoned.id })).error).toBeNull();
  expect((await again.auth.mfa.unenroll({ factorId: app.id })).error).toBeNull();
  const removed = expect.stringContaining(
    'A second factor (authenticator app) was removed from your account told@x.test',
  );
  // Neither the second sign-in nor the factor that was never in use had an email of its own.
  expect(await told(2)).toEqual([[email], 'A second factor was removed', removed]);
  const last = await enrolledApp(auth, again, 'last');
  await again.auth.mfa.challengeAndVerify({ factorId: last.id, code: last.code() });
  expect(await told(3)).toEqual([[email], 'A second factor was added', added]);
  const { admin } = supabaseClient(auth.url, {}, serviceKey).auth;
  const userId = (await again.auth.getUser()).data.user.id;
  expect((await admin.mfa.deleteFactor({ id: last.id, userId })).error).toBeNull();
  expect(await told(4)).toEqual([[email], 'A second factor was removed', removed]);
});
