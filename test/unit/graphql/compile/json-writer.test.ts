/**
 * The writer of rows reads and writes four bytes at a time: whatever stands at whichever place of a text of whichever length, the
 * JSON is that of `JSON.stringify`, and what is no text is copied as it is.
 */
import { expect, test } from 'vitest';
import { JsonWriter, readColumns, viewOf } from '../../../../src/graphql/compile/answer/json-writer.ts';
import type { ColumnForm } from '../../../../src/graphql/model/scalars.ts';

/** A row as it comes, with `before` bytes of another message in front of it. */
function rowOf(columns: readonly (string | null)[], before = 0): Buffer {
  const parts = columns.flatMap((column) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(column === null ? -1 : Buffer.byteLength(column));
    return column === null ? [length] : [length, Buffer.from(column)];
  });
  return Buffer.concat([Buffer.alloc(before, '"'), ...parts]);
}

function write(columns: readonly (string | null)[], form: ColumnForm, { before = 0, expected = 0 } = {}): string {
  const writer = new JsonWriter(expected, Number.POSITIVE_INFINITY);
  readColumns(rowOf(columns, before), before, columns.length);
  writer.row(columns.map((_, index) => ({ kind: 'column', form, index })));
  const text = writer.text(0);
  writer.close();
  return text;
}

/** One of each kind: every byte that is escaped, those beside them, and characters of two, three and four bytes. */
const characters = [
  ...Array.from({ length: 0x24 }, (_, code) => String.fromCharCode(code)),
  ...['[', '\\', ']', 'a', '~', '\u007f', '\u0080', 'ü', '\u00a2', '\u00dc', '€', '￿', '😀'],
  // PostgreSQL has no text with this one.
].filter((character) => character !== '\0');

test('Every character at every place of a text', () => {
  for (const character of characters) {
    for (let length = 0; length < 13; length += 1) {
      for (let at = 0; at <= length; at += 1) {
        const text = 'x'.repeat(at) + character + 'y'.repeat(length - at);
        expect(write([text], 'text', { before: length })).toBe(JSON.stringify(text));
      }
    }
  }
});

test('Every two characters next to each other', () => {
  for (const one of characters) {
    const text = characters.map((other) => one + other).join('');
    expect(write([text], 'text')).toBe(JSON.stringify(text));
  }
});

test('Copies of every length, in a room that has to grow', () => {
  const long = Array.from({ length: 700 }, (_, index) => String.fromCharCode(0x30 + (index % 64))).join('');
  for (let length = 0; length <= long.length; length += 1) {
    const text = long.slice(0, length);
    expect(write([text, null, text], 'json', { before: length % 5 })).toBe(`${text}null${text}`);
    expect(write([text], 'quoted')).toBe(`"${text}"`);
  }
  const columns = Array.from({ length: 1000 }, () => `${long}"\n`);
  expect(write(columns, 'text')).toBe(columns.map((column) => JSON.stringify(column)).join(''));
});

test('Constants stand between the columns', () => {
  const writer = new JsonWriter(0, Number.POSITIVE_INFINITY);
  const constants = ['', '{', '{"', '{"a', '{"ab":', ',"überall":'];
  readColumns(rowOf(['"']), 0, 1);
  for (const constant of constants) {
    writer.row([
      { kind: 'constant', bytes: viewOf(Buffer.from(constant)) },
      { kind: 'column', form: 'text', index: 0 },
    ]);
  }
  expect(writer.text(0)).toBe(constants.map((constant) => `${constant}"\\""`).join(''));
});
