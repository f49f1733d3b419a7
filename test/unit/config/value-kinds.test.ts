import { expect, test } from 'vitest';
import { httpUrl, names, networks, origins, rate, roleClaimPath } from '../../../src/config/value-kinds.ts';
import { flag, integerBetween } from '../../../src/shared/schema.ts';

test('numbers may have underscores and are bounded', () => {
  expect(integerBetween(1, 1_000_000).parseText('20_000')).toBe(20_000);
  for (const text of ['0', '1.5', '1e3', '', 'ten', '1000001']) {
    expect(() => integerBetween(1, 1_000_000).parseText(text)).toThrow('must be a whole number from 1 to 1000000');
  }
});

test('a port that Kubernetes set by itself is recognised', () => {
  expect(() => integerBetween(0, 65_535).parseText('tcp://10.0.0.1:80')).toThrow('enableServiceLinks');
});

test('truth has several words', () => {
  expect(['true', 'on', 'YES', '1'].map(flag.parseText)).toEqual([true, true, true, true]);
  expect(['false', 'off', 'No', '0'].map(flag.parseText)).toEqual([false, false, false, false]);
  expect(() => flag.parseText('maybe')).toThrow('must be true or false');
});

test('names are trimmed and may not repeat', () => {
  expect(names.parseText(' shop , blog ')).toEqual(['shop', 'blog']);
  expect(() => names.parseText('shop,shop')).toThrow('names "shop" twice');
});

test('origins have neither path nor wildcard', () => {
  expect(origins.parseText('https://app.example.com, http://localhost:3000')).toEqual([
    'https://app.example.com',
    'http://localhost:3000',
  ]);
  expect(origins.parseText('*')).toBe('*');
  for (const text of ['https://app.example.com/path', 'app.example.com', 'https://*.example.com/']) {
    expect(() => origins.parseText(text)).toThrow('must be `*` or origins');
  }
});

test('networks are addresses, with the length of a prefix where they are more than one', () => {
  expect(networks.parseText('10.0.0.0/8, 192.0.2.1,fd00::/8, ::1')).toEqual([
    '10.0.0.0/8',
    '192.0.2.1',
    'fd00::/8',
    '::1',
  ]);
  for (const text of [
    '10.0.0.0/33',
    '::/129',
    '10.0.0',
    'proxy.example',
    '10.0.0.1/',
    'fe80::1%eth0',
    '10.0.0.0/8/8',
  ]) {
    expect(() => networks.parseText(text)).toThrow(
      'must be IP addresses or networks like 10.1.2.0/24, separated by commas',
    );
  }
});

test('a trailing slash of an address does not count', () => {
  expect(httpUrl.parseText('https://api.example.com/')).toBe('https://api.example.com');
  expect(() => httpUrl.parseText('ftp://api.example.com')).toThrow('http or https');
});

test('a rate is a number or off', () => {
  expect(rate.parseText('off')).toBeNull();
  expect(rate.parseText('60')).toBe(60);
});

test('the claim of the role is none that users write', () => {
  for (const name of ['role', 'app_metadata.role', '.app_metadata.role', 'https://x.test/role', 'a.user_metadata'])
    expect(roleClaimPath.parseText(name)).toBe(name);
  for (const name of ['user_metadata.role', '.user_metadata.role', 'user_metadata', 'user_metadata.a.b'])
    expect(() => roleClaimPath.parseText(name)).toThrow('must not be below user_metadata, which users write');
});
