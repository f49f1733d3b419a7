/**
 * What one connection knows of the named statements in its server process.
 *
 * Prepared statements survive a rollback, so after a failed flight nobody can tell which of its `Parse` messages were
 * carried out: those names are `unknown`, and the next use sends `Close` (no error where there is nothing) before
 * `Parse`. The number of names is capped; the least recently used are closed at the start of a flight.
 */

/** What a flight has to send before it may bind a name. */
export type Preparation = 'none' | 'parse' | 'close_and_parse';

interface Name {
  state: 'known' | 'unknown';
  /** Number of the flight that used it last. */
  usedIn: number;
}

/** The named statements of one connection. Changed by one flight at a time. */
export class PreparedStatements {
  readonly #ceiling: number;
  readonly #names = new Map<string, Name>();
  #flight = 0;
  /** Names whose `Parse` or `Close` the running flight has sent. */
  #parsed: string[] = [];
  #closed: readonly string[] = none;

  constructor(ceiling: number) {
    this.#ceiling = ceiling;
  }

  /**
   * Begins a flight of these steps, those with an empty name apart: returns the names to close first, so that the ceiling
   * holds afterwards. A flight that alone has more names than the ceiling passes it for its own time.
   */
  begin(steps: readonly { readonly name: string }[]): readonly string[] {
    this.#flight += 1;
    if (this.#parsed.length > 0) this.#parsed = [];
    this.#closed = none;
    let added = 0;
    for (const { name } of steps) if (name !== '' && !this.#names.has(name)) added += 1;
    const surplus = this.#names.size + added - this.#ceiling;
    if (added > 0 && surplus > 0) this.#closed = this.#leastUsed(steps, surplus);
    return this.#closed;
  }

  #leastUsed(steps: readonly { readonly name: string }[], count: number): readonly string[] {
    const needed = new Set(steps.map(({ name }) => name));
    return [...this.#names]
      .filter(([name]) => !needed.has(name))
      .sort(([, a], [, b]) => a.usedIn - b.usedIn)
      .slice(0, count)
      .map(([name]) => name);
  }

  /** What to send for a name of the running flight; the flight then does so. */
  use(name: string): Preparation {
    const known = this.#names.get(name);
    if (known === undefined) {
      this.#names.set(name, { state: 'unknown', usedIn: this.#flight });
      this.#parsed.push(name);
      return 'parse';
    }
    known.usedIn = this.#flight;
    if (known.state === 'known' || this.#parsed.includes(name)) return 'none';
    this.#parsed.push(name);
    return 'close_and_parse';
  }

  /** The flight has been answered with success. */
  succeed(): void {
    for (const name of this.#parsed) this.#setState(name, 'known');
    for (const name of this.#closed) this.#names.delete(name);
  }

  /** The flight has failed somewhere: what it sent may or may not have been carried out. */
  fail(): void {
    for (const name of this.#closed) this.#setState(name, 'unknown');
  }

  /** The server was seen to know something else than we thought. */
  doubtAll(): void {
    for (const known of this.#names.values()) known.state = 'unknown';
  }

  #setState(name: string, state: Name['state']): void {
    const known = this.#names.get(name);
    if (known !== undefined) known.state = state;
  }
}

const none: readonly string[] = [];
