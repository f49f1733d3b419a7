/**
 * What a route of the auth service is: a row with method, path, who may knock, and what it does.
 */
import type { AnswerSchema } from '../../auth/answer-shape.ts';
import type { AdminBearer } from '../../auth/bearer.ts';
import type { BodyShape } from '../../auth/steps/members.ts';
import type { AuthReply } from './auth-reply.ts';
import type { AddressLimit, AuthRequest } from './auth-request.ts';

/** One route, with all that /openapi.json says of it. */
export interface AuthRow {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the service, with names behind colons. */
  readonly path: string;
  /** One sentence without its end. */
  readonly summary: string;
  /** `anyone`: opened by browsers and mail programs, which have no API key. Absent: needs a key. */
  readonly access?: 'anyone';
  /** Whose token the route asks for; absent: nobody's. */
  readonly caller?: 'user' | 'admin';
  /** Parameters of the query with a sentence on each. */
  readonly query?: Readonly<Record<string, string>>;
  /** What the body is read by, one of several where it depends; absent: none is read. */
  readonly body?: readonly BodyShape[];
  /** The body may be missing. */
  readonly isBodyOptional?: true;
  /** What a form of a browser may have, with a sentence on each; absent: none is read. */
  readonly form?: Readonly<Record<string, string>>;
  /** 200 where nothing else is said. */
  readonly status?: 200 | 204;
  /** Statuses with which the browser is sent on; without `answer` it always is. */
  readonly redirects?: readonly (302 | 303)[];
  /** Null: the answer has no body. */
  readonly answer: AnswerSchema | null;
  /** What the request takes of what its address has left; null for nothing. @throws AuthError as `run` would. */
  readonly limit?: (request: AuthRequest) => AddressLimit | null;
  /** Answers no sooner than `minResponseMs`, or its time would tell who has an account. */
  readonly hasMinResponse?: true;
  /** @throws AuthError, or whatever is answered as an unexpected failure. */
  readonly run: (request: AuthRequest) => Promise<AuthReply>;
}

/** The parameter of routes whose links lead somewhere. */
export const redirectQuery = { redirect_to: 'Where the link leads, if the configuration allows it.' };

/** The answer 200 with a JSON body. */
export async function json(body: Promise<unknown> | unknown): Promise<AuthReply> {
  return { body: await body };
}

/** Lets admins in alone. */
export function asAdmin(run: (request: AuthRequest, admin: AdminBearer) => Promise<AuthReply>): AuthRow['run'] {
  return async (request) => run(request, await request.asAdmin());
}
