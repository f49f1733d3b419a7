/** A request to the auth service, as its routes read it: parameters, body, origin, caller. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { type IsTrusted, networkOf, parseAddress } from '../../server/caller/client-address.ts';
import { parseAcceptLanguage, requestTypeOf } from '../../server/media-types.ts';
import { parseJson } from '../../shared/json.ts';
import { AuthError } from '../model/auth-error.ts';
import { ProviderRefusal } from '../requests/callback.ts';
import {
  authenticateAdmin,
  authenticateUser,
  type BearerUse,
  requestAudience,
  type UserBearer,
} from '../rules/bearer.ts';
import { createRedirectRules, type RedirectRules } from '../rules/redirect.ts';
import type { AuthContext } from '../steps/auth-context.ts';
import { badJson } from '../steps/request-body.ts';
import type { Admin } from '../store/audit.ts';
import { type Allowance, assertRequestAllowed, requestAllowance } from '../store/rate-limit.ts';
import { operatorOf } from './admit-operator.ts';
import type { AuthParts } from './auth-parts.ts';
import { authorizationOf, one, queryOf } from './request-headers.ts';

/** A limit on requests per IP address. */
export interface AddressLimit {
  /** Routes with the same name share a count. */
  readonly bucket: string;
  /** Null: no limit. */
  readonly allowance: Allowance | null;
}

/** Fields with the number of requests per IP address. */
type RateField =
  | 'rate_limit_otp'
  | 'rate_limit_verify'
  | 'rate_limit_token_refresh'
  | 'mfa_rate_limit_challenge_and_verify';

/** The limit of a configuration field per that many seconds, with its own count. */
export function limitBy(bucket: string, field: RateField, seconds: number): (request: AuthRequest) => AddressLimit {
  return ({ context }) => ({ bucket, allowance: requestAllowance(context.config[field], seconds) });
}

/** The user who sends the request, and the context in the token's audience. */
export interface AskingUser {
  readonly bearer: UserBearer;
  readonly context: AuthContext;
}

/** One request. */
export interface AuthRequest {
  /** For the log. */
  readonly id: string;
  readonly context: AuthContext;
  readonly redirects: RedirectRules;
  readonly query: URLSearchParams;
  /** A path parameter by its name in the route; empty if absent. */
  path(name: string): string;
  /** The parsed body. @throws AuthError `bad_json` */
  body(): unknown;
  /** The parsed body, or an empty object for none. @throws AuthError `bad_json` */
  optionalBody(): unknown;
  /** The body of a browser's form; empty for none. */
  form(): URLSearchParams;
  /** Whether the body is that of a browser's form. */
  readonly isForm: boolean;
  readonly isHead: boolean;
  /** The header `If-Match`; null without one. */
  readonly ifMatch: string | null;
  /** The header `Cookie`. */
  readonly cookies: string | undefined;
  /** Whether there is an `Authorization` header. Without one, an opaque API key stands in for a token. */
  readonly hasAuthorization: boolean;
  /** Counts the request for its IP address. @throws AuthError `over_request_rate_limit` */
  count({ bucket, allowance }: AddressLimit): Promise<void>;
  /** The user who sends the request, by default to change something. @throws AuthError */
  asUser(use?: BearerUse): Promise<AskingUser>;
  /** The admin who sends the request: the holder of the access token that was admitted, or of a key. @throws AuthError */
  asAdmin(): Promise<Admin>;
}

