/**
 * What a route of the auth service is: method, path, who may ask, and what it does.
 */

import type { AdminBearer } from '../../auth/bearer.ts';
import type { AnswerSchema } from '../../auth/serializer.ts';
import type { BodyMembers } from '../../auth/steps/members.ts';
import type { JsonSchema } from '../../shared/json-schema.ts';
import type { AuthReply } from './auth-reply.ts';
import type { AddressLimit, AskingUser, AuthRequest } from './auth-request.ts';

/** What is done for whoever asks. @throws AuthError, or whatever is answered as an unexpected failure. */
type Run<A extends readonly unknown[]> = (request: AuthRequest, ...asking: A) => Promise<AuthReply>;

/** What a route does, and whose token it asks for; absent: nobody's. */
type Work =
  | { readonly caller?: undefined; readonly run: Run<[]> }
  /** `use`: what the token must allow; `change` where nothing is said. */
  | { readonly caller: 'user'; readonly use?: 'read'; readonly run: Run<[AskingUser]> }
  | { readonly caller: 'admin'; readonly run: Run<[AdminBearer]> };

/** A parameter of the query of which more is known. */
interface QueryParameter {
  readonly description: string;
  readonly required?: true;
  /** Beside its type, which is a text where nothing is said. */
  readonly schema: JsonSchema;
}

/** One route, with all that /openapi.json says of it. */
type RouteFacts = Work & {
  /** One sentence without its end. */
  readonly summary: string;
  /** `anyone`: opened by browsers and mail programs, which have no API key. Absent: needs a key. */
  readonly access?: 'anyone';
  /** Parameters of the query, each with a sentence on it. */
  readonly query?: Readonly<Record<string, string | QueryParameter>>;
  /** What the body is read by, one of several where it depends; absent: none is read. */
  readonly body?: readonly BodyMembers[];
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
};

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Routes by method and path below the service, which has names behind colons: `GET /admin/users/:id`. */
export type AuthRoutes = Readonly<Record<`${Method} /${string}`, RouteFacts>>;

/** One route. */
export type AuthRoute = RouteFacts & { readonly method: Method; readonly path: string };

/** All routes of several lists. */
export function routesOf(...lists: readonly AuthRoutes[]): readonly AuthRoute[] {
  return lists
    .flatMap((list) => Object.entries(list))
    .map(([route, facts]) => {
      const [method = '', path = ''] = route.split(' ');
      return { ...facts, method: method as Method, path };
    });
}

/** Finds out who asks, and does what the route is for. */
export async function runRoute(route: AuthRoute, request: AuthRequest): Promise<AuthReply> {
  if (route.caller === 'user') return route.run(request, await request.asUser(route.use));
  return route.caller === 'admin' ? route.run(request, await request.asAdmin()) : route.run(request);
}

/** The parameter of routes whose links lead somewhere. */
export const redirectQuery = { redirect_to: 'Where the link leads, if the configuration allows it.' };

/** The answer 200 with a JSON body. */
export async function json(body: Promise<unknown> | unknown): Promise<AuthReply> {
  return { body: await body };
}
