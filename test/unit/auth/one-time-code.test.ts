/**
 * One-time codes and their hashes.
 */
import { expect, test } from 'vitest';
import { hashCode, isPkceHash, makeCode, matchesHash } from '../../../src/auth/secrets/one-time-code.ts';
import { randomText } from '../../../src/shared/random.ts';
import { sameText } from '../../../src/shared/same-text.ts';

test('a code has the configured number of digits, zeros in front included', () => {
  for (const digits of [6, 7, 8, 9, 10]) {
    const codes = Array.from({ length: 500 }, () => makeCode(digits));
    expect(codes.filter((code) => !new RegExp(`^[0-9]{${digits}}$`).test(code))).toEqual([]);
  }
});

test('a length outside 6 to 10 counts as 6', () => {
  for (const digits of [0, 5, 11, Number.NaN]) expect(makeCode(digits)).toMatch(/^[0-9]{6}$/);
});

test('codes are spread over the whole range', () => {
  const first = new Set(Array.from({ length: 2000 }, () => makeCode(6)[0]));
  expect(first.size).toBe(10);
});

test('a hash is SHA-224 over address and code, as Supabase Auth has it', () => {
  expect(hashCode('ana@mail.test', '012345')).toMatch(/^[0-9a-f]{56}$/);
  expect(hashCode('ana@mail.test', '012345')).toBe(hashCode('ana@mail.test0', '12345'));
  expect(hashCode('', '')).toBe('d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f');
});

test('a stored hash matches with and without the prefix of the PKCE flow', () => {
  const hash = hashCode('ana@mail.test', '012345');
  expect(matchesHash(hash, hash)).toBe(true);
  expect(matchesHash(`pkce_${hash}`, hash)).toBe(true);
  expect(matchesHash('', hash)).toBe(false);
  expect(matchesHash(hash.replace(/.$/, 'x'), hash)).toBe(false);
  expect([isPkceHash(`pkce_${hash}`), isPkceHash(hash)]).toEqual([true, false]);
});

test('texts are compared whole', () => {
  expect([sameText('a', 'a'), sameText('a', 'b'), sameText('a', 'aa'), sameText('', '')]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});

test('random text has its length and no character of another alphabet', () => {
  expect(randomText('ab', 12)).toMatch(/^[ab]{12}$/);
});
