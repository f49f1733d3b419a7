/**
 * Runs long computations in slices, so that the one thread answers other requests in between.
 *
 * All of them together get one slice in each turn of the event loop: however many there are, a request waits for one.
 */

/** Longest time that a slice holds the event loop, in milliseconds, apart from a single step. */
const sliceMs = 8;

/** A computation that may pause: it yields where its slice is over. */
export type Sliced<T> = Generator<void, T, void>;

let sliceEnd = Number.POSITIVE_INFINITY;
let hasRun = false;
const waiting: (() => void)[] = [];

/** Whether the running slice is over: a computation then yields at its next step. */
export function sliceIsOver(): boolean {
  return performance.now() >= sliceEnd;
}

/**
 * The result of a generator, which yields where it may pause: when `sliceIsOver`. A short one finishes without a pause.
 *
 * @throws What the generator throws.
 */
export async function inSlices<T>(work: Iterator<void, T, void>): Promise<T> {
  for (;;) {
    if (hasRun) await nextTurn();
    const step = runSlice(work);
    if (step.done) return step.value;
  }
}

/** The result of a generator, without pauses. */
export function withoutPauses<T>(work: Iterator<void, T, void>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** `map` of each item, with pauses between them. */
export function* mapInSlices<T, R>(items: Iterable<T>, map: (item: T) => R): Sliced<R[]> {
  const results: R[] = [];
  for (const item of items) {
    if (sliceIsOver()) yield;
    results.push(map(item));
  }
  return results;
}

/** So many are sorted or merged without a pause. */
const sortedAtOnce = 2000;

/** The texts in order of code units, with pauses: sorted in runs, which are merged two by two. */
export function* sortInSlices(texts: Iterable<string>): Sliced<readonly string[]> {
  const all = [...texts];
  let runs: (readonly string[])[] = [];
  for (let from = 0; from < all.length; from += sortedAtOnce) {
    if (sliceIsOver()) yield;
    runs.push(all.slice(from, from + sortedAtOnce).sort());
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let index = 0; index < runs.length; index += 2) merged.push(yield* merge(runs[index]!, runs[index + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge(one: readonly string[], other: readonly string[]): Sliced<readonly string[]> {
  if (other.length === 0) return one;
  const merged: string[] = [];
  let [next, otherNext] = [0, 0];
  while (next < one.length || otherNext < other.length) {
    if (merged.length % sortedAtOnce === 0 && sliceIsOver()) yield;
    const isOne = otherNext === other.length || (next < one.length && one[next]! <= other[otherNext]!);
    merged.push(isOne ? one[next++]! : other[otherNext++]!);
  }
  return merged;
}

function runSlice<T>(work: Iterator<void, T, void>): IteratorResult<void, T> {
  hasRun = true;
  if (waiting.length === 0) setImmediate(startTurn);
  sliceEnd = performance.now() + sliceMs;
  try {
    let step = work.next();
    while (!step.done && !sliceIsOver()) step = work.next();
    return step;
  } finally {
    sliceEnd = Number.POSITIVE_INFINITY;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
  });
}

function startTurn(): void {
  hasRun = false;
  const next = waiting.shift();
  if (next === undefined) return;
  if (waiting.length > 0) setImmediate(startTurn);
  next();
}
