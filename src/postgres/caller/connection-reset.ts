/**
 * What keeps what one caller leaves on a connection from the next one: statements that reset it, and expressions that fail on purpose
 * where it cannot be used as it is.
 */
import { connectionMarker, temporaryMarker } from '../failure.ts';

/**
 * Sent first in every flight, about 5 us. Where no function of a user can have run there is nothing to reset; this is what keeps
 * a mistake about that from reaching the next caller.
 */
const always: readonly string[] = ['reset role', 'reset all'];

/**
 * Fails on purpose where somebody has prepared a statement by SQL: it may stand under a name of ours, and would run as the login
 * or as the next caller. Sent unnamed, because no SQL reaches the unnamed statement of a connection, before any named one is run.
 * It reads the list of all prepared statements, about 4 us for each of them.
 */
const foreignStatements = `select pg_catalog.num_nulls((
  select ('${connectionMarker}'::pg_catalog.text operator(pg_catalog.||) p.name)::pg_catalog.int4
  from pg_catalog.pg_prepared_statement() p where p.from_sql limit 1))`;

interface ResetStep {
  readonly text: string;
  /** Sent unnamed, and kept: prepared once for as long as the connection has no other unnamed statement. */
  readonly isUnnamed: boolean;
}

const named = (text: string): ResetStep => ({ text, isUnnamed: false });

/**
 * The parts of `discard all` but for the prepared statements, which are ours, and for what costs less elsewhere: advisory locks, which
 * the settings statement releases in every flight, temporary tables, which it finds, and the session authorization, whose
 * change the server reports (pool.ts).
 */
const afterUserCode: readonly ResetStep[] = [
  { text: foreignStatements, isUnnamed: true },
  ...[...always, 'close all', 'unlisten *', 'discard sequences'].map(named),
];

/**
 * What the flight before may have left on a connection: nothing, because it ran no code of a user; anything; or temporary
 * tables as well. `shared`: other clients use it as well, behind a pooler.
 */
export type ConnectionState = 'plain' | 'dirty' | 'temporary' | 'shared';

/** Sent first in a flight, by what the one before may have left. */
export const connectionReset: Readonly<Record<ConnectionState, readonly ResetStep[]>> = {
  plain: always.map(named),
  dirty: afterUserCode,
  temporary: [...afterUserCode, named('discard temp')],
  // Nothing is prepared there. What transactions begin with is said for each (`characteristicsOf`).
  shared: [...always, 'close all', 'unlisten *', 'discard sequences', 'discard temp'].map(named),
};

/**
 * Fails on purpose where the connection has a namespace for temporary tables, made by a user's function: in a query too, of
 * a policy or a view, so nobody can know in advance. Names of tables are looked up there first, by every function that
 * has no search path of its own, and what is in it is the last caller's.
 */
export const temporaryTables = `case when pg_catalog.pg_my_temp_schema() operator(pg_catalog.<>) 0::pg_catalog.oid
         then ('${temporaryMarker}'::pg_catalog.text operator(pg_catalog.||) pg_catalog.pg_my_temp_schema()::pg_catalog.text)::pg_catalog.int4 end`;

/**
 * Fails on purpose where a function has changed, for the connection, what transactions begin with: this one has begun so. The
 * settings have been reset by now. That transactions are read-only is reported by the server (pool.ts).
 */
export const changedCharacteristics = `case when pg_catalog.current_setting('transaction_isolation')
           operator(pg_catalog.<>) pg_catalog.current_setting('default_transaction_isolation')
           or pg_catalog.current_setting('transaction_deferrable')
           operator(pg_catalog.<>) pg_catalog.current_setting('default_transaction_deferrable')
         then ('${connectionMarker}'::pg_catalog.text operator(pg_catalog.||) pg_catalog.current_setting('transaction_isolation'))::pg_catalog.int4 end`;
