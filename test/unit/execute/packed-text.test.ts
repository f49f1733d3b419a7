/**
 * Long texts that are kept compressed: what comes out is what went in, whichever way it is read.
 */
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { bytesOf, joinTexts, PackedText, type Text, TextWriter } from '../../../src/execute/answer/packed-text.ts';

/** A text of so many lines, written line by line. Its characters have one to four bytes. */
function lines(count: number): { readonly text: Text; readonly expected: string } {
  const writer = new TextWriter();
  const parts = Array.from({ length: count }, (_, index) => `${index} "ü" € 😀\n`);
  for (const part of parts) writer.write(part);
  return { text: writer.end(), expected: parts.join('') };
}

function packed(text: Text): PackedText {
  if (!(text instanceof PackedText)) throw new Error('expected a packed text');
  return text;
}

describe('A text', () => {
  test('that is short stays a string', () => {
    const { text, expected } = lines(1000);
    expect(text).toBe(expected);
    expect(new TextWriter().end()).toBe('');
    expect(bytesOf('ü')).toBe(2);
  });

  test('that is long is packed, and comes back as text and as UTF-8 in parts', () => {
    const { text, expected } = lines(100_000);
    expect(String(text)).toBe(expected);
    expect(Buffer.concat([...packed(text).utf8()]).toString()).toBe(expected);
    expect(bytesOf(text)).toBe(Buffer.byteLength(expected));
  });

  test('that comes in one long part is unpacked in short ones', () => {
    const writer = new TextWriter();
    writer.write('€'.repeat(1_000_000));
    const parts = [...packed(writer.end()).utf8()];
    expect(Math.max(...parts.map((part) => part.length))).toBe(256 * 1024);
    expect(Buffer.concat(parts).toString()).toBe('€'.repeat(1_000_000));
  });

  test('is gzip as it is kept, which those who unpack it find unharmed', () => {
    const { text, expected } = lines(100_000);
    const gzip = Buffer.concat([...packed(text).gzip()]);
    expect(gzip).toHaveLength(packed(text).gzipBytes);
    expect(gzip.length).toBeLessThan(Buffer.byteLength(expected) / 3);
    expect(gunzipSync(gzip).toString()).toBe(expected);
  });
});

describe('Texts one behind the other', () => {
  test('are a string when they are all short', () => {
    expect(joinTexts(['{', '', 'ü}'])).toBe('{ü}');
  });

  test('are packed when one of them is', () => {
    const { text, expected } = lines(100_000);
    for (const texts of [['{"a":', text, '}'], ['', text, text], [text]] satisfies Text[][]) {
      const joined = packed(joinTexts(texts));
      const whole = texts.map((each) => (each === text ? expected : each)).join('');
      expect(gunzipSync(Buffer.concat([...joined.gzip()])).toString()).toBe(whole);
      expect(joined.bytes).toBe(Buffer.byteLength(whole));
    }
  });
});
