/**
 * The reader in front of the driver: whatever the parts in which messages arrive, flights are told of the same rows, and the
 * driver gets the rest, whole.
 */
import { describe, expect, test } from 'vitest';
import type { DriverConnection } from '../../src/postgres/wire/driver-connection.ts';
import { MessageReader } from '../../src/postgres/wire/message-reader.ts';

function message(code: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(code, 'latin1');
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

function dataRow(...columns: readonly (string | null)[]): Buffer {
  const fields = columns.flatMap((column) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(column === null ? -1 : Buffer.byteLength(column));
    return column === null ? [length] : [length, Buffer.from(column)];
  });
  return message('D', Buffer.from([0, columns.length]), ...fields);
}

const long = 'long '.repeat(50);
const ready = message('Z', Buffer.from('I'));
const notice = message('N', Buffer.from('Mhello\0\0'));
const setting = message('S', Buffer.from('TimeZone\0UTC\0'));
const flight = Buffer.concat([
  ...[message('1'), message('2'), dataRow('1', null), message('C', Buffer.from('SELECT 1\0')), notice, setting],
  ...[message('2'), dataRow(long, 'ü'), dataRow('', 'x'), message('C', Buffer.from('SELECT 2\0')), message('I'), ready],
]);

/** What flight and driver are told when the bytes come in these parts. */
function tell(
  parts: readonly Buffer[],
  isFlying = true,
  maxBytes?: number,
): { readonly told: string[]; readonly forwarded: Buffer[] } {
  let listeners: ((bytes: Buffer) => void)[] = [];
  const told: string[] = [];
  const forwarded: Buffer[] = [];
  listeners.push((bytes) => forwarded.push(Buffer.from(bytes)));
  const stream = {
    listeners: () => [...listeners],
    on: (_event: string, listener: (bytes: Buffer) => void) => listeners.push(listener),
    off: (_event: string, listener: (bytes: Buffer) => void) => {
      listeners = listeners.filter((each) => each !== listener);
    },
  };
  const reader = MessageReader.of({ stream } as unknown as DriverConnection, maxBytes);
  if (isFlying) {
    reader.receiver = {
      handleRow(bytes, at) {
        const length = bytes.readInt32BE(at);
        told.push(`row ${bytes.toString('utf8', at + 4, at + 4 + length)}`);
      },
      handleLongRow: () => true,
      handleLargeRow() {
        told.push('large row');
        return true;
      },
      handleComplete: () => void told.push('complete'),
      handleNotice: () => {},
      handleEndOfRead: () => {},
    };
  }
  for (const part of parts) {
    const bytes = Buffer.from(part);
    for (const listener of listeners) listener(bytes);
    // As a socket does that reads into the same memory again.
    bytes.fill(0xff);
  }
  return { told, forwarded };
}

describe('A flight is told', () => {
  const expected = ['row 1', 'complete', `row ${long}`, 'row ', 'complete', 'complete'];

  test('of rows and of completed statements, and the driver of all other messages', () => {
    const { told, forwarded } = tell([flight]);
    expect(told).toEqual(expected);
    expect(forwarded).toEqual([setting, ready]);
  });

  test('the same where the bytes come in two parts, wherever they are cut', () => {
    for (let cut = 1; cut < flight.length; cut += 1) {
      const { told, forwarded } = tell([flight.subarray(0, cut), flight.subarray(cut)]);
      expect(told, `cut at ${cut}`).toEqual(expected);
      expect(forwarded, `cut at ${cut}`).toEqual([setting, ready]);
    }
  });

  test('the same where each byte comes alone', () => {
    const { told, forwarded } = tell([...flight].map((byte) => Buffer.from([byte])));
    expect(told).toEqual(expected);
    expect(Buffer.concat(forwarded)).toEqual(Buffer.concat([setting, ready]));
  });
});

