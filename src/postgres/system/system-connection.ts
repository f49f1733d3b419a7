/**
 * System statements on one connection: pinned settings, prepared names, values as text, typed errors.
 *
 * Every transaction starts with the pinned settings, in the same round trip: behind a pooler other programs use the connection,
 * and an administrator may have set anything for the login or the database. The driver's pipeline mode cannot do that: it
 * sends a Sync behind each statement, so those behind a failed `begin` would run without them.
 */
import { invariant } from '../../shared/invariant.ts';
import { currentSpan, inSpan, type SpanPart } from '../../shared/trace/current-span.ts';
import type { SpanFacts } from '../../shared/trace/span.ts';
import { type DatabaseError, mayEndConnection, standbySentinel, toDatabaseError } from '../database-error.ts';
import { terminate } from '../wire/cancel.ts';
import type { DriverClient } from '../wire/driver.ts';
import { Flight, type FlightOutcome } from '../wire/flight.ts';
import { lostStatement, type PreparedStatements } from '../wire/prepared-statements.ts';
import type { StatementNames } from '../wire/statement-names.ts';
import { setApplicationName, tracedName } from '../wire/traced-name.ts';
import { afterUnpaused } from '../wire/unpaused-clock.ts';
import { ObjectRows, type Rows } from './system-rows.ts';

/** A connection while one caller uses it. */
export interface SystemConnection {
  readonly client: DriverClient;
  readonly prepared: PreparedStatements;
  readonly names: StatementNames;
  /** Longest wait for an answer in milliseconds; null: no limit. */
  readonly answerWithinMs: number | null;
  /** Where the database is, by semantic conventions. */
  readonly server: SpanFacts;
  /** As `SystemPoolOptions.primaryOnly`. */
  readonly primaryOnly: boolean;
  /** User code ran and may have left anything on the connection. */
  ranUserCode: boolean;
}

/** One statement with its values. */
export interface SystemStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Result of a round trip: the rows of every statement before the first failed one. */
export interface SystemResult {
  readonly results: readonly Rows[];
  readonly error: DatabaseError | null;
  /** The server lost prepared statements: the failed one did not run, and can be prepared and sent again. */
  readonly isPreparedLost: boolean;
}

/**
 * Settings that our statements depend on, per transaction. Only PostgreSQL's own names are looked up: a user who
 * may create objects in the login's search path could define functions and operators that match our arguments better.
 * `pg_temp` is listed last, because it would otherwise come first. Compiling a large statement on a catalog would take
 * longer than running it. The others fix the format of values.
 */
const pinnedSettings = {
  search_path: 'pg_catalog, pg_temp',
  jit: 'off',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
};

