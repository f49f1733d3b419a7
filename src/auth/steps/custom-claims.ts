/**
 * The hook `custom_access_token`: what an access token says is shown to it before the token is made, and what it answers is
 * what the token says. It may add, change and leave out, but not what a token needs to be one, not whose it is, and not a role of admins.
 */
import { isObject } from '../../shared/json.ts';
import { AuthError } from '../auth-error.ts';
import { bytesOf } from '../metadata.ts';
import type { AccessClaims } from '../secrets/access-token.ts';
import { askHook } from './ask-hook.ts';
import type { AuthContext } from './auth-context.ts';

/**
 * The claims as the hook wants them; unchanged where it is off.
 *
 * @param context The transaction that signs the user in, where there is one.
 * @throws AuthError What the hook refused or failed with; `unexpected_failure` where its claims are not those of a token.
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

/** Those that every reader of our tokens may count on. */
const required: Readonly<Record<string, Check>> = {
  iss: text, sub: text, aud: audience, exp: integer, iat: integer, email: text, phone: text, role: text, aal: text,
  session_id: text, is_anonymous: flag,
}; // biome-ignore format: a table

const optional: Readonly<Record<string, Check>> = {
  jti: text, nbf: integer, app_metadata: object, user_metadata: object, amr: list,
}; // biome-ignore format: a table

/** Whose token it is was decided by the sign-in. */
const fixed = ['sub', 'session_id'] as const;

/** Most that they may have, as JSON in UTF-8: a request with the token must fit `maxHeaderSize` of the HTTP server. */
const maxBytes = 40_960;

/** What keeps them from being claims of a token, without their values; null for nothing. */
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
  // Whoever may name a hook, or has got into its server, would be an admin of everything.
  const isRaised = claims.role !== given.role && adminRoles.includes(String(claims.role));
  return isRaised ? 'role must not become that of an admin' : null;
}
