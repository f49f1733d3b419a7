import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

// The tests start our command more than a hundred times; what Node has compiled once it need not compile again.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node-compile-cache');

const exclude = ['**/node_modules/**', 'test/bench/**'];

/** Files that take minutes: `npm run test:nightly` runs them, and `npm test` leaves them out. */
const nightly = 'test/**/*.nightly.test.ts';

/** Files that measure the process that they run in. */
const alone = ['test/attack/cache-busting.test.ts', 'test/unit/server/remembered-callers.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/each-file.ts'],
    pool: 'forks',
    // Node reads our TypeScript as it is, and keeps what it compiled: nothing is transformed before.
    // Nothing is mocked either, so no module is looked through for that.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // More than there are processors: much of the time a test waits, for a process, a server or a time limit.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    // A snapshot that is missing is a failure on every machine, not only where `CI` is set; `--update` writes it.
    update: 'none',
    // A test that fails takes nothing from what the others have run.
    coverage: { provider: 'v8', include: ['src/**/*.ts'], exclude: ['src/studio/app/**'], reportOnFailure: true },
    // Long, because the time that something takes is the machine's business.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      // What a test starts ends with it, so files need no process each: loading and compiling the code takes longer than most.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, ...alone, nightly],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: alone, exclude: [...exclude, nightly] } },
      { extends: true, test: { name: 'nightly', include: [nightly], exclude } },
    ],
  },
});
