import { expect, test } from 'vitest';
import {
  integerBetween,
  parseBoolean,
  parseHttpUrl,
  parseNames,
  parseNetworks,
  parseOrigins,
  parseRate,
  parseRoleClaim,
} from '../../../src/config/value-kinds.ts';

test('numbers may have underscores and are bounded', () => {
  expect(integerBetween(1, 1_000_000)('20_000')).toBe(20_000);
  for (const text of ['0', '1.5', '1e3', '', 'ten', '1000001']) {
    expect(() => integerBetween(1, 1_000_000)(text)).toThrow('must be a whole number from 1 to 1000000');
  }
});

test('a port that Kubernetes set by itself is recognised', () => {
  expect(() => integerBetween(0, 65_535)('tcp://10.0.0.1:80')).toThrow('enableServiceLinks');
});

test('truth has several words', () => {
  expect(['true', 'on', 'YES', '1'].map(parseBoolean)).toEqual([true, true, true, true]);
  expect(['false', 'off', 'No', '0'].map(parseBoolean)).toEqual([false, false, false, false]);
  expect(() => parseBoolean('maybe')).toThrow('must be true or false');
});

test('names are trimmed and may not repeat', () => {
  expect(parseNames(' shop , blog ')).toEqual(['shop', 'blog']);
  expect(() => parseNames('shop,shop')).toThrow('names "shop" twice');
});

test('origins have neither path nor wildcard', () => {
  expect(parseOrigins('https://app.example.com, http://localhost:3000')).toEqual([
    'https://app.example.com',
    'http://localhost:3000',
  ]);
  expect(parseOrigins('*')).toBe('*');
  for (const text of ['https://app.example.com/path', 'app.example.com', 'https://*.example.com/']) {
    expect(() => parseOrigins(text)).toThrow('must be `*` or origins');
  }
});

test('networks are addresses, with the length of a prefix where they are more than one', () => {
  expect(parseNetworks('10.0.0.0/8, 192.0.2.1,fd00::/8, ::1')).toEqual(['10.0.0.0/8', '192.0.2.1', 'fd00::/8', '::1']);
  for (const text of [
    '10.0.0.0/33',
    '::/129',
    '10.0.0',
    'proxy.example',
    '10.0.0.1/',
    'fe80::1%eth0',
    '10.0.0.0/8/8',
  ]) {
    expect(() => parseNetworks(text)).toThrow('must be IP addresses or networks like 10.1.2.0/24, separated by commas');
  }
});

test('a trailing slash of an address does not count', () => {
  expect(parseHttpUrl('https://api.example.com/')).toBe('https://api.example.com');
  expect(() => parseHttpUrl('ftp://api.example.com')).toThrow('http or https');
});

test('a rate is a number or off', () => {
  expect(parseRate('off')).toBeNull();
  expect(parseRate('60')).toBe(60);
});

test('the claim of the role is none that users write', () => {
  for (const name of ['role', 'app_metadata.role', '.app_metadata.role', 'https://x.test/role', 'a.user_metadata'])
    expect(parseRoleClaim(name)).toBe(name);
  for (const name of ['user_metadata.role', '.user_metadata.role', 'user_metadata', 'user_metadata.a.b'])
    expect(() => parseRoleClaim(name)).toThrow('must not be below user_metadata, which users write');
});
