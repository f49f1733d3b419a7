/**
 * A connection of an API request, with what is known of its session.
 */
import type { DriverClient, NewSession } from '../wire/driver.ts';
import type { PreparedStatements } from '../wire/prepared-statements.ts';

/** One connection, in the hands of one batch of flights. */
export interface ApiConnection {
  readonly client: DriverClient;
  readonly prepared: PreparedStatements;
  /** The session is others' as well, behind a pooler, and these are the defaults of its transactions; null: it is ours alone. */
  readonly shared: NewSession | null;
  /** Code of a user may have left anything in the session: the next flight looks and cleans first. */
  dirty: boolean;
  /** A user's function has made temporary tables in the session: from now on every flight cleans it first. */
  hasTemporaryTables: boolean;
  /** Code of a user has changed what no statement of ours cleans up: our prepared statements, what transactions begin with, whose session it is. */
  isSpoiled: boolean;
}
