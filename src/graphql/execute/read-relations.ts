/**
 * Asks for the relations that a transaction has read, as the last step of its flight.
 *
 * A relation stays locked to the end of the transaction, whether a policy, a view or a function has read it.
 */
import type { Step } from '../../postgres/caller/flight-request.ts';

/** Receives what a run has read. */
export interface RelationsOfRun {
  /** Oids in ascending order, separated by commas; 0 stands for something that was locked in order to write. Null: unknown. */
  relations: string | null;
  /** Whether functions were called that may read others the next time, those of policies and views aside. */
  callsRoutines: boolean;
}

/** The step; its result is such a text. */
export const relationsStep: Step = {
  text: `select pg_catalog.array_to_string(pg_catalog.array_agg(distinct
  case when l.mode operator(pg_catalog.=) any (array['AccessShareLock', 'RowShareLock']::pg_catalog.text[])
    then l.relation else 0::pg_catalog.oid end), ','::pg_catalog.text)
from pg_catalog.pg_locks l
where l.pid operator(pg_catalog.=) pg_catalog.pg_backend_pid() and l.locktype operator(pg_catalog.=) 'relation'::pg_catalog.text`,
  values: [],
  isOurs: true,
};
