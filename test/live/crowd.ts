/**
 * Subscribers of several roles over both protocols, who come and go: each event must be a state that its caller could see, never an
 * older one, and when nothing changes any more, the last event is the last state.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../property/random.ts';
import type { History } from './changing-table.ts';
import { people, type Subscribe, subscribing, Watcher } from './watcher.ts';

export interface CrowdOptions {
  readonly url: string;
  readonly history: History;
  readonly random: Random;
  /** How many there are at a time. */
  readonly size: number;
  /** How long most of them stay at most, a second unless told; a third of them stays up to ten times as long. */
  readonly stayMs?: number;
  /** As clients do unless told. */
  readonly subscribe?: Subscribe;
  /** How long the last state may take: unless told, on no machine so long, so it never comes. */
  readonly settleMs?: number;
  /** Whether somebody who came at this time, in milliseconds since the epoch, may have been refused. */
  readonly mayRefuse?: (since: number) => boolean;
  readonly found: (fault: string) => void;
}

export class Crowd {
  readonly #options: CrowdOptions;
  /** Who is there. */
  readonly slots: Watcher[] = [];
  events = 0;
  subscriptions = 0;
  /** Nobody comes or goes: the run for a newcomer would tell the others what they have missed. */
  isQuiet = false;
  #isOver = false;
  readonly #occupied: Promise<unknown>;

  constructor(options: CrowdOptions) {
    this.#options = options;
    const { size, random } = options;
    this.#occupied = Promise.all(Array.from({ length: size }, (_, slot) => this.#occupy(slot, random.fork())));
  }

  /** Waits until they have the last state. */
  async settle(watched: readonly Watcher[] = this.slots): Promise<void> {
    const last = await this.#options.history.load();
    await this.wait(watched, async (watcher) => watcher.isOver || watcher.has(last), `got version ${last}`);
  }

  async wait(watched: readonly Watcher[], isDone: (watcher: Watcher) => Promise<boolean>, what: string): Promise<void> {
    const { settleMs = 60_000, found } = this.#options;
    const until = performance.now() + settleMs;
    for (const watcher of watched) {
      while (!(await isDone(watcher))) {
        if (performance.now() > until) {
          found(`${watcher.name}: has never ${what}`);
          return;
        }
        await sleep(10);
      }
    }
  }

  /** All leave. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#occupied;
  }

  /** Comes and goes. */
  async #occupy(slot: number, place: Random): Promise<void> {
    const { stayMs = 1000 } = this.#options;
    while (!this.#isOver) {
      const watcher = this.#open(place);
      this.slots[slot] = watcher;
      const until = performance.now() + place.int(50, place.chance(0.3) ? 10 * stayMs : stayMs);
      while (!this.#isOver && (this.isQuiet || (!watcher.isOver && performance.now() < until)))
        await sleep(place.int(10, 50));
      await watcher.leave();
      this.events += watcher.events;
    }
  }

  #open(place: Random): Watcher {
    const { url, history, subscribe = subscribing, mayRefuse = () => false, found } = this.#options;
    const kind = place.pick(['version', 'version', 'items', 'items', 'slow'] as const);
    // Slow ones are one group.
    const person = kind === 'slow' ? people[0]! : place.pick(people);
    const over = place.pick(['events', 'socket'] as const);
    const least = kind === 'slow' ? 0 : place.pick([0, 50]);
    this.subscriptions += 1;
    return new Watcher({ url, history, person, kind, over, least, subscribe, mayRefuse, found });
  }
}
