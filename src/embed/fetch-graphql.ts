/** Answers a `Request` to the GraphQL API without an HTTP server: JSON in and out, authenticated as over HTTP. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../config/config.ts';
import {
  type Answer,
  type Executor,
  type GraphQLRequest,
  privilegesOf,
  type RequestContext,
} from '../graphql/execute/executor.ts';
import { cachingOf, readGet } from '../graphql/routes/get-request.ts';
import { decodeText, isBatch, readRequests } from '../graphql/routes/read-request.ts';
import { runBatch } from '../graphql/routes/run-batch.ts';
import { type Authenticate, callerOf } from '../server/caller/authenticate.ts';
import { countedAs } from '../server/caller/client-address.ts';
import { errorAnswer, retryAfterSeconds, shownError, statusOf } from '../server/error-body.ts';
import { type AnswerType, jsonAnswerTypeOf, requestTypeOf } from '../server/media-types.ts';
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
    // Other types need a stream, which this handler does not make.
    const answerType = jsonAnswerTypeOf(request.headers.get('accept') ?? undefined);
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
  const { method, signal } = request;
  if (method !== 'POST' && method !== 'GET') {
    throw new PublicError('METHOD_NOT_ALLOWED', 'Send GraphQL requests with POST, or queries with GET.');
  }
  const headers = Object.fromEntries(request.headers) as IncomingHttpHeaders;
  const identity = await authenticate(headers);
  const caller = callerOf(identity, headers, method, graphqlPath);
  const run: Run = (graphql, more) =>
    executor.execute(caller, graphql, {
      requestId: randomUUID(),
      queuedAs: countedAs(identity.subject, address),
      signal,
      ...privilegesOf(config, identity.role),
      ...more,
    });
  if (method === 'POST') {
    const { body, ...facts } = await answerPost(config, request, headers, run);
    return respond(String(body), statusOf(facts, answerType), answerType);
  }
  const { pathname, search } = new URL(request.url);
  const found = await run(readGet(config, pathname + search, headers), { queriesOnly: true });
  const { vary, cacheControl } = cachingOf(config, { headers, identity, answer: found });
  const caching = { vary, ...(cacheControl !== null && { 'cache-control': cacheControl }) };
  return respond(String(found.body), statusOf(found, answerType), answerType, caching);
}

type Run = (graphql: GraphQLRequest, more?: Partial<RequestContext>) => Promise<Answer>;

async function answerPost(
  { limits }: Config,
  request: Request,
  headers: IncomingHttpHeaders,
  run: Run,
): Promise<Answer> {
  if (requestTypeOf(headers['content-type']) !== 'json') {
    throw new PublicError('UNSUPPORTED_MEDIA_TYPE', 'Send the operation as application/json.');
  }
  const graphql = readRequests(decodeText(await readBounded(request, limits.maxBodyBytes)));
  if (!isBatch(graphql)) return run(graphql);
  const { maxBatch } = limits;
  return (await runBatch(graphql, { maxBatch, client: request.signal, countMore: () => undefined, run })).answer;
}

function refusalResponse(error: PublicError, answerType: AnswerType): Response {
  const { status, body } = errorAnswer(error, answerType);
  return respond(body, status, answerType);
}

function respond(
  body: string,
  status: number,
  type: AnswerType,
  more: Readonly<Record<string, string>> = {},
): Response {
  const retryAfter = retryAfterSeconds(status);
  return new Response(body, {
    status,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'no-store',
      // By GET, a mutation is refused with the same status.
      ...(status === 405 && { allow: 'vary' in more ? 'POST' : 'GET, POST' }),
      ...(retryAfter !== null && { 'retry-after': String(retryAfter) }),
      ...more,
    },
  });
}
