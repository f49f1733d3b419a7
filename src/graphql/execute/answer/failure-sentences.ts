/**
 * Sentences for failures whose message from PostgreSQL is not passed on, because it may name hidden objects. They name
 * nothing themselves; the log has the rest.
 */
import type { DatabaseError, Impossible } from '../../../postgres/database-error.ts';
import type { Code } from '../../../shared/errors.ts';
import type { RowReading } from '../../compile/print/print-operation.ts';

interface Failure {
  readonly code: Code;
  readonly message: string;
}

/** Where nothing better is known. */
export const unexpected: Failure = { code: 'INTERNAL', message: 'Unexpected error.' };

/** The failure of a statement that is not an author's `raise`. */
export function describeFailure(error: DatabaseError): Failure {
  const { impossible, position, step, raised, ofFunction } = error;
  const state = error.sqlstate ?? '';
  if (raised) return unexpected;
  if (/^(?:08|HV|57P0)/.test(state)) return internal(otherServer);
  // Our statements have no mistakes: it is in a value, of ltree or regtype for example. A text that a function runs has no position.
  if (state === '42601' && step > 0 && (position !== null || !ofFunction)) return badText;
  if (impossible !== null && /^(?:0A|3F|42|55)/.test(state)) return impossibilities[impossible];
  if (state === '42P17') return internal(recursion);
  if (state === '27000') return internal(ownTrigger);
  if (ofFunction && ['42883', '42P01', '42704', '3F000'].includes(state)) return internal(offPath);
  if (ofFunction && wrongText.test(state)) return internal(wrongFunction);
  // Only an error in the sent text itself has a position; others are in functions.
  if (state === '42883' && position === null) return internal(offPath);
  // Not the function that runs before the request, which is the operator's.
  if (state === '42883' && step > 0) return noOperator;
  return unexpected;
}

function internal(message: string): Failure {
  return { code: 'INTERNAL', message };
}

/** SQLSTATEs that tell of a text of a function that cannot work. */
const wrongText = /^(?:0A|2[04-6DF]|3[489B]|42|55|P0)/;

const recursion =
  'A policy or rule of a table reads that table again, without end. Let a function with "security definer" read it.';
const ownTrigger =
  'A trigger changes the row that is being written. Let it set columns of "new", or run after the write.';
const offPath =
  'A function or trigger names something that does not exist, or is not on its search path. Name its schema, or set --extra-search-path.';
const wrongFunction = 'The text of a function or trigger cannot work as it is. The log has the reason, under this id.';
const otherServer = 'Another server that the database reads or writes could not be used. Nothing was written.';
const noOperator: Failure = {
  code: 'BAD_USER_INPUT',
  message:
    'Values are ordered or compared whose types have no such operator. Leave out the order, the filter or the relationship.',
};

const badText: Failure = {
  code: 'BAD_USER_INPUT',
  message: 'A value is not written as its type has to be. Correct its text.',
};

const impossibilities: Readonly<Record<Impossible, Failure>> = {
  comparison: noOperator,
  view_column: {
    code: 'BAD_USER_INPUT',
    message: 'A column that was given a value cannot be written through this view. Leave it out.',
  },
  reference: {
    code: 'BAD_USER_INPUT',
    message:
      'A value has to name one table, function, type or role of the database. Send the name of one that is there.',
  },
  unfilled: internal('A materialized view has no contents yet. Run "refresh materialized view" in the database.'),
  rule: internal('A rule replaces this command and gives no rows back. Replace the rule by a trigger.'),
  replica_identity: internal(
    'The table is published for replication and has no replica identity. Give it a primary key, or set "replica identity full".',
  ),
  server: internal(otherServer),
  stable_write: internal('A function writes or sets something and is not volatile. Declare it "volatile".'),
};

/**
 * What to do, where a message of PostgreSQL that is passed on does not say it; null where it does.
 *
 * @param reads Why policies for SELECT hold for written rows, if that is known.
 */
export function hintFor(error: DatabaseError, reads: RowReading | null): string | null {
  const { sqlstate, primary, raised, ofFunction } = error;
  if (sqlstate === '42501' && !raised && primary.startsWith(refusedRow))
    return ofFunction ? writtenByFunction : refusedRows[reads ?? 'always'];
  return ownHints[sqlstate ?? ''] ?? null;
}

const refusedRow = 'new row violates row-level security policy for table ';
const writtenByFunction =
  'A trigger or function writes the row. Policies must allow it to the role, or let its owner write.';

/** PostgreSQL has one message for a row that may not be written, and for one that may not be read afterwards. */
const refusedRows: Readonly<Record<RowReading, string>> = {
  nothing: 'The row violates the policies for writing it, by their "with check". It is not read back.',
  returned:
    'Either the policies for INSERT refuse the row, or those for SELECT do not show it to be read back. With affectedCount alone, which insertInto…Collection has, it is not read back.',
  always: 'Policies must allow the row as it is written, those for SELECT as well: it is read back.',
  key: 'Either the policies for INSERT refuse the row, or those for SELECT do not show it: its key is read back for related rows. With affectedCount alone and a key that is known before, it is not.',
  changed_key:
    'Either the policies for INSERT refuse the row, or those for SELECT do not show it: its key is read back for related rows, because a trigger or conflict may give it another. Let a policy for SELECT on this table show the row to its writer.',
  made_key:
    'Either the policies for INSERT refuse the row, or those for SELECT do not show it: its key is read back for related rows, because the database makes it. Give the key, or let a policy for SELECT on this table show the row to its writer.',
  met: 'Policies must allow the row as it is written, those for SELECT as well: an upsert reads the rows that it meets.',
  found:
    'Policies must allow the row as it is written, those for SELECT as well: an update reads the rows that it finds.',
};

const ownHints: Readonly<Record<string, string>> = {
  '22P05': 'PostgreSQL stores no character U+0000, neither in text nor, written as \\u0000, in jsonb. Leave it out.',
  '40001': 'Another transaction changed the same rows. Nothing was written; send the request again.',
  '40P01': 'Another transaction waited for this one. Nothing was written; send the request again.',
};
