/**
 * Decides which of several fields with one name is reachable.
 */

/**
 * The fields in order; of several with one name the last one wins, at its own place.
 *
 * A null field takes its name like any other and is then left out: it wins, but the caller of this schema may not see
 * its type, and the loser is not reachable either.
 */
export function fieldMap<T>(entries: Iterable<readonly [name: string, field: T | null]>): Record<string, T> {
  const winners = new Map<string, T | null>();
  for (const [name, field] of entries) {
    winners.delete(name);
    winners.set(name, field);
  }
  const visible = [...winners].filter((entry): entry is [string, T] => entry[1] !== null);
  return Object.fromEntries(visible);
}
