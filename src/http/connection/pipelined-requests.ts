/**
 * Pipelined requests of one connection are worked on one after the other, each when the answer before it has been written.
 *
 * Promise: a client that sends and does not read makes us hold one answer, and the requests of one piece of what it sent.
 */
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Makes the only listener of the server wait for the turn of each request. */
export function servePipelinedInOrder(server: Server): void {
  const [serve] = server.listeners('request') as [RequestListener];
  server.removeListener('request', serve);
  const waiting = new WeakMap<Socket, number>();
  const countOf = (socket: Socket): number => waiting.get(socket) ?? 0;

  /** Reads no more for as long as requests wait. Node resumes the socket for reasons of its own, such as a body that is read. */
  function stopReading(socket: Socket): void {
    if (!waiting.has(socket)) socket.on('resume', () => countOf(socket) > 0 && socket.pause());
    waiting.set(socket, countOf(socket) + 1);
    socket.pause();
  }

  server.on('request', (request, response) => {
    const { socket } = request;
    // Node gives a response the socket when those before it are done.
    if (response.socket !== null) return serve(request, response);
    stopReading(socket);
    response.once('socket', () => {
      waiting.set(socket, countOf(socket) - 1);
      if (countOf(socket) === 0) socket.resume();
      serve(request, response);
    });
  });
}
