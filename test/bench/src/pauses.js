/**
 * Loaded into each measured server before its own code (`--import`): notes how long garbage collection stops the process, and tells it
 * to whoever connects to the socket `PID.sock` in BENCH_PAUSES. What has been told begins again from nothing.
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

const tell = (socket) => {
  note(observer.takeRecords());
  const totalMs = pauses.reduce((sum, each) => sum + each, 0);
  socket.end(JSON.stringify({ count: pauses.length, totalMs, longestMs: Math.max(0, ...pauses) }));
  pauses = [];
};
const server = createServer((socket) => {
  socket.on('error', () => {});
  // Node hands over what it has noted after the events of this turn.
  setImmediate(tell, socket);
});
// A worker of a cluster would else listen through its supervisor.
server.listen({ path: join(process.env.BENCH_PAUSES ?? '', `${process.pid}.sock`), exclusive: true });
server.unref();
