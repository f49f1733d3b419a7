/**
 * A neighbor on the host makes `.pgreflect/` first, in a directory that others may write, or a repository brings one: the secrets of the
 * project would be theirs.
 */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  claimProject,
  findRunningProject,
  loadProject,
  projectDirectory,
  publishAddress,
} from '../../src/cli/shared/local-project.ts';

const roles = { anonRole: 'anon', serviceRole: 'service_role' };

/** A directory of another user: root has to make one, everybody else has root's. */
function foreignDirectory(): string {
  if (process.getuid?.() !== 0) return '/usr';
  const directory = projectDirectory(mkdtempSync(join(tmpdir(), 'pgreflect-')));
  onTestFinished(() => rmSync(join(directory, '..'), { recursive: true }));
  mkdirSync(directory);
  chownSync(directory, 65_534, 65_534);
  return directory;
}

test('a project directory of another user is not used', async () => {
  const directory = foreignDirectory();
  const before = readdirSync(directory);
  expect(() => claimProject(directory)).toThrow(`${directory} belongs to another user`);
  await expect(loadProject(directory, roles)).rejects.toThrow(`${directory} belongs to another user`);
  expect(readdirSync(directory)).toEqual(before);
});

test('secrets of another user in a directory of our own are not used', async () => {
  const directory = projectDirectory(mkdtempSync(join(tmpdir(), 'pgreflect-')));
  onTestFinished(() => rmSync(join(directory, '..'), { recursive: true }));
  const { jwtSecret } = await loadProject(directory, roles);
  expect(await loadProject(directory, roles)).toMatchObject({ jwtSecret });
  writeFileSync(join(directory, 'process'), `${process.pid}\nhttp://127.0.0.1:1\n`);
  expect(findRunningProject(directory)).not.toBeNull();
  const file = join(directory, 'project.json');
  if (process.getuid?.() === 0) chownSync(file, 65_534, 65_534);
  else {
    rmSync(file);
    symlinkSync('/etc/passwd', file);
  }
  await expect(loadProject(directory, roles)).rejects.toThrow('project.json belongs to another user');
  expect(findRunningProject(directory)).toBeNull();
});

test('secrets that come with a checkout, whose author knows them, are not used', async () => {
  const directory = projectDirectory(mkdtempSync(join(tmpdir(), 'pgreflect-')));
  onTestFinished(() => rmSync(join(directory, '..'), { recursive: true }));
  const { jwtSecret } = await loadProject(directory, roles);
  const file = join(directory, 'project.json');
  // As version control writes it: it keeps no other modes.
  chmodSync(file, 0o644);
  await expect(loadProject(directory, roles)).rejects.toThrow(`Other users may read ${file}`);
  chmodSync(file, 0o600);
  expect(await loadProject(directory, roles)).toMatchObject({ jwtSecret });
});

test('links that come with a checkout lead nothing that is written to files of ours elsewhere', async () => {
  const directory = projectDirectory(mkdtempSync(join(tmpdir(), 'pgreflect-')));
  const elsewhere = join(directory, '..');
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  mkdirSync(directory);
  const names = ['.gitignore', '.gitignore.new', 'process', 'process.new', 'project.json.new'];
  for (const name of names) {
    writeFileSync(join(elsewhere, `of-${name}`), 'precious');
    symlinkSync(join(elsewhere, `of-${name}`), join(directory, name));
  }
  const release = claimProject(directory);
  await loadProject(directory, roles);
  publishAddress(directory, 'http://127.0.0.1:1', 1);
  expect(findRunningProject(directory)).not.toBeNull();
  for (const name of names) expect(readFileSync(join(elsewhere, `of-${name}`), 'utf8')).toBe('precious');
  for (const name of readdirSync(directory))
    expect(lstatSync(join(directory, name)).isSymbolicLink(), name).toBe(false);
  expect(lstatSync(join(directory, 'project.json')).mode & 0o777).toBe(0o600);
  release();
});
