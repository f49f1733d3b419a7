/**
 * Stops this process in good order when the one that runs it for others is gone: npm's shell, or `pgreflect.js` of an old Node.
 *
 * `npx` and `npm start` run a command inside a shell. A SIGTERM to npm kills that shell, which does not pass it on; a SIGKILL nobody
 * passes on. Without this, the gateway and its PostgreSQL would run on without anyone knowing. Other parents may end before us.
 */
const launcher = Number(process.env.PGREFLECT_LAUNCHER ?? 0);
const parent = launcher || process.ppid;
const checkEveryMs = 250;

// Not for processes that this one starts.
delete process.env.PGREFLECT_LAUNCHER;

if (launcher > 0 || (process.env.npm_command !== undefined && parent > 1)) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, checkEveryMs);
  timer.unref();
}
