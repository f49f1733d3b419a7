/**
 * The time that the templates of a change may take together: all requests of the process wait for their checks, and each
 * of hundreds of texts alone could take its whole limit.
 */
import { processorMs } from '../../shared/processor-time.ts';

/** In milliseconds of processor time: all emails in nine languages of usual length take a tenth of it. */
const maxCheckMs = 3000;

/** What is wrong with a change whose checks were given up. */
export const spentProblem = `The templates take longer than ${maxCheckMs} ms to check. Send fewer or simpler ones`;

/** Starts the time. @returns Whether it is used up: no further template must be checked. */
export function startCheckTime(): () => boolean {
  const startMs = processorMs();
  return () => processorMs() - startMs > maxCheckMs;
}
