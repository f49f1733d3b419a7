/** Registers what ends with a test (`onTestFinished`), or with the tests of a file (`afterAll`). */
export type WhenOver = (end: () => Promise<void>) => void;
