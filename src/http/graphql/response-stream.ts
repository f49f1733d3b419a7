/**
 * Streams a large answer while it is made, compressed if the client accepts that.
 *
 * Only if an operator has raised `--max-response-bytes`, and only for flat rows on the fast path: JSON text that
 * PostgreSQL makes is one value and arrives whole. Up to the default limit an answer is kept until complete, so that
 * every failure becomes an error that the client can read. A started stream can only be aborted.
 */
import type { ServerResponse } from 'node:http';
import { pipeline, type Transform, type Writable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { defaultConfig } from '../../config/config.ts';
import type { Answer } from '../../execute/executor.ts';
import type { ResponseSink } from '../../postgres/wire/answer-sink.ts';
import { anyOriginHeaders } from '../server/cors.ts';
import type { AnswerType } from '../server/media-types.ts';
import type { HttpParts } from '../server/parts.ts';
import { writeRawHead } from '../server/response-head.ts';
import { acceptedEncodings } from './compress.ts';

/**
 * Whether large answers are streamed: only to clients that can tell an aborted body from a complete one. HTTP/1.0
 * clients cannot.
 */
export function streamsAnswers({ config }: HttpParts, { raw }: FastifyRequest): boolean {
  return raw.httpVersion !== '1.0' && config.limits.maxResponseBytes > defaultConfig.limits.maxResponseBytes;
}

/** The body of one response. */
export class ResponseStream implements ResponseSink {
  readonly #request: FastifyRequest;
  readonly #response: ServerResponse;
  readonly #body: Writable;

  /** Starts the response without the framework, which would buffer the parts for longer. */
  constructor({ config }: HttpParts, request: FastifyRequest, reply: FastifyReply, answerType: AnswerType) {
    this.#request = request;
    this.#response = reply.raw;
    const encoder = openEncoder(request.headers['accept-encoding'] as string | undefined);
    reply.hijack();
    // If CORS depends on the origin, the plugin has set the headers already.
    const cors = config.corsOrigins === '*' ? anyOriginHeaders : reply.getHeaders();
    const encoding = encoder === null ? {} : { 'content-encoding': encoder.encoding };
    const more = Object.entries({ ...cors, ...encoding }).flat() as string[];
    writeRawHead(reply.raw, 200, { id: request.id, type: answerType, bytes: null, more });
    this.#body = encoder?.stream ?? reply.raw;
    // After a disconnect, ignore errors of the encoder.
    if (encoder !== null) pipeline(encoder.stream, reply.raw, () => {});
  }

  write(part: Buffer, release: () => void): boolean {
    this.#request.state.bytes += part.length;
    return this.#body.write(part, (problem) => {
      if (!problem) release();
    });
  }

  onDrain(listener: () => void): void {
    this.#body.once('drain', listener);
  }

  /** Ends the response, or closes the connection, which tells the client that the body is incomplete. */
  end({ body, stream }: Answer): void {
    if (stream !== 'whole') {
      this.#response.destroy();
      return;
    }
    const rest = String(body);
    this.#request.state.bytes += Buffer.byteLength(rest);
    this.#body.end(rest);
  }
}

interface Encoder {
  readonly stream: Transform;
  readonly encoding: string;
}

function openEncoder(acceptEncoding: string | undefined): Encoder | null {
  const accepted = acceptedEncodings(acceptEncoding ?? '');
  if (accepted.br) {
    return { stream: createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }), encoding: 'br' };
  }
  return accepted.gzip ? { stream: createGzip({ level: 1 }), encoding: 'gzip' } : null;
}
