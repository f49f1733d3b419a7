/** Answers queries by GET, and subscriptions of who accepts streams of events. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { appendVary } from '../../server/append-vary.ts';
import { answerTypeOf, jsonAnswerTypeOf } from '../../server/media-types.ts';
import type { EventStreams } from './event-stream.ts';
import { cachingOf, readGet } from './get-request.ts';
import { run, sendText, writeHead } from './graphql-answer.ts';
import type { GraphqlParts } from './graphql-parts.ts';

/** Makes the handler; the caller is verified before. */
export function createGetHandler(parts: GraphqlParts, streams: EventStreams) {
  const { config } = parts;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { headers, url, state } = request;
    const graphql = readGet(config, url, headers);
    const isStream = answerTypeOf(headers.accept) === 'text/event-stream';
    if (isStream && (await streams.subscribe(request, reply, graphql))) return reply;
    const answer = await run(parts, request, graphql, { queriesOnly: true });
    writeHead(parts, request, reply, { answer, answerType: jsonAnswerTypeOf(headers.accept) });
    if (answer.codes.includes('METHOD_NOT_ALLOWED')) reply.header('allow', 'POST');
    const { vary, cacheControl } = cachingOf(config, { headers, identity: state.identity, answer });
    reply.header('vary', appendVary(reply.getHeader('vary'), vary));
    if (cacheControl !== null) reply.header('cache-control', cacheControl);
    return sendText(request, reply, answer.body);
  };
}
