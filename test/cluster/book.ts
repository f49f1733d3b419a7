/**
 * What the clients of a cluster saw: how each request ended, what was answered as done, and everything that may never happen.
 */

/** Kinds of clients. */
export const kinds = ['reads', 'writes', 'reads after a write', 'roles', 'accounts', 'live queries'] as const;
export type Kind = (typeof kinds)[number];

/** A request that failed. */
export interface Failure {
  readonly kind: Kind;
  /** As `performance.now()`. */
  readonly began: number;
  readonly ended: number;
  readonly reason: string;
}

/** The book that all clients write to. */
export class Book {
  readonly requests = new Map<Kind, number>();
  readonly failures: Failure[] = [];
  readonly violations = new Set<string>();
  /** Keys of rows that were answered as written, and of rows that were read. */
  readonly written = new Set<string>();
  readonly read = new Set<string>();
  /** By the number of a board: the newest value that was answered as written, and the last one that a live query brought. */
  readonly boards = new Map<number, number>();
  readonly live = new Map<number, number>();
  /** Addresses whose sign-up was answered, and of these, whose confirmation was answered. */
  readonly signedUp = new Set<string>();
  readonly confirmed = new Set<string>();
  readonly #tell: (text: string) => void;

  /** @param tell Hears of each violation at once. */
  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /** Does something once; null where it failed. */
  async attempt<T>(kind: Kind, act: () => Promise<T>): Promise<T | null> {
    const began = performance.now();
    this.requests.set(kind, (this.requests.get(kind) ?? 0) + 1);
    try {
      return await act();
    } catch (error) {
      this.failures.push({ kind, began, ended: performance.now(), reason: (error as Error).message });
      return null;
    }
  }

  /** Reasons of failed requests, with their number. */
  reasons(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { kind, reason } of this.failures)
      counts.set(`${kind}: ${reason}`, (counts.get(`${kind}: ${reason}`) ?? 0) + 1);
    return counts;
  }

  /** Notes what may never happen. */
  violation(what: string): void {
    if (!this.violations.has(what)) this.#tell(what);
    this.violations.add(what);
  }
}
