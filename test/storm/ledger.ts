/**
 * What the clients of a storm saw: figures, and everything that may never happen.
 */

/** The book that all of them write to. */
export interface Ledger {
  /** One more of something, or so many. */
  count(what: string, many?: number): void;
  /** Something begins to happen to the servers (true), or is over. */
  disturb(isOn: boolean): void;
  /** Whether the servers had been left alone for some seconds at that time, in milliseconds since the epoch, and since. */
  wasCalm(since: number): boolean;
  /** Something happened that may never happen. */
  violation(what: string): void;
  /** An answer accepted this token of an email, code of an app, or the like; the second time is a violation. */
  accepted(token: string): void;
  readonly figures: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
}

/** After that everybody should have noticed that all servers are there again. */
const recoveryMs = 5000;

/** An empty book. */
export function openLedger(): Ledger {
  const figures = new Map<string, number>();
  const violations: string[] = [];
  const tokens = new Set<string>();
  let calmSince = 0;
  const violation = (what: string) => void violations.push(what);
  return {
    figures,
    violations,
    violation,
    count: (what, many = 1) => void figures.set(what, (figures.get(what) ?? 0) + many),
    disturb(isOn) {
      calmSince = isOn ? Number.POSITIVE_INFINITY : Date.now();
    },
    wasCalm: (since) => since > calmSince + recoveryMs,
    accepted(token) {
      if (tokens.has(token)) violation(`accepted twice: ${token}`);
      tokens.add(token);
    },
  };
}
