/**
 * Tracks the named statements in one connection's server process.
 *
 * Prepared statements survive a rollback, so after a failed flight it is unknown which `Parse` messages took effect.
 * Those names are `unknown`, and their next use sends `Close` (no error for a missing name) before `Parse`. The number
 * of names and the length of their texts are limited; the least recently used are closed at the start of a flight.
 */

/** Most characters of all named texts of a connection. A server process keeps 30 to 80 bytes for each. */
const maxCharacters = 400 * 1024;

/**
 * Most characters that a connection has parsed in its life. For each, a server process keeps up to 9 bytes until it ends, mostly of
 * types of rows, which every other selection has.
 */
const maxParsed = 3_000_000;
/** Longer unnamed statements are closed at the end of their flight: a server process keeps about 60 bytes for each character. */
const maxUnnamed = 64 * 1024;

/** What a flight must send before it may bind a name. */
type Preparation = 'none' | 'parse' | 'close_and_parse';

interface Name {
  state: 'known' | 'unknown';
  /** Number of the last flight that used it. */
  usedIn: number;
  readonly characters: number;
}

interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** A flight's changes of names: recorded while its messages are written, settled at its end. */
export interface NameChanges {
  readonly flight: number;
  /** Names it parses. */
  readonly parsed: string[];
  /** Names it closes at its start, to keep the limit. */
  readonly closed: readonly string[];
  /** The unnamed statement that it parses last; null: none. */
  unnamed: string | null;
}

/** For a flight that was not written. */
export const noChanges: NameChanges = { flight: 0, parsed: [], closed: [], unnamed: null };

/**
 * The named statements of one connection. Flights are written and end in the same order, but several may be written
 * before the first ends: changes of a pending flight are `unknown` to those behind it.
 */
export class PreparedStatements {
  readonly #limit: number;
  readonly #names = new Map<string, Name>();
  #characters = 0;
  #parsed = 0;
  #flight = 0;
  /** Text of the unnamed statement, if known from an answered flight, and the last flight that parsed one. */
  #unnamed: string | null = null;
  #unnamedIn = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Starts a flight with these steps (empty names are ignored): `closed` lists the names to close first. A single
   * flight with more names than the limit exceeds it temporarily.
   */
  begin(steps: readonly NamedText[]): NameChanges {
    this.#flight += 1;
    let added = 0;
    let characters = 0;
    for (const { name, text } of steps) {
      if (name === '' || this.#names.has(name)) continue;
      added += 1;
      characters += text.length;
    }
    const surplus = this.#names.size + added - this.#limit;
    const surplusCharacters = this.#characters + characters - maxCharacters;
    const isFull = added > 0 && (surplus > 0 || surplusCharacters > 0);
    const closed = isFull ? this.#leastUsed(steps, surplus, surplusCharacters) : none;
    for (const name of closed) this.#setState(name, 'unknown');
    return { flight: this.#flight, parsed: [], closed, unnamed: null };
  }

  /** Whether its server process should be replaced by a new one. */
  get isWorn(): boolean {
    return this.#parsed > maxParsed;
  }

  /** As many names as needed for both limits. */
  #leastUsed(steps: readonly NamedText[], count: number, characters: number): readonly string[] {
    const needed = new Set(steps.map(({ name }) => name));
    const others = [...this.#names].filter(([name]) => !needed.has(name)).sort(([, a], [, b]) => a.usedIn - b.usedIn);
    let freed = 0;
    const end = others.findIndex(([, name], index) => {
      if (index >= count && freed >= characters) return true;
      freed += name.characters;
      return false;
    });
    return others.slice(0, end === -1 ? others.length : end).map(([name]) => name);
  }

  /** What to send for a name in the flight started last, which must then do so. */
  use(changes: NameChanges, { name, text }: NamedText): Preparation {
    const known = this.#names.get(name);
    if (known === undefined) {
      this.#names.set(name, { state: 'unknown', usedIn: changes.flight, characters: text.length });
      this.#characters += text.length;
      this.#parsed += text.length;
      changes.parsed.push(name);
      return 'parse';
    }
    known.usedIn = changes.flight;
    if (known.state === 'known' || changes.parsed.includes(name)) return 'none';
    this.#parsed += text.length;
    changes.parsed.push(name);
    return 'close_and_parse';
  }

  /** Whether the unnamed statement is this text and needs no Parse. */
  hasUnnamed(text: string): boolean {
    return this.#unnamed === text;
  }

  /** Records that the flight parses this text as the unnamed statement. */
  useUnnamed(changes: NameChanges, text: string): void {
    changes.unnamed = text;
    this.#parsed += text.length;
    this.#unnamed = null;
    this.#unnamedIn = changes.flight;
  }

  /** Whether the flight must close its unnamed statement at its end. */
  closesUnnamed(changes: NameChanges): boolean {
    if ((changes.unnamed?.length ?? 0) <= maxUnnamed) return false;
    changes.unnamed = null;
    return true;
  }

  /** Call when the flight succeeded. */
  succeed({ flight, parsed, closed, unnamed }: NameChanges): void {
    if (unnamed !== null && this.#unnamedIn === flight) this.#unnamed = unnamed;
    for (const name of parsed) this.#setState(name, 'known');
    // A flight behind this one uses the name and has parsed it again.
    for (const name of closed) {
      const known = this.#names.get(name);
      if (known === undefined || known.usedIn > flight) continue;
      this.#names.delete(name);
      this.#characters -= known.characters;
    }
  }

  /** Call when the flight failed: each message may or may not have taken effect. */
  fail({ parsed, closed }: NameChanges): void {
    for (const name of parsed) this.#setState(name, 'unknown');
    for (const name of closed) this.#setState(name, 'unknown');
  }

  /** Call when the server's state differs from our records. */
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
 * Whether the server lacks a name that we prepared (26000), or has one that we did not (42P05). The message must
 * contain one of these names: a user's function can raise these codes too, after having an effect.
 */
export function lostStatement(problem: unknown, names: readonly string[]): boolean {
  const { code, message } = problem as { readonly code?: string; readonly message?: string };
  if (code !== '26000' && code !== '42P05') return false;
  return names.some((name) => name !== '' && message?.includes(name));
}
