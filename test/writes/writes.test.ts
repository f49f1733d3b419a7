/**
 * Random writes against random schemas: the gateway's are compared with the same writes made one by one in plain SQL by
 * the same role. Equal rows, answers, sequences and refusals, and nothing half-written.
 *
 * `WRITES_SEED` repeats a run, `WRITES` makes it longer, as `npm run test:nightly` does.
 * Planted faults are found within about 1,300 writes: `replaceAtMost` without effect, objects with equal names taken for equal, a hidden row
 * that answers the filter of an upsert or is connected by its key, a given key that overwrites.
 */
import { expect, test } from 'vitest';
import { createRandom } from '../property/random.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';
import { runWrites } from './run-writes.ts';
import { telling } from './statements.ts';
import { generateWorld } from './world.ts';

const writes = Number(process.env.WRITES ?? 75);
const seed = Number(process.env.WRITES_SEED ?? (writes > 75 ? Date.now() % 1_000_000_000 : 21));
const writesPerPart = 1000;
const worldsPerPart = writes > writesPerPart ? 12 : 4;
// Without the trigger, each refused write waits until the catalog is compared again.
const database = await createDatabase(
  `select set_config('pgreflect.login_role', 'authenticator', false); ${fixture('../../sql/watch.sql')}`,
);

test(`writes do what plain SQL does (WRITES_SEED=${seed} WRITES=${writes})`, {
  timeout: 120_000 + writes * 1000,
}, async () => {
  const random = createRandom(seed);
  const counts = new Map<string, number>();
  for (let done = 0; done < writes; done += writesPerPart) {
    const worlds = Array.from({ length: worldsPerPart }, (_, index) =>
      generateWorld(random.fork(), `w${done / writesPerPart}x${index}`),
    );
    for (const { script } of worlds) await database.query(script);
    const execution = await startExecution(database, { schemas: worlds.map(({ name }) => name), limits: null });
    const result = await runWrites(database, {
      random: random.fork(),
      worlds,
      execution,
      writes: Math.min(writesPerPart, writes - done),
    });
    if (writes > writesPerPart) console.log(`${done + result.done} of ${writes} writes`);
    for (const [name, count] of result.counts) counts.set(name, (counts.get(name) ?? 0) + count);
    // Thrown as it is: an assertion would print the SQL with its quotes escaped.
    if (result.failure !== null)
      throw new Error(`\n${result.failure}\nafter ${done + result.done} writes: WRITES_SEED=${seed} WRITES=${writes}`);
  }
  if (process.env.WRITES_COUNTS !== undefined)
    console.log(
      [...counts]
        .map(([name, count]) => `${name}: ${count}`)
        .sort()
        .join('\n'),
    );
  expect(counts.get('written')).toBeGreaterThan(writes / 5);
  if (writes < writesPerPart) return;
  const rare = constructs.filter((name) => (counts.get(name) ?? 0) < 5);
  expect(rare.map((name) => `${name}: ${counts.get(name) ?? 0}`)).toEqual([]);
});

/** What a long run has to hold. */
const constructs = [
  ...['delete', 'update', 'insert of an update', 'to-one', 'to-many'].map((name) => `written: nested ${name}, 1 deep`),
  ...['to-one, 2 deep', 'to-many, 2 deep', 'onConflict'].map((name) => `written: nested ${name}`),
  ...['several fields', 'several entries', 'several objects'].map((name) => `written: ${name}`),
  ...['connect to one', 'connect to many', 'insert above', 'connect above', 'update above', 'disconnect above'].flatMap(
    (name) => [`written: nested ${name}, 1 deep`, `nested ${name}, 2 deep`],
  ),
  ...['connect of an update', 'disconnect', 'replace'].flatMap((name) => [
    `written: nested ${name}, 1 deep`,
    `nested ${name}, 2 deep`,
  ]),
  'nested replace beside onConflict',
  ...[
    'row connected',
    'row to connect not found',
    'related row disconnected',
    'row above updated',
    'rows chosen',
    'keys known before',
  ],
  ...['row replaced: DELETE', 'row replaced: DISCONNECT', 'null for a generated key'],
  ...['insert', 'update', 'delete'].map((name) => `written: unread ${name}`),
  'written: insert by INSERT alone',
  'columns of a relationship',
  ...['insert', 'update', 'delete'].map((name) => `written: ${name} of one row`),
  ...['related row updated', 'related row deleted'],
  ...['always', 'by default'].map((name) => `insert, key: identity ${name}`),
  ...['serial', 'uuid', 'composite', 'composite serial', 'by a trigger'].map((name) => `insert, key: ${name}`),
  ...['insert', 'update', 'delete'].flatMap((kind) =>
    [
      'updatable view',
      'view of the invoker',
      'check option',
      'partitions',
      'inheritance',
      'INSTEAD OF view',
      'policies',
      'policy looks the parent up',
      'policies of several commands look the parent up',
      'column grants',
      'self reference',
      'composite reference',
      'deferred constraint',
      'trigger: skip',
      'trigger: rekey',
      'trigger: boom',
      'trigger: stay',
      'trigger: orphan',
      'trigger: move',
      'trigger: hide',
      'trigger: more',
    ].map((name) => `${kind}, ${name}`),
  ),
  ...['columns', 'partial', 'expression'].map((name) => `onConflict by ${name}`),
  ...['keeps', 'updates', 'filter'].map((name) => `onConflict ${name}`),
  ...['one', 'some', 'every', 'none'].map((name) => `onConflict filter: ${name}`),
  ...['delete', 'update', 'insert of an update', 'to-one', 'to-many'].flatMap((name) => [
    `nested ${name}, 1 deep`,
    `nested ${name}, 2 deep`,
  ]),
  'nested onConflict',
  ...[
    'row met',
    'row new',
    'row kept',
    'row suppressed',
    'row shared',
    'row shared by several places',
    'rows of equal names',
    ...Object.values(telling),
    'hidden row named as one that is not there',
    'different keys',
    'several objects',
  ],
  ...['increment count', 'append list', 'append json', 'append note', 'prepend list', 'remove list', 'remove json'],
  ...['CONSTRAINT_VIOLATION', 'PERMISSION_DENIED', 'BAD_USER_INPUT', 'RAISED'].map((name) => `refused: ${name}`),
];
