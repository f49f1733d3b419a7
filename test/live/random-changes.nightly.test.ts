/** Half an hour of random-changes.test.ts, in which columns, grants and policies change, too. */
import { expect, onTestFinished, test } from 'vitest';
import { runChanges } from './run-changes.ts';

const seconds = 1800;
const seed = Date.now() % 1_000_000_000;

test.each([
  ['by default', false],
  ['in exact mode', true],
])(
  `each event is a state that the caller could see, also while the schema changes, %s (seed ${seed})`,
  {
    timeout: seconds * 2000,
  },
  async (_mode, isExact) => {
    const options = { seed, seconds: seconds / 2, withSchemaChanges: !isExact, isExact };
    const { faults, ...counts } = await runChanges(options, onTestFinished);
    expect(faults).toEqual([]);
    expect(counts.versions).toBeGreaterThan(seconds / 2);
    expect(counts.events).toBeGreaterThan(counts.versions);
  },
);
