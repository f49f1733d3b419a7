/**
 * Ends the HTTP server: accepts no more, lets requests in flight finish for a while, and then cuts what is left.
 */
import type { HttpServer } from './server.ts';

/** Resolves when every connection is closed. */
export async function closeServer(app: HttpServer, drainTimeoutMs: number): Promise<void> {
  // Connections that become idle while others are still busy would keep the server open.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const giveUp = setTimeout(() => app.server.closeAllConnections(), drainTimeoutMs);
  try {
    await app.close();
  } finally {
    clearInterval(sweep);
    clearTimeout(giveUp);
  }
}
