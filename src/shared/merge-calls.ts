/**
 * Merges concurrent calls of one function: each caller gets the result of a run that began after its call, and while one
 * runs, all who call wait for the same next one.
 */
export function mergeCalls<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  function start(): Promise<T> {
    next = null;
    const started = run().finally(() => {
      if (running === started) running = null;
    });
    running = started;
    return started;
  }
  return () => {
    if (running === null) return start();
    next ??= running.then(start, start);
    return next;
  };
}
