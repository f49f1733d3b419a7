/** A route of the auth service: method, path, required caller, and handler. */
import type { Route, RouteFacts, RouteTable } from '../../server/route.ts';
import type { AuthAttempt } from '../../shared/observation.ts';
import type { Admin } from '../store/audit.ts';
import type { AuthReply } from './auth-reply.ts';
import type { AddressLimit, AskingUser, AuthRequest } from './auth-request.ts';
import { requireCaptcha } from './require-captcha.ts';

/** Handles the request for its caller. @throws AuthError; any other error becomes an unexpected failure. */
type Run<A extends readonly unknown[]> = (request: AuthRequest, ...asking: A) => Promise<AuthReply>;

/** The handler and the caller that it requires; `anyone`: for browsers and mail programs, which have no API key. */
type Work =
  | { readonly access: 'anyone' | 'key'; readonly run: Run<[]> }
  /** `use`: what the token must allow; default `change`. */
  | { readonly access: 'user'; readonly use?: 'read'; readonly run: Run<[AskingUser]> }
  | { readonly access: 'admin'; readonly run: Run<[Admin]> };

/** What the auth service needs to know of a route in addition. */
type AuthRouteFacts = RouteFacts &
  Work & {
    /** People come to it from an email: an error without a redirect is a page for them. */
    readonly opensFromEmail?: true;
    /** The limit on requests per IP address; null for none. @throws AuthError as `run` would. */
    readonly limit?: (request: AuthRequest) => AddressLimit | null;
    /** What the request tries, to be counted; null: it is no attempt. */
    readonly attempt?: (request: AuthRequest) => AuthAttempt | null;
    /** Whether the request needs a captcha where the configuration asks for one; absent: never. */
    readonly captcha?: (request: AuthRequest) => boolean;
  };

/** The routes of the auth service. */
export type AuthRoutes = RouteTable<'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE', AuthRouteFacts>;

/** One route. */
export type AuthRoute = Route<AuthRoutes>;

/** Every request of a route needs a captcha. */
export const always = (): boolean => true;

/** Authenticates the caller and runs the handler. */
export async function runRoute(route: AuthRoute, request: AuthRequest): Promise<AuthReply> {
  if (route.captcha?.(request)) await requireCaptcha(request);
  if (route.access === 'user') return route.run(request, await request.asUser(route.use));
  if (route.access !== 'admin') return route.run(request);
  // The languages are the admin's, and emails go to others.
  return route.run({ ...request, context: { ...request.context, languages: [] } }, await request.asAdmin());
}

/** The redirect parameter of routes that send links. */
export const redirectQuery = { redirect_to: 'Where the link leads, if the configuration allows it.' };

/** The answer 200 with a JSON body. */
export async function json(body: Promise<unknown> | unknown): Promise<AuthReply> {
  return { body: await body };
}
