/**
 * Bytes on a socket, as no library would send them.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** An open connection, and what has come over it. */
export interface RawClient {
  readonly socket: Socket;
  /** So far. */
  text(): string;
  /** Resolves when the text matches; rejects when the connection ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with everything when the connection is closed. */
  readonly closed: Promise<string>;
}

/** Connects, and sends. The connection is closed when the test has ended. */
export async function rawClient(origin: string | number, bytes: string | Buffer = ''): Promise<RawClient> {
  const port = typeof origin === 'number' ? origin : Number(new URL(origin).port);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let text = '';
  const listeners = new Set<() => void>();
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => {
    const end = () => {
      socket.destroy();
      resolve(text);
    };
    socket.on('end', end).on('close', end);
  });
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (const listener of [...listeners]) listener();
  });
  await once(socket, 'connect');
  socket.write(bytes);
  return {
    socket,
    text: () => text,
    closed,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(text);
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        look();
        void closed.then(() => {
          look();
          reject(new Error(`The connection was closed after: ${text}`));
        });
      }),
  };
}

/** Statuses of the answers in a text, in order. */
export function statusesIn(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
