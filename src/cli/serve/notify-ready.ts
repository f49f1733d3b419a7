/**
 * Tells systemd that a service of `Type=notify` is ready. Node has no sockets of the kind that systemd listens on; the
 * program that comes with systemd does.
 */
import { execFile } from 'node:child_process';

/** Does nothing unless systemd waits for it; notes a failure, after which systemd gives up and stops us. */
export function notifyReady(environment: Readonly<Record<string, string | undefined>>, note: (text: string) => void) {
  if (!environment.NOTIFY_SOCKET) return;
  execFile('systemd-notify', ['--ready'], (error) => {
    if (error !== null)
      note(`Warning: systemd-notify could not tell systemd that the gateway is ready: ${error.message}`);
  });
}
