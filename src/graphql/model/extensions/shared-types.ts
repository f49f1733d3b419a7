/** Names of the types that extensions add for all tables together; tables have others of their own (inflect.ts). */

/** A type that extensions add for all tables together. */
export type SharedType =
  | 'DateTruncation'
  | 'NestedReplace'
  | 'OpaqueIsFilter'
  | 'JSONPathFilter'
  | 'JSONIsFilter'
  | 'TextSearchFilter'
  | 'TextSearchOrder';
