/** The checker of random-changes.test.ts finds what it looks for, with as few subscribers; planted-faults.nightly.test.ts plants every fault. */
import { test } from 'vitest';
import { expectFound, type FaultName } from './planted-faults.ts';

/** A fault that an event shows, and one that is found because nothing comes: this one is waited for. */
const names: readonly FaultName[] = ['an answer that is sent again', 'the loss of a change before it is quiet'];

test.each(names)('the checker of live queries finds %s', (name) => expectFound(name, 3000, 'small'));
