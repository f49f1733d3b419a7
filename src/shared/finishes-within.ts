/** Waiting with a time limit. */

/** Waits for work, up to the limit. Rejects as the work does. @returns Whether it finished in time. */
export async function finishesWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const limit = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => limit.resolve(false), limitMs);
  try {
    return await Promise.race([work.then(() => true), limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
