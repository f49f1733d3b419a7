/**
 * Packages that `npm ci` in the root leaves out: those that only tests use, and those of the examples. They are installed when
 * something needs them, and again when their lock file has changed.
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
 * Installs the packages of `test` or `examples/NAME`, unless what its lock file says is there already. Needs the npm registry.
 *
 * They are installed elsewhere, ignored by git and linters and on the same file system, and moved into place when complete. Test
 * files that run side by side wait for each other.
 */
export function installPackages(folder: string): void {
  if (isInstalled(folder)) return;
  const parent = join(root, 'node_modules', '.packages');
  mkdirSync(parent, { recursive: true });
  const lock = join(parent, `${folder.replace('/', '-')}.lock`);
  if (!takeLock(lock)) {
    waitUntil(() => isInstalled(folder) || !existsSync(lock));
    if (isInstalled(folder)) return;
  }
  try {
    install(folder, parent);
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

function install(folder: string, parent: string): void {
  const directory = join(root, folder);
  console.log(`Installing the packages of ${folder} (once, a minute or two): npm ci --prefix ${folder}`);
  const fresh = mkdtempSync(join(parent, 'fresh-'));
  try {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(directory, file), join(fresh, file));
    runInstall(folder, fresh);
    copyFileSync(join(fresh, 'package-lock.json'), join(fresh, 'node_modules', installedLock));
    if (!isInstalled(folder)) replaceDirectory(join(directory, 'node_modules'), join(fresh, 'node_modules'));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** What was installed: a copy of the lock file. */
const installedLock = '.installed-lock.json';

function isInstalled(folder: string): boolean {
  const installed = join(root, folder, 'node_modules', installedLock);
  if (!existsSync(installed)) return false;
  return readFileSync(installed, 'utf8') === readFileSync(join(root, folder, 'package-lock.json'), 'utf8');
}

/** Silent about other things than errors: warnings are for those who change the packages. */
function runInstall(folder: string, directory: string): void {
  const options = ['ci', '--prefix', directory, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', options, { encoding: 'utf8', shell: process.platform === 'win32' });
  if (status === 0) return;
  throw new Error(
    `The tests need the packages of ${folder}, and they cannot be installed. To see why: npm ci --prefix ${folder}\n${stderr}`,
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
