/**
 * Repeatable randomness: everything the property test invents comes from one seed, so that a printed seed is enough to see a
 * failure again.
 */

/** A stream of decisions; equal seeds make equal streams. */
export interface Random {
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Each item with this probability, in the given order. */
  some<T>(items: readonly T[], probability: number): T[];
  shuffle<T>(items: readonly T[]): T[];
  /** A stream of its own; what it uses up does not move this one. */
  fork(): Random;
}

/** Starts a stream (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error('There is nothing to pick from.');
    return items[int(0, items.length - 1)] as T;
  };
  const shuffle = <T>(items: readonly T[]): T[] => {
    const copy = [...items];
    for (let index = copy.length - 1; index > 0; index--) {
      const other = int(0, index);
      [copy[index], copy[other]] = [copy[other] as T, copy[index] as T];
    }
    return copy;
  };
  return {
    int,
    pick,
    shuffle,
    chance: (probability) => next() < probability,
    some: (items, probability) => items.filter(() => next() < probability),
    fork: () => createRandom(int(0, 0x7fff_ffff)),
  };
}
