/**
 * Where the data of PostgreSQL servers lies that tests start. Without vitest, because global-setup.ts asks, too.
 *
 * In memory where there is room: each database has 300 files, and ext4 takes up to 100 ms to make them soon after those of another
 * one were deleted, which is more than all the rest of a new database.
 */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const inMemory = '/dev/shm';

/** What servers of one run have together at most, with their WAL, and room for what else is there. */
const neededBytes = 4 * 1024 ** 3;

/** An existing directory, for directories of one's own. */
export const scratch = hasRoom() ? inMemory : tmpdir();

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize > neededBytes;
  } catch {
    // Only Linux has it.
    return false;
  }
}
