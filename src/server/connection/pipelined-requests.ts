/**
 * Serves pipelined requests of a connection one after the other, each after the previous response was written.
 *
 * Guarantee: for a client that sends without reading, we buffer one response and the requests of one received chunk.
 */
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Wraps the server's only listener, so that each request waits for its turn. */
export function servePipelinedInOrder(server: Server): void {
  const [serve] = server.listeners('request') as [RequestListener];
  server.removeListener('request', serve);
  const waiting = new WeakMap<Socket, number>();
  const countOf = (socket: Socket): number => waiting.get(socket) ?? 0;

  /** Pauses reading while requests wait. Node resumes the socket itself at times, for example after a body is read. */
  function stopReading(socket: Socket): void {
    if (!waiting.has(socket)) socket.on('resume', () => countOf(socket) > 0 && socket.pause());
    waiting.set(socket, countOf(socket) + 1);
    socket.pause();
  }

  server.on('request', (request, response) => {
    const { socket } = request;
    // Node assigns the socket to a response when the previous ones are done.
    if (response.socket !== null) return serve(request, response);
    stopReading(socket);
    response.once('socket', () => {
      waiting.set(socket, countOf(socket) - 1);
      if (countOf(socket) === 0) socket.resume();
      serve(request, response);
    });
  });
}
