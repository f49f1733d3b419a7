/** What the server's errors mean for a flight. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { toDatabaseError } from '../../../src/postgres/database-error.ts';

test('a server that refuses the settings of a primary is one that has become a standby, and cannot be used', () => {
  const message = 'cannot set transaction read-write mode during recovery';
  const problem = Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code: '0A000' });
  const errorAt = (step: number) => toDatabaseError(problem, { step, cancelled: null, mutation: true, lost: false });
  expect(errorAt(0)).toMatchObject({ kind: 'unavailable', maybeCommitted: false });
  expect(errorAt(1).kind).toBe('statement');
});
