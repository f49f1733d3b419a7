/** Half an hour of random-changes.test.ts, in which columns, grants and policies change, too. */
import { expect, onTestFinished, test } from 'vitest';
import { runChanges } from './run-changes.ts';

const seconds = 600;
const seed = Date.now() % 1_000_000_000;

test.each([
  ['by default, also while the schema changes', { isExact: false, withSchemaChanges: true }],
  ['in exact mode, also while the schema changes', { isExact: true, withSchemaChanges: true }],
  ['in exact mode, where no interval helps', { isExact: true, withSchemaChanges: false }],
])(
  `each event is a state that the caller could see, %s (seed ${seed})`,
  { timeout: seconds * 4000 },
  async (_, mode) => {
    const { faults, ...counts } = await runChanges({ seed, seconds, ...mode }, onTestFinished);
    expect(faults).toEqual([]);
    expect(counts.versions).toBeGreaterThan(seconds);
    expect(counts.events).toBeGreaterThan(counts.versions);
  },
);
