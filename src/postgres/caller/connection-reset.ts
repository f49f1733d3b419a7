/**
 * Keeps the state that one caller leaves on a connection from the next one: statements that reset the connection, and
 * expressions that fail on purpose if it cannot be used. README.md has the states.
 */
import { connectionSentinel, temporarySentinel } from '../database-error.ts';

/** Sent first in every flight, about 5 us. Without user code there is nothing to reset; this guards against mistakes. */
const always: readonly string[] = ['reset role', 'reset all'];

/**
 * Fails on purpose if a statement was prepared by SQL: it may have one of our names, and would run as the login or the
 * next caller. Sent unnamed, because SQL cannot reach the unnamed statement, before any named one runs. Reads the list
 * of prepared statements, about 4 us for each.
 */
const foreignStatements = `select pg_catalog.num_nulls((
  select ('${connectionSentinel}'::pg_catalog.text operator(pg_catalog.||) p.name)::pg_catalog.int4
  from pg_catalog.pg_prepared_statement() p where p.from_sql limit 1))`;

interface ResetStep {
  readonly text: string;
  /** Unnamed, but prepared once, until the connection gets another unnamed statement. */
  readonly isUnnamed: boolean;
}

const named = (text: string): ResetStep => ({ text, isUnnamed: false });

/**
 * `discard all` without the prepared statements, which are ours, and without what is cheaper elsewhere: the settings
 * statement of every flight releases advisory locks and detects temporary tables, and the server reports a changed
 * session authorization (pool.ts).
 */
const afterUserCode: readonly ResetStep[] = [
  { text: foreignStatements, isUnnamed: true },
  ...[...always, 'close all', 'unlisten *', 'discard sequences'].map(named),
];

/**
 * What the previous flight may have left on a connection. `plain`: nothing, it ran no user code. `wrote`: the same, but
 * sequences were advanced by defaults. `unknown`: anything.
 * `temporary`: temporary tables as well. `shared`: other clients use the connection too, behind a pooler.
 */
export type ConnectionState = 'plain' | 'wrote' | 'unknown' | 'temporary' | 'shared';

/** What is known of a connection when a flight begins. */
interface ConnectionFacts {
  /** Null: nobody else uses it. */
  readonly shared: object | null;
  readonly hasTemporaryTables: boolean;
  readonly needsFullReset: boolean;
  readonly wrote: boolean;
}

/** The state of a connection. */
export function connectionStateOf({
  shared,
  hasTemporaryTables,
  needsFullReset,
  wrote,
}: ConnectionFacts): ConnectionState {
  if (shared !== null) return 'shared';
  if (hasTemporaryTables) return 'temporary';
  if (needsFullReset) return 'unknown';
  return wrote ? 'wrote' : 'plain';
}

/** First steps of a flight, by the state of the connection. */
export const connectionReset: Readonly<Record<ConnectionState, readonly ResetStep[]>> = {
  plain: always.map(named),
  wrote: [...always, 'discard sequences'].map(named),
  unknown: afterUserCode,
  temporary: [...afterUserCode, named('discard temp')],
  // Nothing is prepared behind a pooler. Each flight sets how its transaction begins (`characteristicsOf`).
  shared: [...always, 'close all', 'unlisten *', 'discard sequences', 'discard temp'].map(named),
};

/**
 * Fails on purpose if the connection has a namespace for temporary tables. Any user function may create one, even in a
 * query (policy, view), so no plan can predict it. Functions without their own search path look up tables there first,
 * and it holds the last caller's data.
 */
export const temporaryTables = `case when pg_catalog.pg_my_temp_schema() operator(pg_catalog.<>) 0::pg_catalog.oid
         then ('${temporarySentinel}'::pg_catalog.text operator(pg_catalog.||) pg_catalog.pg_my_temp_schema()::pg_catalog.text)::pg_catalog.int4 end`;

/**
 * Fails on purpose if a function changed how the connection's transactions begin; this one has begun so. The settings
 * are reset by now. The server itself reports a change to read-only (pool.ts).
 */
export const changedCharacteristics = `case when pg_catalog.current_setting('transaction_isolation')
           operator(pg_catalog.<>) pg_catalog.current_setting('default_transaction_isolation')
           or pg_catalog.current_setting('transaction_deferrable')
           operator(pg_catalog.<>) pg_catalog.current_setting('default_transaction_deferrable')
         then ('${connectionSentinel}'::pg_catalog.text operator(pg_catalog.||) pg_catalog.current_setting('transaction_isolation'))::pg_catalog.int4 end`;
