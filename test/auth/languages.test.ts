/**
 * Emails in the language of their readers: whose language it is, which texts it has, and what is kept of it.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const texts = (name: string) => ({ subject: `${name} {{ .Locale }}`, content: `<p>${name} {{ .Token }}</p>` });
/** An email of one's own, in three languages beside its own. */
const own: AuthValues = {
  mailer_subjects_confirmation: 'base {{ .Locale }}',
  mailer_templates_confirmation_content: '<p>base {{ .Token }}</p>',
  mailer_templates_confirmation_translations: {
    de: texts('deutsch'),
    'de-CH': { subject: 'schweizerdeutsch {{ .Locale }}' },
    'zh-Hant': texts('chinese'),
  },
};

const serve = (values: AuthValues = {}) => testAuth(database, { smtp_max_frequency: 0, ...values });
const header = (language: string) => ({ headers: { 'accept-language': language } });

let count = 0;
async function signUp(auth: TestAuth, data: object, language?: string) {
  count += 1;
  const email = `reader${count}@x.test`;
  const reply = await auth.ask('/signup', { email, password, data }, language === undefined ? {} : header(language));
  expect(reply.status).toBe(200);
  return { email, user: reply.body, ...(await auth.message(email)) };
}

test.each([
  [{ locale: 'de' }, 'fr', 'deutsch de'],
  [{ locale: 'de-AT' }, undefined, 'deutsch de'],
  [{ locale: 'DE_ch' }, undefined, 'schweizerdeutsch de-CH'],
  [{ locale: 'zh-Hant-TW' }, undefined, 'chinese zh-Hant'],
  [{ locale: 'zh-TW' }, undefined, 'base'],
  [{ language: 'de' }, undefined, 'deutsch de'],
  [{ lang: 'de' }, undefined, 'deutsch de'],
  [{ locale: '', language: 7, lang: 'de' }, undefined, 'deutsch de'],
  [{ locale: 'not a tag', language: 'de' }, undefined, 'deutsch de'],
  [{ locale: 'und-DE', language: 'de' }, undefined, 'deutsch de'],
  [{ locale: 'fr', language: 'de' }, undefined, 'deutsch de'],
  [{ locale: 'fr' }, 'de', 'base'],
  [{ locale: 'x'.repeat(5000) }, 'de', 'deutsch de'],
  [{}, 'fr;q=0.4, de-AT;q=0.8, *;q=0.1', 'deutsch de'],
  [{}, 'de;q=0, fr', 'base'],
  [{}, '*', 'base'],
  [{}, ';;,,q=,de;q=x', 'base'],
  [{}, undefined, 'base'],
])('a user with %j whose browser asks for %s reads: %s', async (data, language, subject) => {
  const auth = await serve(own);
  expect((await signUp(auth, data, language)).subject).toBe(subject);
});

test('a text that a language lacks is that of the next tag, and at last that of the email itself', async () => {
  const auth = await serve(own);
  const swiss = await signUp(auth, { locale: 'de-CH' });
  expect([swiss.subject, swiss.text.trim()]).toEqual([
    'schweizerdeutsch de-CH',
    expect.stringMatching(/^deutsch \d{6}$/),
  ]);
  const partly = await serve({ ...own, mailer_templates_confirmation_translations: { fr: { subject: 'bonjour' } } });
  const french = await signUp(partly, { locale: 'fr' });
  expect([french.subject, french.text.trim()]).toEqual(['bonjour', expect.stringMatching(/^base \d{6}$/)]);
});

test('built-in emails are in nine languages, and a translation of yours may replace one of them', async () => {
  const auth = await serve({
    mailer_templates_confirmation_translations: { de: { subject: 'Hallo' }, sv: texts('svenska') },
  });
  expect((await signUp(auth, { locale: 'pt-BR' })).html).toContain('<html lang="pt"');
  expect((await signUp(auth, { locale: 'sv-FI' })).subject).toBe('svenska sv');
  const german = await signUp(auth, { locale: 'de' });
  expect([german.subject, german.html.includes('<html lang="de"')]).toEqual(['Hallo', true]);
  expect((await signUp(auth, {}, 'eo')).html).toContain('<html lang="en"');
});

test('beside a body of your own, built-in texts of other languages do not appear', async () => {
  const auth = await serve({ mailer_templates_confirmation_content: '<p>{{ .Token }} {{ .Locale }}</p>' });
  const { subject, text } = await signUp(auth, { locale: 'de' });
  expect([subject, text.trim()]).toEqual(['Confirm your email address', expect.stringMatching(/^\d{6}$/)]);
});

test('every email of a user has their language, notifications too', async () => {
  const auth = await serve({ mailer_notifications_password_changed_enabled: true });
  const email = 'every@x.test';
  const { access_token: token } = await signedUp(auth, email);
  await auth.ask('/user', { data: { locale: 'fr' } }, { method: 'PUT', token });
  await auth.ask('/user', { password: 'another good password' }, { method: 'PUT', token, ...header('de') });
  await auth.ask('/recover', { email }, header('de'));
  await auth.ask('/otp', { email }, header('de'));
  const mails = (await auth.messages(email)).slice(0, 3);
  expect(mails.map(({ html }) => /<html lang="(\w+)"/.exec(html)?.[1])).toEqual(['fr', 'fr', 'fr']);
});

