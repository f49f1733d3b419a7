/** How much of the time something runs, however many at once. */

/** The clock of what begins and ends. */
export class BusyTime {
  #running = 0;
  #since = 0;
  #ms = 0;

  begin(): void {
    if (this.#running === 0) this.#since = performance.now();
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#ms += performance.now() - this.#since;
  }

  /** Milliseconds in which at least one ran. */
  total(): number {
    return this.#running === 0 ? this.#ms : this.#ms + performance.now() - this.#since;
  }
}
