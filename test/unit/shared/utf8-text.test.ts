/**
 * A text that is bytes: the same whichever way it leaves, its memory is given back when it has left and not before, and it is not read
 * afterwards.
 */
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createGzip } from 'node:zlib';
import { expect, test } from 'vitest';
import { joinTexts, utf8Bytes } from '../../../src/graphql/execute/answer/compressed-text.ts';
import { Utf8Text } from '../../../src/shared/utf8-text.ts';

const expected = '{"data":{"größe":["€", "😀"]}}';

function makeText(): { readonly text: Utf8Text; readonly releases: () => number } {
  let releases = 0;
  const inner = new Utf8Text('{"größe":[', Buffer.from('"€", "😀"'), ']}', () => {
    releases += 1;
  });
  return { text: joinTexts(['{"data":', inner, '}']) as Utf8Text, releases: () => releases };
}

test('It is read as a string as often as one likes', () => {
  const { text, releases } = makeText();
  expect([String(text), String(text)]).toEqual([expected, expected]);
  expect(utf8Bytes(text)).toBe(Buffer.byteLength(expected));
  expect(releases()).toBe(0);
});

test('It leaves in one piece', () => {
  const { text, releases } = makeText();
  expect(text.take().toString()).toBe(expected);
  expect(releases()).toBe(1);
  expect(() => String(text)).toThrow('given away');
  expect(() => text.take()).toThrow('given away');
  expect(releases()).toBe(1);
});

test('It leaves through a stream', async () => {
  const { text, releases } = makeText();
  const gzip = createGzip();
  const read = buffer(gzip.pipe(createGunzip()));
  text.end(gzip);
  expect(releases()).toBe(0);
  expect((await read).toString()).toBe(expected);
  expect(releases()).toBe(1);
  expect(() => String(text)).toThrow('given away');
});

test('What a stream could not write is not used again', async () => {
  const { text, releases } = makeText();
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('broken')) });
  const ended = new Promise((resolve) => broken.once('error', resolve));
  text.end(broken);
  await ended;
  expect(releases()).toBe(0);
});

test('Beside another one they are text again', () => {
  expect(joinTexts(['[', makeText().text, ',', makeText().text, ']'])).toBe(`[${expected},${expected}]`);
});
