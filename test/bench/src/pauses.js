/**
 * Loaded into each measured server before its own code (`--import`): notes how long garbage collection stops the process, and tells it
 * and how long the event loop was held, to whoever connects to the socket `PID.sock` in BENCH_PAUSES. What has been told begins again from nothing.
 *
 * Plain JavaScript, because what Node needs to strip types would count as the server's memory.
 */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';

let pauses = [];
const note = (entries) => {
  for (const { duration } of entries) pauses.push(duration);
};
const observer = new PerformanceObserver((list) => note(list.getEntries()));
observer.observe({ entryTypes: ['gc'] });

/** CPU time between two turns: that of other processes does not count. What a timer misses is its interval. */
const intervalMs = 5;
const busyMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
let holdMs = 0;
let lastMs = busyMs();
if (process.env.BENCH_HOLDS) {
  setInterval(() => {
    const now = busyMs();
    holdMs = Math.max(holdMs, now - lastMs);
    lastMs = now;
  }, intervalMs).unref();
}

const tell = (socket) => {
  note(observer.takeRecords());
  const totalMs = pauses.reduce((sum, each) => sum + each, 0);
  socket.end(JSON.stringify({ count: pauses.length, totalMs, longestMs: Math.max(0, ...pauses), holdMs }));
  pauses = [];
  holdMs = 0;
};
const server = createServer((socket) => {
  socket.on('error', () => {});
  // Node hands over what it has noted after the events of this turn.
  setImmediate(tell, socket);
});
// A worker of a cluster would else listen through its supervisor.
server.listen({ path: join(process.env.BENCH_PAUSES ?? '', `${process.pid}.sock`), exclusive: true });
server.unref();
