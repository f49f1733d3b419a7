/** Half an hour of random-changes.test.ts, in which columns, grants and policies change, too. */
import { expect, onTestFinished, test } from 'vitest';
import { runChanges } from './run-changes.ts';

const seconds = 1800;
const seed = Date.now() % 1_000_000_000;

test(`each event is a state that the caller could see, also while the schema changes (seed ${seed})`, {
  timeout: seconds * 2000,
}, async () => {
  const { faults, ...counts } = await runChanges({ seed, seconds, withSchemaChanges: true }, onTestFinished);
  expect(faults).toEqual([]);
  expect(counts.versions).toBeGreaterThan(seconds);
  expect(counts.events).toBeGreaterThan(counts.versions);
});
