/**
 * Durations of bans, as Supabase Auth writes them.
 */
import { expect, test } from 'vitest';
import { parseGoDuration } from '../../../src/config/auth/go-duration.ts';

test.each([
  ['24h', 86_400_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['1.s', 1000],
  ['300ms', 300],
  ['-2m', -120_000],
  ['0', 0],
])('%s is read', (text, ms) => {
  expect(parseGoDuration(text)).toBe(ms);
});

test.each(['', 'h', '1', '1x', '1.2.3s', '.s', '1h ', '3000000h'])('"%s" is none', (text) => {
  expect(parseGoDuration(text)).toBeNull();
});

test('a long text takes time by its length, not by its square', () => {
  expect(parseGoDuration('1'.repeat(500_000))).toBeNull();
});
