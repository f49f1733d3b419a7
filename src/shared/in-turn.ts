/** Runs jobs one after the other, in the order of their calls. A job that fails does not stop the next. */
export function runInTurn(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const own = last.then(job);
    last = own.catch(() => {});
    return own;
  };
}
