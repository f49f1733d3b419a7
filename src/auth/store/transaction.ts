/** The transaction that statements of the store run in. */
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { Clock } from '../../shared/clock.ts';

/** A transaction, with the time for new rows. */
export interface StoreTransaction extends Queryable {
  readonly clock: Clock;
}
