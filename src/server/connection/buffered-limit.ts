/**
 * How much memory requests, answers that are being made and unread answers may take.
 *
 * It follows the memory there is, because the same number is too much for a small container and too little for a large
 * machine.
 */
import { totalmem } from 'node:os';
import type { Config } from '../../config/config.ts';

/** The part of the memory that is theirs. */
const part = 4;
/** The fewest answers of the largest size that must fit. */
const fewest = 2;

type BufferedLimits = Pick<Config, 'limits' | 'maxBufferedBytes' | 'workers'>;

/** The limit of one worker in bytes. @param memory The memory there is, in bytes. */
export function bufferedLimit({ limits, maxBufferedBytes, workers }: BufferedLimits, memory = memoryBytes()): number {
  const all = maxBufferedBytes ?? memory / part;
  return Math.max(Math.floor(all / workers), fewest * limits.maxResponseBytes);
}

/** The memory of the container or of the machine, whichever is smaller. */
function memoryBytes(): number {
  // 0 or more than the machine has: there is no limit.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
