/**
 * What a route of the auth service is: a row with method, path, who may knock, and what it does.
 */
import type { AuthReply } from './auth-reply.ts';
import type { AuthRequest } from './auth-request.ts';

/** One route. */
export interface AuthRow {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the service, with names behind colons. */
  readonly path: string;
  /** `anyone`: opened by browsers and mail programs, which have no API key. */
  readonly access: 'anyone' | 'key';
  /** @throws AuthError, or whatever is answered as an unexpected failure. */
  readonly run: (request: AuthRequest) => Promise<AuthReply>;
}

/** A row that needs a key. */
export function row(method: AuthRow['method'], path: string, run: AuthRow['run']): AuthRow {
  return { method, path, access: 'key', run };
}

/** The answer 200 with a JSON body. */
export async function json(body: Promise<unknown> | unknown): Promise<AuthReply> {
  return { body: await body };
}
