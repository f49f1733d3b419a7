/**
 * Live queries while four writers change the table at random: each event is a state that the table had for that caller, in
 * order, and the last one arrives. planted-faults.test.ts shows what it finds.
 */
import { expect, onTestFinished, test } from 'vitest';
import { runChanges } from './run-changes.ts';

test.each([
  ['by default', false],
  ['in exact mode', true],
])(
  'each event is a state that the caller could see, never an older one, and the last one arrives, %s',
  async (_mode, isExact) => {
    // Exact mode adds the end of each transaction to what is read; the checks are the same.
    const rounds = isExact ? 'small' : 'short';
    const options = { seed: 37, seconds: 0, rounds, withSchemaChanges: false, isExact } as const;
    const { faults, ...counts } = await runChanges(options, onTestFinished);
    expect(faults).toEqual([]);
    // Else nothing was proven.
    expect(counts.rolledBack).toBeGreaterThan(0);
    expect(counts.versions).toBeGreaterThan(10);
    expect(counts.events).toBeGreaterThan(counts.versions);
  },
);
