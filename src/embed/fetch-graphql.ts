/** Answers a `Request` to the GraphQL API without an HTTP server: JSON in and out, authenticated as over HTTP. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../config/config.ts';
import { type Executor, privilegesOf } from '../graphql/execute/executor.ts';
import { decodeText, readRequest } from '../graphql/routes/read-request.ts';
import { type Authenticate, callerOf } from '../server/caller/authenticate.ts';
import { countedAs } from '../server/caller/client-address.ts';
import { errorAnswer, retryAfterSeconds, shownError, statusOf } from '../server/error-body.ts';
import { type AnswerType, answerTypeOf, requestTypeOf } from '../server/media-types.ts';
import { graphqlPath } from '../server/paths.ts';
import { PublicError } from '../shared/errors.ts';
import type { Observe } from '../shared/observation.ts';
import { readBounded } from '../shared/read-bounded.ts';

interface FetchParts {
  readonly config: Config;
  readonly executor: Executor;
  readonly authenticate: Authenticate;
  readonly observe: Observe;
}

/** Facts of a request that a `Request` does not have. */
export interface RequestFacts {
  /** IP address of the client, for the fair queue and for limits; absent: unknown. */
  readonly address?: string;
}

/** Makes the handler; it never rejects. The path of the request is the program's own. */
export function createGraphqlFetch(parts: FetchParts) {
  return async (request: Request, { address }: RequestFacts = {}): Promise<Response> => {
    const type = answerTypeOf(request.headers.get('accept') ?? undefined);
    // Other types need a stream, which this handler does not make.
    const answerType = type === 'application/graphql-response+json' ? type : 'application/json';
    try {
      return await answer(parts, request, { answerType, address: address ?? null });
    } catch (error) {
      return refusalResponse(shownError(error, randomUUID(), parts.observe), answerType);
    }
  };
}

async function answer(
  { config, executor, authenticate }: FetchParts,
  request: Request,
  { answerType, address }: { readonly answerType: AnswerType; readonly address: string | null },
): Promise<Response> {
  if (request.method !== 'POST') {
    throw new PublicError('METHOD_NOT_ALLOWED', 'Send GraphQL requests with POST.');
  }
  const headers = Object.fromEntries(request.headers) as IncomingHttpHeaders;
  const identity = await authenticate(headers);
  if (requestTypeOf(headers['content-type']) !== 'json') {
    throw new PublicError('UNSUPPORTED_MEDIA_TYPE', 'Send the operation as application/json.');
  }
  const graphql = readRequest(decodeText(await readBounded(request, config.limits.maxBodyBytes)));
  const { body, ...facts } = await executor.execute(callerOf(identity, headers, 'POST', graphqlPath), graphql, {
    requestId: randomUUID(),
    queuedAs: countedAs(identity.subject, address),
    signal: request.signal,
    ...privilegesOf(config, identity.role),
  });
  return respond(String(body), statusOf(facts, answerType), answerType);
}

function refusalResponse(error: PublicError, answerType: AnswerType): Response {
  const { status, body } = errorAnswer(error, answerType);
  return respond(body, status, answerType);
}

function respond(body: string, status: number, type: AnswerType): Response {
  const retryAfter = retryAfterSeconds(status);
  return new Response(body, {
    status,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'no-store',
      ...(status === 405 && { allow: 'POST' }),
      ...(retryAfter !== null && { 'retry-after': String(retryAfter) }),
    },
  });
}
