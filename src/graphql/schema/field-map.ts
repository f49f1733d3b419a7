/** Decides which of several fields with one name is visible. */

/**
 * The fields in order; of several with one name, the last one wins, at its own position.
 *
 * A null field takes part with its name and is then left out: it wins, but this schema's caller may not see its type,
 * and the other is not visible either.
 */
export function fieldMap<T>(entries: Iterable<readonly [name: string, field: T | null]>): Record<string, T> {
  // No name is a number, so insertion order is kept.
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
