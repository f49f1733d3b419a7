/**
 * The packages of an example. They are installed here and not by `npm ci` in the root, because only tests of the examples want
 * them, and again when the lock file has changed.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The programs of a person's machine: the Node of the checkout is not among them, which may be newer. */
export function pathOfPerson(): string {
  const entries = (process.env.PATH ?? '').split(delimiter);
  return entries.filter((entry) => !entry.startsWith(root)).join(delimiter);
}

/**
 * Installs the packages of `examples/NAME`, unless what its lock file says is there already. Needs the npm registry.
 *
 * They are installed elsewhere, ignored by git and linters and on the same file system, and moved into place when complete. Test
 * files that run side by side wait for each other.
 */
export function installExample(name: string): void {
  const directory = join(root, 'examples', name);
  if (isInstalled(directory)) return;
  const parent = join(root, 'node_modules', '.examples');
  mkdirSync(parent, { recursive: true });
  const lock = join(parent, `${name}.lock`);
  if (!takeLock(lock)) {
    waitUntil(() => isInstalled(directory) || !existsSync(lock));
    if (isInstalled(directory)) return;
  }
  try {
    install(name, parent);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** False where another process is at it. */
function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

/** Waits for a condition, up to two minutes: whoever holds a lock may have been killed. */
function waitUntil(condition: () => boolean): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < 1200 && !condition(); waited += 1) Atomics.wait(nobody, 0, 0, 100);
}

function install(name: string, parent: string): void {
  const directory = join(root, 'examples', name);
  console.log(`Installing the packages of examples/${name} (once): npm ci --prefix examples/${name}`);
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
