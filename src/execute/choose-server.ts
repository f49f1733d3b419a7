/**
 * Which server answers a query, where there are read replicas: one that has seen what the query needs.
 */

import { type RunAsOptions, runAs } from '../postgres/caller/run-as.ts';
import { DatabaseError } from '../postgres/failure.ts';
import type { ApiPool } from '../postgres/pool/pool.ts';
import type { ReplicaNeed, Replicas } from '../postgres/pool/replicas.ts';
import type { FlightResult } from '../postgres/wire/flight.ts';

/**
 * Runs a query at a replica, or at the primary where none has seen enough. What a replica cannot answer is asked of the
 * primary: everything a query did is undone.
 *
 * @throws DatabaseError as `runAs`.
 */
export async function runQuery(
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
    if (error.sqlstate !== null && refusedAlways.has(error.sqlstate)) replicas.keepFrom(statement);
    return runAs(primary, flight);
  }
}

/**
 * What a standby refuses and a primary may not: writing (a policy or a view can call a function that does), what is not
 * replicated, such as unlogged tables, and whatever stood in the way of replaying the log.
 */
const refusedByStandby: ReadonlySet<string> = new Set(['25006', '0A000', '55000', '40001', '40P01']);
/** Of these, what will be refused the next time as well. */
const refusedAlways: ReadonlySet<string> = new Set(['25006', '0A000', '55000']);

function isForPrimary({ kind, sqlstate }: DatabaseError): boolean {
  if (kind === 'unavailable' || kind === 'overloaded') return true;
  return kind === 'statement' && sqlstate !== null && refusedByStandby.has(sqlstate);
}
