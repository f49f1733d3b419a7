/** Rows are ordered by the key, so that a role reads none without the right to select it. */

/** The columns of the key that are not among those that a role may select. @param columns Absent: all. */
export function unreadKey(key: readonly string[] | null, columns: readonly string[] | undefined): readonly string[] {
  return columns === undefined ? [] : (key ?? []).filter((name) => !columns.includes(name));
}
