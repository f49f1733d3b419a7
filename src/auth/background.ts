/** Work that goes on after its request was answered, because the answer must not depend on it. */
import { randomUUID } from 'node:crypto';
import type { Observe } from '../shared/observation.ts';
import { AuthError } from './model/auth-error.ts';

/** Most at once. Each ends with the deadline of its request. */
const maxRunning = 1000;

/** Runs such work. */
export class Background {
  readonly #running = new Set<Promise<void>>();
  readonly #observe: Observe;
  readonly #refuse: () => AuthError;

  /** @param refuse Makes the error for work beyond the limit. */
  constructor(observe: Observe, refuse: () => AuthError) {
    this.#observe = observe;
    this.#refuse = refuse;
  }

  /** Starts the work. Its refusals reach nobody; failures are logged. @throws AuthError if too much is running. */
  run(work: () => Promise<unknown>): void {
    if (this.#running.size >= maxRunning) throw this.#refuse();
    const running = work()
      .catch((error: unknown) => {
        if (error instanceof AuthError && error.status < 500) return;
        this.#observe({ kind: 'masked_error', id: randomUUID(), requestId: null, error });
      })
      .then(() => {
        this.#running.delete(running);
      });
    this.#running.add(running);
  }

  /** Waits for all that is running. */
  async stop(): Promise<void> {
    await Promise.all(this.#running);
  }
}
