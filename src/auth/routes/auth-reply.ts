/** Answers of the auth service: JSON, redirects, and errors in the format that the client reads. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { frameworkStatus } from '../../server/framework-status.ts';
import { PublicError } from '../../shared/errors.ts';
import type { Observe } from '../../shared/observation.ts';
import { apiVersionHeader, toErrorResponse } from '../answers/error-response.ts';
import { AuthError } from '../model/auth-error.ts';

/** An answer. */
export interface AuthReply {
  /** Default: 200. */
  readonly status?: number;
  /** JSON; undefined: no body. */
  readonly body?: unknown;
  /** HTML in place of the JSON. */
  readonly page?: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log: the code of the error in the answer. */
  readonly errorCode?: string | null;
}

/** Sends an answer. */
export function sendReply(request: FastifyRequest, reply: FastifyReply, answer: AuthReply): FastifyReply {
  reply.code(answer.status ?? 200).headers(answer.headers ?? {});
  request.state.errorCode = answer.errorCode ?? null;
  if (answer.body === undefined && answer.page === undefined) return reply.send();
  const text = answer.page ?? JSON.stringify(answer.body);
  request.state.bytes = Buffer.byteLength(text);
  if (answer.page === undefined) reply.header('content-type', 'application/json');
  return reply.send(text);
}

/** An error as an answer. A masked one is observed under the request id. */
export function toErrorReply(request: FastifyRequest, problem: unknown, observe: Observe): AuthReply {
  const error = toAuthError(problem);
  const version = request.headers[apiVersionHeader];
  const { status, headers, body, code, masked } = toErrorResponse(
    error,
    typeof version === 'string' ? version : undefined,
    request.id,
  );
  if (masked) observe({ kind: 'masked_error', id: request.id, requestId: request.id, error });
  // The gateway's own errors: their text is for all clients.
  const gateway = problem instanceof PublicError ? { message: problem.message } : {};
  return { status, headers, body: { ...body, ...gateway }, errorCode: code };
}

function toAuthError(problem: unknown): unknown {
  if (problem instanceof PublicError) {
    if (problem.code === 'UNAUTHENTICATED')
      return new AuthError('no_authorization', problem.message, { cause: problem });
    const status = problem.code === 'UNAVAILABLE' ? 503 : 500;
    return new AuthError('unexpected_failure', problem.message, { status, cause: problem });
  }
  const status = frameworkStatus(problem);
  if (status === 413) return new AuthError('request_entity_too_large');
  if (status === 400) {
    return new AuthError('bad_json', 'Could not parse request body as JSON: the request is malformed');
  }
  return problem;
}
