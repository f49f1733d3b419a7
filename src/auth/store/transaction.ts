/**
 * Time and randomness, passed into every step of authentication.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Random } from '../random.ts';

/** Injected, so that tests can make time and randomness deterministic. */
export interface ClockAndRandom {
  readonly clock: Clock;
  readonly random: Random;
}

/** A transaction, with time and randomness for new rows. */
export interface StoreTransaction extends Queryable, ClockAndRandom {}