/** Reads a request. @param deadline In terms of `performance.now()`. */
export function readAuthRequest(
  request: FastifyRequest,
  parts: AuthParts,
  config: AuthConfig,
  deadline: number,
): AuthRequest {
  const { services } = parts;
  const { headers } = request;
  const query = queryOf(request);
  const redirects = createRedirectRules(config);
  const referer = headers.referer;
  const [header, inQuery] = [one(headers.redirect_to), query.get('redirect_to') ?? undefined];
  const redirectTo = redirects.resolve({ header, query: inQuery, referer });
  const asked = header || inQuery;
  const refusal = asked ? redirects.refusal(asked) : null;
  if (asked && refusal !== null) services.noteRedirect(asked, refusal);
  const client = { userAgent: headers['user-agent'] ?? null, ip: clientAddress(request, config, parts.isFromProxy) };
  const network = networkOf(client.ip);
  const { audience: usual, adminRoles } = services;
  const audienceHeader = config.security_jwt_aud_header_enabled ? one(headers['x-jwt-aud']) : undefined;
  const audience = requestAudience({ header: audienceHeader, claims: null, adminRoles, usual });
  const authUrl = linkBase(headers, parts.authUrl, config.mailer_external_hosts);
  const languages = parseAcceptLanguage(headers['accept-language']);
  const context: AuthContext = {
    services,
    config,
    client,
    network,
    languages,
    audience,
    redirectTo,
    authUrl,
    deadline,
  };
  const bearerContext = () => ({ verify: services.verify, database: services.database, now: services.clock.now() });
  return {
    id: request.id,
    context,
    redirects,
    query,
    path: (name) => (request.params as Readonly<Record<string, string>>)[name] ?? '',
    body: () => parseBody(request.body),
    optionalBody: () => (isEmpty(request.body) ? {} : parseBody(request.body)),
    form: () => new URLSearchParams(isEmpty(request.body) ? '' : Buffer.from(request.body as Uint8Array).toString()),
    isForm: isForm(request),
    isHead: request.method === 'HEAD',
    ifMatch: headers['if-match'] ?? null,
    cookies: headers.cookie,
    hasAuthorization: headers.authorization !== undefined,
    count: ({ bucket, allowance }) => assertRequestAllowed(services.requestLimiter, `${bucket}:${network}`, allowance),
    async asUser(use = 'change') {
      const bearer = await authenticateUser(authorizationOf(request), bearerContext(), use);
      const own = requestAudience({ header: audienceHeader, claims: bearer.claims, adminRoles, usual });
      return { bearer, context: { ...context, audience: own } };
    },
    asAdmin: async () =>
      operatorOf(request) ?? authenticateAdmin(authorizationOf(request), bearerContext(), config, adminRoles),
  };
}

/**
 * Logs an error that a redirect carries to the application.
 *
 * @returns The code in the redirect, or `provider_refused`. Details that the application does not get go to the log.
 */
export function noteRefusal(error: unknown, { id, context }: AuthRequest): string {
  // The text is the provider's and does not belong in the log.
  if (error instanceof ProviderRefusal) return 'provider_refused';
  const isMasked = !(error instanceof AuthError) || error.status >= 500;
  if (isMasked) context.services.observe({ kind: 'masked_error', id, requestId: id, error });
  return error instanceof AuthError ? error.code : 'unexpected_failure';
}

/** The Supabase platform's header, if the configuration trusts it; otherwise as for all requests. */
function clientAddress(request: FastifyRequest, config: AuthConfig, isFromProxy: IsTrusted): string {
  const { headers, state, raw } = request;
  const isBelieved = config.security_sb_forwarded_for_enabled && isFromProxy(raw.socket.remoteAddress);
  const forwarded = isBelieved ? one(headers['sb-forwarded-for']) : undefined;
  return parseAddress(forwarded?.split(',')[0]) ?? state.address ?? '';
}

/** The base of links: the public address, or another host that the configuration allows. */
function linkBase(headers: IncomingHttpHeaders, authUrl: string, externalHosts: string): string {
  const allowed = externalHosts
    .split(',')
    .map(hostOf)
    .filter((host) => host !== '');
  if (allowed.length === 0) return authUrl;
  // Compare with the port, because another port of the host may belong to another service.
  const given = hostOf(one(headers['x-forwarded-host']) ?? headers.host ?? '');
  if (!allowed.includes(given)) return authUrl;
  const isPlain = /^localhost(?::|$)/.test(given) && one(headers['x-forwarded-proto']) === 'http';
  return `${isPlain ? 'http' : 'https'}://${given}${new URL(authUrl).pathname}`;
}

/** In lower case, without the default port. */
function hostOf(text: string): string {
  return text.trim().toLowerCase().replace(/:443$/, '');
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function isEmpty(body: unknown): boolean {
  return !(body instanceof Uint8Array) || body.length === 0;
}

/** Whether the body is that of a browser's form. JSON counts as JSON whatever its content type. */
export function isForm({ headers, body }: FastifyRequest): boolean {
  if (requestTypeOf(headers['content-type']) !== 'urlencoded' || isEmpty(body)) return false;
  return !/^\s*[{[]/.test(Buffer.from(body as Uint8Array).toString('latin1', 0, 64));
}

/** Accepts any content type. */
function parseBody(body: unknown): unknown {
  if (!(body instanceof Uint8Array) || body.length === 0) throw badJson('the body is empty');
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw badJson('the body is not UTF-8');
  }
  const json = parseJson(text);
  // Omit the parser's message: it quotes the text, which may contain a password.
  if (json === undefined) throw badJson('the body is not JSON');
  return json;
}