const pins = Object.entries(pinnedSettings).map(
  ([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`,
);

/** Sets them for this transaction. The outer function hides the values from the answer. */
export const pinSettings: SystemStatement = { text: `select pg_catalog.num_nulls(${pins.join(', ')})`, values: [] };

/** The same, and fails on purpose on a standby. */
const pinOnPrimary: SystemStatement = {
  text: `select pg_catalog.num_nulls(${pins.join(', ')}, case when pg_catalog.pg_is_in_recovery()
    then ('${standbySentinel}'::pg_catalog.text operator(pg_catalog.||) pg_catalog.pg_is_in_recovery()::pg_catalog.text)::pg_catalog.int4 end)`,
  values: [],
};

/** Whether a transaction is open, as of the last answer. */
export function isInTransaction({ client }: SystemConnection): boolean {
  const status = client.getTransactionStatus();
  return status === 'T' || status === 'E';
}

/**
 * Runs statements with values in one round trip; outside a transaction, they form one, with the pinned settings.
 *
 * @param begin Begins a transaction that continues after the round trip.
 */
export async function runSystemSteps(
  connection: SystemConnection,
  statements: readonly SystemStatement[],
  begin: string | null = null,
): Promise<SystemResult> {
  const preamble: SystemStatement[] = begin === null ? [] : [{ text: begin, values: [] }];
  if (!isInTransaction(connection)) {
    const span = currentSpan();
    preamble.push(connection.primaryOnly ? pinOnPrimary : pinSettings);
    if (span?.isInDatabase) preamble.push({ text: setApplicationName, values: [tracedName(span.traceId)] });
  }
  const run = () => send(connection, [...preamble, ...statements], preamble.length);
  const isRecorded = currentSpan()?.isRecorded === true;
  const { results, ...rest } = isRecorded ? await inSpan(partOf(connection, statements), run) : await run();
  return { ...rest, results: results.slice(preamble.length) };
}

/** The names of operations alone: statements are the gateway's, but their texts are long. */
function partOf({ server }: SystemConnection, statements: readonly SystemStatement[]): SpanPart {
  const operations = new Set(statements.map(({ text }) => /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? 'SELECT'));
  const [first = 'SELECT'] = operations;
  const operation = operations.size === 1 ? first : 'BATCH';
  const facts = {
    ...server,
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.operation.batch.size': statements.length > 1 ? statements.length : undefined,
  };
  const endOf = ({ error }: SystemResult) => ({ error: error === null ? undefined : (error.sqlstate ?? error.kind) });
  return { name: `${operation} ${server['db.namespace'] ?? ''}`.trimEnd(), kind: 'client', facts, endOf };
}

/** Runs one statement that PostgreSQL refuses inside a transaction. Nothing is pinned, so it must look up no names. */
export async function runSystemAlone(connection: SystemConnection, text: string): Promise<void> {
  const { error } = await send(connection, [{ text, values: [] }]);
  if (error !== null) throw error;
}

/** @param preamble So many of the statements are none of the caller's. */
async function send(
  connection: SystemConnection,
  statements: readonly SystemStatement[],
  preamble = 0,
): Promise<SystemResult> {
  const { client, prepared, names } = connection;
  // After user code, our names on the connection are not trustworthy.
  const nameOf = (text: string) => (connection.ranUserCode ? '' : names.fixedNameOf(text));
  const results: Rows[] = [];
  const main = statements.map(({ text, values }) => ({
    name: nameOf(text),
    text,
    values: values.map(toText),
    collector: new ObjectRows((rows) => results.push(rows)),
  }));
  const answer = new Promise<FlightOutcome>((resolve) => {
    client.query(new Flight(prepared, { first: [], main }, resolve));
  });
  const outcome = await inTime(connection, answer);
  if (outcome.kind === 'done') return { results, error: null, isPreparedLost: false };
  const error = systemError(outcome.problem, outcome.lost, outcome.step <= preamble ? 0 : 1);
  const isPreparedLost = lostStatement(
    outcome.problem,
    main.map(({ name }) => name),
  );
  if (isPreparedLost) prepared.doubtAll();
  return { results, error, isPreparedLost };
}

/** Runs one text without values inside a transaction, of one or several statements; the rows are the last one's. */
export async function runSystemTexts(connection: SystemConnection, text: string): Promise<Rows> {
  invariant(isInTransaction(connection), 'a text of several statements runs outside of a transaction');
  try {
    const result: unknown = await inTime(connection, connection.client.query(text));
    const last = (Array.isArray(result) ? result.at(-1) : result) as { readonly rows: Rows };
    return last.rows;
  } catch (problem) {
    // Not known to be closed before the next statement.
    const { severity, code = '' } = problem as { readonly severity?: string; readonly code?: string };
    throw systemError(problem, severity === undefined || mayEndConnection(code));
  }
}

/**
 * Closes the connection if no answer comes: the server's machine may have failed silently, a firewall may have dropped
 * the connection, or user code does not end. The operating system takes a quarter of an hour to notice.
 */
async function inTime<T>({ client, answerWithinMs }: SystemConnection, answer: Promise<T>): Promise<T> {
  if (answerWithinMs === null) return answer;
  const problem = `The server did not answer within ${answerWithinMs} ms.`;
  const timer = afterUnpaused(answerWithinMs, () => terminate(client, new Error(problem)));
  try {
    return await answer;
  } finally {
    timer.clear();
  }
}

function systemError(problem: unknown, lost: boolean, step = 1): DatabaseError {
  return toDatabaseError(problem, { step, cancelled: null, mutation: true, lost });
}

function toText(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  invariant(Array.isArray(value), 'a value of a statement is of a type that has no text');
  return `{${value.map(toElement).join(',')}}`;
}

function toElement(text: unknown): string {
  invariant(typeof text === 'string', 'a list of a statement has an element that is not text');
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
