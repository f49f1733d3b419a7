/**
 * Which server answers, where there are read replicas: queries go to one that has seen what they need, mutations to the
 * primary, whose position after them their caller brings along to read his own writes.
 */

import { type RunAsOptions, runAs } from '../postgres/caller/run-as.ts';
import { DatabaseError } from '../postgres/failure.ts';
import type { ApiPool } from '../postgres/pool/pool.ts';
import type { Replica, ReplicaNeed, Replicas } from '../postgres/pool/replicas.ts';
import type { FlightResult } from '../postgres/wire/flight.ts';

/** Where the log of the primary stands after a mutation; null until then, and where it could not be found out. */
export interface Written {
  position: string | null;
}

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
    noteRefusal(error, replicas, { replica, statement });
    return runAs(primary, flight);
  }
}

/**
 * Runs a mutation at the primary, then asks where its log ends.
 *
 * @throws DatabaseError as `runAs`.
 */
export async function runMutation(
  primary: ApiPool,
  replicas: Replicas,
  written: Written | null,
  flight: RunAsOptions,
): Promise<readonly (FlightResult | null)[]> {
  if (written === null) return runAs(primary, flight);
  const results = await runAs(primary, flight);
  // Where it cannot be found out, the mutation is committed all the same.
  written.position = await replicas.primaryPosition().catch(() => null);
  return results;
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

function noteRefusal(
  { kind, sqlstate }: DatabaseError,
  replicas: Replicas,
  { replica, statement }: { readonly replica: Replica; readonly statement: string },
): void {
  if (kind === 'unavailable') replicas.leaveOut(replica);
  if (sqlstate !== null && refusedAlways.has(sqlstate)) replicas.keepFrom(statement);
}
