/**
 * Text of others in what commands print: lines and tabs stay, and nothing commands the terminal or turns the text around.
 */
import { expect, test } from 'vitest';
import { inJsonLines, inLines, onOneLine } from '../../../src/shared/one-line.ts';

test.each([
  ['a\n\tb', 'a\n\tb', 'a\\u000a\\u0009b'],
  ['a\r\nb', 'a\r\nb', 'a\\u000d\\u000ab'],
  ['shown\rforged', 'shown\\u000dforged', 'shown\\u000dforged'],
  ['\u001b[2K\u009b2K\u0007', '\\u001b[2K\\u009b2K\\u0007', '\\u001b[2K\\u009b2K\\u0007'],
  ['\u202etxt.exe', '\\u202etxt.exe', '\\u202etxt.exe'],
  ['Grüße 🎉 עברית', 'Grüße 🎉 עברית', 'Grüße 🎉 עברית'],
])('%j', (text, lines, line) => {
  expect(inLines(text)).toBe(lines);
  expect(onOneLine(text)).toBe(line);
});

test('a line of JSON has no control characters, and says the same', () => {
  const value = { path: '\u009b2K\u0085\u007f\u2028\u202e', text: 'Grüße\n🎉' };
  const line = inJsonLines(`${JSON.stringify(value)}\n`);
  expect(line).toMatch(/^[^\p{Cc}\u2028\u202e]*\n$/u);
  expect(JSON.parse(line)).toEqual(value);
});
