/** The checker of random-changes.test.ts finds each fault that is planted. */
import { test } from 'vitest';
import { expectFound, faultNames } from './planted-faults.ts';

test.each(faultNames)('the checker of live queries finds %s', (name) => expectFound(name, 20_000));