describe('Of a message that is too long', () => {
  const maxBytes = 100_000;
  const errorOf = (text: string) => message('E', Buffer.from(`SERROR\0CP0001\0M${text}\0Rraise\0\0`));
  const row = dataRow('x'.repeat(150_000));
  const around = (long: Buffer) => Buffer.concat([dataRow('before'), long, dataRow('after'), ready]);
  const cuts = [1, 40, 30_000, 65_535, 65_536, 65_537, 65_600, 150_000];
  const inParts = (whole: Buffer, size: number) =>
    Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      whole.subarray(index * size, (index + 1) * size),
    );

  test.each(cuts)('a flight is told that there was a row, whichever parts of %i bytes it comes in', (size) => {
    const { told, forwarded } = tell(inParts(around(row), size), true, maxBytes);
    expect(told).toEqual(['row before', 'large row', 'row after']);
    expect(forwarded).toEqual([ready]);
  });

  test.each(cuts)('the driver gets the first 64 kB of an error and its end, in parts of %i bytes', (size) => {
    for (const pad of ['', 'x', 'xx']) {
      const { told, forwarded } = tell(inParts(around(errorOf(`${pad}${'€'.repeat(60_000)}`)), size), true, maxBytes);
      expect(told).toEqual(['row before', 'row after']);
      const [error = Buffer.alloc(0), last] = forwarded;
      expect(last).toEqual(ready);
      expect(error.readUInt32BE(1)).toBe(error.length - 1);
      expect(error.length).toBeLessThanOrEqual(65_536);
      expect(error.subarray(5).toString()).toMatch(/^SERROR\0CP0001\0Mx*€{21000,}\0Rraise\0\0$/);
    }
  });

  test.each(cuts)('a notice is dropped, in parts of %i bytes', (size) => {
    for (const bytes of [65_000, 66_000, 150_000]) {
      const { told, forwarded } = tell(inParts(around(message('N', Buffer.alloc(bytes))), size), true, maxBytes);
      expect(told).toEqual(['row before', 'row after']);
      expect(forwarded).toEqual([ready]);
    }
  });

  test('the driver gets no part of a text as another, wherever fields end at the limit', () => {
    for (let length = 65_240; length < 65_290; length += 1) {
      const fields = [`SERROR\0CP0001\0M${'x'.repeat(length)}`, `D${'y'.repeat(1000)}`, 'Wz', 'Rraise'];
      const { forwarded } = tell([message('E', Buffer.from(`${fields.join('\0')}\0\0`))], true, maxBytes);
      const [error = Buffer.alloc(0)] = forwarded;
      expect(error.readUInt32BE(1)).toBe(error.length - 1);
      expect(error.subarray(5).toString()).toMatch(/^SERROR\0CP0001\0Mx+\0(Dy*\0)?Wz\0Rraise\0\0$/);
    }
  });

  test('the driver gets an error whole wherever its fields end at the limit', () => {
    for (let length = 65_490; length < 65_540; length += 1) {
      const { forwarded } = tell([errorOf('x'.repeat(length))], true, maxBytes);
      const [error = Buffer.alloc(0)] = forwarded;
      expect(error.readUInt32BE(1)).toBe(error.length - 1);
      expect(error.subarray(5).toString()).toMatch(/^SERROR\0CP0001\0Mx+\0(R(raise|rais|rai|ra|r)?\0)?\0$/);
    }
  });
});

test('A receiver that fails loses its connection, and not the process', () => {
  let problem: Error | undefined;
  const stream = {
    listeners: () => [() => {}],
    on: () => {},
    off: () => {},
    destroy: (error: Error) => {
      problem = error;
    },
  };
  const reader = MessageReader.of({ stream } as unknown as DriverConnection);
  const fail = () => {
    throw new Error('as asked');
  };
  const others = {
    handleLongRow: fail,
    handleLargeRow: fail,
    handleComplete: fail,
    handleNotice: fail,
    handleEndOfRead: fail,
  };
  reader.receiver = { handleRow: fail, ...others };
  reader.read(dataRow('x'), dataRow('x').length);
  expect(problem?.message).toBe('as asked');
});

test('without a flight every message goes to the driver', () => {
  const { told, forwarded } = tell([flight], false);
  expect(told).toEqual([]);
  expect(Buffer.concat(forwarded)).toEqual(flight);
});
