/** Sentences for the failures on purpose of writes with related rows (docs/nested-writes.md). They name no row. */
import type { Code } from '../../../shared/errors.ts';
import { sentinels } from '../../compile/sql/failure-sentinels.ts';

/** Failures of a write with related rows (print-nested-writes.ts). */
const nestedWriteSentinels: Readonly<Record<string, readonly [Code, string]>> = {
  [sentinels.suppressed]: [
    'BAD_USER_INPUT',
    'The database has not inserted a row that others depend on. Nothing was written. Insert the rows separately.',
  ],
  [sentinels.noKey]: [
    'BAD_USER_INPUT',
    'The database did not return the key of a row that related rows need. Nothing was written. Insert the rows separately.',
  ],
  [sentinels.notLinked]: [
    'BAD_USER_INPUT',
    'A row to connect is not there, the role may not see or change it, or it is named twice. Nothing was written.',
  ],
  [sentinels.notOne]: [
    'BAD_USER_INPUT',
    'Related rows are inserted, connected and replaced for exactly one updated row. The filter matches several, or none. Nothing was written.',
  ],
  [sentinels.hidden]: [
    'PERMISSION_DENIED',
    'The role may not see a row as it is after all changes. Nothing was written.',
  ],
};

/** The code and sentence of such a failure; null: it is another. */
export function brokenNestedWrite(primary: string): readonly [Code, string] | null {
  const sentinel = Object.keys(nestedWriteSentinels).find((each) => primary.includes(each));
  return sentinel === undefined ? null : nestedWriteSentinels[sentinel]!;
}
