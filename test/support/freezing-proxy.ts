/**
 * A way to a server that can freeze: from then on nothing passes any more and no connection is closed, as when the machine of
 * the server is stopped. Or only what is open then freezes, as when another machine takes its place.
 */
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** The way. */
export interface FreezingProxy {
  /** Connection string that leads through it. */
  through(url: string): string;
  freeze(): void;
  /** Connections that are opened later pass. */
  freezeOpen(): void;
}

/** Starts one in front of the server of a connection string; it ends with the test. */
export async function startFreezingProxy(targetUrl: string): Promise<FreezingProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let frozen = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(target.port || 5432), host: target.hostname, allowHalfOpen: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      const passes = () => !isFrozen && !frozen.has(from);
      from.on('data', (packet) => passes() && to.write(packet));
      from.on('end', () => passes() && to.end());
      from.on('error', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return {
    through(url) {
      const way = new URL(url);
      [way.hostname, way.port] = ['127.0.0.1', String(port)];
      return way.href;
    },
    freeze() {
      isFrozen = true;
    },
    freezeOpen() {
      frozen = new Set(sockets);
    },
  };
}
