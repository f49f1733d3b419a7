/**
 * The hook `custom_access_token`: gets the claims of an access token before it is signed, and returns the final claims.
 * It may add, change and remove claims, but not the required ones, not the user or session, and it may not set an admin
 * role.
 */
import { isObject } from '../../shared/json.ts';
import { AuthError } from '../auth-error.ts';
import { bytesOf } from '../metadata.ts';
import type { AccessClaims } from '../secrets/access-token.ts';
import { askHook } from './ask-hook.ts';
import type { AuthContext } from './auth-context.ts';

/**
 * The claims that the hook returns; unchanged if it is off.
 *
 * @param context The transaction of the sign-in, if there is one.
 * @throws AuthError The hook's refusal or failure; `unexpected_failure` if its claims are not valid for a token.
 */
export async function customizeClaims(
  context: AuthContext,
  claims: AccessClaims,
  method: string,
): Promise<AccessClaims> {
  if (!context.config.hook_custom_access_token_enabled) return claims;
  const payload = { user_id: claims.sub, claims, authentication_method: method };
  const answer = await askHook(context, 'custom_access_token', payload);
  const problem = findProblem(answer.claims, claims, context.services.adminRoles);
  if (problem === null) return answer.claims as AccessClaims;
  context.services.observe({ kind: 'hook_failed', hook: 'custom_access_token', reason: problem });
  throw new AuthError('unexpected_failure', `output claims do not conform to the expected schema: ${problem}`);
}

type Check = readonly [what: string, isRight: (value: unknown) => boolean];

const text: Check = ['a text', (value) => typeof value === 'string'];
const integer: Check = ['a whole number', Number.isSafeInteger];
const flag: Check = ['true or false', (value) => typeof value === 'boolean'];
const list: Check = ['a list', Array.isArray];
const audience: Check = ['a text or a list', (value) => typeof value === 'string' || Array.isArray(value)];
const object: Check = ['an object', isObject];

/** Claims that every reader of our tokens relies on. */
const required: Readonly<Record<string, Check>> = {
  iss: text, sub: text, aud: audience, exp: integer, iat: integer, email: text, phone: text, role: text, aal: text,
  session_id: text, is_anonymous: flag,
}; // biome-ignore format: a table

const optional: Readonly<Record<string, Check>> = {
  jti: text, nbf: integer, app_metadata: object, user_metadata: object, amr: list,
}; // biome-ignore format: a table

/** The sign-in decided the token's user and session. */
const fixed = ['sub', 'session_id'] as const;

/**
 * Largest size of the claims, as JSON in UTF-8: a request with the token must fit `maxHeaderSize` of the HTTP server.
 */
const maxBytes = 40_960;

/** Why the claims are not valid for a token, without their values; null if they are. */
function findProblem(claims: unknown, given: AccessClaims, adminRoles: readonly string[]): string | null {
  if (!isObject(claims)) return 'claims must be an object';
  for (const [name, [what, isRight]] of Object.entries({ ...required, ...optional })) {
    const isAbsent = claims[name] === undefined;
    if (isAbsent && name in required) return `${name} is missing`;
    if (!isAbsent && !isRight(claims[name])) return `${name} must be ${what}`;
  }
  const bytes = bytesOf(claims);
  if (bytes > maxBytes && bytes > bytesOf(given)) {
    return `claims may have 40 kB of JSON at most; these have ${Math.ceil(bytes / 1024)} kB`;
  }
  const changed = fixed.find((name) => claims[name] !== given[name]);
  if (changed !== undefined) return `${changed} must stay as it is`;
  // Otherwise, configuring a hook or breaking into its server would be enough to become admin of everything.
  const isRaised = claims.role !== given.role && adminRoles.includes(String(claims.role));
  return isRaised ? 'role must not become that of an admin' : null;
}
