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
  // No name is a number, so the fields are in the order in which they are set.
  const winners: Record<string, T | null> = Object.create(null);
  const hidden: string[] = [];
  for (const [name, field] of entries) {
    if (name in winners) delete winners[name];
    winners[name] = field;
    if (field === null) hidden.push(name);
  }
  for (const name of hidden) if (winners[name] === null) delete winners[name];
  return winners as Record<string, T>;
}
