/** What the parts of a soak share. */
import type { Ledger } from '../storm/ledger.ts';
import type { Servers } from './servers.ts';

export interface Soak {
  readonly servers: Servers;
  readonly ledger: Ledger;
  /** Whether nobody should begin anything any more, until the moment in which nobody asks is over. */
  readonly isOver: () => boolean;
  /** Never the same. */
  serial: number;
  /** The round of disturbances, and how many have to be finished before the end. */
  round: number;
  roundsLeft: number;
  /** What may have made the gateway send an email once more: when it began and was over, in milliseconds since the epoch. */
  readonly cuts: Cut[];
}

export interface Cut {
  readonly from: number;
  to: number;
}
