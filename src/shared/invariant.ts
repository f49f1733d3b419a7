/**
 * Assertions about our own code. A failure is our bug: masked for clients and logged with its stack. Mistakes of users,
 * operators and databases are typed errors instead (errors.ts).
 */

/** A violated assumption; never shown to clients. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Throws `InvariantError` unless `condition` holds. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Marks the end of an exhaustive `switch`; the compiler rejects it if a member is unhandled. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${JSON.stringify(value)}`);
}
