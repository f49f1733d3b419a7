import { expect, test } from 'vitest';
import { regexSize } from '../../../../src/graphql/compile/input/regex-size.ts';

test.each([
  ['abc', 3],
  ['a|b', 2],
  ['a*b+c?', 3],
  ['[a-z]{1,50}', 50],
  ['[]a]{3}[^]b]{2,}', 5],
  ['(a{1,200}){1,200}', 40_000],
  // The marks of the group count as well.
  ['(?:ab){10}c', 31],
  ['\\({5}x', 6],
  ['((a{9}b){9}', 90],
  ['a{', 1],
])('%s', (pattern, size) => {
  expect(regexSize(pattern)).toBe(size);
});

test.each(['[', '(', '{1', '\\', '[]', 'a{2}'])('Half a million of %s are read in one pass', (part) => {
  expect(regexSize(part.repeat(500_000))).toBeGreaterThanOrEqual(0);
});
