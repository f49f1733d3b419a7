/**
 * A route of the auth service: method, path, required caller, and handler.
 */

import type { Route } from '../../server/paths.ts';
import type { JsonSchema } from '../../shared/json-schema.ts';
import type { AnswerSchema } from '../answers/serializer.ts';
import type { AdminBearer } from '../rules/bearer.ts';
import type { BodyMembers } from '../steps/members.ts';
import type { AuthReply } from './auth-reply.ts';
import type { AddressLimit, AskingUser, AuthRequest } from './auth-request.ts';
import { requireCaptcha } from './require-captcha.ts';

/** Handles the request for its caller. @throws AuthError; any other error becomes an unexpected failure. */
type Run<A extends readonly unknown[]> = (request: AuthRequest, ...asking: A) => Promise<AuthReply>;

/** The handler and the caller that it requires; absent: none. */
type Work =
  | { readonly caller?: undefined; readonly run: Run<[]> }
  /** `use`: what the token must allow; default `change`. */
  | { readonly caller: 'user'; readonly use?: 'read'; readonly run: Run<[AskingUser]> }
  | { readonly caller: 'admin'; readonly run: Run<[AdminBearer]> };

/** A query parameter with a schema. */
interface QueryParameter {
  readonly description: string;
  readonly required?: true;
  /** In addition to its type, by default text. */
  readonly schema: JsonSchema;
}

/** One route, with its description for /openapi.json. */
type RouteFacts = Work & {
  /** One sentence without the full stop. */
  readonly summary: string;
  /** `anyone`: for browsers and mail programs, which have no API key. Absent: needs a key. */
  readonly access?: 'anyone';
  /** People come to it from an email: an error without a redirect is a page for them. */
  readonly opensFromEmail?: true;
  /** Query parameters, each with a description. */
  readonly query?: Readonly<Record<string, string | QueryParameter>>;
  /** The body's members, several lists for alternatives; absent: no body. */
  readonly body?: readonly BodyMembers[];
  /** The body is optional. */
  readonly isBodyOptional?: true;
  /** Fields of a browser's form, which needs no API key, each with a description; absent: no form. */
  readonly form?: Readonly<Record<string, string>>;
  /** Default: 200. */
  readonly status?: 200 | 204;
  /** Statuses of redirects; without `answer`, the route always redirects. */
  readonly redirects?: readonly (302 | 303)[];
  /** What the HTML page is that it may answer with; absent: none. */
  readonly page?: string;
  /** Null: no body. */
  readonly answer: AnswerSchema | null;
  /** The limit on requests per IP address; null for none. @throws AuthError as `run` would. */
  readonly limit?: (request: AuthRequest) => AddressLimit | null;
  /** Whether the request needs a captcha where the configuration asks for one; absent: never. */
  readonly captcha?: (request: AuthRequest) => boolean;
};

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';

/** Routes by method and path relative to the service, with parameters after colons: `GET /admin/users/:id`. */
export type AuthRoutes = Readonly<Record<`${Method} /${string}`, RouteFacts>>;

/** One route. */
export type AuthRoute = Route<AuthRoutes>;

/** Every request of a route needs a captcha. */
export const always = (): boolean => true;

/** Authenticates the caller and runs the handler. */
export async function runRoute(route: AuthRoute, request: AuthRequest): Promise<AuthReply> {
  if (route.captcha?.(request)) await requireCaptcha(request);
  if (route.caller === 'user') return route.run(request, await request.asUser(route.use));
  if (route.caller !== 'admin') return route.run(request);
  // The languages are the admin's, and emails go to others.
  return route.run({ ...request, context: { ...request.context, languages: [] } }, await request.asAdmin());
}

/** The redirect parameter of routes that send links. */
export const redirectQuery = { redirect_to: 'Where the link leads, if the configuration allows it.' };

/** The answer 200 with a JSON body. */
export async function json(body: Promise<unknown> | unknown): Promise<AuthReply> {
  return { body: await body };
}
