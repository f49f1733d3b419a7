/** Live queries after a crash of PostgreSQL and a broken connection; outages.nightly.test.ts has more. */
import { onTestFinished, test } from 'vitest';
import { outages, overStockSocket, runOutages } from './outages.ts';

test('live queries go on by themselves after a crash of PostgreSQL and a broken connection', () =>
  runOutages(Object.keys(outages).slice(0, 2), [overStockSocket], onTestFinished));
