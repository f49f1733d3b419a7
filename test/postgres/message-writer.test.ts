/** Messages of a flight as bytes: the same as the driver's own serializer makes, whatever their length. */
import { serialize } from 'pg-protocol';
import { expect, test } from 'vitest';
import { MessageWriter } from '../../src/postgres/wire/message-writer.ts';

const execute = serialize.execute({});

/** The driver names a text format for each parameter; no format codes at all mean the same, and are what we send. */
function bind(statement: string, values: readonly (string | null)[]): Buffer {
  const codes = values.length;
  const bytes = serialize.bind({ statement, values: [...values] });
  const at = 5 + 1 + Buffer.byteLength(statement) + 1;
  const body = Buffer.concat([
    bytes.subarray(5, at),
    Buffer.from([0, 0]),
    bytes.subarray(at + 2 + 2 * codes, bytes.length - 4),
    Buffer.from([0, 0]),
  ]);
  const head = Buffer.alloc(5);
  head[0] = 0x42;
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

test.each([
  ['nothing', []],
  ['short text', ['a', '', null, 'ü€😀']],
  ['text around the limit of guessed lengths', ['é'.repeat(2048), '😀'.repeat(1024), '€'.repeat(2049)]],
  ['text larger than the room', ['x'.repeat(200_000), null, '€'.repeat(100_000)]],
])('a flight with %s', (_what, values) => {
  const writer = new MessageWriter();
  const taken = writer.close('old').parse('s', 'select $1').run('s', values).sync().take();
  const expected = [
    serialize.close({ type: 'S', name: 'old' }),
    serialize.parse({ name: 's', text: 'select $1' }),
    bind('s', values),
    execute,
    serialize.sync(),
  ];
  expect(taken.equals(Buffer.concat(expected))).toBe(true);
});

test('messages that were taken do not change while the next flight is written', () => {
  const writer = new MessageWriter();
  for (const size of [10, 20_000, 100_000]) {
    const first = writer.run('a', ['1'.repeat(size)]).take();
    const copy = Buffer.from(first);
    writer.run('b', ['2'.repeat(size)]).take();
    expect(first.equals(copy)).toBe(true);
  }
});

test('a flight that could not be written leaves no bytes behind', () => {
  const writer = new MessageWriter();
  writer.run('a', ['x'.repeat(100_000)]).clear();
  expect(writer.sync().take().equals(serialize.sync())).toBe(true);
});
