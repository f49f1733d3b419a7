import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

// The tests start our command more than a hundred times; what Node has compiled once it need not compile again.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node-compile-cache');

const exclude = ['**/node_modules/**', 'test/bench/**'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 90_000,
    hookTimeout: 120_000,
    projects: [
      // Pure functions: they leave nothing behind, so their files need no process each.
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], exclude, isolate: false } },
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: [...exclude, 'test/unit/**'] } },
    ],
  },
});
