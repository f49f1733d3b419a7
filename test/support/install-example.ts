/**
 * The packages of an example. They are installed here and not by `npm ci` in the root, because only tests of the examples want
 * them, and again when the lock file has changed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs `npm ci` in `examples/NAME`, unless what its lock file says is there already. Needs the npm registry.
 *
 * @returns The directory of the example.
 */
export function installExample(name: string): string {
  const directory = join(import.meta.dirname, '../../examples', name);
  const lock = readFileSync(join(directory, 'package-lock.json'), 'utf8');
  const installed = join(directory, 'node_modules', '.installed-lock.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return directory;
  console.log(`Installing the packages of examples/${name} (once): npm ci --prefix examples/${name}`);
  const { status, stderr } = spawnSync('npm', ['ci', '--prefix', directory, '--prefer-offline'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    throw new Error(
      `The tests need the packages of examples/${name}, and they cannot be installed. To see why: npm ci --prefix examples/${name}\n${stderr}`,
    );
  }
  writeFileSync(installed, lock);
  return directory;
}
