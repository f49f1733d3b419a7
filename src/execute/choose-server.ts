/**
 * Chooses the server for a query, with read replicas: one that is recent enough.
 */

import type { RunAsOptions } from '../postgres/caller/flight-request.ts';
import { runAs } from '../postgres/caller/run-as.ts';
import { DatabaseError } from '../postgres/database-error.ts';
import type { ApiPool } from '../postgres/pool/pool.ts';
import type { ReplicaNeed } from '../postgres/pool/replica.ts';
import type { Replicas } from '../postgres/pool/replicas.ts';
import type { FlightResult } from '../postgres/wire/flight.ts';

/**
 * Runs a query on a replica, or on the primary if none is recent enough. If a replica cannot answer, the primary does:
 * a query's changes are rolled back.
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
