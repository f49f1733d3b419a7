/**
 * The handler for other media types than JSON: graphql-yoga reads forms and `application/graphql`, and writes
 * `multipart/mixed`.
 *
 * Yoga neither parses nor executes operations: the executor's answer passes through as text.
 */
import { createYoga, type Plugin } from 'graphql-yoga';
import type { AnswerType, RequestType } from '../../server/media-types.ts';
import { graphqlPath } from '../../server/paths.ts';
import { PublicError } from '../../shared/errors.ts';
import { invariant } from '../../shared/invariant.ts';
import type { Answer, GraphQLRequest } from '../execute/executor.ts';
import { decodeText, readFormRequest, readRequest } from './read-request.ts';

interface YogaRequest {
  readonly requestType: RequestType;
  /** The unchanged header: a multipart body needs its boundary. */
  readonly contentType: string;
  readonly answerType: AnswerType;
  readonly body: Buffer;
  readonly execute: (request: GraphQLRequest) => Promise<Answer>;
}

interface Exchange {
  readonly request: YogaRequest;
  /** What the body holds. Yoga reads no ids of documents. */
  graphql?: GraphQLRequest;
  answer?: Answer;
  failure?: unknown;
}

/** Answers one request. Rejects with a PublicError as `readRequest` throws it. */
export type YogaHandler = (request: YogaRequest) => Promise<{ readonly answer: Answer; readonly response: Response }>;

/** Makes the handler. */
export function createYogaHandler(): YogaHandler {
  const yoga = createYoga<{ exchange: Exchange }>({
    graphqlEndpoint: graphqlPath,
    fetchAPI: { Request, Response, ReadableStream, FormData, Headers },
    plugins: [passThrough],
    logging: false,
    maskedErrors: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    parserAndValidationCache: false,
    // The server has already received and limited the body.
    maxRequestBodySize: false,
  });
  return async (request) => {
    const exchange: Exchange = { request };
    const headers = { 'content-type': request.contentType, accept: request.answerType };
    const init = { method: 'POST', headers, body: new Uint8Array(request.body) };
    const response = await yoga.fetch(`http://gateway${graphqlPath}`, init, { exchange });
    if (exchange.failure !== undefined) throw exchange.failure;
    invariant(exchange.answer !== undefined, `yoga answered ${response.status} by itself`);
    return { answer: exchange.answer, response };
  };
}

const passThrough: Plugin<Record<string, unknown>, { exchange: Exchange }> = {
  onRequestParse({ setRequestParser, serverContext }) {
    const { exchange } = serverContext;
    setRequestParser(async (request) => {
      try {
        exchange.graphql = await readBody(exchange.request.requestType, request);
        return { query: exchange.graphql.query ?? '' };
      } catch (error) {
        exchange.failure = error;
        return new Response(null, { status: 400 });
      }
    });
  },
  async onParams({ context, setResult }) {
    const { exchange } = context;
    invariant(exchange.graphql !== undefined, 'the body is read before');
    try {
      exchange.answer = await exchange.request.execute(exchange.graphql);
    } catch (error) {
      exchange.failure = error;
    }
    const body = String(exchange.answer?.body ?? '');
    setResult({ stringify: () => body } as Parameters<typeof setResult>[0]);
  },
  onResultProcess({ serverContext, setResultProcessor }) {
    const { answer, request } = serverContext.exchange;
    const { answerType } = request;
    // Yoga writes only these streams; for JSON it would choose other status codes than we promise.
    if (answerType === 'multipart/mixed') return;
    const headers = { 'content-type': `${answerType}; charset=utf-8` };
    setResultProcessor(() => new Response(String(answer?.body ?? ''), { headers }), answerType);
  },
};

async function readBody(type: RequestType, request: Request): Promise<GraphQLRequest> {
  if (type === 'multipart') return readMultipart(request);
  const text = decodeText(new Uint8Array(await request.arrayBuffer()));
  if (type === 'urlencoded') return readFormRequest(new URLSearchParams(text));
  if (type === 'graphql') return { query: text, documentId: null, operationName: null, variables: null };
  return readRequest(text);
}

/** The body of the GraphQL multipart convention: its field `operations` is the JSON request. */
async function readMultipart(request: Request): Promise<GraphQLRequest> {
  const form = await request.formData().catch((cause: unknown) => {
    throw new PublicError('BAD_REQUEST', 'The request body is not valid multipart/form-data.', { cause });
  });
  const operations = form.get('operations');
  if (typeof operations !== 'string') {
    throw new PublicError('BAD_REQUEST', 'The form must have the text field "operations", a JSON request.');
  }
  const map = form.get('map');
  if (map !== null && map !== '{}') {
    throw new PublicError('BAD_REQUEST', 'File uploads are not supported.');
  }
  return readRequest(operations);
}
