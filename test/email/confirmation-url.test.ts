/**
 * Links in emails: where they lead, and that the redirect arrives as it was.
 */
import { describe, expect, test } from 'vitest';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import type { LinkKind } from '../../src/config/auth/email-kinds.ts';
import { buildConfirmationUrl } from '../../src/email/message/confirmation-url.ts';

const authUrl = 'https://db.test/auth/v1';
const link = { authUrl, linkToken: 'pkce_abc', redirectTo: 'https://app.test/cb' };
const config = layerAuthConfig({});

test.each([
  ['confirmation', 'email'],
  ['invite', 'invite'],
  ['magic_link', 'magiclink'],
  ['recovery', 'recovery'],
  ['email_change', 'email_change'],
] as const)('the link of %s has the type %s, three parameters and this order', (kind, type) => {
  expect(buildConfirmationUrl(kind, config, link)).toBe(
    `https://db.test/auth/v1/verify?token=pkce_abc&type=${type}&redirect_to=https://app.test/cb`,
  );
});

test('the type of the sign-up email is a choice of the configuration, and of whoever makes the link', () => {
  const original = layerAuthConfig({ mailer_confirmation_link_type: 'signup' });
  expect(buildConfirmationUrl('confirmation', original, link)).toContain('&type=signup&');
  expect(buildConfirmationUrl('confirmation', config, { ...link, type: 'signup' })).toContain('&type=signup&');
});

test('a link to a page that asks first says to whom it was sent, with the middle hidden', () => {
  const recipient = { address: 'ada.lovelace@mail.test', key: Buffer.alloc(32) };
  const paged = layerAuthConfig({ mailer_link_confirmation: 'page' });
  const url = buildConfirmationUrl('invite', paged, { ...link, recipient });
  expect(url).toMatch(/&redirect_to=https:\/\/app\.test\/cb&address=a\*\*\*@mail\.test\.[\w-]{22}$/);
  expect(buildConfirmationUrl('invite', config, { ...link, recipient })).not.toContain('address');
});

describe('the base of the link', () => {
  const base = (kind: LinkKind, values: AuthValues) =>
    buildConfirmationUrl(kind, layerAuthConfig(values), link).split('?')[0];

  test.each([
    ['/verify', 'https://db.test/auth/v1/verify'],
    ['/auth/v1/verify', 'https://db.test/auth/v1/verify'],
    ['/confirm', 'https://db.test/confirm'],
    ['https://app.test/confirm?a=b#c', 'https://app.test/confirm'],
  ])('path %s gives %s', (path, expected) => {
    expect(base('invite', { mailer_urlpaths_invite: path })).toBe(expected);
  });

  test('a magic link uses the path of recovery', () => {
    expect(base('magic_link', { mailer_urlpaths_recovery: '/again' })).toBe('https://db.test/again');
  });
});

describe('the redirect', () => {
  test.each([
    ['https://app.test/cb', 'https://app.test/cb'],
    ['https://app.test/cb?a', 'https://app.test/cb?a'],
    ['https://app.test/cb?a=1', 'https%3A%2F%2Fapp.test%2Fcb%3Fa%3D1'],
    ['https://app.test/cb?a=1&b=2', 'https%3A%2F%2Fapp.test%2Fcb%3Fa%3D1%26b%3D2'],
    ['https://app.test/#x', 'https%3A%2F%2Fapp.test%2F%23x'],
    ['myapp://open', 'myapp://open'],
    ["https://app.test/a,b;c(d)!e$f*g@h'i~j", "https://app.test/a,b;c(d)!e$f*g@h'i~j"],
    ['https://app.test/a+b', 'https%3A%2F%2Fapp.test%2Fa%2Bb'],
    ['https://app.test/a%20b', 'https%3A%2F%2Fapp.test%2Fa%2520b'],
    ['https://app.test/a b', 'https%3A%2F%2Fapp.test%2Fa+b'],
    ["https://app.test/é!'()*", 'https%3A%2F%2Fapp.test%2F%C3%A9%21%27%28%29%2A'],
    ['https://app.test/"[x]"', 'https%3A%2F%2Fapp.test%2F%22%5Bx%5D%22'],
  ])('%s is written %s', (redirectTo, expected) => {
    const url = buildConfirmationUrl('recovery', config, { ...link, redirectTo });
    expect(url.slice(url.indexOf('redirect_to=') + 'redirect_to='.length)).toBe(expected);
  });

  test.each([
    'https://app.test/cb',
    'https://app.test/a+b%20c?d=e&f=g#h',
    'https://app.test/ü "x" \u0000\n',
    'https://app.test/?x=😀',
  ])('%j arrives as it was when the link is opened', (redirectTo) => {
    const url = buildConfirmationUrl('recovery', config, { ...link, redirectTo });
    expect(new URL(url).searchParams.get('redirect_to')).toBe(redirectTo);
    expect(new URL(url).searchParams.get('type')).toBe('recovery');
  });
});
