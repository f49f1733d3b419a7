/**
 * Codes of authenticator apps, by the examples of RFC 6238 and RFC 4648, and the address that apps take the secret from.
 */
import { expect, test } from 'vitest';
import { findStep, fromBase32, toBase32, totpCode, totpStep, totpUri } from '../../../src/auth/secrets/totp.ts';

const key = Buffer.from('12345678901234567890');

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('at second %i of the RFC the code is %s', (second, code) => {
  expect(totpCode(key, totpStep(second * 1000))).toBe(code);
});

test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('base32 of "%s" is "%s", and back', (text, base32) => {
  expect(toBase32(Buffer.from(text))).toBe(base32);
  expect(Buffer.from(fromBase32(`${base32.toLowerCase()}==`) ?? []).toString()).toBe(text);
});

test('what is not base32 has no bytes', () => {
  expect(fromBase32('{"key_id":"a"}')).toBeNull();
  expect(fromBase32('MZXW1')).toBeNull();
});

test('a code holds in its step, the one before and the one after, and in no other', () => {
  const now = 1_764_000_000_000;
  const step = totpStep(now);
  const found = [-2, -1, 0, 1, 2].map((distance) => findStep(key, totpCode(key, step + distance), now));
  expect(found).toEqual([null, step - 1, step, step + 1, null]);
  for (const wrong of ['', '12345', `${totpCode(key, step)} `, `0${totpCode(key, step)}`]) {
    expect(findStep(key, wrong, now)).toBeNull();
  }
});

test('the address names issuer and account, and hides nothing in them', () => {
  expect(totpUri('MZXW6', { issuer: 'localhost:3000', account: 'ana@x.test' })).toBe(
    'otpauth://totp/localhost:3000:ana@x.test?algorithm=SHA1&digits=6&issuer=localhost:3000&period=30&secret=MZXW6',
  );
  const uri = new URL(totpUri('MZXW6', { issuer: 'A&B?secret=X/#ü', account: 'a+b@x.test' }));
  expect(uri.searchParams.getAll('secret')).toEqual(['MZXW6']);
  expect(uri.searchParams.get('issuer')).toBe('A&B?secret=X/#ü');
  expect(decodeURIComponent(uri.pathname)).toMatch(/A&B\?secret=X\/#ü:a\+b@x\.test$/);
});
