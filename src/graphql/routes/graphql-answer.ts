/** Shared by fast path and yoga at `/graphql/v1`: runs a request for its caller and writes the answer. */
import { createGunzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../postgres/caller/caller.ts';
import { countedAs } from '../../server/caller/client-address.ts';
import { acceptedEncodings } from '../../server/compress.ts';
import { retryAfterSeconds, statusOf } from '../../server/error-body.ts';
import type { AnswerType } from '../../server/media-types.ts';
import { sendCompressed, varyByEncoding } from '../../server/send-body.ts';
import { CompressedText, type Text, utf8Bytes } from '../execute/answer/compressed-text.ts';
import { type Answer, type GraphQLRequest, privilegesOf, type RequestContext } from '../execute/executor.ts';
import type { GraphqlParts } from './graphql-parts.ts';
import { readPosition, writePosition } from './read-your-writes.ts';

/** The caller of a request, which is verified, and what the executor is told of it. */
export function contextOf(
  { config }: GraphqlParts,
  { id, state }: FastifyRequest,
): RequestContext & { readonly caller: Caller } {
  const caller = state.caller as Caller;
  const queuedAs = countedAs(state.identity?.subject ?? null, state.address);
  return { caller, requestId: id, span: state.span, queuedAs, signal: state, ...privilegesOf(config, caller.role) };
}

/** Runs a request whose caller is verified. Rejects only for internal errors. */
export async function run(
  parts: GraphqlParts,
  request: FastifyRequest,
  graphql: GraphQLRequest,
  more?: Partial<Pick<RequestContext, 'batch' | 'signal' | 'minWalPosition' | 'queriesOnly'>>,
): Promise<Answer> {
  const { config, executor } = parts;
  const { caller, ...context } = contextOf(parts, request);
  const answer = await executor.execute(caller, graphql, {
    ...context,
    minWalPosition: config.readReplicaUrls.length === 0 ? null : readPosition(request.headers),
    ...more,
  });
  request.state.answer = answer;
  return answer;
}

/** Sets status and headers. */
export function writeHead(
  { config }: GraphqlParts,
  { state }: FastifyRequest,
  reply: FastifyReply,
  { answer, answerType }: { readonly answer: Answer; readonly answerType: AnswerType },
): void {
  const status = statusOf(answer, answerType);
  reply.code(status).header('content-type', `${answerType}; charset=utf-8`);
  const retryAfter = retryAfterSeconds(status);
  if (retryAfter !== null) reply.header('retry-after', retryAfter);
  if (answer.writtenAt !== undefined) writePosition(config, reply, answer.writtenAt);
  state.bytes = utf8Bytes(answer.body);
  if (!config.serverTiming) return;
  const { parseMs, compileMs, waitMs, runMs } = answer.stages;
  const { authenticateMs: authenticate } = state;
  const stages = Object.entries({ authenticate, parse: parseMs, compile: compileMs, wait: waitMs, run: runMs });
  reply.header('server-timing', stages.map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`).join(', '));
}

/** Sends a body, compressed if the client accepts that. */
export async function sendText(request: FastifyRequest, reply: FastifyReply, text: Text): Promise<FastifyReply> {
  if (!(text instanceof CompressedText)) return sendCompressed(reply, typeof text === 'string' ? text : text.take());
  varyByEncoding(reply);
  const { gzip, bytes } = text;
  const { gzip: isAccepted } = acceptedEncodings((request.headers['accept-encoding'] as string | undefined) ?? '');
  if (isAccepted) return reply.header('content-encoding', 'gzip').send(gzip);
  // No faster than the client reads.
  return reply.header('content-length', bytes).send(createGunzip().end(gzip));
}
