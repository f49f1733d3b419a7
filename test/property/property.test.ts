/**
 * Random operations on random databases: each answer is compared with that of an evaluator which knows the manual and reads
 * raw rows, and shares nothing with the compiler.
 *
 * `PROPERTY_SEED` repeats a run, `PROPERTY_OPERATIONS` makes it longer, as `npm run test:nightly` does. A failure prints the database, the operation made as
 * small as it gets, both answers and the SQL.
 */
import { expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { createRandom } from './random.ts';
import { runWorld } from './run-world.ts';

const operations = Number(process.env.PROPERTY_OPERATIONS ?? 100);
// Short runs are the same each time, so that no change fails by what another one did; long ones look further.
const seed = Number(process.env.PROPERTY_SEED ?? (operations > 100 ? Date.now() % 1_000_000_000 : 21));
/** Each world keeps an executor with its connections until the end: a long run has larger worlds instead of more. */
const operationsPerWorld = Math.max(150, Math.ceil(operations / 20));
const database = await createDatabase();

test(`every answer is what the raw rows say (PROPERTY_SEED=${seed} PROPERTY_OPERATIONS=${operations})`, {
  timeout: 120_000 + operations * 200,
}, async () => {
  const random = createRandom(seed);
  const failures: string[] = [];
  let withRows = 0;
  for (let done = 0; done < operations; done += operationsPerWorld) {
    const count = Math.min(operationsPerWorld, operations - done);
    const prefix = `w${done / operationsPerWorld}`;
    const result = await runWorld(database, { random: random.fork(), prefix, operations: count });
    withRows += result.withRows;
    if (result.failure !== null)
      failures.push(`${result.failure}\nPROPERTY_SEED=${seed} PROPERTY_OPERATIONS=${operations}`);
  }
  // Thrown as it is: an assertion would print the SQL with its quotes escaped.
  if (failures.length > 0) throw new Error(`\n${failures.join('\n\n')}`);
  // Comparing nothing with nothing proves little.
  expect(withRows).toBeGreaterThan(operations / 5);
});
