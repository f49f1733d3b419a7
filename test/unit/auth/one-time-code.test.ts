/**
 * One-time codes, their hashes, and the randomness they are made of.
 */
import { expect, test } from 'vitest';
import { type Random, randomInteger, randomText, randomUuid, systemRandom } from '../../../src/auth/random.ts';
import { hashCode, isPkceHash, makeCode, matchesHash } from '../../../src/auth/secrets/one-time-code.ts';
import { sameText } from '../../../src/shared/same-text.ts';

/** Gives these bytes, one after the other. */
function bytesOf(...chunks: readonly (readonly number[])[]): Random {
  const waiting = [...chunks];
  return { bytes: () => Uint8Array.from(waiting.shift() ?? []) };
}

test('a code has the configured number of digits, zeros in front included', () => {
  expect(makeCode(bytesOf([0, 0, 0, 0, 0, 42]), 6)).toBe('000042');
  for (const digits of [6, 7, 8, 9, 10])
    expect(makeCode(systemRandom, digits)).toMatch(new RegExp(`^[0-9]{${digits}}$`));
});

test('a length outside 6 to 10 counts as 6', () => {
  for (const digits of [0, 5, 11, Number.NaN]) expect(makeCode(systemRandom, digits)).toMatch(/^[0-9]{6}$/);
});

test('bytes beyond the last whole multiple are thrown away, so that every code is equally likely', () => {
  const random = bytesOf([255, 255, 255, 255, 255, 255], [0, 0, 0, 0, 0, 7]);
  expect(randomInteger(random, 10)).toBe(7);
});

test('codes are spread over the whole range', () => {
  const first = new Set(Array.from({ length: 2000 }, () => makeCode(systemRandom, 6)[0]));
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

test('random identifiers have their form', () => {
  expect(randomUuid(systemRandom)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(randomText(systemRandom, 'ab', 12)).toMatch(/^[ab]{12}$/);
});
