/**
 * Claims of providers -> the user that we know, where providers differ.
 */
import { expect, test } from 'vitest';
import { toExternalUser } from '../../../src/auth/providers/external-user.ts';
import { knownProviders, type ProviderTraits } from '../../../src/auth/providers/known-providers.ts';

const own = 'https://login.microsoftonline.com/00000000-0000-0000-0000-00000000000a/v2.0';
const other = own.replace('a/v2.0', 'b/v2.0');
const anyTenant = 'https://login.microsoftonline.com/{tenantid}/v2.0';

test.each([
  ['the tenant of the configuration', own, own, {}, true],
  ['another tenant', other, own, {}, false],
  ['some tenant, where all may come', own, anyTenant, {}, false],
  ['a tenant that owns the domain', other, anyTenant, { xms_edov: true }, true],
  ['a tenant that says so by a text', other, anyTenant, { xms_edov: '1' }, true],
  ['a tenant that does not own the domain', own, own, { xms_edov: false }, false],
  ['a tenant that says it otherwise', other, own, { email_verified: true }, false],
])('Azure: an address from %s (%s, ours %s, %j) is verified: %s', (_name, iss, ownIssuer, claims, isVerified) => {
  const source = { provider: 'azure', traits: knownProviders.azure, ownIssuer };
  const user = toExternalUser(source, { iss, sub: 'a', email: 'a@x.test', ...claims });
  expect([user.isEmailVerified, user.identityData.email_verified]).toEqual([isVerified, isVerified]);
});

test('claims that are not texts are left out, and a number may be the name of a user', () => {
  const claims = {
    sub: 12,
    name: { first: 'A' },
    picture: 5,
    preferred_username: '',
    email: null,
    email_verified: true,
  };
  expect(toExternalUser({ provider: 'x', ownIssuer: '' }, claims)).toEqual({
    provider: 'x',
    subject: '12',
    email: null,
    isEmailVerified: false,
    emails: [],
    identityData: { sub: '12', email_verified: false, phone_verified: false },
  });
});

const iss = 'https://provider.test';
const times = { aud: 'us', iat: 1_700_000_000, exp: 1_700_003_600, nonce: 'n', at_hash: 'h' };
const ana = { name: 'Ana', given_name: 'A', locale: 'de', picture: 'p', preferred_username: 'ana' };
const groups = ['staff', { name: 'sales' }];

test.each<[keyof typeof knownProviders, claims: object, data: object]>([
  [
    'apple',
    { ...times, is_private_email: 'true', auth_time: 1_700_000_000, real_user_status: 2 },
    { provider_id: 'a', custom_claims: { is_private_email: true, auth_time: 1_700_000_000 } },
  ],
  ['apple', times, { provider_id: 'a' }],
  [
    'azure',
    { ...times, ...ana, uti: 'u', ver: '2.0', tid: 't', xms_edov: true, groups },
    {
      provider_id: 'a',
      full_name: 'Ana',
      preferred_username: 'ana',
      custom_claims: {
        email: 'a@x.test',
        email_verified: true,
        given_name: 'A',
        locale: 'de',
        picture: 'p',
        tid: 't',
        xms_edov: true,
        groups,
      },
    },
  ],
  ['facebook', { ...times, ...ana }, { provider_id: 'a', name: 'Ana', picture: 'p' }],
  [
    'google',
    { ...times, ...ana, azp: 'us', hd: 'x.test' },
    {
      provider_id: 'a',
      name: 'Ana',
      full_name: 'Ana',
      picture: 'p',
      avatar_url: 'p',
      custom_claims: { hd: 'x.test' },
    },
  ],
  ['google', { sub: 'a', name: 'Ana' }, { provider_id: 'a', name: 'Ana', full_name: 'Ana' }],
  [
    'kakao',
    { ...times, nickname: 'ana', picture: 'p' },
    { provider_id: 'a', name: 'ana', preferred_username: 'ana', picture: 'p' },
  ],
  [
    'keycloak',
    { ...times, ...ana, updated_at: 1_700_000_000, groups },
    { ...ana, aud: ['us'], iat: 1_700_000_000, exp: 1_700_003_600, updated_at: '2023-11-14T22:13:20Z' },
  ],
])('%s: the claims of an ID token become the data that Supabase Auth has', (provider, claims, data) => {
  const source = { provider, traits: knownProviders[provider] as ProviderTraits, ownIssuer: iss };
  const { identityData } = toExternalUser(source, {
    email_verified: true,
    ...claims,
    iss,
    sub: 'a',
    email: 'a@x.test',
  });
  expect(identityData).toEqual({
    iss,
    sub: 'a',
    email: 'a@x.test',
    email_verified: true,
    phone_verified: false,
    ...data,
  });
});

test.each(['apple', 'facebook', 'kakao'] as const)(
  '%s: an address counts as verified unless the token denies it',
  (provider) => {
    const source = { provider, traits: knownProviders[provider], ownIssuer: iss };
    const isVerified = (claims: object) =>
      toExternalUser(source, { sub: 'a', email: 'a@x.test', ...claims }).isEmailVerified;
    const said = [undefined, 'true', false, 'false', null].map((value) => isVerified({ email_verified: value }));
    expect(said).toEqual([true, true, false, false, false]);
    expect(toExternalUser(source, { sub: 'a' }).isEmailVerified).toBe(false);
  },
);

test('custom claims that cannot be stored or are too large are left out', () => {
  const source = { provider: 'keycloak', ownIssuer: iss, shape: knownProviders.keycloak.infoShape };
  const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`);
  const claims = {
    sub: 'a',
    groups,
    deep,
    'n\0l': 1,
    bad: ['\0'],
    large: 'x'.repeat(20_000),
    last: null,
    __proto__: 1,
  };
  expect(toExternalUser(source, claims).identityData.custom_claims).toEqual({ groups, last: null });
});
