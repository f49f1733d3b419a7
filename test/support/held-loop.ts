/**
 * How long the one thread was kept busy, as processor time, so that other programs of the machine do not count; and how
 * slow the machine is, for limits that hold on any.
 */

/** Processor time of this thread in milliseconds. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What the fixed piece of work takes on a machine of 2024 that has nothing else to do, in milliseconds. */
const defaultMs = 40;

/** How many times slower than usual the machine is; at least 1. The best of several, because neighbors share its cores. */
export function slowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const before = threadMs();
    fixedWork();
    return threadMs() - before;
  });
  return Math.max(1, Math.min(...times) / defaultMs);
}

function fixedWork(): void {
  const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}`, of: [id % 7, `${id % 13}`] }));
  const byName = new Map((JSON.parse(JSON.stringify(rows)) as typeof rows).map((row) => [row.name, row]));
  [...byName.keys()].sort();
}

/** Longest time between two turns of the event loop while `run` runs, in milliseconds of processor time. */
export async function maxHold(run: () => Promise<unknown>): Promise<number> {
  let [last, longest, isOver] = [threadMs(), 0, false];
  const turn = () => {
    const now = threadMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await run();
  } finally {
    turn();
    isOver = true;
  }
  return longest;
}
