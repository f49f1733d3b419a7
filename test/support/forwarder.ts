/**
 * An address that is known before the server behind it has started.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atEnd } from './when-over.ts';

/** A port, and where its connections go. */
export interface Forwarder {
  readonly port: number;
  /** From now on they go there. */
  target: URL | null;
  /** Ends those that are open. */
  cut(): void;
}

/** Starts it; stopped after the test file. */
export async function startForwarder(): Promise<Forwarder> {
  const open = new Set<Socket>();
  const server = createServer((from) => {
    if (forwarder.target === null) return void from.destroy();
    const to = connect(Number(forwarder.target.port), forwarder.target.hostname);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(one.once('close', () => open.delete(one)));
      one.on('error', () => other.destroy()).pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => void server.close());
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const forwarder: Forwarder = { port: (server.address() as AddressInfo).port, target: null, cut };
  return forwarder;
}
