/**
 * Stops this process in good order when the one that runs it for others is gone: npm's shell, or `pgreflect.js` of an old Node.
 *
 * `npx` and `npm start` run a command inside a shell. A SIGTERM to npm kills that shell, which does not pass it on; a SIGKILL nobody
 * passes on, and the shell lives on. Without this, the gateway and its PostgreSQL would run on without anyone knowing. Other parents may
 * end before us.
 */
import { readFileSync } from 'node:fs';

const launcher = Number(process.env.PGREFLECT_LAUNCHER ?? 0);
const parent = launcher || process.ppid;
const npm = launcher > 0 ? null : parentOf(parent);
const checkEveryMs = 250;

// Not for processes that this one starts.
delete process.env.PGREFLECT_LAUNCHER;

if (launcher > 0 || (process.env.npm_command !== undefined && parent > 1)) {
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === null || parentOf(parent) === npm)) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, checkEveryMs);
  timer.unref();
}

/** The parent of the shell, which is npm; null where the system does not say. Shells of other systems become the command. */
function parentOf(pid) {
  try {
    const [, ppid = ''] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return Number(ppid);
  } catch {
    return null;
  }
}
