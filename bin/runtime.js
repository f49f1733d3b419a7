/**
 * Which Node runs the product. Plain JavaScript that any Node since 18 understands, because it runs before we know better.
 *
 * The package `node` in our dependencies carries the binary of the release we are tested with. Its install script puts it
 * in place, so it is missing where install scripts were switched off.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The oldest major release that runs us. */
export const requiredMajor = 24;

/** Whether the running Node is recent enough. */
export function runtimeIsEnough() {
  return Number.parseInt(process.versions.node, 10) >= requiredMajor;
}

/** Path of the Node that came with us as a dependency, or null where it is missing. */
export function pinnedRuntime() {
  try {
    const directory = dirname(createRequire(import.meta.url).resolve('node/package.json'));
    const binary = join(directory, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : null;
  } catch {
    return null;
  }
}

/** What to tell a person whose Node is too old and who has no pinned one. */
export const missingRuntimeMessage = `pgreflect needs Node ${requiredMajor} or newer; this is ${process.version}.
The Node that comes with it (the npm package "node") is not in place, most likely because install scripts are switched off.

Put it in place with:   npm rebuild --ignore-scripts=false
or install Node ${requiredMajor} yourself and run the same command again.
`;
