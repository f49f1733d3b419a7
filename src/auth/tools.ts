/**
 * What every step of authentication may need from outside: the time and randomness.
 */
import type { Queryable } from '../postgres/system/queryable.ts';
import type { Clock } from '../shared/clock.ts';
import type { Random } from './random.ts';

/** Handed in, so that tests can hold time and randomness still. */
export interface Tools {
  readonly clock: Clock;
  readonly random: Random;
}

/** A transaction, with what rows are made of. */
export interface StoreTransaction extends Queryable, Tools {}

/** The `instance_id` of every row; Supabase Auth does not see rows with another one. */
export const nilUuid = '00000000-0000-0000-0000-000000000000';
