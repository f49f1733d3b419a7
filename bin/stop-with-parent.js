/**
 * Stops this process in good order when npm's shell around it is gone.
 *
 * `npx` and `npm start` run a command inside a shell. A SIGTERM to npm kills that shell, which does not pass it on: without
 * this, the gateway and its PostgreSQL would run on without anyone knowing. Does nothing where npm is not involved.
 */
const parent = process.ppid;
const checkEveryMs = 250;

if (process.env.npm_command !== undefined && parent > 1) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, checkEveryMs);
  timer.unref();
}
