/**
 * Sends something on connections now and then: proxies close those on which nothing is sent for half a minute or a minute, and a client
 * that has vanished without a word is noticed.
 */

/** A connection. */
export interface Kept {
  beat(): void;
}

/** In seconds; proxies that are known for short times close after 30. */
const period = 12;

/** Connections by turns: each second some are written to, so that thousands do not hold up requests. */
export class KeepAlive<Connection extends Kept> {
  readonly #turns: readonly Set<Connection>[] = Array.from({ length: period }, () => new Set());
  readonly #turnOf = new Map<Connection, Set<Connection>>();
  #next = 0;
  #timer: NodeJS.Timeout | null = null;

  add(connection: Connection): void {
    // Of those with the fewest connections, the one whose turn is last.
    const last = this.#turns.map((_, index) => this.#turns.at(this.#next - 1 - index)!);
    const turn = last.reduce((fewest, each) => (each.size < fewest.size ? each : fewest));
    turn.add(connection);
    this.#turnOf.set(connection, turn);
    this.#timer ??= setInterval(() => this.#beat(), 1000).unref();
  }

  delete(connection: Connection): void {
    this.#turnOf.get(connection)?.delete(connection);
    this.#turnOf.delete(connection);
    if (this.#timer === null || this.#turnOf.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  all(): Iterable<Connection> {
    return this.#turnOf.keys();
  }

  #beat(): void {
    for (const connection of this.#turns[this.#next]!) connection.beat();
    this.#next = (this.#next + 1) % this.#turns.length;
  }
}
