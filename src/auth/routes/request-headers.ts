/** What requests to the auth service carry in headers and address: API key, token, parameters. */
import type { FastifyRequest } from 'fastify';

/** The key of a request: header or parameter. */
export function apiKeyOf(request: FastifyRequest): string | undefined {
  return one(request.headers.apikey) || queryOf(request).get('apikey') || undefined;
}

/** Without an `Authorization` header, an opaque key stands in for it, but no token, as with Supabase's gateway. */
export function authorizationOf(request: FastifyRequest): string | undefined {
  const key = apiKeyOf(request);
  const standsIn = key !== undefined && key.split('.').length !== tokenParts;
  return request.headers.authorization ?? (standsIn ? `Bearer ${key}` : undefined);
}

/** Parts of a JSON Web Token. */
const tokenParts = 3;

/** The parameters in the address of a request. */
export function queryOf({ url }: FastifyRequest): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
}

/** The first of several values of a header. */
export function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}
