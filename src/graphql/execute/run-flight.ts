/**
 * One flight of a request: the caller, the role's settings and limits, and the check of the model's age.
 */

import type { Caller } from '../../postgres/caller/caller.ts';
import type { RunAsOptions } from '../../postgres/caller/flight-request.ts';
import { runAs } from '../../postgres/caller/run-as.ts';
import { DatabaseError } from '../../postgres/database-error.ts';
import type { ApiPool } from '../../postgres/pool/pool.ts';
import type { ReplicaNeed } from '../../postgres/pool/replica.ts';
import type { Replicas } from '../../postgres/pool/replicas.ts';
import type { FlightResult } from '../../postgres/wire/flight.ts';
import type { Observe } from '../../shared/observation.ts';
import type { Stopwatch } from '../../shared/stopwatch.ts';
import { bytesLeft } from '../compile/input/bind-slot.ts';
import type { TrustedDocuments } from '../documents/trusted-documents.ts';
import type { ChosenRequest, RequestContext } from './executor.ts';
import type { RequestLimits } from './limits.ts';
import type { RoleReflection } from './reflection.ts';
import type { Reflector } from './reflector.ts';

/** The parts that every request uses. */
export interface ExecuteOptions {
  /** Pool of the primary. */
  readonly pool: ApiPool;
  /** They answer queries if recent enough; null: none. */
  readonly replicas: Replicas | null;
  readonly reflector: Reflector;
  /** Null: there are none. */
  readonly trusted: Pick<TrustedDocuments, 'list'> | null;
  readonly limits: RequestLimits;
  readonly maxResponseBytes: number;
  readonly requestTimeoutMs: number;
  readonly readOnlyQueries: boolean;
  /** Of variables in filters of writes. */
  readonly absentFilterVariables: 'ignore' | 'refuse';
  /** `bounded`: the old model is used while a new one is read. */
  readonly freshness: 'exact' | 'bounded';
  readonly observe: Observe;
}

/** The primary's log position after a mutation; null before, and if it could not be read. */
export interface Written {
  position: string | null;
}

/** One request of one caller. */
export interface Execution {
  readonly caller: Caller;
  readonly request: ChosenRequest;
  readonly context: RequestContext;
  readonly watch: Stopwatch;
  /** Receives the position after a mutation; null: not needed. */
  readonly written: Written | null;
}

/** The role for one attempt. Its model is checked for age, unless it was read for this request. */
export interface Attempt {
  readonly role: RoleReflection;
  readonly isFresh: boolean;
}

/** Runs only the check of the model's age, before a refusal is final. */
export async function checkFreshness(options: ExecuteOptions, execution: Execution, attempt: Attempt): Promise<void> {
  if (freshnessOf(options, attempt) === null) return;
  await runFlight(options, execution, attempt, noSteps);
}

/** Only the settings and the check. */
export const noSteps = {
  isRequest: false,
  steps: [],
  mutation: false,
  runsUserCode: false,
  isLight: false,
  customPlanning: 'never',
  countsObjects: false,
} as const;

/** Whether flights check the age of the model. */
export function isChecked(options: ExecuteOptions, attempt: Attempt): boolean {
  return attempt.role.catalog.hasChangeTrigger && options.freshness === 'exact';
}

function freshnessOf(options: ExecuteOptions, attempt: Attempt) {
  const { catalog } = attempt.role;
  if (attempt.isFresh || !isChecked(options, attempt)) return null;
  return { snapshot: catalog.snapshot, memberships: catalog.memberships };
}

/** What a flight runs. */
interface Work extends Pick<RunAsOptions, 'steps' | 'mutation' | 'runsUserCode' | 'isLight' | 'customPlanning'> {
  /** False: only a check of ours, which the function that runs before a request does not see. */
  readonly isRequest: boolean;
  /** Statements count the bytes of long objects. */
  readonly countsObjects: boolean;
}

/**
 * Runs statements as the caller in one flight; without any, only the settings and the check. A query goes to a replica
 * if one may answer it; a model read for this request needs the primary that it was read from.
 *
 * @throws DatabaseError of every kind.
 */
export async function runFlight(
  options: ExecuteOptions,
  execution: Execution,
  attempt: Attempt,
  work: Work,
): Promise<readonly (FlightResult | null)[]> {
  const { role } = attempt;
  const { pool, replicas } = options;
  const { span } = execution.context;
  const flight: RunAsOptions = {
    ...work,
    caller: execution.caller,
    queuedAs: execution.context.queuedAs,
    searchPath: role.searchPath,
    settings: work.countsObjects
      ? new Map([...role.settings, [bytesLeft, String(options.maxResponseBytes)]])
      : role.settings,
    timeoutMs: role.timeoutMs,
    requestTimeoutMs: options.requestTimeoutMs,
    freshness: freshnessOf(options, attempt),
    readOnly: options.readOnlyQueries && !work.mutation,
    preRequest: work.isRequest ? role.preRequest : null,
    signal: execution.context.signal,
    watch: execution.watch,
    traceId: span?.isInDatabase ? span.traceId : null,
  };
  if (replicas === null || work.steps.length === 0) return runAs(pool, flight);
  if (work.mutation || attempt.isFresh) {
    const results = await runAs(pool, flight);
    // If the position cannot be read, the mutation is still committed.
    if (work.mutation && execution.written !== null)
      execution.written.position = await replicas.primaryPosition().catch(() => null);
    return results;
  }
  const need = { since: role.readUntil, position: execution.context.minWalPosition ?? null };
  return runQuery(pool, replicas, need, flight);
}

/**
 * Runs a query on a replica, or on the primary if none is recent enough. If a replica cannot answer, the primary does:
 * a query's changes are rolled back.
 *
 * @throws DatabaseError as `runAs`.
 */
async function runQuery(
  primary: ApiPool,
  replicas: Replicas,
  need: Omit<ReplicaNeed, 'statement'>,
  flight: RunAsOptions,
): Promise<readonly (FlightResult | null)[]> {
  const statement = flight.steps[0]?.text ?? '';
  const replica = replicas.choose({ ...need, statement });
  if (replica === null) return runAs(primary, flight);
  try {
    return await runAs(replica.pool, flight);
  } catch (error) {
    if (!(error instanceof DatabaseError) || !isForPrimary(error)) throw error;
    if (error.kind === 'unavailable') replicas.leaveOut(replica);
    if (error.sqlstate !== null && refusedAlways.has(error.sqlstate)) replicas.sendToPrimary(statement);
    return runAs(primary, flight);
  }
}

/**
 * Errors of a standby where the primary may succeed: writes (a policy or view can call a function that writes),
 * unreplicated data such as unlogged tables, and conflicts with replaying the log.
 */
const refusedByStandby: ReadonlySet<string> = new Set(['25006', '0A000', '55000', '40001', '40P01']);
/** Those that will recur. */
const refusedAlways: ReadonlySet<string> = new Set(['25006', '0A000', '55000']);

function isForPrimary({ kind, sqlstate }: DatabaseError): boolean {
  if (kind === 'unavailable' || kind === 'overloaded') return true;
  return kind === 'statement' && sqlstate !== null && refusedByStandby.has(sqlstate);
}
