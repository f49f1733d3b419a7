/** The workers of a supervisor: starts them, sends messages, replaces ended ones, and stops them. */
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Gather, Reports, Wanted } from '../../reports.ts';
import type { Snapshot } from '../../server/metrics/snapshot.ts';
import { backoff } from '../../shared/backoff.ts';
import type { Observe } from '../../shared/observation.ts';
import { type FromWorker, Questions, type ToWorker, workerVariable } from './worker-messages.ts';
import { WorkerSeries } from './worker-series.ts';

interface WorkersOptions {
  readonly count: number;
  /** Time for finishing requests, in milliseconds. */
  readonly drainTimeoutMs: () => number;
  readonly observe: Observe;
  readonly gather: Gather;
}

/** A worker that lived this long is replaced at once, in milliseconds. */
const steadyMs = 10_000;
const pauseAfter = backoff(250, 15_000);
/** Extra time for a worker to end after its requests, in milliseconds. */
const endingMs = 10_000;
/** Longest wait for the report of a worker, in milliseconds. */
const reportMs = 2000;

/** All workers. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #stopping = new AbortController();
  readonly #questions = new Questions<unknown>();
  readonly #series = new WorkerSeries();
  /** Listening workers, by their number. */
  readonly #ready = new Map<number, Worker>();
  /** With their places. */
  readonly #alive = new Map<Worker, number>();
  readonly #places: Promise<void>[] = [];
  /** They have a successor. */
  readonly #retired = new WeakSet<Worker>();
  /** The newest generation of each place that has listened; older ones start no workers. */
  readonly #generations = new Map<number, number>();
  #generation = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
    // Workers run the program itself, whatever started this process.
    const main = import.meta.url.endsWith('.ts') ? '../../main.ts' : '../../main.js';
    cluster.setupPrimary({ exec: fileURLToPath(new URL(main, import.meta.url)) });
  }

  /** Whether they were told to stop. */
  get wasTold(): boolean {
    return this.#stopping.signal.aborted;
  }

  /**
   * Starts the first worker, and when it listens, the others.
   *
   * @returns Their origin, when each listens or has ended once; null if the first ended before it listened.
   */
  async start(): Promise<string | null> {
    const url = await this.#occupy(1);
    if (url === null) return null;
    const others = Array.from({ length: this.#options.count - 1 }, (_, index) => this.#occupy(index + 2));
    await Promise.all(others);
    return url;
  }

  /** Sends a message to all workers. */
  tell(message: ToWorker): void {
    for (const worker of this.#alive.keys()) send(worker, message);
  }

  /**
   * Replaces all workers, one after the other: a new one listens before the old one stops, so connections are accepted
   * all the time.
   *
   * @returns False if a new one ended before it listened; the old ones of this and later places go on.
   */
  async replaceAll(): Promise<boolean> {
    for (let place = 1; place <= this.#options.count && !this.wasTold; place += 1) {
      const old = [...this.#alive.keys()].filter((worker) => this.#alive.get(worker) === place);
      if ((await this.#occupy(place, true)) === null) return false;
      for (const worker of old) this.#retired.add(worker);
      await Promise.all(old.map((worker) => this.#end(worker)));
    }
    return true;
  }

  /** Lets a worker finish its requests; resolves when it has ended. */
  async #end(worker: Worker): Promise<void> {
    if (worker.isDead()) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.process.kill('SIGTERM');
    const giveUp = setTimeout(() => worker.process.kill('SIGKILL'), this.#options.drainTimeoutMs() + endingMs);
    await ended;
    clearTimeout(giveUp);
  }

  /** Lets one worker print the first operation. */
  introduce(): void {
    const [first] = this.#ready.values();
    if (first !== undefined) send(first, { kind: 'introduce' });
  }

  /** What the workers that answer in time tell of themselves. */
  async reports<K extends keyof Reports>(wanted: Wanted & { readonly what: K }): Promise<readonly Reports[K][]> {
    return [...(await this.#reports(wanted)).values()].filter((report) => report !== null);
  }

  /** The series of all workers, also of those that have ended. */
  async series(): Promise<readonly Snapshot[]> {
    return this.#series.take(await this.#reports({ what: 'series' }));
  }

  /** By process number; null: no answer in time. */
  async #reports<K extends keyof Reports>(
    wanted: Wanted & { readonly what: K },
  ): Promise<ReadonlyMap<number, Reports[K] | null>> {
    const asked = [...this.#ready.values()].map(async (worker) => {
      const report = await this.#questions.ask((id) => send(worker, { kind: 'report_wanted', id, wanted }), reportMs);
      return [worker.process.pid ?? 0, report as Reports[K] | null] as const;
    });
    return new Map(await Promise.all(asked));
  }

  /** Lets them finish their requests; resolves when all have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    // A signal instead of a message, which a starting worker would miss.
    for (const { process: child } of this.#alive.keys()) child.kill('SIGTERM');
    const giveUp = setTimeout(() => {
      for (const { process: child } of this.#alive.keys()) child.kill('SIGKILL');
    }, this.#options.drainTimeoutMs() + endingMs);
    await Promise.all(this.#places);
    clearTimeout(giveUp);
  }

  /**
   * Keeps a worker running until the stop, or until it has a successor.
   *
   * @param onlyOnce Gives up if the first one ends before it listens.
   * @returns Its origin when it listens, null if the first one ends before.
   */
  #occupy(place: number, onlyOnce = place === 1): Promise<string | null> {
    return new Promise((resolve) => {
      this.#places.push(this.#keep(place, onlyOnce, resolve));
    });
  }

  async #keep(place: number, onlyOnce: boolean, onFirst: (url: string | null) => void): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    let hasListened = false;
    this.#generation += 1;
    const generation = this.#generation;
    const isReplaced = () => (this.#generations.get(place) ?? 0) > generation;
    const onReady = (url: string) => {
      hasListened = true;
      this.#generations.set(place, generation);
      onFirst(url);
    };
    while (!signal.aborted && !isReplaced()) {
      const began = performance.now();
      await this.#live(place, onReady);
      onFirst(null);
      // Its failure would repeat with all others.
      if (onlyOnce && !hasListened) return;
      const isSteady = performance.now() - began > steadyMs;
      failures = isSteady ? 0 : failures + 1;
      if (!isReplaced()) await sleep(pauseAfter(failures), undefined, { signal }).catch(() => {});
    }
  }

  /** Runs one worker. Resolves when it has ended. */
  #live(place: number, onReady: (url: string) => void): Promise<void> {
    const { observe } = this.#options;
    const worker = cluster.fork({ [workerVariable]: place });
    this.#alive.set(worker, place);
    worker.on('message', (message: FromWorker) => {
      if (message.kind !== 'ready') return this.#hear(worker, message);
      this.#ready.set(place, worker);
      observe({ kind: 'worker_ready', worker: place, pid: worker.process.pid ?? null });
      onReady(message.url);
    });
    return new Promise((resolve) => {
      // Ignored: the worker could not be started.
      worker.on('error', () => {});
      worker.once('exit', (code: number | null, signal: string | null) => {
        this.#alive.delete(worker);
        this.#series.ended(worker.process.pid ?? 0);
        if (this.#ready.get(place) === worker) this.#ready.delete(place);
        if (!this.wasTold && !this.#retired.has(worker)) observe({ kind: 'worker_ended', worker: place, code, signal });
        resolve();
      });
    });
  }

  #hear(worker: Worker, message: Exclude<FromWorker, { kind: 'ready' }>): void {
    const { id } = message;
    if (message.kind === 'report') this.#questions.answer(id, message.report);
    else
      void this.#options
        .gather(message.wanted)
        .then((all) => send(worker, { kind: 'all_reports', id, processes: all }));
  }
}

/** Sends a message to a worker, which may have ended. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