test('an invitation has the language of its data, and no email that of an admin', async () => {
  const auth = await serve({
    mailer_notifications_password_changed_enabled: true,
    mailer_notifications_admin_changes_enabled: true,
  });
  const invite = async (email: string, data: object) => {
    await auth.askAdmin('/invite', { email, data }, header('de'));
    return /<html lang="(\w+)"/.exec((await auth.message(email)).html)?.[1];
  };
  expect(await invite('it@x.test', { locale: 'it' })).toBe('it');
  expect(await invite('nobody@x.test', {})).toBe('en');
  const { user } = await signedUp(auth, 'changed@x.test');
  await auth.askAdmin(
    `/admin/users/${user.id}`,
    { password: 'a new good password' },
    { method: 'PUT', ...header('de') },
  );
  expect((await auth.message('changed@x.test')).html).toContain('<html lang="en"');
});

test('the language of the browser is kept with a new user only where the configuration says so', async () => {
  const forgetful = await serve();
  expect((await signUp(forgetful, {}, 'de-ch')).user.user_metadata.locale).toBeUndefined();
  const auth = await serve({ mailer_keep_locale: true, external_anonymous_users_enabled: true });
  const { email, user } = await signUp(auth, {}, 'de-ch, fr;q=0.5');
  expect(user.user_metadata.locale).toBe('de-CH');
  await auth.ask('/recover', { email }, header('fr'));
  expect((await auth.message(email)).html).toContain('<html lang="de"');
  expect((await signUp(auth, { lang: 'it' }, 'de')).user.user_metadata.locale).toBeUndefined();
  expect((await signUp(auth, {}, '*')).user.user_metadata.locale).toBeUndefined();
  const anonymous = await auth.ask('/signup', {}, header('pl'));
  expect(anonymous.body.user.user_metadata).toEqual({ locale: 'pl' });
});

test('the language that is kept does not tell who has an account', async () => {
  const auth = await serve({ mailer_keep_locale: true });
  await signedUp(auth, 'known@x.test');
  const answers = await Promise.all(
    ['known@x.test', 'unknown@x.test'].map((email) => auth.ask('/signup', { email, password }, header('de'))),
  );
  expect(answers.map(({ body }) => Object.keys(body.user_metadata))).toEqual(
    Array.from({ length: 2 }, () => expect.arrayContaining(['locale'])),
  );
});

test('an email that waits keeps its language, and its delivery names it', async () => {
  const auth = await serve(own);
  const { email, user } = await signUp(auth, { locale: 'de-AT' });
  await auth.askAdmin(`/admin/users/${user.id}`, { user_metadata: { locale: 'fr' } }, { method: 'PUT' });
  const rows = await database.query('select locale from pgreflect_queue.deliveries where user_id = $1', [user.id]);
  expect([rows, (await auth.message(email)).subject]).toEqual([[{ locale: 'de' }], 'deutsch de']);
});

test('a user whose data makes a translation fail gets the email all the same', async () => {
  const broken = { de: { subject: 'x', content: '{{ if eq .Data.list "x" }}{{ end }}' } };
  const auth = await serve({ mailer_templates_recovery_translations: broken, mailer_template_lenient_compare: false });
  const { email } = await signUp(auth, { locale: 'de', list: [] });
  await auth.ask('/recover', { email });
  const { kind, html } = await auth.message(email);
  expect([kind, html.includes('<html lang="de"')]).toEqual(['recovery', true]);
});

test('the page that asks before a link is used has the language of the browser', async () => {
  const translated = { 'de-AT': { content: 'servus {{ .Locale }} {{ .Button }}' } };
  const look = async (values: AuthValues, language: string) => {
    const { url } = await serve({ mailer_link_confirmation: 'page', ...values });
    const init = { headers: { 'accept-language': language } };
    return (await fetch(`${url}/auth/v1/verify?token=x&type=recovery`, init)).text();
  };
  const values = { mailer_templates_link_page_translations: translated };
  expect(await look(values, 'de-AT, de;q=0.9')).toMatch(
    /^servus de-AT <form .*>Passwort zurücksetzen<\/button><\/form>$/,
  );
  expect(await look(values, 'de-CH')).toContain('<html lang="de"');
  expect(await look(values, 'eo')).toContain('<html lang="en"');
  // The language of a page of one's own is not known, but its button has the words of the browser's.
  const base = { mailer_templates_link_page_content: '[{{ .Locale }}] {{ .Button }}' };
  expect(await look(base, 'de')).toMatch(/^\[\] <form .*>Passwort zurücksetzen<\/button><\/form>$/);
});
