/**
 * Sentences for failures whose message from PostgreSQL is not passed on, because it may name hidden objects. They name
 * nothing themselves; the log has the rest.
 */
import type { DatabaseError } from '../../postgres/database-error.ts';
import type { Code } from '../../shared/errors.ts';

/** What the client is told. */
interface Failure {
  readonly code: Code;
  readonly message: string;
}

/** Where nothing better is known. */
export const unexpected: Failure = { code: 'INTERNAL', message: 'Unexpected error.' };

/** The failure of a statement that is not an author's `raise`. */
export function describeFailure({ sqlstate }: DatabaseError): Failure {
  return /^(?:08|HV|57P0)/.test(sqlstate ?? '') ? internal(otherServer) : unexpected;
}

function internal(message: string): Failure {
  return { code: 'INTERNAL', message };
}

const otherServer = 'Another server that the database reads or writes could not be used. Nothing was written.';
