/**
 * Waiting that has an end.
 */

/**
 * Waits for some work, but not longer than that; what it becomes afterwards is nobody's concern. Rejects as it does.
 *
 * @returns Whether it was done in time.
 */
export async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const limit = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => limit.resolve(false), limitMs);
  try {
    return await Promise.race([work.then(() => true), limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
