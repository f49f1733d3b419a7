/**
 * How much of its input a computation reads between two pauses. Counted, because how long that takes depends on the machine and
 * on its neighbors.
 */
import { vi } from 'vitest';
import { inSlices, type Sliced } from '../../src/shared/slices.ts';

/** Counts what is read of plain data. */
export class Reads {
  #count = 0;
  #most = 0;
  readonly #watched = new WeakMap<object, object>();

  /** The same data, of which all that is read counts, and what its functions give back. */
  watch<T>(value: T): T {
    if (!isWatched(value)) return value;
    const known = this.#watched.get(value) ?? new Proxy(value, this.#handler);
    this.#watched.set(value, known);
    return known as T;
  }

  readonly #handler: ProxyHandler<object> = {
    get: (target, key) => {
      // Methods of lists read the members themselves.
      if (!Object.hasOwn(target, key)) return Reflect.get(target, key) as unknown;
      this.#count += 1;
      return this.watch(Reflect.get(target, key) as unknown);
    },
    apply: (target, self, given) => this.watch(Reflect.apply(target as () => unknown, self, given) as unknown),
  };

  /** Most reads between two pauses, where the computation pauses as often as it can. */
  async mostOf(work: Sliced<unknown>): Promise<number> {
    let now = 0;
    // Each slice is over at once.
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 1000;
      return now;
    });
    this.#most = 0;
    try {
      await inSlices(this.#noted(work));
    } finally {
      clock.mockRestore();
    }
    return this.#most;
  }

  *#noted(work: Sliced<unknown>): Sliced<void> {
    for (;;) {
      this.#count = 0;
      const step = work.next();
      this.#most = Math.max(this.#most, this.#count);
      if (step.done) return;
      yield;
    }
  }
}

/** Objects with a prototype of their own have private members, which a proxy has not. */
function isWatched(value: unknown): value is object {
  if (typeof value === 'function' || Array.isArray(value)) return true;
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
