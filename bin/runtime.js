/**
 * Which Node runs the product. Plain JavaScript that any Node since 18 understands, because it runs before we know better.
 *
 * The package `node` in our dependencies carries the binary of the release we are tested with. Its install script puts it
 * in place, so it is missing where install scripts were switched off.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const source = new URL('../src/main.ts', import.meta.url);

/** The program in TypeScript, or null where this is the installed package, which has it compiled. */
export const sourceProgram = existsSync(source) ? source : null;

/** What to tell a person whose checkout has no packages yet; null: it has, or this is none. */
export function missingPackagesMessage() {
  if (sourceProgram === null || existsSync(new URL('../node_modules', import.meta.url))) return null;
  return 'The packages of this checkout are not installed. Install them with:   npm ci\n';
}

/** The oldest release that runs us: the first with proxies for requests. */
const required = { major: 24, minor: 5 };

/** Whether the running Node is recent enough. */
export function runtimeIsEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > required.major || (major === required.major && minor >= required.minor);
}

/** Directory of the package that carries the pinned Node, or null where it is not installed. */
function runtimePackage() {
  try {
    return dirname(createRequire(import.meta.url).resolve('node/package.json'));
  } catch {
    return null;
  }
}

/** Path of the Node that came with us as a dependency, or null where it is missing. */
export function pinnedRuntime() {
  const directory = runtimePackage();
  if (directory === null) return null;
  const binary = join(directory, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return existsSync(binary) ? binary : null;
}

/** What to tell a person whose Node is too old and who has no pinned one. */
export function missingRuntimeMessage() {
  const directory = runtimePackage();
  const place =
    directory === null
      ? ''
      : `
Or put the Node in place that comes with pgreflect. npm did not run its install script:

  (cd "${directory}" && node installArchSpecificPackage.js)
`;
  return `pgreflect needs Node ${required.major}.${required.minor} or newer; this is ${process.version}.
Install Node ${required.major} and run the same command again.
${place}`;
}
