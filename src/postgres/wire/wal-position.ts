/** Positions in the write-ahead log: text in PostgreSQL's format, `16/B374D848`, and a number to compare. */

const pattern = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i;

/** The number of a position; null for invalid text. */
export function parsePosition(text: string): bigint | null {
  const [, high, low] = pattern.exec(text) ?? [];
  return high === undefined || low === undefined ? null : BigInt(`0x${high}`) * 0x1_0000_0000n + BigInt(`0x${low}`);
}
