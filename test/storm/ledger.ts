/**
 * What the clients of a storm saw: figures, and everything that may never happen.
 */

/** The book that all of them write to. */
export interface Ledger {
  /** One more of something. */
  count(what: string): void;
  /** Something happened that may never happen. */
  violation(what: string): void;
  /** An answer accepted this token of an email, code of an app, or the like; the second time is a violation. */
  accepted(token: string): void;
  readonly figures: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
}

/** An empty book. */
export function openLedger(): Ledger {
  const figures = new Map<string, number>();
  const violations: string[] = [];
  const tokens = new Set<string>();
  const violation = (what: string) => void violations.push(what);
  return {
    figures,
    violations,
    violation,
    count: (what) => void figures.set(what, (figures.get(what) ?? 0) + 1),
    accepted(token) {
      if (tokens.has(token)) violation(`accepted twice: ${token}`);
      tokens.add(token);
    },
  };
}
