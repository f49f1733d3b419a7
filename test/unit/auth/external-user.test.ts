/**
 * Claims of providers -> the user that we know, where providers differ.
 */
import { expect, test } from 'vitest';
import { toExternalUser } from '../../../src/auth/providers/external-user.ts';
import { providerTable } from '../../../src/auth/providers/provider-table.ts';

const azure = { provider: 'azure', row: providerTable.azure };
const tenant = 'https://login.microsoftonline.com/00000000-0000-0000-0000-00000000000a';

test.each([
  ['the tenant of the configuration', tenant, {}, true],
  ['any tenant', 'https://login.microsoftonline.com/common', {}, false],
  ['any organization', 'https://login.microsoftonline.com/organizations/v2.0', {}, false],
  ['any tenant that owns the domain', 'https://login.microsoftonline.com/common', { xms_edov: true }, true],
  ['any tenant that says so by a text', 'https://login.microsoftonline.com/common', { xms_edov: '1' }, true],
  ['a tenant that does not own the domain', tenant, { xms_edov: false }, false],
  ['a tenant that says it otherwise', 'https://login.microsoftonline.com/common', { email_verified: true }, false],
])('Azure: the address from %s (%s, %j): verified %s', (_name, address, claims, isVerified) => {
  const user = toExternalUser({ ...azure, address }, { sub: 'a', email: 'a@x.test', ...claims });
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
  expect(toExternalUser({ provider: 'x', address: '' }, claims)).toEqual({
    ...{ provider: 'x', subject: '12', email: null, isEmailVerified: false, emails: [] },
    identityData: { sub: '12', provider_id: '12', email_verified: false, phone_verified: false },
  });
});
