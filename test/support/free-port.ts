/**
 * A port that something is to listen on later, where its number has to be known before. It lies below the range that systems hand out
 * by themselves, so that nobody else is given it meanwhile.
 */
import { createServer } from 'node:net';

/** A port on loopback, by its name and its IPv4 address, that nothing listens on. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFreePort(port)) return port;
  }
}

/** Whether nothing listens on it. */
export async function isFreePort(port: number): Promise<boolean> {
  return (await isFree(port, 'localhost')) && (await isFree(port, '127.0.0.1'));
}

/** A port that nobody is given, and where nobody listens. */
export const deadPort = 1;

function isFree(port: number, host: string): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false)).listen(port, host, () => probe.close(() => resolve(true)));
  });
}
