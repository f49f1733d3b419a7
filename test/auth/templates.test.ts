/**
 * What the templates of an operator make of a request: who the user is, what they said of themselves, where the link leads.
 */
import { beforeAll, expect, test } from 'vitest';
import { signedUp, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

test('one template has other texts for users with other metadata', async () => {
  const auth = await testAuth(database, {
    mailer_subjects_confirmation: '{{ if eq .Data.plan "gold" }}Welcome, dear{{ else }}Welcome{{ end }}',
    mailer_templates_confirmation_content: '<p>{{ if .Data.plan }}Plan {{ .Data.plan }}{{ else }}No plan{{ end }}</p>',
  });
  const texts = async (email: string, data: object) => {
    await auth.ask('/signup', { email, password, data });
    const { subject, html } = await auth.message(email);
    return [subject, html];
  };
  expect(await texts('gold@x.test', { plan: 'gold' })).toEqual(['Welcome, dear', '<p>Plan gold</p>']);
  expect(await texts('free@x.test', { plan: 'free' })).toEqual(['Welcome', '<p>Plan free</p>']);
  expect(await texts('none@x.test', {})).toEqual(['Welcome', '<p>No plan</p>']);
});

test('users get their email whatever their metadata holds', async () => {
  const auth = await testAuth(database, {
    mailer_subjects_confirmation: '{{ if eq .Data.language "en" }}Welcome{{ else }}Hallo{{ end }}',
    mailer_templates_confirmation_content: `<p>{{ slice .Data.name 0 1 }}|{{ len .Data.teams }}|{{ index .Data.teams 0 }}|{{ .Data.a.b }}</p>
      {{ range .Data.teams }}{{ . }}{{ end }}{{ if gt .Data.age 17.5 }}of age{{ end }}{{ printf .Data.format 5 }}`,
  });
  for (const [number, language] of [42, ['en'], { is: 'en' }, true, null].entries()) {
    const email = `chooses${number}@x.test`;
    const data = { language, name: 42, teams: number, a: 'text', age: 'old', format: [1] };
    expect(await auth.ask('/signup', { email, password, data })).toMatchObject({ status: 200 });
    expect(await auth.message(email)).toMatchObject({ subject: 'Hallo', html: expect.stringContaining('<p>|0||</p>') });
  }
  const told = auth.observations.filter(({ kind }) => kind === 'template_tolerated');
  expect(told).toHaveLength(5);
  expect(told[0]).toEqual({ kind: 'template_tolerated', email: 'confirmation', part: 'subject', line: 1 });
});

test('an email with a filtered address is told in the log, with the scheme of the redirect', async () => {
  const fields = {
    uri_allow_list: 'com.acme.app://**',
    mailer_templates_magic_link_content: '<a href="{{ .RedirectTo }}?token_hash={{ .TokenHash }}">Open</a>',
  };
  const mailOf = async (email: string, more: object) => {
    const auth = await testAuth(database, { ...fields, ...more });
    await signedUp(auth, email);
    await auth.ask('/otp?redirect_to=com.acme.app://cb', { email });
    const { html } = await auth.message(email);
    return { html, told: auth.observations.filter(({ kind }) => kind === 'link_filtered') };
  };
  expect(await mailOf('filtered@x.test', {})).toEqual({
    html: expect.stringContaining('href="#ZgotmplZ?token_hash='),
    told: [{ kind: 'link_filtered', email: 'magic_link', redirectScheme: 'com.acme.app' }],
  });
  expect(await mailOf('opened@x.test', { mailer_extra_url_schemes: 'com.acme.app' })).toEqual({
    html: expect.stringContaining('href="com.acme.app://cb?token_hash='),
    told: [],
  });
});

test("strict templates fail where Go's fail", async () => {
  const auth = await testAuth(database, {
    mailer_template_lenient_compare: false,
    mailer_subjects_confirmation: '{{ if eq .Data.language "en" }}Welcome{{ else }}Hallo{{ end }}',
  });
  const body = { email: 'strict@x.test', password, data: { language: 42 } };
  expect(await auth.ask('/signup', body)).toMatchObject({ status: 500 });
  expect(await auth.messages('strict@x.test')).toEqual([]);
});

test('the variable for the redirect is where the link leads, never an address that was refused', async () => {
  const auth = await testAuth(database, {
    smtp_max_frequency: 0,
    uri_allow_list: 'https://app.test/**',
    mailer_templates_recovery_content: '<p>{{ .RedirectTo }}</p>',
  });
  const email = 'redirected@x.test';
  await signedUp(auth, email);
  const redirectOf = async (asked: string, referer?: string) => {
    await auth.ask(`/recover?redirect_to=${asked}`, { email }, referer ? { headers: { referer } } : {});
    return (await auth.message(email)).html;
  };
  expect(await redirectOf('https://app.test/reset')).toBe('<p>https://app.test/reset</p>');
  expect(await redirectOf('https://evil.test/')).toBe('<p>https://app.test</p>');
  expect(await redirectOf('https://evil.test/', 'https://app.test/page')).toBe('<p>https://app.test/page</p>');
});

test('the code in the email is the one that is accepted, the hash the one of the link', async () => {
  const auth = await testAuth(database, {
    mailer_templates_confirmation_content: '<p>{{ .Token }}|{{ .TokenHash }}|{{ .ConfirmationURL }}</p>',
  });
  const email = 'parts@x.test';
  await auth.ask('/signup', { email, password });
  const [token, hash, link] = (await auth.message(email)).text.trim().split('|');
  expect(token).toMatch(/^[0-9]{6}$/);
  expect(new URL(link ?? '').searchParams.get('token')).toBe(hash);
  expect((await auth.ask('/verify', { type: 'email', email, token })).status).toBe(200);
});
