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

/** What one flight does to the names: filled while its messages are written, settled by its end. */
export interface NameChanges {
  readonly flight: number;
  /** Names whose `Parse` it sends. */
  readonly parsed: string[];
  /** Names that it closes at its start, so that the limit holds. */
  readonly closed: readonly string[];
  /** The unnamed statement that it prepares last; null: none. */
  unnamed: string | null;
}

/** Of a flight that has not been written. */
export const noChanges: NameChanges = { flight: 0, parsed: [], closed: [], unnamed: null };

/**
 * The named statements of one connection. Flights are written and end in the same order, but several may be written before
 * the first of them ends: what a flight on its way has changed is `unknown` to those behind it.
 */
export class PreparedStatements {
  readonly #limit: number;
  readonly #names = new Map<string, Name>();
  #flight = 0;
  /** Text of the unnamed statement where a flight that prepared it has been answered, and the flight that prepared one last. */
  #unnamed: string | null = null;
  #unnamedIn = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Begins a flight of these steps, those with an empty name apart: `closed` says what to close first. A flight that alone
   * has more names than the limit passes it for its own time.
   */
  begin(steps: readonly { readonly name: string }[]): NameChanges {
    this.#flight += 1;
    let added = 0;
    for (const { name } of steps) if (name !== '' && !this.#names.has(name)) added += 1;
    const surplus = this.#names.size + added - this.#limit;
    const closed = added > 0 && surplus > 0 ? this.#leastUsed(steps, surplus) : none;
    for (const name of closed) this.#setState(name, 'unknown');
    return { flight: this.#flight, parsed: [], closed, unnamed: null };
  }

  #leastUsed(steps: readonly { readonly name: string }[], count: number): readonly string[] {
    const needed = new Set(steps.map(({ name }) => name));
    return [...this.#names]
      .filter(([name]) => !needed.has(name))
      .sort(([, a], [, b]) => a.usedIn - b.usedIn)
      .slice(0, count)
      .map(([name]) => name);
  }

  /** What to send for a name of the flight begun last; the flight then does so. */
  use(changes: NameChanges, name: string): Preparation {
    const known = this.#names.get(name);
    if (known === undefined) {
      this.#names.set(name, { state: 'unknown', usedIn: changes.flight });
      changes.parsed.push(name);
      return 'parse';
    }
    known.usedIn = changes.flight;
    if (known.state === 'known' || changes.parsed.includes(name)) return 'none';
    changes.parsed.push(name);
    return 'close_and_parse';
  }

  /** Whether the unnamed statement is this one and need not be prepared. */
  hasUnnamed(text: string): boolean {
    return this.#unnamed === text;
  }

  /** The flight prepares this text as the unnamed statement. */
  useUnnamed(changes: NameChanges, text: string): void {
    changes.unnamed = text;
    this.#unnamed = null;
    this.#unnamedIn = changes.flight;
  }

  /** The flight has been answered with success. */
  succeed({ flight, parsed, closed, unnamed }: NameChanges): void {
    if (unnamed !== null && this.#unnamedIn === flight) this.#unnamed = unnamed;
    for (const name of parsed) this.#setState(name, 'known');
    // One that a flight behind this one uses has been prepared again.
    for (const name of closed) if ((this.#names.get(name)?.usedIn ?? 0) <= flight) this.#names.delete(name);
  }

  /** The flight has failed somewhere: what it sent may or may not have been carried out. */
  fail({ parsed, closed }: NameChanges): void {
    for (const name of parsed) this.#setState(name, 'unknown');
    for (const name of closed) this.#setState(name, 'unknown');
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

/**
 * Whether the server does not know a name that we have prepared (26000), or knows one that we have not (42P05). The message
 * must have one of these names: a user's function can raise these codes too, after it has done something.
 */
export function lostStatement(problem: unknown, names: readonly string[]): boolean {
  const { code, message } = problem as { readonly code?: string; readonly message?: string };
  if (code !== '26000' && code !== '42P05') return false;
  return names.some((name) => name !== '' && message?.includes(name));
}
