/**
 * Refuses requests that would wait for the database in vain, before their body is read.
 *
 * Measured: a refusal on the framework's way costs as much as serving a small request, and then a gateway that is asked for
 * twice what it can do would spend most of its time on refusing. So it is written past the framework, as most answers are.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PublicError } from '../shared/errors.ts';
import { anyOriginHeaders } from './cors.ts';
import { errorAnswer, retryAfterSeconds } from './error-body.ts';
import { answerTypeOf } from './media-types.ts';
import type { Hook, HttpParts } from './parts.ts';
import { noStages } from './track-requests.ts';

const busy = new PublicError('UNAVAILABLE', 'All database connections are busy. Try again in a moment.');
const { status, code, body } = errorAnswer(busy);
const bytes = Buffer.byteLength(body);
const answer = { executed: false, codes: [code], operationName: null, documentHash: null, stages: noStages };

/** Makes the hook; it runs when the caller is known. */
export function createLoadShedding({ executor, config }: HttpParts): Hook {
  const isPlain = config.corsOrigins === '*';
  return (request, reply, done) => {
    const { identity } = request.state;
    if (identity === null || executor.admits(identity.role)) done();
    else if (isPlain) refuse(request, reply);
    else done(busy);
  };
}

function refuse({ id, state, headers }: FastifyRequest, reply: FastifyReply): void {
  state.answer = answer;
  state.bytes = bytes;
  const wished = answerTypeOf(headers.accept);
  const type = wished === 'application/graphql-response+json' ? wished : 'application/json';
  reply.hijack();
  reply.raw.writeHead(status, [...['content-type', `${type}; charset=utf-8`, 'x-request-id', id], ...plainHeaders]);
  reply.raw.end(body);
}

const plainHeaders: readonly string[] = [
  ...['content-length', String(bytes), 'retry-after', String(retryAfterSeconds(status)), 'cache-control', 'no-store'],
  ...Object.entries(anyOriginHeaders).flat(),
];
