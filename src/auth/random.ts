/**
 * Random bytes and the forms they are needed in. Passed in everywhere, so that tests can make it deterministic; the
 * program uses the operating system's generator.
 */
import { randomFillSync } from 'node:crypto';

/** A source of unpredictable random bytes. */
export interface Random {
  bytes(size: number): Uint8Array;
}

/** The generator of the operating system. */
export const systemRandom: Random = createSystemRandom();

/** Reads many bytes at once, because a call costs more than the bytes. Each byte is used once and then erased. */
function createSystemRandom(): Random {
  const supply = Buffer.alloc(4096);
  let given = supply.length;
  return {
    bytes(size) {
      if (size > supply.length) return randomFillSync(Buffer.alloc(size));
      if (given + size > supply.length) {
        randomFillSync(supply);
        given = 0;
      }
      const taken = Buffer.from(supply.subarray(given, given + size));
      supply.fill(0, given, given + size);
      given += size;
      return taken;
    },
  };
}

/**
 * A uniform integer from 0 to below `limit`: bytes beyond the last whole multiple of `limit` are rejected.
 *
 * @param limit At most 2^48.
 */
export function randomInteger(random: Random, limit: number): number {
  const space = 2 ** 48;
  const fair = space - (space % limit);
  for (;;) {
    const value = Buffer.from(random.bytes(6)).readUIntBE(0, 6);
    if (value < fair) return value % limit;
  }
}

/** A text of `length` characters of `alphabet`, chosen uniformly. */
export function randomText(random: Random, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInteger(random, alphabet.length)]).join('');
}

/** A UUID of version 4. */
export function randomUuid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
