/** What the members of a batch have used of the limits that hold for all of them together. */

/** One for each batch. Its members run one after the other. */
export interface BatchUse {
  /** In terms of `performance.now()`. */
  readonly startedAt: number;
  /** Cost of the members before this one. */
  cost: number;
  /** Bytes of their answers. */
  bytes: number;
  /** Of this member; set by its run. */
  ownCost: number;
  isMutation: boolean;
}
