/**
 * Replaces a file with secrets as a whole: who looks at it reads the text before or the text after. Whoever could read it still can: it keeps
 * its owner, and its group where that may read it. Where that is not allowed, nothing is written.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CommandError, failCommand } from './command.ts';

/**
 * Readable for its owner alone, or its group where it was before: root replaces the file of a service, which still has to read it. A link
 * stays one: what it names is replaced. @param isKnown Whether the text that would go is the one that the new text was made of.
 * @throws CommandError
 */
export function replaceFile(path: string, text: string, isKnown: (present: string) => boolean = () => true): void {
  try {
    const target = realPath(path);
    // Not by the process id, which a killed one in a container may have had as well.
    const made = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
    try {
      const file = openSync(made, 'wx', 0o600);
      try {
        const before = statSync(target, { throwIfNoEntry: false });
        if (before !== undefined) keepReaders(file, before, path);
        writeFileSync(file, text);
        fsyncSync(file);
        if (before !== undefined && !isKnown(readFileSync(target, 'utf8'))) failChanged(path);
      } finally {
        closeSync(file);
      }
      renameSync(made, target);
    } catch (error) {
      rmSync(made, { force: true });
      throw error;
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    failCommand(`"${path}" cannot be written (${code}); it is as it was.`, 'Check the folder and its permissions.');
  }
}

/** Somebody else was faster. @throws CommandError */
export function failChanged(path: string): never {
  failCommand(`"${path}" has changed since it was read, and stays as it is now.`, 'Run the command again.');
}

/** Before a word is in it. */
function keepReaders(file: number, { uid, gid, mode }: Stats, path: string): void {
  const isForGroup = (mode & 0o044) === 0o040;
  try {
    fchownSync(file, uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    const isOwner = uid === process.geteuid?.();
    // Of a group that may not read it, nobody misses the file.
    if (isOwner && !isForGroup) return;
    const [whose, them] = isOwner ? [`its group (${gid})`, 'a member of that group'] : [`user ${uid}`, 'that user'];
    failCommand(
      `"${path}" belongs to ${whose}, and only root may give it a new file. It is as it was: the gateway could not read yours.`,
      `Run this as ${them}, or as root.`,
    );
  }
  if (isForGroup) fchmodSync(file, 0o640);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
