/** Registers what ends with a test (`onTestFinished`), or with the tests of a file (`afterAll`). */
export type WhenOver = (end: () => Promise<void>) => void;

const ends: (() => unknown)[] = [];

/**
 * Ends something after the tests of the file, in reverse order: files share a process, so nothing ends by itself. Unlike
 * `afterAll` it may be called while a test runs.
 */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

/** Ends all that the file has started. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
