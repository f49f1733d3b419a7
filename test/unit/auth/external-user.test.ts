/**
 * Claims of providers -> the user that we know, where providers differ.
 */
import { expect, test } from 'vitest';
import { toExternalUser } from '../../../src/auth/providers/external-user.ts';
import { knownProviders } from '../../../src/auth/providers/known-providers.ts';

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
    ...{ provider: 'x', subject: '12', email: null, isEmailVerified: false, emails: [] },
    identityData: { sub: '12', provider_id: '12', email_verified: false, phone_verified: false },
  });
});
