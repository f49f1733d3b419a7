/**
 * The packages of an example. They are installed here and not by `npm ci` in the root, because only tests of the examples want
 * them, and again when the lock file has changed.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * Installs the packages of `examples/NAME`, unless what its lock file says is there already. Needs the npm registry.
 *
 * They are installed elsewhere and moved into place when complete, because test files that run side by side do this at the same
 * time.
 */
export function installExample(name: string): void {
  const directory = join(root, 'examples', name);
  if (isInstalled(directory)) return;
  console.log(`Installing the packages of examples/${name} (once): npm ci --prefix examples/${name}`);
  // Ignored by git and linters, and on the same file system.
  const parent = join(root, 'node_modules', '.examples');
  mkdirSync(parent, { recursive: true });
  const fresh = mkdtempSync(join(parent, `${name}-`));
  try {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(directory, file), join(fresh, file));
    runInstall(name, fresh);
    copyFileSync(join(fresh, 'package-lock.json'), join(fresh, 'node_modules', installedLock));
    if (!isInstalled(directory)) replaceDirectory(join(directory, 'node_modules'), join(fresh, 'node_modules'));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** What was installed: a copy of the lock file. */
const installedLock = '.installed-lock.json';

function isInstalled(directory: string): boolean {
  const installed = join(directory, 'node_modules', installedLock);
  if (!existsSync(installed)) return false;
  return readFileSync(installed, 'utf8') === readFileSync(join(directory, 'package-lock.json'), 'utf8');
}

function runInstall(name: string, directory: string): void {
  const { status, stderr } = spawnSync('npm', ['ci', '--prefix', directory, '--prefer-offline'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  throw new Error(
    `The tests need the packages of examples/${name}, and they cannot be installed. To see why: npm ci --prefix examples/${name}\n${stderr}`,
  );
}

function replaceDirectory(target: string, source: string): void {
  rmSync(target, { recursive: true, force: true });
  try {
    renameSync(source, target);
  } catch (error) {
    // Another one was faster.
    if (!existsSync(join(target, installedLock))) throw error;
  }
}
