/**
 * Assertions about our own code. A failure here is our bug: it is masked for clients and logged with its stack.
 * Mistakes of users, operators and databases are typed errors instead (errors.ts).
 */

/** A broken assumption of ours; never shown to a client. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Throws `InvariantError` unless `condition` holds. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Marks the end of an exhaustive `switch`; the compiler rejects it while a member is unhandled. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${JSON.stringify(value)}`);
}
