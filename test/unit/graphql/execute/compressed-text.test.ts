/**
 * Long texts that are kept compressed: what comes out is what went in.
 */
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  CompressedText,
  joinTexts,
  TextWriter,
  utf8Bytes,
} from '../../../../src/graphql/execute/answer/compressed-text.ts';

const maxBytes = 16 * 1024 * 1024;

/** A text of so many lines, written line by line. Its characters have one to four bytes. */
function lines(count: number): { readonly text: string | CompressedText; readonly expected: string } {
  const writer = new TextWriter(maxBytes);
  const parts = Array.from({ length: count }, (_, index) => `${index} "ü" € 😀\n`);
  for (const part of parts) writer.write(part);
  return { text: writer.end(), expected: parts.join('') };
}

describe('A text', () => {
  test('that is short stays a string', () => {
    const { text, expected } = lines(1000);
    expect(text).toBe(expected);
    expect(new TextWriter(maxBytes).end()).toBe('');
    expect(utf8Bytes('ü')).toBe(2);
  });

  test('that is long is one gzip file', () => {
    const { text, expected } = lines(100_000);
    expect(String(text)).toBe(expected);
    expect(utf8Bytes(text)).toBe(Buffer.byteLength(expected));
    const { gzip } = text as CompressedText;
    expect(gunzipSync(gzip).toString()).toBe(expected);
    expect(gzip.length).toBeLessThan(Buffer.byteLength(expected) / 3);
  });

  test('that comes in one long part is compressed as well', () => {
    const writer = new TextWriter(maxBytes);
    writer.write('€'.repeat(1_000_000));
    const text = writer.end();
    expect(text).toBeInstanceOf(CompressedText);
    expect(String(text)).toBe('€'.repeat(1_000_000));
  });
});

test('Texts one behind the other are a string', () => {
  expect(joinTexts(['{', '', 'ü}'])).toBe('{ü}');
});
