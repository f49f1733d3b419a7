/** The parts of plans that text searches add. */
import type { Column } from '../../model/model.ts';
import type { SearchLanguage } from '../../schema/origin.ts';
import type { Slot } from '../input/slot.ts';

/** The search of a text search. */
export interface SearchPlan {
  readonly by: SearchLanguage;
  readonly slot: Slot;
  /** Name of the text search configuration; null: the connection's default. */
  readonly config: Slot | null;
}

/** The rank of a column for a text search. */
export interface Rank {
  readonly kind: 'rank';
  readonly column: Column;
  readonly search: SearchPlan;
  /** Bits as PostgreSQL's rank functions take them. */
  readonly normalization: Slot;
  /** Ranks by the distance between words. */
  readonly coverDensity: boolean;
}
